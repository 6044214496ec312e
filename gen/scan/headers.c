/* SPDX-License-Identifier: MIT */
/*
 * headers.c - reads prototypes and enumerators through libclang
 *
 * Every toolkit is parsed for x86-64 and for aarch64, and both results must be
 * equal: the list has one line for both.  For any other library the headers of one
 * CPU will do.  They are read as C and as C++, because some declare more functions
 * where __cplusplus is defined.
 */
#include "unit.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/stat.h>

static const char *const targets[] = { "x86_64", "aarch64" };

/* ---- functions and enumerations ---- */

/* What a canonical type points to; its kind is 0 if it is no pointer. */
static CXType pointee(const struct libclang *clang, CXType type)
{
	return type.kind == CXType_Pointer ? clang->getCanonicalType(clang->getPointeeType(type)) :
					     (CXType){ 0 };
}

/* Returns true for a pointer to an opaque struct. */
static bool is_handle(const struct unit *unit, CXType type)
{
	CXType target = pointee(unit->clang, type);

	return target.kind == CXType_Record && !is_record(unit, target);
}

/* Returns true for const char *, a string that the library owns. */
static bool is_text(const struct unit *unit, CXType type)
{
	CXType target = pointee(unit->clang, type);

	return (target.kind == CXType_Char_S || target.kind == CXType_Char_U) &&
	       unit->clang->isConstQualifiedType(target);
}

/* What a parameter points to.  A pointer that the function writes may lead to a struct which the
 * library has laid out. */
static struct c_type target_type(struct unit *unit, CXType type, bool constant)
{
	CXType target = pointee(unit->clang, type);
	struct c_type out;

	if (!unit->library->given || constant || !is_record(unit, target))
		return value_type(unit, type);
	out = value_type(unit, target);
	out.pointer = true;
	return out;
}

static struct c_param take_param(struct unit *unit, CXCursor function, unsigned index)
{
	const struct libclang *clang = unit->clang;
	CXCursor argument = clang->Cursor_getArgument(function, index);
	struct c_param param = { .name = take_string(clang, clang->getCursorSpelling(argument)) };
	/* In the function's canonical type, an array parameter is already a pointer. */
	CXType whole = clang->getCanonicalType(clang->getCursorType(function));
	CXType type = clang->getCanonicalType(clang->getArgType(whole, index));
	CXType target = pointee(clang, type);
	bool constant;

	if (type.kind != CXType_Pointer) {
		param.type = value_type(unit, type);
		return param;
	}
	param.type.kind = PTR;
	/* A matrix is passed as a pointer to its rows, which are const if its elements are. */
	constant = clang->isConstQualifiedType(target);
	while (unit->library->given && target.kind == CXType_ConstantArray) {
		target = clang->getCanonicalType(clang->getArrayElementType(target));
		constant |= clang->isConstQualifiedType(target);
	}
	/* void *, a callback, or a handle: no target to describe. */
	if (target.kind == CXType_Void || target.kind == CXType_FunctionProto ||
	    target.kind == CXType_FunctionNoProto ||
	    (target.kind == CXType_Record && !is_record(unit, target)))
		return param;
	param.type = target_type(unit, target, constant);
	param.type.enumeration = NULL;
	param.pointer = true;
	param.constant = constant;
	param.handle = is_handle(unit, target);
	param.text = !constant && is_text(unit, target);
	return param;
}

static bool same_prototype(const struct prototype *a, const struct prototype *b)
{
	if (a->count != b->count || !same_type(a->result, b->result))
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (!same_type(a->params[i].type, b->params[i].type) ||
		    a->params[i].pointer != b->params[i].pointer ||
		    a->params[i].constant != b->params[i].constant)
			return false;
	return true;
}

/* Only hints use parameter names, so any declaration may provide them. */
static void merge_names(struct prototype *known, const struct prototype *other)
{
	for (size_t i = 0; i < known->count; i++)
		if (!*known->params[i].name)
			known->params[i].name = other->params[i].name;
}

