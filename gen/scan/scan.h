/* SPDX-License-Identifier: MIT */
/*
 * scan.h - what the parts of the header scanner know of each other
 *
 *	scan.c		command line; derives the list
 *	scan_util.c	memory, maps, errors, versions
 *	scan_hints.c	reads gen/hints.txt: what headers cannot tell
 *	scan_elf.c	reads a shared library's exports
 *	scan_headers.c	reads prototypes and enumerators through libclang
 *	scan_types.c	reads types and layouts through libclang
 *	scan_resolve.c	which prototype an exported name has in which toolkit
 *	scan_layout.c	which layouts of a struct are interchangeable
 *	scan_write.c	writes symbols.txt
 *	scan_own.c	derives the list of a library of anybody's (scan_own.h)
 *	scan_given.c	what the command line says of it
 *	scan_check.c	compares a library with symbols.txt
 *
 * It is a program that runs once: what it allocates lives until it ends.
 */
#ifndef SCAN_H
#define SCAN_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- memory, strings, maps ---- */

void *scan_alloc(size_t size);			/* zeroed, never NULL */
void scan_free_all(void);
char *scan_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
const char *scan_intern(const char *text);	/* equal text, equal pointer */
const char *scan_intern_n(const char *text, size_t length);

/* A growing array of pointers. */
struct list {
	void **items;
	size_t count, room;
};
void list_add(struct list *list, void *item);

/* Text to pointer; iterate over keys, which are in order of insertion. */
struct map {
	struct list keys, values;
	uint32_t *slots;
	size_t room;
};
void *map_get(const struct map *map, const char *key);
void map_put(struct map *map, const char *key, void *value);

