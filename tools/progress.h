/* SPDX-License-Identifier: MIT */
/* progress.h - shows a progress line on a terminal, and nothing in a log */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

/* Turns the line on, if standard error is a terminal, or off.  It is off at first. */
void progress_wanted(bool wanted);

/* Begins work on `total` bytes; `doing` is a verb such as "reading". */
void progress_begin(const char *doing, const char *name, size_t total);

/* Reports that `done` of these bytes are done. */
void progress_at(size_t done);

/* Clears the line until the next progress_at().  Call it before printing anything else. */
void progress_hide(void);

#endif
