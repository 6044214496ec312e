/* SPDX-License-Identifier: MIT */
/* beside.h - finds files that are installed together with this program */
#ifndef BESIDE_H
#define BESIDE_H

/* What holds the folders `lazycuda` of LIBEXECDIR, DATADIR and PYTHONDIR: relative to the
 * folder of this program, or absolute where one of them is outside PREFIX. */
extern const char libexec_place[], share_place[], python_place[];

/* Returns the path of `name` in `place`, which is absolute or relative to the folder of this
 * program, so that an install tree can be moved; NULL if nothing is there.  The caller
 * frees it. */
char *beside(const char *place, const char *name);

#endif
