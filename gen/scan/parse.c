/* SPDX-License-Identifier: MIT */
/*
 * parse.c - opens libclang, and has it parse a header
 *
 * Toolkit headers are parsed without the system's headers.  They need only a few
 * types from there, which the shims below provide, so that the result depends on
 * the toolkit alone.  A header of any other library may need more: it is parsed
 * with the system's headers if it fails without them.
 */
#include "unit.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

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
	{ "assert.h",
	  "#define assert(condition) ((void)0)\n"
	  "#ifndef __cplusplus\n"
	  "#define static_assert _Static_assert\n"
	  "#endif\n" },
	{ "nv/target", "\n" },
	{ "cxxabi.h", "\n" },
	{ "cstdlib", "#include <stddef.h>\n" },
	{ "cstdint", "#include <stdint.h>\n" },
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

void libclang_open(struct libclang *clang, const char *path)
{
	CXString text;
	const char *number;
	int major = 0;

	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		unsetenv(variables[i]);
	clang->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!clang->handle) {
		const char *why = dlerror();
		const size_t length = strlen(path);

		/* It names the file, as fail() does. */
		if (!strncmp(why, path, length) && !strncmp(why + length, ": ", 2))
			why += length + 2;
		fail(path, "%s%s", why, how_to_get_it);
	}
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

/* ---- the system's headers ---- */

/* The folders where the compiler looks for headers; none if there is no such compiler. */
static const struct list *system_folders(bool cplusplus)
{
	static struct list found[2];
	static bool asked[2];
	struct list *folders = &found[cplusplus];
	bool listed = false;
	char line[4096];
	FILE *said;

	if (asked[cplusplus])
		return folders;
	asked[cplusplus] = true;
	said = popen(cplusplus ? "LC_ALL=C ${CC:-cc} -E -v -x c++ /dev/null 2>&1" :
				 "LC_ALL=C ${CC:-cc} -E -v -x c /dev/null 2>&1", "r");
	while (said && fgets(line, sizeof(line), said)) {
		line[strcspn(line, "\n")] = 0;
		if (!strncmp(line, "#include <...>", 14))
			listed = true;
		else if (*line != ' ')
			listed = false;
		else if (listed)
			list_add(folders, scan_intern(line + 1));
	}
	if (said)
		pclose(said);
	return folders;
}

/* ---- translation units ---- */

/* The first error of a translation unit, or NULL. */
static const char *error_of(const struct libclang *clang, CXTranslationUnit tu)
{
	const char *error = NULL;

	for (unsigned i = 0; i < clang->getNumDiagnostics(tu) && !error; i++) {
		CXDiagnostic diagnostic = clang->getDiagnostic(tu, i);

		if (clang->getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error)
			error = take_string(clang, clang->formatDiagnostic(diagnostic, 3));
		clang->disposeDiagnostic(diagnostic);
	}
	return error;
}

static struct list arguments_of(const struct way_to_read *reading)
{
	struct list arguments = { 0 };

	list_add(&arguments, "--no-default-config");
	list_add(&arguments, "-nostdinc");
	list_add(&arguments, "-w");
	list_add(&arguments, reading->cplusplus ? "-xc++" : "-xc");
	list_add(&arguments, reading->cplusplus ? "-std=c++17" :
			     reading->system ? "-std=gnu11" : "-std=c11");
	list_add(&arguments, format("--target=%s-linux-gnu", reading->target));
	for (size_t i = 0; i < reading->folders->count; i++)
		list_add(&arguments, format("-I%s", (char *)reading->folders->items[i]));
	for (size_t i = 0; i < reading->hint->defines.count; i++)
		list_add(&arguments, reading->hint->defines.items[i]);
	if (reading->system) {
		const struct list *folders = system_folders(reading->cplusplus);

		list_add(&arguments, "-D_GNU_SOURCE");
		for (size_t i = 0; i < folders->count; i++)
			list_add(&arguments, format("-isystem%s", (char *)folders->items[i]));
	}
	return arguments;
}

static bool parse_once(const struct way_to_read *reading, struct parsed *out)
{
	const struct libclang *clang = reading->clang;
	const char *folder = reading->folders->items[0], *source = "", *name;
	struct list arguments = arguments_of(reading);
	struct CXUnsavedFile files[SHIM_COUNT + 1];
	size_t count = reading->system ? 0 : SHIM_COUNT;

	for (size_t i = 0; i < reading->hint->headers.count; i++)
		source = format("%s#include \"%s\"\n", source,
				(char *)reading->hint->headers.items[i]);
	/* Unsaved files need a folder that exists; the first include folder will do. */
	name = format("%s/scan.c", folder);
	files[0] = (struct CXUnsavedFile){ name, source, strlen(source) };
	for (size_t i = 0; i < count; i++)
		files[i + 1] = (struct CXUnsavedFile){ format("%s/%s", folder, shims[i].name),
						       shims[i].text, strlen(shims[i].text) };

	*out = (struct parsed){ .index = clang->createIndex(0, 0) };
	if (clang->parseTranslationUnit2(out->index, name, (const char *const *)arguments.items,
					 (int)arguments.count, files, (unsigned)count + 1,
					 CXTranslationUnit_SkipFunctionBodies, &out->tu) || !out->tu)
		out->error = "libclang could not parse it";
	else
		out->error = error_of(clang, out->tu);
	return !out->error;
}

void parsed_free(const struct libclang *clang, struct parsed *parsed)
{
	if (parsed->tu)
		clang->disposeTranslationUnit(parsed->tu);
	clang->disposeIndex(parsed->index);
}

bool parse(struct way_to_read *reading, bool any, struct parsed *out)
{
	reading->system = false;
	if (parse_once(reading, out) || !any || !system_folders(reading->cplusplus)->count)
		return !out->error;
	parsed_free(reading->clang, out);
	reading->system = true;
	return parse_once(reading, out);
}
