/* SPDX-License-Identifier: MIT */
/*
 * headers.c - reads prototypes and enumerators through libclang
 *
 * Toolkit headers are parsed without the system's headers.  They need only a few
 * types from there, which the shims below provide, so that the result depends on
 * the toolkit alone.  Every toolkit is parsed for x86-64 and for aarch64, and both
 * results must be equal: the list has one line for both.
 */
#include "unit.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *const targets[] = { "x86_64", "aarch64" };

/* What toolkit headers need from system headers, as far as the ABI depends on it. */
static const struct { const char *name, *text; } shims[] = {
	{ "stddef.h",
	  "#pragma once\n"
	  "typedef __SIZE_TYPE__ size_t;\n"
	  "typedef __PTRDIFF_TYPE__ ptrdiff_t;\n"
	  "#ifdef __cplusplus\n"
	  "#define NULL __null\n"
	  "#else\n"
	  "#define NULL ((void *)0)\n"
	  "#endif\n" },
	{ "stdint.h",
	  "#pragma once\n"
	  "typedef __INT8_TYPE__ int8_t;\n"
	  "typedef __UINT8_TYPE__ uint8_t;\n"
	  "typedef __INT16_TYPE__ int16_t;\n"
	  "typedef __UINT16_TYPE__ uint16_t;\n"
	  "typedef __INT32_TYPE__ int32_t;\n"
	  "typedef __UINT32_TYPE__ uint32_t;\n"
	  "typedef __INT64_TYPE__ int64_t;\n"
	  "typedef __UINT64_TYPE__ uint64_t;\n"
	  "typedef __UINTPTR_TYPE__ uintptr_t;\n" },
	{ "limits.h",
	  "#pragma once\n"
	  "#define INT_MAX __INT_MAX__\n"
	  "#define INT_MIN (-__INT_MAX__ - 1)\n"
	  "#define UINT_MAX (2u * __INT_MAX__ + 1)\n"
	  "#define LONG_MAX __LONG_MAX__\n"
	  "#define LLONG_MAX __LONG_LONG_MAX__\n" },
	{ "stdlib.h", "#include <stddef.h>\n" },
	{ "string.h", "#include <stddef.h>\n" },
	{ "ctype.h", "\n" },
	{ "stdio.h", "#include <stddef.h>\ntypedef struct _IO_FILE FILE;\n" },
	{ "math.h",
	  "#pragma once\n"
	  "extern float fabsf(float), sqrtf(float);\n"
	  "extern double fabs(double), sqrt(double);\n" },
	{ "stdbool.h",
	  "#ifndef __cplusplus\n"
	  "#define bool _Bool\n"
	  "#define true 1\n"
	  "#define false 0\n"
	  "#endif\n" },
	{ "inttypes.h", "#include <stdint.h>\n" },
	{ "assert.h", "#define assert(condition) ((void)0)\n" },
	{ "nv/target", "\n" },
	{ "cxxabi.h", "\n" },
	{ "cstdlib", "#include <stddef.h>\n" },
	{ "GL/gl.h",
	  "#pragma once\n"
	  "#define GL_VERSION 0x1f02\n"
	  "typedef unsigned GLenum, GLuint;\n" },
	{ "EGL/egl.h", "typedef int EGLint;\n" },
	{ "EGL/eglext.h", "typedef void *EGLImageKHR, *EGLStreamKHR, *EGLSyncKHR;\n" },
	{ "vdpau/vdpau.h",
	  "typedef unsigned VdpDevice, VdpVideoSurface, VdpOutputSurface;\n"
	  "typedef int VdpGetProcAddress(VdpDevice, unsigned, void **);\n" },
};
#define SHIM_COUNT (sizeof(shims) / sizeof(shims[0]))

/* Environment variables that would change how clang parses. */
static const char *const variables[] = {
	"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "OBJC_INCLUDE_PATH",
	"CCC_OVERRIDE_OPTIONS", "CLANG_CONFIG_FILE_USER_DIR", "CLANG_CONFIG_FILE_SYSTEM_DIR"
};

