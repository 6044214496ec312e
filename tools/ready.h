/* SPDX-License-Identifier: MIT */
/* ready.h - the stubs of CUDA's other libraries, beside those of the five */
#ifndef READY_H
#define READY_H

#include <stdbool.h>
#include <stddef.h>

#include "tables.h"

/* Returns true if lazycuda has a list of this library, such as "cublas". */
bool ready_known(const char *library);

/* Returns the path of the library's stub; NULL if it is not installed.  The caller frees it. */
char *ready_stub(const char *library);

/* Returns true if a SONAME is of one of these libraries, or of its stub. */
bool ready_lists(const char *soname);
/* Returns true for a name that auditwheel has given to a copy which comes with the file. */
bool ready_bundled(const char *soname);

/* Adds the table of the stub for a library that a file needs, unless it is there or lazycuda
 * has none. */
void ready_add(struct tables *tables, const char *command, const char *soname);

/* Loads any stub by its path, such as one that `lazycuda stub` made.  If it is not a stub of this
 * release, complains as `command` and returns NULL. */
const struct lc_peer *own_stub_open(const char *command, const char *path);

#endif
