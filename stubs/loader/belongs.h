/* SPDX-License-Identifier: MIT */
/*
 * belongs.h - which CUDA a file belongs to, whose SONAME does not tell
 *
 * libcudnn.so.9 is in CUDA 11, 12 and 13.  What tells them apart, the strongest first:
 *
 *	what it needs		libcublas.so.13
 *	its SONAME		libcusolver.so.12 is in CUDA 13 alone
 *	its folder		nvidia/cu13/lib, /usr/local/cuda-13.0/lib64
 *	the package that has it	the RECORD of nvidia_cudnn_cu12-9.1.0.70.dist-info
 *
 * Only the last costs more than a look at a name: site-packages is listed once, and of the
 * packages whose name begins as the folder is called, the RECORD is read.
 */
#ifndef BELONGS_H
#define BELONGS_H

#include "choice.h"
#include "places.h"

/* Sets option->cuda, and option->told in words.  `needs` has the majors of CUDA that the file
 * needs libraries of, a bit for each; `size` is that of the file.  For a library that is
 * coordinated and has majors of its own; option->major is set. */
void lc_belongs(struct lc_arena *arena, struct lc_survey *survey,
		const struct lc_library *library, const char *path, off_t size, uint32_t needs,
		struct lc_option *option);

/* Returns the path of the site-packages in which the folders of a library's major have this
 * file, and sets *name to the file's there; NULL: it lies elsewhere.  The path is absolute. */
const char *lc_site_of(struct lc_arena *arena, const struct lc_major *major, const char *path,
		       const char **name);

#endif
