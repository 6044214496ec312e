/* SPDX-License-Identifier: MIT */
/* json.h - writes JSON to standard output */
#ifndef JSON_H
#define JSON_H

#include <stddef.h>

/*
 * These open, fill and close objects and arrays, and add commas and indentation.
 * `key` is NULL inside an array.  Bytes that are not UTF-8, as in a file name, are
 * written as U+FFFD.
 */
void json_open(const char *key, char bracket);	/* '{' or '[' */
void json_close(char bracket);			/* '}' or ']' */
void json_text(const char *key, const char *text);	/* NULL gives null */
void json_integer(const char *key, int value);
void json_size(const char *key, unsigned long long value);
void json_boolean(const char *key, int value);
void json_null(const char *key);
void json_known(const char *key, int value, int known);	/* null if it is not known */
void json_words(const char *key, const char *const *words, size_t count);	/* an array */

#endif
