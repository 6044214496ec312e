/* SPDX-License-Identifier: MIT */
/* as_it_lies.c - what keeps a file, as it lies there, from versions that would serve its imports */
#include "as_it_lies.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../stubs/base/library_name.h"
#include "tally.h"

/* ---- what comes with the file ---- */

static int compare_names(const void *one, const void *other)
{
	return strcmp(*(const char *const *)one, *(const char *const *)other);
}

static bool has(const struct names *names, const char *name)
{
	return names->count &&
	       bsearch(&name, names->list, names->count, sizeof(*names->list), compare_names);
}

bool lies_beside(const struct findings *findings, const char *soname)
{
	const char *slash = strrchr(soname, '/');

	return findings->beside && has(&findings->beside->names, slash ? slash + 1 : soname);
}

static void sort(struct names *names)
{
	if (names->count)
		qsort(names->list, names->count, sizeof(*names->list), compare_names);
}

void lies_sort(struct beside *beside)
{
	sort(&beside->names);
	sort(&beside->places);
}

const char *lies_in_site(const char *member)
{
	size_t first = strcspn(member, "/");

	if (first < 5 || !member[first] || memcmp(member + first - 5, ".data", 5))
		return member;
	member += first + 1;
	return strncmp(member, "purelib/", 8) && strncmp(member, "platlib/", 8) ? NULL : member + 8;
}

bool lies_apart(const struct findings *findings)
{
	return findings->beside && findings->beside->whole && !findings->place;
}

/* Removes "/./", "//" and "/../" from a path that begins with a slash; false if it leads out. */
static bool tidy(char *path)
{
	char *to = path;

	for (char *from = path; *from;) {
		size_t length = 1 + strcspn(from + 1, "/");

		if (length == 3 && !memcmp(from, "/..", 3)) {
			if (to == path)
				return false;
			while (*--to != '/')
				;
		} else if (length > 2 || (length == 2 && from[1] != '.')) {
			memmove(to, from, length);
			to += length;
		}
		from += length;
	}
	*to = 0;
	return true;
}

/* Returns true if this entry of the run path leads to a file of this name in the wheel. */
static bool leads_to(const struct findings *findings, const char *entry, size_t length,
		     const char *name)
{
	const char *place = findings->place, *slash = strrchr(place, '/');
	size_t origin = !strncmp(entry, "$ORIGIN", 7) ? 7 : !strncmp(entry, "${ORIGIN}", 9) ? 9 : 0;
	char *path;
	bool found;

	if (!origin || origin > length ||
	    asprintf(&path, "/%.*s%.*s/%s", slash ? (int)(slash - place) : 0, place,
		     (int)(length - origin), entry + origin, name) < 0)
		return false;
	found = tidy(path) && has(&findings->beside->places, path + 1);
	free(path);
	return found;
}

static bool lies_on_run_path(const struct findings *findings, const char *name)
{
	const char *entry = findings->place ? findings->run_path : NULL;
	size_t length;

	for (; entry && *entry; entry += length + (entry[length] == ':')) {
		length = strcspn(entry, ":");
		if (leads_to(findings, entry, length, name))
			return true;
	}
	return false;
}

/* Returns true if a stub is installed with a wheel, where the file finds it. */
static bool stub_is_there(const struct findings *findings, const char *soname)
{
	return !findings->beside->whole || findings->beside->requires_stubs ||
	       lies_on_run_path(findings, soname);
}

/* ---- libraries of CUDA ---- */

/* The CUDAs that have this major of a library, a bit for each. */
static uint32_t cudas_of(const struct lc_library *library, int major)
{
	uint32_t shipping = 0;

	if (!lc_has_majors(library) || major <= 0 || major > 31)
		return UINT32_MAX;
	if (!library->own_majors)
		return (uint32_t)1 << major;
	for (size_t row = 0; library->cuda && row < library->major_count; row++)
		if (library->majors[row].major == major)
			return library->cuda[row];
	/* It goes with any CUDA, and comes with some. */
	for (size_t i = 0; i < library->ship_count; i++)
		shipping |= (uint32_t)1 << LC_MAJOR(library->ships[i].cuda);
	return shipping ? shipping : UINT32_MAX;
}

static uint32_t bit_of(const struct tables *tables, size_t toolkit)
{
	return (uint32_t)1 << LC_MAJOR(tables->toolkits[toolkit]);
}

static uint32_t known_cudas(const struct tables *tables)
{
	uint32_t known = 0;

	for (size_t i = 0; i < tables->toolkit_count; i++)
		known |= bit_of(tables, i);
	return known;
}

/* The CUDAs with which a needed library is there, a bit for each. */
static uint32_t cudas_with(const struct findings *findings, const struct found_import *import)
{
	struct lc_ending ending;
	int major;

	if (!import->needed)
		return UINT32_MAX;
	if (needed_kind(import->table, import->needed, &major) == NEEDS_STUB)
		return !findings->beside || stub_is_there(findings, import->needed) ? UINT32_MAX : 0;
	if (lies_beside(findings, import->needed))
		return UINT32_MAX;
	if (import->through != NEEDS_REAL)
		return UINT32_MAX;
	/* Its list knows no such number. */
	if (!major && lc_read_name(import->needed, &ending) && ending.number > 0 &&
	    lc_has_majors(import->table->library))
		return 0;
	return cudas_of(import->table->library, major);
}

bool lies_with_its_libraries(const struct tables *tables, const struct findings *findings,
			     size_t toolkit)
{
	for (size_t i = 0; i < findings->import_count; i++)
		if (!(cudas_with(findings, &findings->imports[i]) & bit_of(tables, toolkit)))
			return false;
	return true;
}

