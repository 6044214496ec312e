/* SPDX-License-Identifier: MIT */
/*
 * list.h - symbols.txt in memory
 *
 *	list.c		reads it; every malformed line ends the program here
 *	check.c		and everything that does not fit together, here
 *	plan.c		decides which slots, names and versions a stub has
 *	value.c		structs by value, as C
 *	write_stub.c	writes a stub as C
 *	write_links.c	and what the linker needs: version scripts, import libraries
 *	write_note.c	and packaging tools: the libraries that it may open
 *	write_specifics.c	and what a stub says of itself that only forwards
 *	gen.c		command line, and files that appear whole or not at all
 *	util.c		memory, text, errors
 *
 * It is a program that runs once: what it allocates lives until it ends.
 */
#ifndef LIST_H
#define LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- memory and text ---- */

void *allocate(size_t count, size_t size);	/* zeroed, never NULL */

/* A growing array: items is a pointer to anything, grown by grow(). */
#define ARRAY(type) struct { type *items; size_t count, room; }
void *grow(void *items, size_t count, size_t *room, size_t size);
#define push(array) \
	((array)->items = grow((array)->items, (array)->count, &(array)->room, \
			       sizeof(*(array)->items)), \
	 &(array)->items[(array)->count++])

struct text {
	char *bytes;
	size_t length, room;
};
void add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- errors: they go to stderr and end the program with status 2 ---- */

struct place { unsigned line, column; };
extern const char *list_file;	/* the file that places are in */
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void fail_at(struct place place, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- versions ---- */

#define MAX_TOOLKITS 63
#define MAX_MINOR 99
struct version { unsigned major, minor; };

/* A set of toolkits: bit n is the n-th oldest, and the bit after the newest
 * one stands for all toolkits to come. */
typedef uint64_t toolkits;
#define BIT(n) ((toolkits)1 << (n))

/* ---- types ---- */

enum kind {
	I8, U8, I16, U16, I32, U32, I64, U64, F32, F64, PTR,
	STRUCT, VOID, STATUS
};
extern const char *const kind_names[];	/* up to VOID; STRUCT has none */
extern const unsigned kind_sizes[];	/* up to PTR */

struct type {
	enum kind kind;
	const char *name;		/* of a struct */
	struct record *record;		/* the same, found */
	bool pointer;			/* *STRUCT in a field */
	unsigned count;			/* of an array in a field; else 1 */
	struct place place;
};

enum way { BY_VALUE, IN, OUT, INOUT, BUF };
struct param {
	enum way way;
	struct type type;		/* its own, or what it points to */
};

struct field {
	const char *name;
	struct place place;
	struct type type;
	unsigned offset;
	toolkits in;
};

struct size {
	struct place place;
	unsigned bytes;
	char letter;
	toolkits in;
};

struct record {
	const char *name;
	struct place place;
	ARRAY(struct size) sizes;
	ARRAY(struct field) fields;
};

/* A line of a functions block. */
struct row {
	const char *name;
	struct place place, range_place;
	toolkits in;
	bool unknown;			/* (?) */
	ARRAY(struct param) params;
	struct type result;
	const char *family;		/* its own name if none is given */
	struct place family_place;
	bool hook, text, apart, undeclared;
};

struct enumerator {
	const char *name;
	struct place place;
	int32_t value;
	toolkits in;
};

struct enumeration {
	const char *name;
	struct place place;
	ARRAY(struct enumerator) values;
};

/* ---- libraries ---- */

/* What a range says of each toolkit: its soname, its folder. */
struct ranged {
	const char *text;
	struct place place;
	toolkits in;
};

struct node {
	const char *name;
	struct place place;
	unsigned major;
};

struct word {
	const char *text;
	struct place place;
};

enum error_kind { MISSING = 1, ABSENT, REFUSED, DRIVER, INCOHERENT, ERROR_KINDS };

struct library {
	const char *name, *stub, *variable, *companion, *status, *witness;
	struct place place, stub_place, variable_place, companion_place, status_place;
	struct place witness_place;
	ARRAY(struct ranged) sonames;
	ARRAY(struct ranged) folders;
	ARRAY(struct word) packages;
	ARRAY(struct node) nodes;
	ARRAY(struct ranged) homes;		/* without a range */
	bool without_majors;
	bool own_majors;		/* their numbers have nothing to do with CUDA's */
	struct place majors_place;
	enum { NODES_SONAME, NODES_NONE, NODES_OTHER } node_names;
	struct place node_names_place;
	const char *advice;		/* NULL: the stub has a source of its own */
	struct place advice_place;
	int32_t errors[ERROR_KINDS];
	struct place error_places[ERROR_KINDS];	/* line 0: not given */
	ARRAY(struct enumeration) enums;
	ARRAY(struct record) records;	/* sorted by name, once read */
	ARRAY(struct row) rows;		/* sorted by name and range, once read */
	struct enumeration *statuses;	/* the one that `status` names; or NULL */
	struct place functions_place;
	toolkits in;			/* those that some soname covers */
};

struct list {
	struct version toolkits[MAX_TOOLKITS];
	unsigned toolkit_count;
	struct place toolkits_place;
	bool without_majors;	/* all toolkits are of major 0 */
	ARRAY(struct library) libraries;
};

/* Reads and checks the whole file. */
void read_list(struct list *list, const char *path);

/* Checks a section when the whole file has been read. */
void check_library(const struct list *list, struct library *library);

/* ---- questions ---- */

/* The list as one of its libraries sees it, which may have no majors. */
struct list view_of(const struct list *list, const struct library *library);

/* The layout of a struct in one toolkit; NULL: it has none. */
const struct size *size_in(const struct record *record, unsigned toolkit);

/* The major version that a bit of a set belongs to. */
unsigned major_of(const struct list *list, unsigned bit);

/* All bits of one major. */
toolkits major_set(const struct list *list, unsigned major);

/* The lowest bit of a set that is not empty. */
unsigned first_bit(toolkits set);
unsigned last_bit(toolkits set);

/* "12.9", or "later than 13.5". */
const char *bit_text(const struct list *list, unsigned bit);

#endif
