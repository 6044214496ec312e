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
	const char *maker;	/* "gen/gen from symbols.txt": what their heads say, */
	const char *how;	/* and what to do instead of editing; or "" */
};

/* What the stubs are made for. */
struct purpose {
	/* The major that names without a default version get as their default; 0: none. */
	unsigned abi;
	/* The stubs stand in for the libraries of this major, under their SONAMEs,
	 * for callers of this major alone; 0: they serve all. */
	unsigned compat;
};

/* Adds the files of one stub. */
void write_stub(struct files *files, struct plan *plan, struct purpose purpose);	/* .c, .h */
void write_map(struct files *files, const struct plan *plan, struct purpose purpose);
void write_imports(struct files *files, const struct plan *plan, const struct list *list);
void write_real(struct files *files, const struct plan *plan);	/* .real.h */
void write_layouts(struct files *files, const struct plan *plan);	/* .layouts.h */
void write_specifics(struct files *files, const struct plan *plan);	/* .specifics.c */

void write_note(struct text *c, const struct plan *plan);	/* the end of .c */

/* The parts that several use. */
struct text *new_file(struct files *files, const struct plan *plan, const char *suffix,
		      const char *open, const char *close);
const char *soname_of(const struct plan *plan, unsigned major);

#endif
