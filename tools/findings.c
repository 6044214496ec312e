/* SPDX-License-Identifier: MIT */
/* findings.c - finds what one ELF file imports from the CUDA libraries, or is of them */
#include "findings.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "../stubs/base/image.h"
#include "../stubs/base/object.h"
#include "ready.h"

/* More than any compiled file has.  These limits bound the reading time by the size of the
 * file. */
#define MAX_IMPORTS 1024
#define MAX_NAME 1024		/* bytes */

/* What the name of another library that a file needs begins with; see note_rival(). */
struct rival {
	const char *stem;
	size_t length;
};

struct reading {
	struct lc_arena *arena;
	struct tables *tables;
	struct findings *findings;
	bool needed[MAX_TABLES];
	struct rival *rivals;
	size_t rival_count;
	size_t names_left;	/* bytes that further names may have in total: they may overlap */
	const char *why;	/* what is wrong with the file */
};

/* Returns true if a name has a plausible length, and all names so far have no more bytes
 * than four times the file.  Every reference to a name costs time and perhaps output, even
 * if all names are the same bytes. */
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

static struct found_import *new_import(struct reading *reading, const struct found_import *what)
{
	struct findings *findings = reading->findings;
	struct found_import *import;

	if (findings->import_count == MAX_IMPORTS) {
		reading->why = "needs an unlikely number of CUDA libraries";
		return NULL;
	}
	import = lc_grow(reading->arena, &findings->imports, &findings->import_count, sizeof(*import));
	if (import)
		*import = *what;
	return import;
}