static void take_function(struct unit *unit, CXCursor cursor, const char *name)
{
	const struct libclang *clang = unit->clang;
	struct given *given = unit->library->given;
	int count = clang->Cursor_getNumArguments(cursor);
	struct prototype *prototype = allocate(1, sizeof(*prototype)), *known;
	CXType result;

	/* It was read as C: what C++ declares differently is passed in the same way. */
	if (unit->cplusplus && given && (map_get(&unit->headers->prototypes, name) ||
					 map_get(&given->inexpressible, name)))
		return;
	unit->objection = NULL;
	if (clang->Cursor_isVariadic(cursor))
		object(unit, "%s takes a variable number of arguments", name);
	prototype->name = name;
	prototype->position = position_of(unit, cursor);
	result = clang->getCanonicalType(clang->getCursorResultType(cursor));
	prototype->result = value_type(unit, result);
	prototype->text = is_text(unit, result);
	prototype->count = (size_t)count;
	prototype->params = allocate(1, (size_t)count * sizeof(*prototype->params) + 1);
	for (int i = 0; i < count; i++)
		prototype->params[i] = take_param(unit, cursor, (unsigned)i);
	known = map_get(&unit->headers->prototypes, name);
	if (known && !same_prototype(known, prototype))
		object(unit, "%s is declared in two ways", name);
	if (unit->objection)
		map_put(&given->inexpressible, name, (void *)unit->objection);
	else if (!known)
		map_put(&unit->headers->prototypes, name, prototype);
	else
		merge_names(known, prototype);
}

/* Some per-thread names have no declaration of their own, so their base name is wanted.
 * For a library that is in no toolkit, only the headers tell what it exports. */
static bool is_wanted(const struct subject *library, const char *name)
{
	return library->soname || map_get(&library->names, name) ||
	       map_get(&library->names, format("%s_ptds", name)) ||
	       map_get(&library->names, format("%s_ptsz", name));
}

struct taken_enum {
	struct unit *unit;
	struct map *values;
};

static enum CXChildVisitResult visit_enumerator(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct taken_enum *in = data;
	const struct libclang *clang = in->unit->clang;
	struct enumerator *value;

	(void)parent;
	if (clang->getCursorKind(cursor) != CXCursor_EnumConstantDecl)
		return CXChildVisit_Continue;
	value = allocate(1, sizeof(*value));
	value->name = take_string(clang, clang->getCursorSpelling(cursor));
	/* An enum is i32, whatever sign its values have in C. */
	value->value = (int32_t)clang->getEnumConstantDeclValue(cursor);
	map_put(in->values, value->name, value);
	return CXChildVisit_Continue;
}

static void take_enum(struct unit *unit, CXCursor cursor)
{
	const char *name = enum_name(unit, unit->clang->getCursorType(cursor));
	struct taken_enum in = { unit, map_get(&unit->headers->enums, name) };

	/* A given library takes every enum: function results tell later which is the status. */
	if (name != unit->library->status && !unit->library->given)
		return;
	if (!in.values) {
		in.values = allocate(1, sizeof(*in.values));
		map_put(&unit->headers->enums, name, in.values);
	}
	unit->clang->visitChildren(cursor, visit_enumerator, &in);
}

static enum CXChildVisitResult visit_typedefs(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct unit *unit = data;
	int kind = unit->clang->getCursorKind(cursor);

	(void)parent;
	if (kind == CXCursor_LinkageSpec || kind == CXCursor_Namespace)
		return CXChildVisit_Recurse;
	if (kind == CXCursor_TypedefDecl)
		map_put(&unit->typedefs,
			take_string(unit->clang, unit->clang->getCursorSpelling(cursor)), unit);
	return CXChildVisit_Continue;
}

/* Returns true if a declaration is in the header itself, not in one that it includes. */
static bool is_of_header(const struct unit *unit, CXCursor cursor)
{
	const char *header = unit->hint->headers.items[0], *path = position_of(unit, cursor).file;
	size_t length = strlen(header), whole = strlen(path);

	return whole >= length && !strcmp(path + whole - length, header) &&
	       (whole == length || path[whole - length - 1] == '/');
}

