/* SPDX-License-Identifier: MIT */
/* writers.h - writes a plan as source files */
#ifndef WRITERS_H
#define WRITERS_H

#include "slots.h"

struct output_file {
	const char *name;
	struct text text;
};

struct files {
	ARRAY(struct output_file *) all;
	const char *maker;	/* "`lazycuda stub` from cufft.txt": the origin that each file states */
	const char *how;	/* ": `make` writes it from ...", why not to edit it; or "" */
};

/* Each adds files of one stub.  `abi` is the major of the default version of names whose
 * interface differs between majors; 0 gives them no default version. */
void write_stub(struct files *files, struct plan *plan, unsigned abi);	/* .c, .h */
void write_maps(struct files *files, const struct plan *plan);	/* .map, .compat12.SONAME.map */
void write_imports(struct files *files, const struct plan *plan, const struct symbols *list);
void write_real(struct files *files, const struct plan *plan);	/* .real.h */
void write_layouts(struct files *files, const struct plan *plan);	/* .layouts.h */
void write_specifics(struct files *files, const struct plan *plan);	/* .specifics.c */

void write_note(struct text *c, const struct plan *plan, unsigned major);	/* the end of the .c file */

/* "nvidia-ml" of "libnvidia-ml_stub.so" */
const char *file_name(const struct library *library);

/* Shared by the writers. */
struct text *new_file(struct files *files, const struct plan *plan, const char *suffix,
		      const char *open, const char *close);
const char *soname_of(const struct plan *plan, unsigned major);

#endif
