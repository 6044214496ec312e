/* SPDX-License-Identifier: MIT */
/* findings.c - what one ELF file has to do with the CUDA libraries */
#include "findings.h"

#include <elf.h>
#include <string.h>
#include <strings.h>

#include "../stubs/base/image.h"
#include "../stubs/base/object.h"
#include "constants.h"

/* More than any file has that a compiler made: reading ends in a time that
 * grows with the file alone. */
#define MAX_IMPORTS 256
#define MAX_NAME 1024		/* bytes */
#define MAX_RIVALS 16

struct reading {
	struct lc_arena *arena;
	struct tables *tables;
	struct findings *findings;
	bool needed[MAX_TABLES];
	const char *rivals[MAX_RIVALS];	/* stems: see note_rival() */
	size_t rival_lengths[MAX_RIVALS], rival_count;
	size_t names_left;	/* bytes that names may still be long: they may be the same */
	const char *why;	/* what is wrong with the file */
};

/* Whether a name is no longer than names are, and all so far no longer than the file:
 * each is read, and some are said, as often as something leads to them. */
static bool is_likely_name(struct reading *reading, const char *name, const char *why)
{
	size_t length = strnlen(name, MAX_NAME);

	if (length == MAX_NAME)
		reading->why = why;
	else if (length > reading->names_left)
		reading->why = "has names that are the same bytes";
	else
		reading->names_left -= length;
	return !reading->why;
}

/* ---- imports ---- */

static struct found_import *import_of(struct reading *reading, struct table *table, int major,
				      bool versioned, const char *file)
{
	struct findings *findings = reading->findings;
	struct found_import *import;

	for (size_t i = 0; i < findings->import_count; i++) {
		import = &findings->imports[i];
		if (import->table == table && import->major == major &&
		    import->versioned == versioned &&
		    (!file || (import->file && !strcmp(import->file, file))))
			return import;
	}
	if (findings->import_count == MAX_IMPORTS) {
		reading->why = "needs an unlikely number of CUDA libraries";
		return NULL;
	}
	import = lc_grow(reading->arena, &findings->imports, &findings->import_count,
			 sizeof(*import));
	if (import)
		*import = (struct found_import){
			.table = table, .major = major, .versioned = versioned, .file = file,
		};
	return import;
}

static void add_name(struct reading *reading, struct found_import *import, const char *name,
		     const struct lc_export *export)
{
	struct found_name *found = import ? lc_grow(reading->arena, &import->names,
						    &import->name_count, sizeof(*found)) : NULL;

	if (found)
		*found = (struct found_name){ name, export };
}

static struct table *table_of_node(struct reading *reading, const char *node, int *major)
{
	for (size_t i = 0; i < reading->tables->count; i++) {
		*major = lc_node_major(reading->tables->all[i].library, node);
		if (*major)
			return &reading->tables->all[i];
	}
	return NULL;
}

/* Where nodes are not called as the SONAME, the file that they are needed of tells. */
static bool is_by_soname(const struct table *table)
{
	return table->own && !lc_has_nodes(table->library);
}

static bool any_by_soname(const struct reading *reading)
{
	bool any = false;

	for (size_t i = LIBRARIES; i < reading->tables->count; i++)
		any |= is_by_soname(&reading->tables->all[i]);
	return any;
}

static struct table *table_of_file(struct reading *reading, const char *file, int *major)
{
	for (size_t i = LIBRARIES; file && i < reading->tables->count; i++) {
		struct table *table = &reading->tables->all[i];

		if (!is_by_soname(table) || needed_kind(table, file, major) == NEEDS_OTHER)
			continue;
		/* It has one major alone, which a stub's name does not tell. */
		*major = table->library->majors[0].major;
		return table;
	}
	return NULL;
}

static bool wanted(const char *node, void *data)
{
	int major;

	return !node || table_of_node(data, node, &major) || any_by_soname(data);
}

