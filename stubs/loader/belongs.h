/* SPDX-License-Identifier: MIT */
/*
 * belongs.h - which CUDA a file belongs to if its SONAME does not tell
 *
 * libcudnn.so.9 is in CUDA 11, 12 and 13.  What tells these apart, the strongest first:
 *
 *	what it needs		libcublas.so.13
 *	its SONAME		libcusolver.so.12 is in CUDA 13 alone
 *	its folder		nvidia/cu13/lib, /usr/local/cuda-13.0/lib64
 *	the package that has it	the RECORD of nvidia_cudnn_cu12-9.1.0.70.dist-info
 *
 * cuDNN can say it itself, once it is loaded: asks.h.
 *
 * Only the last costs more than a look at a name: site-packages is listed once, and the RECORDs
 * of the packages that are named like the folder are read.
 */
#ifndef BELONGS_H
#define BELONGS_H

#include "choice.h"
#include "places.h"

/* Sets candidate->cuda, and candidate->cuda_reason to the reason.  `needs` has the CUDA majors of the libraries
 * that the file needs, a bit for each; `size` is the file's.  For a library that is coordinated
 * and has majors of its own; candidate->major is set already. */
void lc_belongs(struct lc_arena *arena, struct lc_survey *survey,
		const struct lc_library *library, const char *path, off_t size, uint32_t needs,
		struct lc_candidate *candidate);

/* Returns the path of the site-packages that has this file in one of the folders of `major`, and
 * sets *name to the file's path in it; NULL: the file lies elsewhere.  `path` is absolute. */
const char *lc_site_of(struct lc_arena *arena, const struct lc_major *major, const char *path,
		       const char **name);

#endif
