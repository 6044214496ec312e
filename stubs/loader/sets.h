/* SPDX-License-Identifier: MIT */
/*
 * sets.h - which of several files goes with what was found for the other stubs
 *
 * libcusparse.so.12 of 12.9 needs libnvJitLink.so.12 of 12.9.  If nvJitLink's stub is called first
 * and takes an older one, which LD_LIBRARY_PATH leads to, cuSPARSE cannot be loaded any more: a
 * process has one library of a SONAME.  So the file that goes with what another stub will load
 * comes first among those of its major, whichever stub is called first.
 */
#ifndef SETS_H
#define SETS_H

#include "search.h"

/* Puts that file first, for this stub.  Reads the files of the others that need it. */
void lc_prefer_set(struct lc_arena *arena, struct lc_search *search);

#endif
