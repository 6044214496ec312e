/* SPDX-License-Identifier: MIT */
/*
 * companions.h - loads what a real library needs, or opens by name, before it
 *
 * libcusparse.so.12 needs libnvJitLink.so.12, and of the same toolkit or a later one.  ld.so
 * searches LD_LIBRARY_PATH before a RUNPATH, so an older one there would be taken.  Once a library
 * with this SONAME is in the process, ld.so takes that.  So what a library needs of CUDA's others is
 * loaded before it, from the same site-packages, toolkit or conda environment.
 *
 * cuDNN 9.10 of CUDA 12 opens libnvrtc.so.12 by name, but its RUNPATH does not lead to where pip
 * puts that.  libcudnn.so.9 opens its parts by name, such as libcudnn_ops.so.9.  They lie beside it
 * and have the same SONAMEs in every CUDA: where LD_LIBRARY_PATH leads to those of another cuDNN,
 * its own are loaded before it.
 */
#ifndef COMPANIONS_H
#define COMPANIONS_H

#include "search.h"

struct lc_companions {
	void **handles;
	size_t count;
	struct lc_strings others;	/* phrases: what is in the way of a library that it needs */
};

/* Loads what the library of this candidate needs and will open, except SONAMEs that are in the process
 * already.  `cuda` is the process's major, 0: none; it counts for a candidate whose own is not known.
 * Calls the dynamic loader: hold no lock. */
void lc_bring_companions(struct lc_arena *arena, struct lc_search *search,
			 const struct lc_candidate *candidate, int cuda, struct lc_companions *brought);

/*
 * Puts the file first among those of its major that goes with what another stub will load, whichever
 * stub is called first: if nvJitLink's is, and takes an older one, which LD_LIBRARY_PATH leads to,
 * cuSPARSE cannot be loaded any more.  Reads the files of the others that need it.
 */
void lc_prefer_set(struct lc_arena *arena, struct lc_search *search);

/* Returns the file of this name in the folder of one that was found, if it may be loaded; else
 * NULL. */
const char *lc_beside(struct lc_arena *arena, struct lc_search *search, const struct lc_voter *voter,
		      const struct lc_candidate *candidate, const char *soname);

void lc_drop_companions(struct lc_companions *brought);

#endif
