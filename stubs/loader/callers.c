/* SPDX-License-Identifier: MIT */
/* callers.c - what the loaded objects import from the stubs */
#include "callers.h"

#include <string.h>

#include "../base/verdict.h"

struct note {
	const struct lc_library *library;
	const char **importers;
	const char *path;
};

static bool is_ours(const char *node, void *data)
{
	const struct note *note = data;

	return node && lc_node_major(note->library, node);
}

static bool note_import(const struct lc_undefined *symbol, void *data)
{
	const struct note *note = data;
	const struct lc_export *row = lc_find_export(note->library, symbol->name,
						     lc_node_major(note->library, symbol->node));

	if (row && !note->importers[row - note->library->exports])
		note->importers[row - note->library->exports] = note->path;
	return false;
}

static struct lc_called *called_of(struct lc_arena *arena, struct lc_callers *callers,
				   const struct lc_library *library)
{
	struct lc_called *called;

	for (size_t i = 0; i < callers->count; i++)
		if (callers->list[i].library == library)
			return callers->list[i].importers ? &callers->list[i] : NULL;
	called = lc_grow(arena, &callers->list, &callers->count, sizeof(*called));
	if (!called)
		return NULL;
	called->library = library;
	called->importers = lc_alloc(arena, library->export_count * sizeof(*called->importers));
	return called->importers ? called : NULL;
}

void lc_callers_note(struct lc_arena *arena, struct lc_callers *callers,
		     const struct lc_library *library, const struct lc_image *image,
		     const char *path)
{
	struct lc_called *called = called_of(arena, callers, library);

	if (!called || arena->failed)
		return;
	lc_image_undefined(image, is_ours, note_import,
			   &(struct note){ library, called->importers, path });
}

/* Adds the imports from one stub that would not be served.  Another copy of that
 * stub, of another release, may be the one to serve them: its tables count. */
static void add_unserved(const struct lc_called *called, const struct lc_library *library,
			 const struct lc_adaptor *adaptors, lc_version version,
			 struct lc_unserved *unserved)
{
	for (size_t i = 0; i < called->library->export_count; i++) {
		const struct lc_export *row = &called->library->exports[i];
		const char *name = called->library->names + row->name;

		if (!called->importers[i])
			continue;
		if (called->library != library)
			row = lc_find_export(library, name, row->major);
		if (row && lc_judge(library, adaptors, row, version) <= LC_RUNS_ADAPTED)
			continue;
		if (!unserved->count++) {
			unserved->name = name;
			unserved->importer = called->importers[i];
		}
	}
}

struct lc_unserved lc_callers_unserved(const struct lc_callers *callers,
				       const struct lc_library *library,
				       const struct lc_adaptor *adaptors, lc_version version)
{
	struct lc_unserved unserved = { .count = 0 };

	for (size_t i = 0; i < callers->count; i++)
		if (!strcmp(callers->list[i].library->name, library->name))
			add_unserved(&callers->list[i], library, adaptors, version, &unserved);
	return unserved;
}
