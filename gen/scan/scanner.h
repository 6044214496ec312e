/* SPDX-License-Identifier: MIT */
/*
 * scanner.h - the interfaces between the parts of the scanner
 *
 *	scan.c		command line; derives symbols.txt
 *	helpers.c	memory, maps, errors, versions
 *	hints.c		reads gen/hints.txt: what headers cannot tell
 *	elf.c		reads a shared library's exports
 *	parse.c		has libclang parse headers (unit.h)
 *	headers.c	reads prototypes and enumerators through libclang
 *	types.c		reads types and layouts through libclang
 *	resolve.c	chooses the prototype of each exported name in each toolkit
 *	letters.c	decides which layouts of a struct are interchangeable
 *	write_list.c	writes symbols.txt
 *	own.c		derives the list of any library, for `lazycuda stub` (own.h)
 *	given.c		takes from the command line what hints give otherwise
 *	check_library.c	compares a library with symbols.txt
 *
 * The list itself, its limits and its reader are gen's: gen/model/symbols_txt.h.  This header has
 * what headers, libraries and hints tell besides.
 */
#ifndef SCANNER_H
#define SCANNER_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "../model/symbols_txt.h"

/* ---- memory, strings, maps ---- */

const char *scan_intern(const char *text);	/* equal text, equal pointer */
const char *scan_intern_n(const char *text, size_t length);

/* Maps text to a pointer.  To iterate, use keys and values, in order of insertion. */
struct map {
	struct list keys, values;
	uint32_t *slots;
	size_t capacity;
};
void *map_get(const struct map *map, const char *key);
void map_put(struct map *map, const char *key, void *value);

char *read_text(const char *path);	/* load_file(); refuses a file that holds a NUL byte */
char *next_line(char **text);		/* cuts a line off the text; NULL at its end */

int compare_texts(const void *a, const void *b);	/* for qsort() of const char * */

/* Returns true if the text matches: `*` stands for any text, `#` for one digit or more.
 * If star is not NULL, *star is set to the text of the first `*`, interned. */
bool matches(const char *pattern, const char *text, const char **star);

/* ---- versions ---- */

typedef uint16_t version;			/* 12.9 is 1209 */
#define VERSION(major, minor) ((version)((major) * 100 + (minor)))
#define MAJOR(v) ((v) / 100)
#define MINOR(v) ((v) % 100)
#define VERSION_LATER UINT16_MAX
bool parse_version(const char *text, size_t length, version *out);
int compare_versions(const void *a, const void *b);	/* for qsort() */

struct range { version from, to; };
struct ranges { struct range *items; size_t count, capacity; };
bool parse_ranges(const char *text, struct ranges *out);
bool in_ranges(const struct ranges *ranges, version v);

/* ---- types ---- */

struct c_type {
	enum kind kind;
	bool pointer;		/* *RECORD; kind is STRUCT */
	uint32_t count;		/* elements of an array; else 0 */
	const char *record;	/* interned */
	const char *enumeration;/* the enum's name if the header has an enum; interned */
};
const char *type_text(struct c_type type);

struct leaf {
	const char *name;	/* a.b.c */
	struct c_type type;
	uint32_t offset, size;
};

struct c_layout {
	const char *name;
	struct position position;	/* of the declaration */
	uint32_t size;
	struct leaf *leaves;	/* in order of declaration */
	size_t count, capacity;
	const char *objection;	/* why the list cannot express it; or NULL */
};

bool same_type(struct c_type a, struct c_type b);
bool same_layout(const struct c_layout *a, const struct c_layout *b);

struct c_param {
	const char *name;
	struct c_type type;	/* of the value, or of the pointer's target */
	bool pointer;		/* to a scalar, a handle or a record */
	bool constant;		/* a pointer to const */
	bool handle;		/* a pointer to a pointer to an opaque struct */
	bool text;		/* a const char ** */
};

struct prototype {
	const char *name;
	struct position position;	/* of the declaration */
	struct c_type result;
	struct c_param *params;
	size_t count;
	bool text;		/* it returns const char * */
};

/* What the headers of one toolkit declare for one library. */
struct headers {
	struct map prototypes;	/* struct prototype */
	struct map layouts;	/* struct c_layout */
	struct map enums;	/* struct map of struct enumerator */
};

/* A variable that a shared library exports. */
struct datum {
	const char *name;
	const char *bytes;	/* in hexadecimal; NULL: zeroes, or what ld.so relocates */
	unsigned size;
};

/* What a shared library exports. */
struct exports {
	const char *path;
	const char *soname;
	const char **names;	/* sorted */
	size_t count;
	bool plain;		/* no version nodes; read_exports() then leaves data out */
	/* Of any library, not only one of CUDA's: */
	struct list nodes;	/* names of the version nodes in use */
	struct list variables;	/* struct datum */
	struct list data, mangled, odd;	/* names that were left out */
};
/* Where the two lists are NULL, of a library of CUDA's.  Of any other, functions may be weak and have
 * any version node, and everything that is not a C function is left out, but for these mangled names
 * of C++ and these variables. */
