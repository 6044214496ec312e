/* SPDX-License-Identifier: MIT */
/* plan.h - what a stub consists of */
#ifndef PLAN_H
#define PLAN_H

#include "list.h"

/* A struct that is passed by value, as C.  See value.c. */
struct value {
	const struct record *record;
	char letter;
	const char *name;	/* "lc_dim3": the tag of its C type */
	char *members;		/* its declaration between the braces */
	unsigned bytes;
};

/* One name as callers of one major know it. */
struct use {
	const char *name;
	unsigned major;
	struct slot *slot;
};

struct candidate {
	const char *name;
	toolkits in;
	bool own;		/* callers of the slot mean this name */
};

/* One pointer of the table: one interface that some callers ask for. */
struct slot {
	const char *name;	/* the name callers use, for messages */
	const char *ident;	/* what C code calls the slot */
	const char *hook;	/* the function that answers instead; or NULL */
	unsigned number;
	bool text;		/* it says what a status means */
	bool unknown;		/* no prototype: the entry is assembly */
	/* The prototype: this row, with the structs as they are in this toolkit. */
	const struct row *row;
	unsigned toolkit;
	unsigned *zero;		/* bytes to zero behind each parameter; 0: none */
	ARRAY(struct candidate) candidates;
	ARRAY(struct use) uses;
};

/* A name that tells one minor version from the one before. */
struct since {
	const char *name;
	unsigned toolkit;
};

/* A name and the versions that have it, with any interface. */
struct name {
	const char *name;
	toolkits in;
	toolkits alone;		/* in these majors it has a slot of its own */
};

struct plan {
	const struct list *list;
	const struct library *library;
	ARRAY(struct slot *) slots;	/* in order of number */
	ARRAY(struct use) uses;		/* in order of name, newest major first */
	ARRAY(struct name) names;
	ARRAY(struct since) since;	/* newest first */
	ARRAY(struct value) values;
};

void make_plan(struct plan *plan, const struct list *list, const struct library *library);

/* The C type of a struct by value; made when first asked for. */
const struct value *value_of(struct plan *plan, const struct type *type, unsigned toolkit);

/* A row's types in one toolkit as text: equal text, equal interface.  With
 * `machine`, equal text means equal registers and stack. */
char *key_of(const struct row *row, unsigned toolkit, bool machine);

#endif