/* "cufile" of "libcufile.so.0" */
static const char *stem_of(const char *soname, size_t *length)
{
	const char *slash = strrchr(soname, '/');
	const char *name = slash ? slash + 1 : soname;

	if (!strncmp(name, "lib", 3))
		name += 3;
	*length = strcspn(name, ".-_");
	return name;
}

/* A library that is needed besides, and whose name begins as the driver's
 * functions do: libcufile has cuFileOpen, say. */
static void note_rival(struct reading *reading, const char *soname)
{
	size_t length;
	const char *stem = stem_of(soname, &length);

	if ((!strncmp(stem, "cu", 2) || !strncmp(stem, "nv", 2)) &&
	    reading->rival_count < MAX_RIVALS) {
		reading->rival_lengths[reading->rival_count] = length;
		reading->rivals[reading->rival_count++] = stem;
	}
}

/* `kind` is how much of the name says no more than that it is the driver's. */
static bool is_a_rivals(const struct reading *reading, const char *name, size_t kind)
{
	for (size_t i = 0; i < reading->rival_count; i++) {
		size_t length = reading->rival_lengths[i];

		if (length > kind && !strncasecmp(name, reading->rivals[i], length))
			return true;
	}
	return false;
}

static bool note_library(const char *soname, void *data)
{
	struct reading *reading = data;
	bool ours = false;

	if (!is_likely_name(reading, soname, "needs a library of an unlikely name"))
		return true;
	for (size_t i = 0; i < reading->tables->count; i++) {
		int major;

		if (needed_kind(&reading->tables->all[i], soname, &major) != NEEDS_OTHER)
			ours = reading->needed[i] = true;
	}
	if (!ours)
		note_rival(reading, soname);
	return false;
}

/*
 * A name without a version may be any library's.  It is said to be of those that
 * have it, if the file needs them; no two have a name in common.  The driver's
 * names never have a version, and a list is as old as its release: so a name that
 * none has, and that is of the kind of theirs, is one that such a library will
 * have had since, if the file needs it and no other library of a name that fits.
 */
static void note_unversioned(struct reading *reading, const char *name)
{
	const char *letter = name + strspn(name, "_");
	bool found = false;

	/* Every name of the five begins with "cu" or "nv", so most need no search. */
	if (reading->tables->count == LIBRARIES && *letter != 'c' && *letter != 'n')
		return;
	for (size_t i = 0; i < reading->tables->count; i++) {
		struct table *table = &reading->tables->all[i];
		const struct lc_export *export;
		bool known;

		export = unversioned_export(table->library, name, &known);
		found |= known;
		if (known)
			add_name(reading, import_of(reading, table, 0, false, NULL), name, export);
	}
	for (size_t i = 0; i < reading->tables->count && !found; i++) {
		struct table *table = &reading->tables->all[i];
		size_t kind = reading->needed[i] ? kind_length(table->library, name) : 0;

		if (kind && !is_a_rivals(reading, name, kind))
			add_name(reading, import_of(reading, table, 0, false, NULL), name, NULL);
	}
}

static bool note_symbol(const struct lc_undefined *symbol, void *data)
{
	struct reading *reading = data;
	struct table *table;
	int major;

	if (!is_likely_name(reading, symbol->name, "imports a name of an unlikely length"))
		return true;
	if (!symbol->node) {
		note_unversioned(reading, symbol->name);
		return reading->arena->failed;
	}
	table = table_of_node(reading, symbol->node, &major);
	if (!table)
		table = table_of_file(reading, symbol->file, &major);
	if (!table)
		return false;
	add_name(reading, import_of(reading, table, major, true, symbol->file), symbol->name,
		 lc_find_export(table->library, symbol->name, major));
	return reading->arena->failed;
}

/* A DT_NEEDED belongs to the imports that name it, or to those of its library
 * that name nothing; where there are none, it is needed for nothing. */