static const char how_to_get_it[] =
	"\nlibclang 18 reads headers: `pip install libclang==18.1.1` has it, in site-packages as"
	"\nclang/native/libclang.so, and --libclang FILE names it.  `lazycuda stub` can do without,"
	"\nwithout --header: functions are then forwarded within a major alone.";

static void libclang_open(struct libclang *clang, const char *path)
{
	CXString text;
	const char *number;
	int major = 0;

	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		unsetenv(variables[i]);
	clang->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!clang->handle)
		fail(path, "%s%s", dlerror(), how_to_get_it);
#define X(result, name, parameters) \
	*(void **)&clang->name = dlsym(clang->handle, "clang_" #name); \
	if (!clang->name) \
		fail(path, "has no clang_" #name);
	LIBCLANG_FUNCTIONS(X)
#undef X
	text = clang->getClangVersion();
	number = strpbrk(clang->getCString(text), "0123456789");
	while (number && *number >= '0' && *number <= '9')
		major = 10 * major + (*number++ - '0');
	clang->disposeString(text);
	if (major != LIBCLANG_MAJOR)
		fail(path, "is libclang %d; scan was written for %d%s", major, LIBCLANG_MAJOR,
		     how_to_get_it);
}

/* ---- functions and enumerations ---- */

/* Returns true for a pointer to an opaque struct. */
static bool is_handle(const struct unit *unit, CXType type)
{
	const struct libclang *clang = unit->clang;
	CXType target;

	if (type.kind != CXType_Pointer)
		return false;
	target = clang->getCanonicalType(clang->getPointeeType(type));
	return target.kind == CXType_Record && !is_record(unit, target);
}

/* Returns true for const char *, a string that the library owns. */
static bool is_text(const struct unit *unit, CXType type)
{
	const struct libclang *clang = unit->clang;
	CXType target;

	if (type.kind != CXType_Pointer)
		return false;
	target = clang->getCanonicalType(clang->getPointeeType(type));
	return clang->isConstQualifiedType(target) &&
	       (target.kind == CXType_Char_S || target.kind == CXType_Char_U);
}

static struct c_param take_param(struct unit *unit, CXCursor function, unsigned index)
{
	const struct libclang *clang = unit->clang;
	CXCursor argument = clang->Cursor_getArgument(function, index);
	struct c_param param = { .name = take(clang, clang->getCursorSpelling(argument)) };
	/* In the function's canonical type, an array parameter is already a pointer. */
	CXType whole = clang->getCanonicalType(clang->getCursorType(function));
	CXType type = clang->getCanonicalType(clang->getArgType(whole, index));
	CXType target;

	if (type.kind != CXType_Pointer) {
		param.type = value_type(unit, type);
		return param;
	}
	target = clang->getCanonicalType(clang->getPointeeType(type));
	param.type.kind = PTR;
	/* void *, a callback, or a handle: no target to describe. */
	if (target.kind == CXType_Void || target.kind == CXType_FunctionProto ||
	    target.kind == CXType_FunctionNoProto ||
	    (target.kind == CXType_Record && !is_record(unit, target)))
		return param;
	param.type = value_type(unit, target);
	param.type.enumeration = NULL;
	param.pointer = true;
	param.constant = clang->isConstQualifiedType(target);
	param.handle = is_handle(unit, target);
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
	int count = clang->Cursor_getNumArguments(cursor);
	struct prototype *prototype = scan_alloc(sizeof(*prototype)), *known;
	CXType result;

	unit->objection = NULL;
	if (clang->Cursor_isVariadic(cursor))
		object(unit, "%s takes a variable number of arguments", name);
	prototype->name = name;
	prototype->place = place_of(unit, cursor);
	result = clang->getCanonicalType(clang->getCursorResultType(cursor));
	prototype->result = value_type(unit, result);
	prototype->text = is_text(unit, result);
	prototype->count = (size_t)count;
	prototype->params = scan_alloc((size_t)count * sizeof(*prototype->params) + 1);
	for (int i = 0; i < count; i++)
		prototype->params[i] = take_param(unit, cursor, (unsigned)i);
	if (unit->objection) {
		map_put(&unit->library->given->inexpressible, name, (void *)unit->objection);
		return;
	}
	known = map_get(&unit->headers->prototypes, name);
	if (!known)
		map_put(&unit->headers->prototypes, name, prototype);
	else if (same_prototype(known, prototype))
		merge_names(known, prototype);
	else
		fail(unit->where, "%s is declared in two ways", name);
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
	value = scan_alloc(sizeof(*value));
	value->name = take(clang, clang->getCursorSpelling(cursor));
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
		in.values = scan_alloc(sizeof(*in.values));
		map_put(&unit->headers->enums, name, in.values);
	}
	unit->clang->visitChildren(cursor, visit_enumerator, &in);
}

