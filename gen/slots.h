/* SPDX-License-Identifier: MIT */
/*
 * slots.h - the parts of a stub: slots, names, versions
 *
 *	slots.c		decides which slots, names and versions a stub has
 *	value.c		writes structs passed by value as C
 *	writers.c	what the writers share
 *	releases.c	knows which functions give something back
 *	write_stub.c	writes a stub as C
 *	write_layouts.c	writes struct layouts for adaptors
 *	write_links.c	writes version scripts and the source of import libraries
 *	write_note.c	writes the note that tells packaging tools what a stub may open
 *	embed.c		puts stubs into one C file; amalgam.c joins the sources
 *	gen.c		command line; writes all files or none
 */
#ifndef SLOTS_H
#define SLOTS_H

#include "model/symbols_txt.h"

/* The C type of a struct that is passed by value.  See value.c. */
struct value {
	const struct record *record;
	char letter;
	const char *name;	/* "lc_dim3": the tag of its C type */
	char *members;		/* its declaration between the braces */
	unsigned bytes;
};

/* A name as callers of one major use it. */
struct use {
	const char *name;
	unsigned major;
	struct slot *slot;
};

struct provider {
	const char *name;
	toolkits in;
	bool own;		/* callers of the slot ask for this name */
};

/* One pointer in the table of slots: an interface that some callers ask for. */
struct slot {
	const char *name;	/* the name in messages; callers use it */
	const char *ident;	/* the slot's identifier in C */
	const char *hook;	/* the stub's function that answers calls; or NULL */
	bool slow;		/* it does so until the slot leads to the real function */
	unsigned number;
	bool text;		/* the function returns the meaning of a status */
	bool negative;		/* its result is negative where a call fails */
	bool unknown;		/* no prototype: the entry point is assembly */
	bool bare;		/* no caller has it, and adaptors may call it; */
	bool idle;		/* none that is there does */
	bool any;		/* for callers without a version, of a name without a default one: */
	size_t first_use;	/* that name's first in plan.uses, and first row of the exports */
	/* The prototype: this row, with the struct layouts of this toolkit. */
	const struct row *row;
	unsigned toolkit;
	unsigned *zero;		/* bytes to zero at each pointer parameter; 0 for none */
	ARRAY(struct provider) providers;
	ARRAY(struct use) uses;
};

/* A name whose presence tells a minor version from the one before. */
struct since {
	const char *name;
	unsigned toolkit;
};

/* A name, and the toolkits that have it with any interface. */
struct name {
	const char *name;
	toolkits in;
	toolkits alone;		/* the majors in which it has a slot of its own */
};

struct plan {
	const struct symbols *list;
	const struct library *library;
	ARRAY(struct slot *) slots;	/* in order of number */
	ARRAY(struct use) uses;		/* in order of name, newest major first */
	ARRAY(struct name) names;
	ARRAY(struct since) since;	/* newest first */
	toolkits alike[MAX_TOOLKITS];	/* by version: those with the same of the names in `since` */
	ARRAY(struct value) values;
	const struct slot *live;	/* the first of those that are idle, which come last; or NULL */
	unsigned embedded;	/* it is part of one C file, for callers of this CUDA: names have no versions */
	bool pruned;		/* it has not all functions of its callers */
};

void plan_stub(struct plan *plan, const struct symbols *list, const struct library *library);

/* Returns true if a function of this name gives something back. */
bool is_release(const char *name);

/* Returns the major of a name's default version, 0 for none.  Uses [first, end) are those
 * of the name, newest major first.  If the majors differ, the result is `abi`: a program
 * that links against the stub must not get one of them by chance. */
unsigned default_major(const struct plan *plan, const struct use *first, const struct use *end,
		       unsigned abi);

/* The C type of a struct by value; the first call creates it. */
const struct value *passed_value(struct plan *plan, const struct type *type, unsigned toolkit);

/* The name of a field of a struct, or of one in it, as an identifier. */
char *identifier(const struct field *field);

/* A row's types in one toolkit as text.  Equal text means an equal interface; with
 * `machine` set it means only the same use of registers and stack. */
char *key_of(const struct row *row, unsigned toolkit, bool machine);

#endif
