/* SPDX-License-Identifier: MIT */
/* say.h - prints text without anything that a terminal would obey */
#ifndef SAY_H
#define SAY_H

#include <stdbool.h>
#include <stddef.h>

/* Prints text to standard output and adds no line feed. */
void say(const char *text);

/* The same with a line for each sentence, and a last line feed: what happened, what to do, and then
 * the details.  Later lines begin below what the first began with. */
void say_sentences(const char *text);

/* Prints lines to standard error; the last need not end with a line feed. */
void say_log(const char *text);

/* Prints a line "lazycuda COMMAND: ..." to standard error; without COMMAND if it is NULL. */
void complain(const char *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Prints a verdict to standard output, on a terminal in green or red: not where NO_COLOR is set. */
void say_verdict(const char *text, bool good);

#endif
