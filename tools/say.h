/* SPDX-License-Identifier: MIT */
/* say.h - prints text without anything that a terminal would obey */
#ifndef SAY_H
#define SAY_H

#include <stdbool.h>
#include <stddef.h>

/* Prints text to standard output and adds no line feed. */
void say(const char *text);

/* Prints lines to standard error; the last need not end with a line feed. */
void say_log(const char *text);

/* Prints a line "lazycuda COMMAND: ..." to standard error; without COMMAND if it is NULL. */
void complain(const char *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Prints a verdict to standard output, on a terminal in green or red: not where NO_COLOR is set. */
void say_verdict(const char *text, bool good);

/* Complains of `what` and `word`, with the option of `usage`, or the word of `more`, that may have
 * been meant, and prints the first line of the usage of a command, or of lazycuda itself if that is
 * NULL.  Returns the exit status. */
int bad_usage(const char *command, const char *usage, const char *more, const char *what,
	      const char *word);

#endif