static bool note_needed(const char *soname, void *data)
{
	struct reading *reading = data;
	struct findings *findings = reading->findings;

	for (size_t i = 0; i < reading->tables->count; i++) {
		struct table *table = &reading->tables->all[i];
		struct found_import *import;
		bool used = false;
		int major;
		enum needed_kind kind = needed_kind(table, soname, &major);

		if (kind == NEEDS_OTHER)
			continue;
		for (size_t k = 0; k < findings->import_count; k++) {
			import = &findings->imports[k];
			if (import->table != table ||
			    (import->file && strcmp(import->file, soname)))
				continue;
			used = true;
			import->needed = soname;
			import->through = kind;
		}
		import = used ? NULL : import_of(reading, table, major, false, soname);
		if (import) {
			import->needed = soname;
			import->through = kind;
		}
	}
	return reading->arena->failed || reading->why;
}

/* ---- what it is itself ---- */

static bool note_node(const char *node, void *data)
{
	struct reading *reading = data;
	int major;
	const struct table *table = table_of_node(reading, node, &major);

	if (!strcmp(node, LC_PRIVATE_NODE))
		reading->findings->stub = true;
	if (table)
		reading->findings->itself = table->library;
	return false;
}

static const char *witness_of(const struct lc_library *library)
{
	return library->by_soname ? library->names + library->exports[0].name : library->witness;
}

/* A library without majors has no node of its own: its SONAME tells it. */
static void note_soname(struct reading *reading, const struct lc_image *image,
			const char *bytes, size_t size)
{
	const char *soname = lc_image_string(image, DT_SONAME);

	for (size_t i = 0; i < reading->tables->count && soname; i++) {
		const struct table *table = &reading->tables->all[i];
		const char *witness = witness_of(table->library);
		int major;
		enum needed_kind kind = needed_kind(table, soname, &major);

		if (kind == NEEDS_OTHER || !witness ||
		    reading->findings->stub != (kind == NEEDS_STUB) ||
		    !memmem(bytes, size, witness, strlen(witness) + 1))
			continue;
		reading->findings->itself = table->library;
	}
}

/* ---- all of it ---- */

static bool is_foreign(const unsigned char *bytes, size_t size)
{
	return size > EI_DATA && !memcmp(bytes, ELFMAG, SELFMAG) &&
	       ((bytes[EI_CLASS] == ELFCLASS32 && bytes[EI_DATA] <= ELFDATA2MSB) ||
		(bytes[EI_CLASS] == ELFCLASS64 && bytes[EI_DATA] == ELFDATA2MSB));
}

static const char *read_image(struct reading *reading, struct lc_image *image, const void *bytes,
			      size_t size)
{
	const char *why = lc_image_open(image, bytes, size);

	if (!why)
		why = lc_image_nodes(image, false, note_node, reading);
	if (!why)
		reading->findings->lazy = lc_image_is_lazy(image);
	if (!why)
		note_soname(reading, image, bytes, size);
	if (!why)
		why = lc_image_needed(image, note_library, reading);
	if (!why)
		why = reading->why;
	if (!why)
		why = lc_image_undefined(image, wanted, note_symbol, reading);
	if (!why)
		why = lc_image_needed(image, note_needed, reading);
	return why ? why : reading->why;
}

void findings_read(struct lc_arena *arena, struct tables *tables, const void *bytes, size_t size,
		   struct findings *findings)
{
	struct reading reading = {
		.arena = arena, .tables = tables, .findings = findings, .names_left = 4 * size,
	};
	struct lc_image image;

	*findings = (struct findings){ .foreign = is_foreign(bytes, size) };
	if (findings->foreign)
		return;
	findings->error = read_image(&reading, &image, bytes, size);
	if (!findings->error && arena->failed)
		findings->error = "is too much for this machine's memory";
	if (!findings->error && !findings->itself)
		constants_read(arena, tables, &image, &findings->constants);
}