static enum CXChildVisitResult visit_typedefs(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct unit *unit = data;
	int kind = unit->clang->getCursorKind(cursor);

	(void)parent;
	if (kind == CXCursor_LinkageSpec)
		return CXChildVisit_Recurse;
	if (kind == CXCursor_TypedefDecl)
		map_put(&unit->typedefs,
			take(unit->clang, unit->clang->getCursorSpelling(cursor)), unit);
	return CXChildVisit_Continue;
}

/* Returns true if a declaration is in the header itself, not in one that it includes. */
static bool is_of_header(const struct unit *unit, CXCursor cursor)
{
	const char *header = unit->hint->headers.items[0], *path = place_of(unit, cursor).file;
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
	if (kind == CXCursor_LinkageSpec)
		return CXChildVisit_Recurse;
	if (kind == CXCursor_EnumDecl)
		take_enum(unit, cursor);
	if (kind != CXCursor_FunctionDecl ||
	    unit->clang->getCursorLinkage(cursor) != CXLinkage_External)
		return CXChildVisit_Continue;
	name = take(unit->clang, unit->clang->getCursorSpelling(cursor));
	if (is_wanted(unit->library, name))
		take_function(unit, cursor, name);
	else if (unit->library->given && is_of_header(unit, cursor))
		map_put(&unit->library->given->unexported, name, (void *)name);
	return CXChildVisit_Continue;
}

/* ---- translation units ---- */

static void refuse_errors(const struct unit *unit, CXTranslationUnit tu)
{
	const struct libclang *clang = unit->clang;

	for (unsigned i = 0; i < clang->getNumDiagnostics(tu); i++) {
		CXDiagnostic diagnostic = clang->getDiagnostic(tu, i);

		if (clang->getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error) {
			const char *said = take(clang, clang->formatDiagnostic(diagnostic, 3));

			fail(unit->where, "%s%s", said,
			     unit->library->given && strstr(said, "file not found") ?
			     "; --include names the folder of a header" : "");
		}
		clang->disposeDiagnostic(diagnostic);
	}
}

static void parse(struct unit *unit, const struct parse_hint *hint,
		  const struct list *folders, const char *target)
{
	const struct libclang *clang = unit->clang;
	struct CXUnsavedFile files[SHIM_COUNT + 1];
	struct list arguments = { 0 };
	const char *source = "", *name;
	CXTranslationUnit tu = NULL;
	CXIndex index;

	list_add(&arguments, "--no-default-config");
	list_add(&arguments, "-nostdinc");
	list_add(&arguments, "-w");
	list_add(&arguments, hint->cplusplus ? "-xc++" : "-xc");
	list_add(&arguments, hint->cplusplus ? "-std=c++17" : "-std=c11");
	list_add(&arguments, format("--target=%s-linux-gnu", target));
	for (size_t i = 0; i < folders->count; i++)
		list_add(&arguments, format("-I%s", (char *)folders->items[i]));
	for (size_t i = 0; i < hint->defines.count; i++)
		list_add(&arguments, hint->defines.items[i]);
	for (size_t i = 0; i < hint->headers.count; i++)
		source = format("%s#include \"%s\"\n", source, (char *)hint->headers.items[i]);

	/* Unsaved files need a folder that exists; the first include folder will do. */
	name = format("%s/scan.c", (char *)folders->items[0]);
	files[0] = (struct CXUnsavedFile){ name, source, strlen(source) };
	for (size_t i = 0; i < SHIM_COUNT; i++)
		files[i + 1] = (struct CXUnsavedFile){
			format("%s/%s", (char *)folders->items[0], shims[i].name),
			shims[i].text, strlen(shims[i].text)
		};

	index = clang->createIndex(0, 0);
	if (clang->parseTranslationUnit2(index, name, (const char *const *)arguments.items,
					 (int)arguments.count, files, SHIM_COUNT + 1,
					 CXTranslationUnit_SkipFunctionBodies, &tu) || !tu)
		fail(unit->where, "libclang could not parse it");
	refuse_errors(unit, tu);
	clang->visitChildren(clang->getTranslationUnitCursor(tu), visit_typedefs, unit);
	clang->visitChildren(clang->getTranslationUnitCursor(tu), visit_top, unit);
	clang->disposeTranslationUnit(tu);
	clang->disposeIndex(index);
}

