/* SPDX-License-Identifier: MIT */
/*
 * companions.h - what a real library opens by name, where it would not find that itself
 *
 * cuDNN 9.10 of CUDA 12 opens libnvrtc.so.12, and its RUNPATH leads elsewhere than where pip
 * puts that.  Once a library of this SONAME is in the process, ld.so finds it.  So it is
 * loaded before: from the site-packages that the library itself lies in, of the same CUDA.
 *
 * libcudnn.so.9 opens its parts by name, libcudnn_ops.so.9 say, which are beside it and have the
 * same SONAMEs in every CUDA.  ld.so looks in LD_LIBRARY_PATH before a RUNPATH: where that leads
 * to those of another cuDNN, its own are loaded before it.
 */
#ifndef COMPANIONS_H
#define COMPANIONS_H

#include "search.h"

struct lc_companions {
	void **handles;
	size_t count;
};

/* Loads what the library of this option will ask for.  `cuda` is the process's major, for an
 * option of which nothing tells its own; 0: none.  What is in the process already is left as it
 * is.  Calls the dynamic loader: hold no lock. */
void lc_bring_companions(struct lc_arena *arena, struct lc_search *search,
			 const struct lc_option *option, const struct lc_file *file, int cuda,
			 struct lc_companions *brought);

void lc_drop_companions(struct lc_companions *brought);

#endif
