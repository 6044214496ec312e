/* SPDX-License-Identifier: MIT */
/* part.h - runs other programs, such as are installed together with this one */
#ifndef PART_H
#define PART_H

#include <stdbool.h>

/* Runs "lazycuda/gen" or another program of LIBEXECDIR, which reports its own errors, and sets
 * arguments[0]; false if it did not succeed.  `command` is who needs it, for messages. */
bool run_part(const char *command, const char *name, const char **arguments);

/* The same for any other, of which arguments[0] stays. */
bool run_program(const char *command, const char *program, const char *const *arguments);

#endif