static enum CXChildVisitResult visit_top(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct unit *unit = data;
	int kind = unit->clang->getCursorKind(cursor);
	const char *name;

	(void)parent;
	if (kind == CXCursor_LinkageSpec || kind == CXCursor_Namespace)
		return CXChildVisit_Recurse;
	if (kind == CXCursor_EnumDecl)
		take_enum(unit, cursor);
	if (kind != CXCursor_FunctionDecl ||
	    unit->clang->getCursorLinkage(cursor) != CXLinkage_External)
		return CXChildVisit_Continue;
	name = take_string(unit->clang, unit->clang->getCursorSpelling(cursor));
	if (unit->cplusplus && take_string(unit->clang, unit->clang->Cursor_getMangling(cursor)) != name)
		return CXChildVisit_Continue;	/* a function of C++ */
	if (is_wanted(unit->library, name))
		take_function(unit, cursor, name);
	else if (unit->library->given && is_of_header(unit, cursor))
		map_put(&unit->library->given->unexported, name, (void *)name);
	return CXChildVisit_Continue;
}

/* ---- all headers of a library ---- */

/* The header folders of one toolkit.  If a CPU has none, returns those of x86-64: that
 * toolkit has no library for the CPU either. */
static struct list find_folders(const struct scan *scan, const struct subject *library, int toolkit,
				const char *arch)
{
	version v = scan->versions[toolkit];
	struct list folders = { 0 };
	struct stat status;

	for (size_t i = 0; i < library->includes.count; i++) {
		struct hint *hint = library->includes.items[i];
		const char *path;

		if (!in_ranges(&hint->ranges, v))
			continue;
		path = format("%s/%d.%d/%s/%s", scan->folder, MAJOR(v), MINOR(v), arch,
				   hint->words[0]);
		if (stat(path, &status) && strcmp(arch, targets[0]))
			return find_folders(scan, library, toolkit, targets[0]);
		if (stat(path, &status))
			fail(path, "is missing: it should hold headers of %s", library->name);
		list_add(&folders, path);
	}
	if (!folders.count)
		fail_at(library->position, "%s has no `include` for %d.%d", library->name,
			MAJOR(v), MINOR(v));
	return folders;
}

static struct unit unit_of(const struct libclang *clang, const struct subject *library,
			   const struct parse_hint *hint, const char *where, struct headers *out)
{
	return (struct unit){ .clang = clang, .library = library, .headers = out, .hint = hint,
			      .cplusplus = hint->cplusplus, .where = where };
}

/* Parses a header in one language and reads it, or returns what is wrong with it. */
static const char *read_header(struct unit *unit, const struct list *folders, const char *target)
{
	const struct libclang *clang = unit->clang;
	struct way_to_read reading = { .clang = clang, .hint = unit->hint, .folders = folders,
				   .target = target, .cplusplus = unit->cplusplus };
	struct parsed parsed;

	if (parse(&reading, unit->library->given, &parsed)) {
		CXCursor top = clang->getTranslationUnitCursor(parsed.tu);

		clang->visitChildren(top, visit_typedefs, unit);
		clang->visitChildren(top, visit_top, unit);
	}
	parsed_free(clang, &parsed);
	return parsed.error;
}

static void read_toolkit(const struct scan *scan, const struct libclang *clang,
			 const struct subject *library, int toolkit, const char *target,
			 struct headers *out)
{
	struct list folders = find_folders(scan, library, toolkit, target);

	for (size_t i = 0; i < library->parses.count; i++) {
		struct unit unit = unit_of(clang, library, library->parses.items[i],
					   format("%s (%s)", (char *)folders.items[0], target), out);
		const char *error = read_header(&unit, &folders, target);

		if (error)
			fail(unit.where, "%s", error);
	}
}

/* Why headers cannot be read for a CPU. */
struct failure {
	const char *where, *why;	/* NULL if they can be */
};

/* Reads each header of any library as C and then as C++; one of the two has to succeed.  Otherwise
 * returns what is wrong with the first header that is neither. */
