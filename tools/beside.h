/* SPDX-License-Identifier: MIT */
/* beside.h - what is installed together with this program */
#ifndef BESIDE_H
#define BESIDE_H

/* The path of what lies at `place`, seen from the folder of this program, so that
 * an install tree can be moved; NULL if it is not there.  To be freed. */
char *beside(const char *place);

#endif
