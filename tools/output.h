/* SPDX-License-Identifier: MIT */
/* output.h - where that is which a command writes, and what a signal does meanwhile */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>
#include <sys/types.h>

/* Returns the absolute path without links, also of what is not there; the caller frees it.  Returns
 * NULL after a message: somebody else's link is not followed where everybody can put one.
 * tools/retarget/lazycuda/staging.py has the same rule. */
char *output_path(const char *command, const char *path);

/* Signals that would end the process are put off, until the second call, and end the child
 * process that was last named. */
void output_hold_signals(void);
void output_release_signals(void);
void output_name_child(pid_t child);

/* Returns true if a signal is put off. */
bool output_stops(void);

#endif