static struct failure read_given(const struct libclang *clang, const struct subject *library,
				 int toolkit, int cpu, struct headers *out)
{
	const struct list *parses = &library->given->parses[toolkit];
	const char **errors = allocate(1, parses->count * sizeof(*errors));

	for (int cplusplus = 0; cplusplus < 2; cplusplus++)
		for (size_t i = 0; i < parses->count; i++) {
			const struct parse_hint *hint = parses->items[i];
			struct unit unit = unit_of(clang, library, hint,
						   format("%s (%s)", hint->position.file, targets[cpu]),
						   out);
			const char *error;

			unit.cplusplus = cplusplus;
			error = read_header(&unit, &hint->folders, targets[cpu]);
			if (error && cplusplus && errors[i])
				return (struct failure){
					unit.where, errors[i] == error ? error :
					format("%s\nand as C++: %s", errors[i], error)
				};
			if (error && !cplusplus)
				errors[i] = error;
			if (error)
				map_put(&library->given->unread[cpu][cplusplus], hint->position.file,
					(void *)error);
		}
	return (struct failure){ 0 };
}

/* The headers of a given library, `any`, may declare something for one CPU alone. */
static void compare_targets(const char *where, const struct headers *a, const struct headers *b,
			    bool any)
{
	for (size_t i = 0; i < a->prototypes.keys.count; i++) {
		const struct prototype *one = a->prototypes.values.items[i];
		const struct prototype *other = map_get(&b->prototypes, one->name);

		if (other ? !same_prototype(one, other) : !any)
			fail(where, "%s differs between %s and %s", one->name, targets[0], targets[1]);
	}
	for (size_t i = 0; i < a->layouts.keys.count; i++) {
		const struct c_layout *one = a->layouts.values.items[i];
		const struct c_layout *other = map_get(&b->layouts, one->name);

		if (other ? !same_layout(one, other) : !any)
			fail(where, "struct %s differs between %s and %s", one->name,
			     targets[0], targets[1]);
	}
}

/* What to do about a header that libclang did not find. */
static const char *how_to_find(const char *error)
{
	const char *end = strstr(error, "' file not found"), *name = end;

	if (!end)
		return "";
	if (strstr(error, "'crt/"))
		return "; --include names its folder: nvidia-cuda-crt of PyPI has it, before CUDA 13"
		       " nvidia-cuda-nvcc-cu12";
	while (name > error && name[-1] != '\'' && name[-1] != '.')
		name--;
	/* C++'s own headers have names without an ending. */
	return name > error && name[-1] == '.' ? "; --include names the folder of a header" :
	       "; --include names the folder of a header, and those of C++ come with a C++ "
	       "compiler (Debian: g++)";
}

/* Reads the headers of one version for both CPUs; for a given library, those of the CPUs that it
 * has headers for. */
static void scan_version(const struct scan *scan, const struct libclang *clang,
			 struct subject *library, int toolkit)
{
	version v = scan->versions[toolkit];
	const char *where = format("%s %d.%d", library->name, MAJOR(v), MINOR(v));
	struct failure failures[2] = { 0 };
	struct headers of[2] = { 0 };

	for (int i = 0; i < 2; i++)
		if (library->given)
			failures[i] = read_given(clang, library, toolkit, i, &of[i]);
		else
			read_toolkit(scan, clang, library, toolkit, targets[i], &of[i]);
	if (failures[0].why && failures[1].why)
		fail(failures[0].where, "%s%s", failures[0].why, how_to_find(failures[0].why));
	library->headers[toolkit] = of[failures[0].why != NULL];
	if (failures[0].why || failures[1].why)
		return;
	compare_targets(where, &of[0], &of[1], library->given);
	compare_targets(where, &of[1], &of[0], library->given);
}

static bool is_to_be_read(const struct scan *scan, const struct subject *library, int toolkit)
{
	if (library->given)
		return library->given->parses[toolkit].count;
	return library->exports[toolkit].count ||
	       (library->soname && in_folders(&library->includes, scan->versions[toolkit]));
}

void scan_headers(struct scan *scan)
{
	struct libclang clang;

	libclang_open(&clang, scan->libclang);
	for (size_t i = 0; i < scan->libraries.count; i++)
		for (int toolkit = 0; toolkit < scan->count; toolkit++)
			if (is_to_be_read(scan, scan->libraries.items[i], toolkit))
				scan_version(scan, &clang, scan->libraries.items[i], toolkit);
	dlclose(clang.handle);
}