/* The header folders of one toolkit.  If a CPU has none, returns those of x86-64: that
 * toolkit has no library for the CPU either. */
static struct list find_folders(const struct scan *scan, const struct subject *library, int toolkit,
				const char *arch)
{
	version v = scan->versions[toolkit];
	struct list folders = { 0 };
	struct stat status;

	if (library->given)
		return library->given->includes[toolkit];
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
		list_add(&folders, (void *)path);
	}
	if (!folders.count)
		fail_at(library->place, "%s has no `include` for %d.%d", library->name,
			MAJOR(v), MINOR(v));
	return folders;
}

static void parse_all(const struct scan *scan, const struct libclang *clang,
		      const struct subject *library, int toolkit, const char *target,
		      struct headers *out)
{
	struct list folders = find_folders(scan, library, toolkit, target);
	const struct list *parses = library->given ? &library->given->parses[toolkit] :
						     &library->parses;

	for (size_t i = 0; i < parses->count; i++) {
		const struct parse_hint *hint = parses->items[i];
		struct unit unit = { .clang = clang, .library = library, .headers = out,
				     .hint = hint };

		unit.where = format("%s (%s)", library->given ? hint->place.file :
						    (char *)folders.items[0], target);
		parse(&unit, hint, &folders, target);
	}
}

static void compare_targets(const char *where, const struct headers *a, const struct headers *b)
{
	for (size_t i = 0; i < a->prototypes.keys.count; i++) {
		const struct prototype *one = a->prototypes.values.items[i];
		const struct prototype *other = map_get(&b->prototypes, one->name);

		if (!other || !same_prototype(one, other))
			fail(where, "%s differs between %s and %s", one->name, targets[0], targets[1]);
	}
	for (size_t i = 0; i < a->layouts.keys.count; i++) {
		const struct layout *one = a->layouts.values.items[i];
		const struct layout *other = map_get(&b->layouts, one->name);

		if (!other || !same_layout(one, other))
			fail(where, "struct %s differs between %s and %s", one->name,
			     targets[0], targets[1]);
	}
}

void scan_headers(struct scan *scan)
{
	struct libclang clang;

	libclang_open(&clang, scan->libclang);
	for (size_t i = 0; i < scan->libraries.count; i++) {
		struct subject *library = scan->libraries.items[i];

		for (int toolkit = 0; toolkit < scan->count; toolkit++) {
			version v = scan->versions[toolkit];
			const char *where = format("%s %d.%d", library->name, MAJOR(v), MINOR(v));
			struct headers other = { 0 };

			if (library->given ? !library->given->parses[toolkit].count :
			    !library->exports[toolkit].count &&
			    !(library->soname && in_folders(&library->includes, v)))
				continue;
			parse_all(scan, &clang, library, toolkit, targets[0], &library->headers[toolkit]);
			parse_all(scan, &clang, library, toolkit, targets[1], &other);
			compare_targets(where, &library->headers[toolkit], &other);
			compare_targets(where, &other, &library->headers[toolkit]);
		}
	}
	dlclose(clang.handle);
}