bool lies_for_glibc(const struct findings *findings)
{
	return !findings->musl && !findings->without_stub.count;
}

bool lies_without_cuda(const struct findings *findings)
{
	for (size_t i = 0; i < findings->import_count; i++) {
		const struct found_import *import = &findings->imports[i];

		if (import->needed && !lies_beside(findings, import->needed) &&
		    (import->through == NEEDS_REAL || !cudas_with(findings, import)))
			return false;
	}
	return lies_for_glibc(findings);
}

bool lies_without_stub(const struct findings *findings)
{
	bool lacks = false;

	for (size_t i = 0; i < findings->import_count; i++) {
		uint32_t cudas = cudas_with(findings, &findings->imports[i]);

		if (cudas != UINT32_MAX && findings->imports[i].through != NEEDS_STUB)
			return false;
		lacks |= !cudas;
	}
	return lacks;
}

/* The library of a name that the file may open by it, and the CUDAs that have one of this name, a
 * bit for each; the count of tables if there is none. */
static size_t opened_library(const struct tables *tables, const char *name, uint32_t *cudas)
{
	size_t i = 0;
	int major;

	while (i < tables->count && needed_kind(&tables->all[i], name, &major) != NEEDS_REAL)
		i++;
	if (i < tables->count)
		*cudas = cudas_of(tables->all[i].library, major);
	return i;
}

/* By library, the CUDAs of which the file may open one: with several names it opens the one that
 * is there. */
struct reach { uint32_t cudas[MAX_TABLES]; };

static struct reach reach_of(const struct tables *tables, const struct findings *findings)
{
	struct reach named = { .cudas = { 0 } };

	for (size_t i = 0; i < findings->constants.open_count; i++) {
		uint32_t cudas;
		size_t library = opened_library(tables, findings->constants.opens[i], &cudas);

		if (library < tables->count)
			named.cudas[library] |= cudas;
	}
	return named;
}

static bool opens_all(const struct tables *tables, const struct findings *findings, size_t toolkit)
{
	struct reach named = reach_of(tables, findings);

	for (size_t i = 0; i < tables->count; i++)
		if (named.cudas[i] && !(named.cudas[i] & bit_of(tables, toolkit)))
			return false;
	return true;
}

bool lies_within_reach(const struct tables *tables, const struct findings *findings, size_t toolkit,
		       bool by_name)
{
	/* What no CUDA has that is known, no stub stands for. */
	for (size_t i = 0; i < findings->import_count; i++)
		if (!(cudas_with(findings, &findings->imports[i]) & known_cudas(tables)) &&
		    findings->imports[i].through != NEEDS_STUB)
			return false;
	return lies_for_glibc(findings) &&
	       (by_name || opens_all(tables, findings, toolkit));
}

/* ---- in words ---- */

static const char *list_once(struct lc_arena *arena, const char *text, const char *name)
{
	return strstr(text, name) ? text : lc_format(arena, "%s%s%s", text, *text ? ", " : "", name);
}

static const char *join(struct lc_arena *arena, const char *text, const char *more)
{
	return !*more ? text : lc_format(arena, "%s%s%s", text, *text ? "; " : "", more);
}

/* The needed libraries that are not there on any CUDA. */
static const char *needed_text(struct lc_arena *arena, const struct findings *findings)
{
	const char *text = "", *missing = "";

	for (size_t i = 0; i < findings->import_count; i++) {
		const struct found_import *import = &findings->imports[i];
		uint32_t cudas = cudas_with(findings, import);

		if (!cudas && import->through == NEEDS_STUB)
			missing = list_once(arena, missing, import->needed);
		else if (cudas != UINT32_MAX)
			text = list_once(arena, text, import->needed);
	}
	if (*text)
		text = lc_format(arena, "it needs %s", text);
	if (*text && lies_apart(findings))
		text = lc_format(arena, "%s, and is not installed into site-packages, where retarget puts"
				 " stubs", text);
	if (*missing)
		missing = lc_format(arena, "%s is not in the wheel where the run path leads, and it does"
				    " not require lazycuda", missing);
	return join(arena, text, missing);
}

static const char *opened_text(struct lc_arena *arena, const struct tables *tables,
			       const struct findings *findings)
{
	struct reach named = reach_of(tables, findings);
	uint32_t known = known_cudas(tables), cudas;
	const char *text = "";

	for (size_t i = 0; i < findings->constants.open_count; i++) {
		const char *name = findings->constants.opens[i];
		size_t library = opened_library(tables, name, &cudas);

		if (library < tables->count && known & ~named.cudas[library])
			text = list_once(arena, text, name);
	}
	return *text ? lc_format(arena, "it may open %s by name (--allow-by-name if it does well"
				 " without)", text) : "";
}

const char *lies_reasons(struct lc_arena *arena, const struct tables *tables,
			 const struct findings *findings, bool by_name)
{
	const char *text = needed_text(arena, findings);

	if (!by_name)
		text = join(arena, text, opened_text(arena, tables, findings));
	if (findings->without_stub.count)
		text = join(arena, text, lc_format(arena, "the stub of %s is not installed here, so its"
			    " imports are not judged (make all-stubs)",
			    list_names(arena, &findings->without_stub)));
	if (findings->musl)
		text = join(arena, text, "it is for musl, and CUDA's libraries need glibc");
	return text;
}

struct names lies_unjudged(struct lc_arena *arena, const struct findings *findings)
{
	struct names names = { .count = 0 };

	for (size_t i = 0; i < findings->strangers.count; i++) {
		const char *soname = findings->strangers.list[i];
		const char **name = lies_beside(findings, soname) ? NULL :
			lc_grow(arena, &names.list, &names.count, sizeof(*name));

		if (name)
			*name = soname;
	}
	return names;
}