void read_exports(const char *path, const struct list *mangled, const struct list *variables,
		  struct exports *out);
bool exports_name(const struct exports *exports, const char *name);
/* Fails if the library has no version nodes, which only one without majors may lack. */
void refuse_plain(const struct exports *exports);

/* ---- hints ---- */

struct hint {
	struct position position;	/* of the word to name in a message */
	const char *words[8];
	size_t count;
	struct ranges ranges;
	version as_of;
	bool used;
};

struct parse_hint {
	struct position position;
	bool cplusplus;
	struct list defines;	/* "-DX" */
	struct list headers;
	struct list folders;	/* where a given library's headers are looked for */
};

/* What the command line gives for a library instead of hints.  Nothing is guessed then: a
 * function without a declaration has an unknown interface, and so has a function with a type
 * that the list cannot express. */
struct given {
	struct list parses[MAX_TOOLKITS];	/* struct parse_hint */
	struct map unexported;	/* functions that these headers declare and no file exports */
	struct map inexpressible;	/* function to the reason, as text */
	struct map unread[2][2];	/* by CPU: header to why it cannot be read as C, as C++ */
	struct map texts;	/* functions that return the meaning of a status */
	struct list handles;	/* STRUCT PATTERN: made by the library, but for these functions */
	struct map negatives;	/* functions whose result is negative where they fail */
	struct map changed;	/* enumerations with a name that has two values in two majors */
};

struct subject {
	struct position position;
	const char *name;
	const char *status;	/* name of the enum; NULL if not given */
	const char *stub, *variable, *advice;
	const char *nodes_row;	/* of the list; NULL if the node has the name of the SONAME */
	const char *compat;	/* of the row of the list; NULL if there is none */
	bool own_majors;
	struct given *given;	/* NULL if the library comes from hints */
	const char *soname;	/* of a library that is in no toolkit */
	const char *witness;	/* a function that this library always has */
	bool without_majors;
	struct list folders, includes;		/* DIR RANGE */
	/* Copied to the list: */
	struct list nodes, companions, errors;
	struct list homes, packages;		/* DIR, NAME */
	struct list cuda_of, opens;		/* "SONAME MAJOR...", "MAJOR SONAME DIR", as text */
	struct list ships, called;		/* "CUDA VERSION", "VERSION NUMBER", as text */
	struct list variables;			/* "NAME SIZE RANGE BYTES", as text */
	struct list exported;			/* RANGE NAME */
	struct list tags;			/* FIELD */
	struct list parses;			/* struct parse_hint */
	struct list reserved;			/* NAME */
	struct list directions;			/* FUNCTION PARAM DIRECTION [TYPE] */
	struct list results;			/* FUNCTION TYPE */
	struct list signatures;			/* NAME TEXT declared|measured */
	struct list families;			/* PATTERN NAME */
	struct list hooks, slows, aparts;	/* PATTERN */
	struct list layouts;			/* FUNCTION RANGE STRUCT VERSION ALIAS */

	/* Results: */
	/* Count 0 if the toolkit lacks the library.  If toolkits have only its headers, the
	 * names that these declare. */
	struct exports exports[MAX_TOOLKITS];
	struct headers headers[MAX_TOOLKITS];
	struct map names;			/* every exported name */
	struct map records;			/* struct used_record; those in use */
	struct list rows;			/* struct derived_row, sorted */
};

struct list read_hints(const char *path);	/* of struct subject */

/* A struct that some signature uses, with its layout in each toolkit. */
struct used_record {
	const char *name;
	const struct c_layout *layouts[MAX_TOOLKITS];	/* NULL if not used there */
	uint8_t letters[MAX_TOOLKITS];			/* 0 is A */
	uint8_t before[MAX_TOOLKITS];	/* the letters of the last round of assign_letters() */
	bool tail[MAX_TOOLKITS], overlaid[MAX_TOOLKITS];
};

/* A row of the list, and its types as text.  Its position is that of the declaration in the
 * oldest toolkit that has it. */
struct derived_row {
	struct row row;
	const char *signature;
};

struct scan {
	const char *folder;
	const char *libclang;
	version versions[MAX_TOOLKITS];
	int count;
	struct list libraries;
};

bool in_folders(const struct list *hints, version v);
/* Adds the exported names to the library's names of all versions. */
void note_names(struct subject *library, const struct exports *exports);
void scan_headers(struct scan *scan);
void resolve_library(struct scan *scan, struct subject *library);
void assign_letters(struct scan *scan, struct subject *library);
void refuse_changes(const struct scan *scan, const struct subject *library);
void write_list(struct scan *scan, const char *head, const char *path);	/* begins with `head` */
int check(const char *path, char **arguments, int count);
int derive_own(struct scan *scan, char **arguments);

const char *range_text(const struct scan *scan, toolkits in);
/* Also notes that the hint applies. */
bool is_hinted_reserved(const struct subject *library, const char *field);

#endif
