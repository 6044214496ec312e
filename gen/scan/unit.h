/* SPDX-License-Identifier: MIT */
/* unit.h - shared by headers.c and types.c, which use libclang */
#ifndef SCAN_UNIT_H
#define SCAN_UNIT_H

#include "scan.h"
#include "libclang.h"

/* One translation unit that is being read into a struct headers. */
struct unit {
	const struct libclang *clang;
	const struct subject *library;
	struct headers *headers;
	const char *where;	/* for messages: toolkit and header */
	const struct parse_hint *hint;
	const char *objection;	/* why the current type will not do; only for given libraries */
	struct map typedefs;	/* names */
	struct map seen;	/* records whose layout is read or being read */
	struct map nameless;	/* spelling of an unnamed record to its name in the list */
};

/* Returns the text of a libclang string, interned, and disposes of the string. */
const char *take(const struct libclang *clang, CXString string);

/* The place of a declaration. */
struct place place_of(const struct unit *unit, CXCursor cursor);

/* Fails because the list cannot express a type; for a given library, only records why. */
void object(struct unit *unit, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The name of an enum without the leading "enum ". */
const char *enum_name(const struct unit *unit, CXType type);

/* Returns true if a canonical type is a struct or union whose layout is known. */
bool is_record(const struct unit *unit, CXType type);

/* Converts a canonical type that is passed by value or pointed to.  Adds the layout of a
 * record, and of all records that it leads to, to unit->headers. */
struct c_type value_type(struct unit *unit, CXType type);

bool same_type(struct c_type a, struct c_type b);
bool same_layout(const struct layout *a, const struct layout *b);

#endif