/* Both say what is wrong with which file and end the program with status 2. */
_Noreturn void fail(const char *file, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
struct place { const char *file; int line, column; };
_Noreturn void fail_at(struct place place, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The whole of a regular file; NUL-terminated beyond its size. */
char *read_file(const char *path, size_t *size);
char *read_text(const char *path);	/* one that holds a NUL byte is refused */
char *next_line(char **text);		/* cut off the text; NULL: that was all */

int compare_texts(const void *a, const void *b);	/* for arrays of const char * */

/* `*` stands for any text, `#` for digits; the text of the first `*` is given
 * back in *star, interned, if star is not NULL. */
bool matches(const char *pattern, const char *text, const char **star);

/* ---- versions ---- */

typedef uint16_t version;			/* 12.9 is 1209 */
#define VERSION(major, minor) ((version)((major) * 100 + (minor)))
#define MAJOR(v) ((v) / 100)
#define MINOR(v) ((v) % 100)
#define VERSION_LATER UINT16_MAX
bool parse_version(const char *text, size_t length, version *out);

struct range { version from, to; };
struct ranges { struct range *items; size_t count; };
bool parse_ranges(const char *text, struct ranges *out);
bool in_ranges(const struct ranges *ranges, version v);

/* A set of toolkits, by index: bit n is the n-th oldest. */
typedef uint64_t toolkits;
#define MAX_TOOLKITS 64
#define BIT(n) ((toolkits)1 << (n))

/* ---- types ---- */

enum base {
	T_VOID, T_I8, T_U8, T_I16, T_U16, T_I32, T_U32, T_I64, T_U64, T_F32, T_F64,
	T_PTR, T_RECORD
};
extern const char *const base_names[];

struct type {
	enum base base;
	bool pointer;		/* *RECORD; base is T_RECORD */
	uint32_t count;		/* of an array; else 0 */
	const char *record;	/* interned */
	const char *enumeration;/* its name, where the header says enum; interned */
};
const char *type_text(struct type type);

struct leaf {
	const char *name;	/* a.b.c */
	struct type type;
	uint32_t offset, size;
};

struct layout {
	const char *name;
	struct place place;	/* in a header */
	uint32_t size;
	struct leaf *leaves;	/* in order of declaration */
	size_t count, room;
	const char *objection;	/* what the list cannot express; else NULL */
};

struct param {
	const char *name;
	struct type type;	/* its own, or what it points to */
	bool pointer;		/* to a scalar, a handle or a record */
	bool constant;		/* only read through */
	bool handle;		/* to an address of something that no header lays out */
};

struct prototype {
	const char *name;
	struct place place;	/* in a header, or of a hint */
	struct type result;
	struct param *params;
	size_t count;
	bool text;		/* the result is a const char * */
};

struct enumerator { const char *name; int64_t value; };

/* What one toolkit's headers say about one library. */
struct headers {
	struct map prototypes;	/* struct prototype */
	struct map layouts;	/* struct layout */
	struct map enums;	/* struct map of struct enumerator */
};

/* What a shared library says. */
struct exports {
	const char *path;
	const char *soname;
	const char **names;	/* sorted */
	size_t count;
	bool plain;		/* without version nodes; then data is left out */
	/* Of read_any_exports(): */
	struct list nodes;	/* names of the version nodes in use */
	struct list data, mangled, odd;	/* names that were left out */
};
void read_exports(const char *path, struct exports *out);
/* The same of a library that need not be one of CUDA's: its functions may be weak
 * and under any version node, and what is no C function is left out. */
void read_any_exports(const char *path, struct exports *out);
bool exports_name(const struct exports *exports, const char *name);
/* A library without version nodes can be one without majors alone. */
void refuse_plain(const struct exports *exports);

/* ---- hints ---- */

struct hint {
	struct place place;	/* of the word that could be wrong */
	const char *words[8];
	size_t count;
	struct ranges ranges;
	version as_of;
	bool used;
};

struct parse_hint {
	struct place place;
	bool cplusplus;
	struct list defines;	/* "-DX" */
	struct list headers;
};

/* What the command line says of a library, instead of hints.  Nothing is guessed
 * then: what no header declares is unknown, and a type that the list cannot express
 * makes a function one that is not declared. */
struct given {
	struct list includes[MAX_TOOLKITS];	/* DIR */
	struct list parses[MAX_TOOLKITS];	/* struct parse_hint */
	struct map unexported;	/* functions of these headers that no library has */
	struct map inexpressible;	/* functions: why */
	struct map texts;	/* functions that say what a status means */
};

struct library {
	struct place place;
	const char *name;
	const char *status;	/* enumeration; NULL where not given */
	const char *stub, *variable, *advice;
	const char *nodes_row;	/* NULL: the node is called as the SONAME is */
	bool own_majors;
	struct given *given;	/* NULL: hints say all */
	const char *soname;	/* of a library that is in no toolkit, */
	const char *witness;	/* and a name that it has */
	bool without_majors;
	struct list folders, includes;		/* DIR RANGE */
	struct list nodes, companions, errors;	/* copied to the list */
	struct list homes, packages;		/* copied, too: DIR, NAME */
	struct list exported;			/* RANGE NAME */
	struct list tags;			/* FIELD */
	struct list parses;			/* struct parse_hint */
	struct list reserved;			/* PATTERN */
	struct list directions;			/* FUNCTION PARAM DIRECTION [TYPE] */
	struct list results;			/* FUNCTION TYPE */
	struct list signatures;			/* declared | measured NAME TEXT */
	struct list families;			/* PATTERN NAME */
	struct list hooks, aparts;		/* PATTERN */
	struct list layouts;			/* FUNCTION RANGE STRUCT VERSION ALIAS */

	/* found out: */
	/* Count 0: none in that toolkit.  Where toolkits have its headers alone, what
	 * they declare. */
	struct exports exports[MAX_TOOLKITS];
	struct headers headers[MAX_TOOLKITS];
	struct map names;			/* every exported name */
	struct map noted;			/* parameters that were noted */
	struct map records;			/* struct record: those in use */
	struct list rows;			/* struct row, sorted */
};

struct list read_hints(const char *path);	/* of struct library */

/* A struct that some signature uses, and where. */
struct record {
	const char *name;
	const struct layout *layouts[MAX_TOOLKITS];	/* NULL: not used there */
	uint8_t letters[MAX_TOOLKITS];			/* 0 is A */
	uint8_t before[MAX_TOOLKITS];	/* while they settle: the last round's */
	bool tail[MAX_TOOLKITS], overlaid[MAX_TOOLKITS];
};

/* One line of the functions block. */
struct row {
	const char *name;
	const char *signature;
	const char *family;	/* NULL: its own name */
	bool hook, text, apart, undeclared;
	struct place place;	/* in the oldest toolkit that it is in */
	toolkits in;
};

struct scan {
	const char *folder;
	const char *libclang;
	bool verbose;
	version versions[MAX_TOOLKITS];
	int count;
	struct list libraries;
};
void note(const struct scan *scan, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

bool in_folders(const struct list *hints, version v);
/* That a library, in whichever version, has what this one exports. */
void note_names(struct library *library, const struct exports *exports);
void scan_headers(struct scan *scan);
void resolve(struct scan *scan, struct library *library);
void assign_letters(struct scan *scan, struct library *library);
void refuse_changes(const struct scan *scan, const struct library *library);
void write_list(struct scan *scan, const char *head, const char *path);	/* head is text */
int check(const char *list, char **arguments, int count);
int derive_own(struct scan *scan, char **arguments);

const char *range_text(const struct scan *scan, toolkits in);
bool is_reserved(const struct library *library, const char *field);

#endif
