/* SPDX-License-Identifier: MIT */
/* say.h - text for people: nothing in it is what a terminal would obey */
#ifndef SAY_H
#define SAY_H

#include <stddef.h>

/* On standard output, and no more than this. */
void say(const char *text);

/* Lines on standard error; whoever wrote them need not have ended the last. */
void say_log(const char *text);

/* A line on standard error, "lazycuda COMMAND: ..."; without one if it is NULL. */
void complain(const char *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