static struct found_import *import_of(struct reading *reading, struct table *table, int major,
				      bool versioned, const char *file)
{
	struct findings *findings = reading->findings;
	struct found_import *import;

	for (size_t i = 0; i < findings->import_count; i++) {
		import = &findings->imports[i];
		if (import->table == table && import->major == major &&
		    import->versioned == versioned && !import->inside &&
		    (!file || (import->file && !strcmp(import->file, file))))
			return import;
	}
	return new_import(reading, &(struct found_import){ .table = table, .major = major,
							   .versioned = versioned, .file = file });
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

/* Returns true if no version node is named after the SONAME: then the file in the verneed
 * identifies the library. */
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

		enum needed_kind kind = needed_kind(table, file, major);

		if (!is_by_soname(table) || kind == NEEDS_OTHER)
			continue;
		/* A stub's name does not tell the major: take the newest. */
		if (kind == NEEDS_STUB || !*major)
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

/* Returns "cufile" for "libcufile.so.0". */
static const char *stem_of(const char *soname, size_t *length)
{
	const char *name = lc_basename(soname);

	if (!strncmp(name, "lib", 3))
		name += 3;
	*length = strcspn(name, ".-_");
	return name;
}

/* Notes another needed library whose name begins like the driver's functions, such as
 * libcufile, which has cuFileOpen. */
static void note_rival(struct reading *reading, const char *soname)
{
	struct rival rival, *noted;

	rival.stem = stem_of(soname, &rival.length);
	if (strncmp(rival.stem, "cu", 2) && strncmp(rival.stem, "nv", 2))
		return;
	if (reading->rival_count == MAX_IMPORTS) {
		reading->why = "needs an unlikely number of libraries";
		return;
	}
	noted = lc_grow(reading->arena, &reading->rivals, &reading->rival_count, sizeof(*noted));
	if (noted)
		*noted = rival;
}

/* Adds the table of a needed library, if there is a stub to judge it by. */
static bool meet_library(const char *soname, void *data)
{
	struct reading *reading = data;

	if (!is_likely_name(reading, soname, "needs a library of an unlikely name"))
		return true;
	ready_add(reading->tables, "audit", soname);
	return false;
}

/* Returns true if a name begins with the stem of a rival.  Only stems longer than `kind`,
 * the length of the prefix that the driver's names share, count. */
static bool is_a_rivals(const struct reading *reading, const char *name, size_t kind)
{
	for (size_t i = 0; i < reading->rival_count; i++) {
		const struct rival *rival = &reading->rivals[i];

		if (rival->length > kind && !strncasecmp(name, rival->stem, rival->length))
			return true;
	}
	return false;
}

/* Whether this is the C library of musl, on which no library of CUDA can be loaded. */
static bool is_musl(const char *soname)
{
	return !strncmp(soname, "libc.musl-", 10) || !strncmp(soname, "ld-musl-", 8) ||
	       !strcmp(soname, "libc.so");
}

/* A library that there is no table of.  What auditwheel has renamed comes with the file. */
static void note_other(struct reading *reading, const char *soname)
{
	struct findings *findings = reading->findings;

	if (is_musl(soname))
		findings->musl = true;
	else if (ready_lists(soname))
		lc_add_string(reading->arena, &findings->without_stub, soname);
	else if (ready_is_cudas(soname))
		lc_add_string(reading->arena, &findings->stubless, soname);
	else if (!ready_is_systems(soname) && !ready_bundled(soname))
		lc_add_string(reading->arena, &findings->strangers, soname);
}

static bool note_library(const char *soname, void *data)
{
	struct reading *reading = data;
	bool ours = false;

	lc_add_string(reading->arena, &reading->findings->needed, soname);
	for (size_t i = 0; i < reading->tables->count; i++) {
		int major;

		if (needed_kind(&reading->tables->all[i], soname, &major) != NEEDS_OTHER)
			ours = reading->needed[i] = true;
	}
	if (!ours) {
		note_rival(reading, soname);
		note_other(reading, soname);
	}
	return reading->why || reading->arena->failed;
}

/* Adds a name to what is imported of the needed libraries that have it; else returns, of the others,
 * that of the shortest name: the parts of cuDNN have names of cuDNN's. */
static struct table *note_owned(struct reading *reading, const char *name, bool *found)
{
	struct table *other = NULL;

	for (size_t i = 0; i < reading->tables->count; i++) {
		struct table *table = &reading->tables->all[i];
		bool known;
		const struct lc_export *export = unversioned_export(table->library, name, &known);

		*found |= known && reading->needed[i];
		if (known && reading->needed[i])
			add_name(reading, import_of(reading, table, 0, false, NULL), name, export);
		else if (known && (!other || table->stem_length < other->stem_length))
			other = table;
	}
	return *found ? NULL : other;
}

/*
 * A name without a version may belong to any library.  It counts for the library
 * that has it.  A library without version
 * nodes, such as the driver's, never gives its names a version, and the list is
 * only as new as its release.  So an unknown name counts as a newer name of such a
 * library if it begins like that library's names, the file needs the library, and
 * no rival's name fits.
 */
static void note_unversioned(struct reading *reading, const struct lc_undefined *symbol)
{
	const char *name = symbol->name;
	bool found = false, may_have = ready_may_have(name);
	struct table *other;

	/* That of cuFFTW has others. */
	if (reading->tables->count == LIBRARIES && !may_have)
		return;
	other = note_owned(reading, name, &found);
	for (size_t i = 0; i < reading->tables->count && !found && !other; i++) {
		struct table *table = &reading->tables->all[i];
		size_t kind = reading->needed[i] && !has_variable(table, name) ?
			kind_length(table->library, name) : 0;

		if (!kind || is_a_rivals(reading, name, kind))
			continue;
		found = true;
		add_name(reading, import_of(reading, table, 0, false, NULL), name, NULL);
	}
	if (found || symbol->weak || !may_have)
		return;
	if (!other && !reading->tables->all_there) {
		reading->tables->all_there = true;
		ready_add_all(reading->tables, "audit");
		other = note_owned(reading, name, &found);
	}
	if (other)
		add_name(reading, import_of(reading, other, 0, false, NULL), name,
			 unversioned_export(other->library, name, &found));
}

static bool note_symbol(const struct lc_undefined *symbol, void *data)
{
	struct reading *reading = data;
	struct found_import *import;
	struct table *table;
	int major;

	if (!is_likely_name(reading, symbol->name, "imports a name of an unlikely length"))
		return true;
	if (!symbol->node) {
		note_unversioned(reading, symbol);
		return reading->arena->failed;
	}
	table = table_of_node(reading, symbol->node, &major);
	if (!table)
		table = table_of_file(reading, symbol->file, &major);
	if (!table || has_variable(table, symbol->name))
		return false;
	import = import_of(reading, table, major, true, symbol->file);
	if (import && symbol->weak)
		import->weak = symbol->name;
	add_name(reading, import, symbol->name,
		 lc_find_export(table->library, symbol->name, major));
	return reading->arena->failed;
}

/* A DT_NEEDED belongs to the imports of its library that name it or name no file.  If there
 * are none, an import without names records it. */
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

/* ---- stubs in the file ---- */

static struct table *table_of_stub(struct reading *reading, const char *library)
{
	const char *stub = lc_format(reading->arena, "lib%s_stub.so", library);

	ready_add(reading->tables, "audit", stub);
	for (size_t i = 0; i < reading->tables->count; i++)
		if (!strcmp(reading->tables->all[i].library->stub, stub))
			return &reading->tables->all[i];
	lc_add_string(reading->arena, &reading->findings->without_stub, stub);
	return NULL;
}

/* All that its callers may call. */
static void add_all_names(struct reading *reading, struct found_import *import)
{
	const struct lc_library *library = import->table->library;

	import->whole = true;
	for (size_t i = 0; i < library->export_count; i++)
		if (library->exports[i].major == import->major)
			add_name(reading, import, library->names + library->exports[i].name,
				 &library->exports[i]);
}

static void add_inside(struct reading *reading, const struct found_stub *stub, int major, char *names)
{
	struct table *table = table_of_stub(reading, stub->library);
	struct found_import *import = !table ? NULL :
		new_import(reading, &(struct found_import){ .table = table, .major = major, .versioned = true,
							    .inside = stub->release, .through = NEEDS_STUB });

	if (!import)
		return;
	if (!*names)
		add_all_names(reading, import);
	for (char *rest, *name = strtok_r(names, " ", &rest); name; name = strtok_r(NULL, " ", &rest))
		if (is_likely_name(reading, name, "has a damaged note"))
			add_name(reading, import, name, lc_find_export(table->library, name, major));
}

/* Reads what LC_RECORD_NOTE says. */
static bool note_inside(const void *bytes, size_t size, void *data)
{
	const char *said = (const char *)bytes + 2 * sizeof(int32_t);
	struct reading *reading = data;
	struct found_stub found, *stub;
	char release[32], library[64], *text;
	int major, at;

	if (size <= 2 * sizeof(int32_t) || ((const char *)bytes)[size - 1] ||
	    sscanf(said, "%31s %63s %2d %4d%n", release, library, &found.cuda, &major, &at) != 4 ||
	    found.cuda <= 0 || major < 0) {
		reading->why = "has a damaged note";
		return true;
	}
	text = lc_text(reading->arena, said + at);
	found.release = lc_text(reading->arena, release);
	found.library = lc_text(reading->arena, library);
	stub = text ? lc_grow(reading->arena, &reading->findings->stubs, &reading->findings->stub_count,
			      sizeof(*stub)) : NULL;
	if (stub)
		*stub = found;
	if (stub)
		add_inside(reading, &found, major, text);
	return reading->why || reading->arena->failed;
}

/* ---- which library the file itself is ---- */

static bool note_node(const struct lc_node *node, void *data)
{
	struct reading *reading = data;
	int major;
	const struct table *table = node->own_name ? NULL : table_of_node(reading, node->name,
									  &major);

	if (!node->own_name && !strcmp(node->name, LC_PRIVATE_NODE))
		reading->findings->stub = true;
	if (table)
		reading->findings->itself = table->library;
	return false;
}

static const char *witness_of(const struct lc_library *library)
{
	return library->by_soname ? library->names + library->exports[0].name : library->witness;
}

/* Recognises, by SONAME and witness, a library whose version nodes do not identify it. */
static void note_soname(struct reading *reading, const struct lc_image *image,
			const char *bytes, size_t size)
{
	const char *soname = lc_image_string(image, DT_SONAME);

	for (size_t i = 0; i < reading->tables->count && soname; i++) {
		const struct table *table = &reading->tables->all[i];
		const char *witness = witness_of(table->library);
		int major;
		enum needed_kind kind = needed_kind(table, soname, &major);

		if (kind == NEEDS_OTHER)
			continue;
		/* A stub may have the name of the real library; nothing else has that of a stub. */
		if (reading->findings->stub || (kind != NEEDS_STUB && witness &&
						memmem(bytes, size, witness, strlen(witness) + 1)))
			reading->findings->itself = table->library;
	}
}

/* ---- interface ---- */

static bool is_foreign(const unsigned char *bytes, size_t size)
{
	return size > EI_DATA && !memcmp(bytes, ELFMAG, SELFMAG) &&
	       ((bytes[EI_CLASS] == ELFCLASS32 && bytes[EI_DATA] <= ELFDATA2MSB) ||
		(bytes[EI_CLASS] == ELFCLASS64 && bytes[EI_DATA] == ELFDATA2MSB));
}

static const char *read_image(struct reading *reading, struct lc_image *image, const void *bytes,
			      size_t size)
{
	const char *why = lc_image_open(image, &(struct lc_source){ bytes, .size = size });
	const char *soname = why ? NULL : lc_image_string(image, DT_SONAME);

	if (!why)
		why = lc_image_nodes(image, note_node, reading);
	if (!why && reading->findings->stub && soname)
		ready_add(reading->tables, "audit", soname);
	if (!why)
		reading->findings->lazy = lc_image_is_lazy(image);
	if (!why)
		searcher_read(&reading->findings->searcher, image);
	if (!why)
		note_soname(reading, image, bytes, size);
	if (!why)
		lc_image_needed(image, meet_library, reading);
	if (!why)
		why = reading->why;
	if (!why)
		lc_image_needed(image, note_library, reading);
	if (!why)
		why = reading->why;
	if (!why)
		why = lc_image_undefined(image, wanted, note_symbol, reading);
	if (!why)
		lc_image_needed(image, note_needed, reading);
	if (!why)
		why = lc_image_records(image, note_inside, reading);
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
	findings->object = !findings->error && image.type == ET_REL;
	if (!findings->error && arena->failed)
		findings->error = "is too much for this machine's memory";
	if (!findings->error && !findings->itself && !findings->stub)
		constants_read(arena, tables, &image, findings);
}
