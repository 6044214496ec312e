/* SPDX-License-Identifier: MIT */
/* json.h - JSON on standard output */
#ifndef JSON_H
#define JSON_H

/*
 * Opens, fills and closes objects and arrays; commas and indentation follow.
 * `key` is NULL inside an array.  Text that is not UTF-8, as a file name may
 * be, is written with U+FFFD for what is not.
 */
void json_open(const char *key, char bracket);	/* '{' or '[' */
void json_close(char bracket);			/* '}' or ']' */
void json_text(const char *key, const char *text);	/* NULL: null */
void json_integer(const char *key, int value);
void json_size(const char *key, unsigned long long value);
void json_boolean(const char *key, int value);
void json_null(const char *key);

#endif
