/* SPDX-License-Identifier: MIT */
/* say.h - prints text without anything that a terminal would obey */
#ifndef SAY_H
#define SAY_H

#include <stdbool.h>
#include <stdio.h>

/* Prints text to standard output and adds no line feed. */
void say(const char *text);

/* Where the text of a report's line begins, behind its head. */
#define TEXT_COLUMN 12

/* Prints a message with a line for each part, and a last line feed: what happened, the advice, and
 * each later sentence.  All but the first begin after as many spaces. */
void say_message(FILE *stream, const char *message, int indent);

/* Prints lines to standard error; the last need not end with a line feed. */
void say_log(const char *text);

/* Prints a line "lazycuda COMMAND: ..." to standard error; without COMMAND if it is NULL. */
void complain(const char *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Returns true if a regular file can be opened; else sets errno. */
bool can_read(const char *path);

/* Complains of a file that cannot be read, with an errno. */
void complain_of(const char *command, const char *path, int error);

/* Prints a verdict to standard output, on a terminal in green or red: not where NO_COLOR is set. */
void say_verdict(const char *text, bool good);

#endif
