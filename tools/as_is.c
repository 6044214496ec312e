/* SPDX-License-Identifier: MIT */
/* as_is.c - what keeps a file, as it lies there, from versions that would serve its imports */
#include "as_is.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../stubs/base/library_name.h"
#include "ready.h"
#include "tally.h"

/* ---- what comes with the file ---- */

static enum serves serves(const struct findings *findings, const char *soname)
{
	/* ld.so opens a path and looks nowhere else. */
	if (strchr(soname, '/'))
		return SPOILS;
	return findings->beside ? neighbours_serve(findings->beside, &findings->searcher, soname) :
	       SERVES_NOT;
}

bool as_is_beside(const struct findings *findings, const char *soname)
{
	return serves(findings, soname) == SERVES;
}

static bool is_in_wheel(const struct findings *findings)
{
	return findings->beside && findings->beside->wheel;
}

bool as_is_apart(const struct findings *findings)
{
	return is_in_wheel(findings) && !findings->searcher.installed;
}

/* Returns true if a stub is installed with a wheel, where the file finds it. */
static bool stub_is_there(const struct findings *findings, const char *soname)
{
	return !is_in_wheel(findings) || as_is_beside(findings, soname) ||
	       neighbours_require_stubs(findings->beside, &findings->searcher);
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

/* The CUDAs that have a needed library, a bit for each. */
static uint32_t cudas_that_have(const struct found_import *import)
{
	struct lc_ending ending;
	int major;

	if (import->through != NEEDS_REAL)
		return UINT32_MAX;
	needed_kind(import->table, import->needed, &major);
	/* Its list knows no such number. */
	if (!major && lc_read_name(import->needed, &ending) && ending.number > 0 &&
	    lc_has_majors(import->table->library))
		return 0;
	return cudas_of(import->table->library, major);
}

/* The CUDAs with which a needed library is there, a bit for each. */
static uint32_t cudas_with(const struct findings *findings, const struct found_import *import)
{
	if (!import->needed)
		return import->unmet ? 0 : UINT32_MAX;
	if (import->through == NEEDS_STUB)
		return stub_is_there(findings, import->needed) ? UINT32_MAX : 0;
	switch (serves(findings, import->needed)) {
	case SERVES:		return UINT32_MAX;
	case SPOILS:		return 0;
	case SERVES_NOT:	break;
	}
	/* What auditwheel has renamed comes with the wheel, or from nowhere. */
	return import->through == NEEDS_RENAMED && is_in_wheel(findings) ? 0 : cudas_that_have(import);
}

bool as_is_with_its_libraries(const struct tables *tables, const struct findings *findings,
			      size_t toolkit)
{
	for (size_t i = 0; i < findings->import_count; i++)
		if (!(cudas_with(findings, &findings->imports[i]) & bit_of(tables, toolkit)))
			return false;
	return true;
}

/* ---- what nothing brings ---- */

struct search {
	const struct tables *tables;
	const struct findings *findings;
	const struct found_import *import;
	bool brought;		/* or may be */
};

static bool is_listed(const struct tables *tables, const char *soname)
{
	int major;

	for (size_t i = 0; i < tables->count; i++)
		if (needed_kind(&tables->all[i], soname, &major) != NEEDS_OTHER)
			return true;
	return ready_lists(soname) || ready_is_cudas(soname);
}

static void note_bringer(const char *soname, void *data)
{
	struct search *search = data;
	const struct table *table = search->import->table;
	int major;

	search->brought |= needed_kind(table, soname, &major) != NEEDS_OTHER ||
		ready_brings(soname, table->library->name) ||
		!(is_listed(search->tables, soname) || ready_is_systems(soname) || ready_is_apart(soname) ||
		  (search->findings->beside && neighbours_have(search->findings->beside, soname)));
}

/* Returns true if something that the file needs has, or may have, the library's functions. */
static bool is_brought(const struct tables *tables, const struct findings *findings,
		       const struct found_import *import)
{
	struct search search = { tables, findings, import, .brought = false };

	for (size_t i = 0; i < findings->needed.count; i++)
		note_bringer(findings->needed.list[i], &search);
	if (!search.brought && findings->searcher.installed &&
	    !neighbours_needs(findings->beside, &findings->searcher, note_bringer, &search))
		return true;
	return search.brought;
}

/* Takes out the names that files of the wheel define. */
static void leave_defined(const struct findings *findings, struct found_import *import)
{
	size_t left = 0;

	for (size_t i = 0; i < import->name_count; i++)
		if (!neighbours_define(findings->beside, import->names[i].name))
			import->names[left++] = import->names[i];
	import->name_count = left ? left : import->name_count;
	import->unmet = left;
}

/* The CUDAs whose library has a name, a bit for each. */
static uint32_t cudas_having(const struct lc_library *library, const char *name)
{
	uint32_t found = 0;

	for (size_t row = 0; row < library->major_count; row++)
		if (lc_find_export(library, name, library->majors[row].major))
			found |= cudas_of(library, library->majors[row].major);
	return found;
}

/* Names whose interface differs between majors are those of this major of the library. */
static void take_major(struct found_import *import, int major)
{
	for (size_t i = 0; i < import->name_count; i++)
		if (!import->names[i].export)
			import->names[i].export = lc_find_export(import->table->library,
								 import->names[i].name, major);
}

/* If all that nothing brings is together in one CUDA alone, the file was made for that. */
static void take_one_cuda(struct findings *findings, uint32_t known)
{
	uint32_t told = known;

	for (size_t i = 0; i < findings->import_count; i++)
		for (size_t k = 0; findings->imports[i].unmet && k < findings->imports[i].name_count; k++)
			told &= cudas_having(findings->imports[i].table->library,
					     findings->imports[i].names[k].name);
	for (size_t i = 0; i < findings->import_count && told && !(told & (told - 1)); i++) {
		const struct lc_library *library = findings->imports[i].table->library;

		for (size_t row = 0; findings->imports[i].unmet && row < library->major_count; row++)
			if (cudas_of(library, library->majors[row].major) & told)
				take_major(&findings->imports[i], library->majors[row].major);
	}
}

void as_is_settle(struct tables *tables, struct findings *findings)
{
	bool any = false;
	int major;

	/* In a folder, what is loaded together is not known. */
	if ((findings->beside && !is_in_wheel(findings)) || findings->object || findings->itself ||
	    findings->stub)
		return;
	for (size_t i = 0; i < findings->import_count; i++) {
		struct found_import *import = &findings->imports[i];

		if (import->versioned || !import->name_count)
			continue;
		if (import->needed) {
			/* In a wheel, the stub has the name of that library, and its interface. */
			if (is_in_wheel(findings) &&
			    needed_kind(import->table, import->needed, &major) != NEEDS_STUB && major)
				take_major(import, major);
			continue;
		}
		import->unmet = !is_brought(tables, findings, import);
		if (import->unmet && is_in_wheel(findings))
			leave_defined(findings, import);
		any |= import->unmet;
	}
	if (any)
		take_one_cuda(findings, known_cudas(tables));
}

/* ---- where it runs ---- */

bool as_is_for_glibc(const struct findings *findings)
{
	return !findings->musl && !findings->without_stub.count;
}

bool as_is_without_stubless(const struct findings *findings)
{
	for (size_t i = 0; i < findings->stubless.count; i++)
		if (!as_is_beside(findings, findings->stubless.list[i]))
			return false;
	return true;
}

bool as_is_without_cuda(const struct findings *findings)
{
	for (size_t i = 0; i < findings->import_count; i++) {
		const struct found_import *import = &findings->imports[i];

		if (import->unmet)
			return false;
		if (import->needed && !as_is_beside(findings, import->needed) &&
		    (import->through == NEEDS_REAL || !cudas_with(findings, import)))
			return false;
	}
	return as_is_for_glibc(findings) && as_is_without_stubless(findings);
}

bool as_is_retargeted(const struct findings *findings)
{
	for (size_t i = 0; i < findings->import_count; i++) {
		const struct found_import *import = &findings->imports[i];

		if (import->unmet || (import->needed && import->through != NEEDS_STUB &&
				      !as_is_beside(findings, import->needed)))
			return false;
	}
	return true;
}

bool as_is_without_stub(const struct findings *findings)
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

	for (size_t i = 0; i < findings->constants.opens.count; i++) {
		uint32_t cudas;
		size_t library = opened_library(tables, findings->constants.opens.list[i], &cudas);

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

bool as_is_within_reach(const struct tables *tables, const struct findings *findings, size_t toolkit,
			bool by_name)
{
	/* No stub stands for a name that no known CUDA has. */
	for (size_t i = 0; i < findings->import_count; i++) {
		const struct found_import *import = &findings->imports[i];

		if (import->needed && !as_is_beside(findings, import->needed) &&
		    !(cudas_that_have(import) & known_cudas(tables)))
			return false;
	}
	return as_is_for_glibc(findings) &&
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

/* "cublasCreate_v2 of cublas, and nothing brings libcublas" */
static const char *unmet_text(struct lc_arena *arena, const char *text, const struct found_import *import)
{
	const char *more = import->name_count == 1 ? "" :
		lc_format(arena, " and %zu more", import->name_count - 1);

	return lc_format(arena, "%s%s%s%s of %s, and nothing brings %.*s", text, *text ? "; " : "",
			 import->names[0].name, more, import->table->library->name,
			 (int)import->table->stem_length, import->table->stem);
}

/* The needed libraries that are not there on each CUDA. */
static const char *needed_text(struct lc_arena *arena, const struct findings *findings)
{
	const char *text = "", *astray = "", *missing = "", *unmet = "";

	for (size_t i = 0; i < findings->import_count; i++) {
		const struct found_import *import = &findings->imports[i];
		uint32_t cudas = cudas_with(findings, import);

		if (cudas == UINT32_MAX)
			continue;
		if (import->unmet)
			unmet = unmet_text(arena, unmet, import);
		else if (import->through == NEEDS_STUB)
			missing = list_once(arena, missing, import->needed);
		else if (import->through == NEEDS_RENAMED ||
			 (is_in_wheel(findings) && neighbours_have(findings->beside, import->needed)))
			astray = list_once(arena, astray, import->needed);
		else
			text = list_once(arena, text, import->needed);
	}
	if (*text)
		text = lc_format(arena, "it needs %s", text);
	if (*text && as_is_apart(findings))
		text = lc_format(arena, "%s, and is not installed into site-packages, where retarget puts"
				 " stubs", text);
	if (*astray)
		text = join(arena, text, lc_format(arena, "it needs %s, which is not in the wheel as a library"
						   " for its machine where the run path leads", astray));
	if (*missing)
		missing = lc_format(arena, "%s is not in the wheel where the run path leads, and it does"
				    " not require lazycuda", missing);
	if (*unmet)
		unmet = lc_format(arena, "not defined by anything that it needs: %s", unmet);
	return join(arena, join(arena, text, missing), unmet);
}

static const char *opened_text(struct lc_arena *arena, const struct tables *tables,
			       const struct findings *findings)
{
	struct reach named = reach_of(tables, findings);
	uint32_t known = known_cudas(tables), cudas;
	const char *text = "";

	for (size_t i = 0; i < findings->constants.opens.count; i++) {
		const char *name = findings->constants.opens.list[i];
		size_t library = opened_library(tables, name, &cudas);

		if (library < tables->count && known & ~named.cudas[library])
			text = list_once(arena, text, name);
	}
	return *text ? lc_format(arena, "it may open %s by name (--allow-by-name if it does well"
				 " without)", text) : "";
}

const char *as_is_reasons(struct lc_arena *arena, const struct tables *tables,
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

struct lc_strings as_is_unjudged(struct lc_arena *arena, const struct findings *findings)
{
	struct lc_strings names = { .count = 0 };

	for (size_t i = 0; i < findings->strangers.count; i++) {
		const char *soname = findings->strangers.list[i];

		if (!findings->beside || !neighbours_have(findings->beside, soname))
			lc_add_string(arena, &names, soname);
	}
	return names;
}
