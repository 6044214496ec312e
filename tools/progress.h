/* SPDX-License-Identifier: MIT */
/* progress.h - a line on a terminal that says where long work is; in a log there is none */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

/* Whether there is to be one, if standard error is a terminal; at first there is none. */
void progress_wanted(bool wanted);

/* Work on so many bytes begins: "reading", and of what. */
void progress_begin(const char *doing, const char *name, size_t total);

/* So many of them are done. */
void progress_at(size_t done);

/* The line is taken away, until there is more to say; before anything else is printed. */
void progress_hide(void);

#endif
