/* SPDX-License-Identifier: MIT */
/* beside.h - finds files that are installed together with this program */
#ifndef BESIDE_H
#define BESIDE_H

/* Returns the path of `place`, relative to the folder of this program, so that an install
 * tree can be moved; NULL if nothing is there.  The caller frees it. */
char *beside(const char *place);

#endif
