/* SPDX-License-Identifier: MIT */
/*
 * companions.h - loads what a real library opens by name and would not find
 *
 * cuDNN 9.10 of CUDA 12 opens libnvrtc.so.12, but its RUNPATH does not lead to where pip puts
 * that.  Once a library with this SONAME is in the process, ld.so finds it.  So libnvrtc.so.12 is
 * loaded before cuDNN, from the same site-packages.
 *
 * libcudnn.so.9 opens its parts by name, such as libcudnn_ops.so.9.  They lie beside it and have
 * the same SONAMEs in every CUDA.  ld.so searches LD_LIBRARY_PATH before a RUNPATH: if that leads
 * to the parts of another cuDNN, the library's own parts are loaded before it.
 */
#ifndef COMPANIONS_H
#define COMPANIONS_H

#include "search.h"

struct lc_companions {
	void **handles;
	size_t count;
};

/* Loads what the library of this option will open, except SONAMEs that are in the process already.
 * `cuda` is the process's major, 0: none; it counts for an option whose own is not known.  Calls
 * the dynamic loader: hold no lock. */
void lc_bring_companions(struct lc_arena *arena, struct lc_search *search,
			 const struct lc_option *option, const struct lc_file *file, int cuda,
			 struct lc_companions *brought);

void lc_drop_companions(struct lc_companions *brought);

#endif
