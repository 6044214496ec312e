/* SPDX-License-Identifier: MIT */
/* ready.h - the stubs of CUDA's other libraries, beside those of the five */
#ifndef READY_H
#define READY_H

#include <stdbool.h>
#include <stddef.h>

#include "tables.h"

/* Reads "cublas" from libcublas.so.12, from what auditwheel makes of that name, and from the stub's;
 * false for other names. */
bool ready_library_of(const char *soname, char *library, size_t size);
/* The library's name as lazycuda's list has it, "cublas" for "cuBLAS"; NULL if there is no list. */
const char *ready_named(const char *library);

/* Returns the path of the library's stub; NULL if it is not installed.  The caller frees it. */
char *ready_stub(const char *library);

/* Returns true if a SONAME is of one of these libraries, or of its stub. */
bool ready_lists(const char *soname);
/* Returns true for a name that auditwheel has given to a copy which comes with the file. */
bool ready_bundled(const char *soname);

/* Returns true for a library of NVIDIA's for CUDA of which there is no list, such as libcudss.so.0. */
bool ready_is_cudas(const char *soname);
/* Returns true for what a system or a compiler has. */
bool ready_is_systems(const char *soname);
/* Returns true for others that have no function of CUDA's and bring none. */
bool ready_is_apart(const char *soname);
/* Returns true if a library of this name needs the other, "cublas", in its turn. */
bool ready_brings(const char *soname, const char *library);

/* Returns true if a name may be a function of CUDA's, by what it begins with; cuFFTW's are FFTW's. */
bool ready_may_have(const char *name);
/* Adds the tables of all stubs that are installed. */
void ready_add_all(struct tables *tables, const char *command);
/* Adds the table of the stub for a library that a file needs, unless it is there or lazycuda
 * has none. */
void ready_add(struct tables *tables, const char *command, const char *soname);

/* Loads any stub by its path, such as one that `lazycuda stub` made.  If it is not a stub of this
 * release, complains as `command` and returns NULL. */
const struct lc_peer *own_stub_open(const char *command, const char *path);

#endif
