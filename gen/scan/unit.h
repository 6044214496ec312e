/* SPDX-License-Identifier: MIT */
/* unit.h - shared by headers.c, types.c and parse.c, which use libclang */
#ifndef SCAN_UNIT_H
#define SCAN_UNIT_H

#include "scanner.h"
#include "libclang.h"

/* One translation unit that is being read into a struct headers. */
struct unit {
	const struct libclang *clang;
	const struct subject *library;
	struct headers *headers;
	const char *where;	/* for messages: toolkit and header */
	const struct parse_hint *hint;
	bool cplusplus;		/* the language it is read as */
	const char *objection;	/* why the current type will not do; only for given libraries */
	struct map typedefs;	/* names */
	struct map seen;	/* records whose layout is read or being read */
	struct map nameless;	/* spelling of an unnamed record to its name in the list */
};

/* ---- parse.c ---- */

/* How headers are read. */
struct way_to_read {
	const struct libclang *clang;
	const struct parse_hint *hint;
	const struct list *folders;
	const char *target;	/* CPU */
	bool cplusplus;
	bool system;		/* set by parse(): with the system's headers */
};

struct parsed {
	CXIndex index;
	CXTranslationUnit tu;
	const char *error;	/* why not; or NULL */
};

/* Fails unless it is the libclang that libclang.h describes. */
void libclang_open(struct libclang *clang, const char *path);

/* Returns false if there is an error in the headers.  With `any`, tries them with the system's
 * headers if they fail without.  parsed_free() takes the result either way. */
bool parse(struct way_to_read *reading, bool any, struct parsed *out);
void parsed_free(const struct libclang *clang, struct parsed *parsed);

/* ---- types.c ---- */

/* Returns the text of a libclang string, interned, and disposes of the string. */
const char *take_string(const struct libclang *clang, CXString string);

/* The position of a declaration. */
struct position position_of(const struct unit *unit, CXCursor cursor);

/* Fails because the list cannot express a type; for a given library, only records why. */
void object(struct unit *unit, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The name of an enum without the leading "enum ". */
const char *enum_name(const struct unit *unit, CXType type);

/* Returns true if a canonical type is a struct or union whose layout is known. */
bool is_record(const struct unit *unit, CXType type);

/* Converts a canonical type that is passed by value or pointed to.  Adds the layout of a
 * record, and of all records that it leads to, to unit->headers. */
struct c_type value_type(struct unit *unit, CXType type);

#endif
