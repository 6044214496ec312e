/* SPDX-License-Identifier: MIT */
/* say.h - prints text without anything that a terminal would obey */
#ifndef SAY_H
#define SAY_H

#include <stddef.h>

/* Prints text to standard output and adds no line feed. */
void say(const char *text);

/* Prints lines to standard error; the last need not end with a line feed. */
void say_log(const char *text);

/* Prints a line "lazycuda COMMAND: ..." to standard error; without COMMAND if it is NULL. */
void complain(const char *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Complains of `what` and `word`, and prints the usage of a command.  Returns its exit status. */
int bad_usage(const char *command, const char *usage, const char *what, const char *word);

#endif
