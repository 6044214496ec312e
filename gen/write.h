/* SPDX-License-Identifier: MIT */
/* write.h - a plan as source files */
#ifndef WRITE_H
#define WRITE_H

#include "plan.h"

struct file {
	const char *name;
	struct text text;
};

struct files {
	ARRAY(struct file *) all;
};

/* Adds the files of one stub.  `abi` is the major that names without a default
 * version get as their default; 0: none. */
void write_stub(struct files *files, struct plan *plan, unsigned abi);	/* .c and .h */
void write_links(struct files *files, const struct plan *plan);	/* maps, imports */
void write_layouts(struct files *files, const struct plan *plan);	/* .layouts.h */

/* The parts that both use. */
struct text *new_file(struct files *files, const struct plan *plan, const char *suffix,
		      const char *open, const char *close);
const char *soname_of(const struct plan *plan, unsigned major);

#endif
