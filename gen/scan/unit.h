/* SPDX-License-Identifier: MIT */
/* unit.h - what scan_headers.c and scan_types.c share: both use libclang */
#ifndef SCAN_UNIT_H
#define SCAN_UNIT_H

#include "scan.h"
#include "libclang.h"

/* One translation unit on its way into a struct headers. */
struct unit {
	const struct libclang *clang;
	const struct library *library;
	struct headers *headers;
	const char *where;	/* for messages: toolkit and header */
	const struct parse_hint *hint;
	const char *objection;	/* against the type that is read: given libraries alone */
	struct map typedefs;	/* names */
	struct map seen;	/* records whose layout has been taken */
	struct map nameless;	/* what the list calls records without a name, by spelling */
};

/* The text of a libclang string, interned; the string is disposed of. */
const char *take(const struct libclang *clang, CXString string);

/* Where a header declares it. */
struct place place_of(const struct unit *unit, CXCursor cursor);

/* Ends the program; where a library is given, only notes why a type will not do. */
void object(struct unit *unit, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The name of an enumeration, without the word. */
const char *enum_name(const struct unit *unit, CXType type);

/* Whether a canonical type is a struct or union whose layout is known. */
bool is_record(const struct unit *unit, CXType type);

/* A canonical type that is passed by value, or pointed to.  The layout of a
 * record, and of all that it leads to, becomes part of unit->headers. */
struct type value_type(struct unit *unit, CXType type);

bool same_type(struct type a, struct type b);
bool same_layout(const struct layout *a, const struct layout *b);

#endif
