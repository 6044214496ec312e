/* SPDX-License-Identifier: MIT */
/* findings.c - what one ELF file has to do with the CUDA libraries */
#include "findings.h"

#include <ctype.h>
#include <elf.h>
#include <string.h>
#include <strings.h>

#include "../stubs/image.h"
#include "../stubs/object.h"

/* More than any file has that a compiler made: reading ends in a time that
 * grows with the file alone. */
#define MAX_IMPORTS 256
#define MAX_NAME 1024		/* bytes */
#define MAX_OPENS 64
#define MAX_RIVALS 16

struct reading {
	struct lc_arena *arena;
	struct tables *tables;
	struct findings *findings;
	bool needed[MAX_TABLES];
	const char *rivals[MAX_RIVALS];	/* see note_rival() */
	size_t rival_count;
	const char *why;	/* what is wrong with the file */
	size_t unscanned;	/* bytes that may still be looked at for strings */
};

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
	    reading->rival_count < MAX_RIVALS)
		reading->rivals[reading->rival_count++] = soname;
}

/* `kind` is how much of the name says no more than that it is the driver's. */
static bool is_a_rivals(const struct reading *reading, const char *name, size_t kind)
{
	for (size_t i = 0; i < reading->rival_count; i++) {
		size_t length;
		const char *stem = stem_of(reading->rivals[i], &length);

		if (length > kind && !strncasecmp(name, stem, length))
			return true;
	}
	return false;
}

static bool note_library(const char *soname, void *data)
{
	struct reading *reading = data;
	bool ours = false;

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

	if (strnlen(symbol->name, MAX_NAME) == MAX_NAME)
		reading->why = "imports a name of an unlikely length";
	if (reading->why)
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

/* ---- strings ---- */

static void add_open(struct reading *reading, const char *name)
{
	struct findings *findings = reading->findings;
	const char **open;

	for (size_t i = 0; i < findings->open_count; i++)
		if (!strcmp(findings->opens[i], name))
			return;
	if (findings->open_count == MAX_OPENS)
		return;
	open = lc_grow(reading->arena, &findings->opens, &findings->open_count, sizeof(*open));
	if (open)
		*open = name;
}

/* "libcudart.so.12" as a whole string, or as the end of a path. */
static void note_string(struct reading *reading, const char *start, const char *end,
			const char *found, const char *digits)
{
	const char *last = digits;

	if (found > start && found[-1] && found[-1] != '/')
		return;
	while (last < end && (isdigit((unsigned char)*last) || *last == '.'))
		last++;
	if (last < end && !*last && last > digits)
		add_open(reading, found);
}

/* Every ".so." of the segment is looked at once. */
static void scan(struct reading *reading, const char *start, size_t size)
{
	/* Names of the CUDA runtime's shared memory: nothing else has them. */
	static const char inside[] = "/cudart.shm.";
	const char *end;

	/* Sections and segments of a hostile file may all be the same bytes. */
	if (size > reading->unscanned)
		size = reading->unscanned;
	reading->unscanned -= size;
	end = start + size;
	if (!reading->findings->has_static && memmem(start, size, inside, sizeof(inside) - 1))
		reading->findings->has_static = true;
	for (const char *at = start; (at = memmem(at, (size_t)(end - at), ".so.", 4)); at += 4) {
		for (size_t i = 0; i < reading->tables->count; i++) {
			const struct table *table = &reading->tables->all[i];
			size_t length = table->stem_length;

			/* Whoever opens the driver opens the one that there is. */
			if (lc_has_majors(table->library) && (size_t)(at - start) >= length &&
			    !memcmp(at - length, table->stem, length))
				note_string(reading, start, end, at - length, at + 4);
		}
	}
}

/* Constants are in sections named .rodata; device code lies in others, and is
 * often a hundred times larger. */
static bool scan_sections(struct reading *reading, const char *bytes, size_t size)
{
	Elf64_Ehdr header;
	Elf64_Shdr names;
	bool any = false;

	memcpy(&header, bytes, sizeof(header));
	if (header.e_shentsize != sizeof(names) || header.e_shstrndx >= header.e_shnum ||
	    header.e_shoff > size || header.e_shnum * sizeof(names) > size - header.e_shoff)
		return false;
	memcpy(&names, bytes + header.e_shoff + header.e_shstrndx * sizeof(names), sizeof(names));
	if (names.sh_offset > size || names.sh_size > size - names.sh_offset)
		return false;
	for (size_t i = 0; i < header.e_shnum; i++) {
		Elf64_Shdr section;

		memcpy(&section, bytes + header.e_shoff + i * sizeof(section), sizeof(section));
		if (section.sh_type != SHT_PROGBITS || section.sh_name >= names.sh_size ||
		    names.sh_size - section.sh_name < 8 ||
		    memcmp(bytes + names.sh_offset + section.sh_name, ".rodata", 7) ||
		    section.sh_offset > size || section.sh_size > size - section.sh_offset)
			continue;
		any = true;
		scan(reading, bytes + section.sh_offset, section.sh_size);
	}
	return any;
}

#define MAX_SCANNED (64 << 20)

/* Without sections: what is mapped and not written to, but for the names that
 * the dynamic linker reads. */
static void scan_segments(struct reading *reading, const struct lc_image *image,
			  const char *bytes)
{
	for (size_t i = 0; i < image->phdr_count; i++) {
		Elf64_Phdr p;
		size_t size, before;

		memcpy(&p, (const char *)image->phdrs + i * sizeof(p), sizeof(p));
		if (p.p_type != PT_LOAD || p.p_flags & PF_W)
			continue;
		size = p.p_filesz < MAX_SCANNED ? p.p_filesz : MAX_SCANNED;
		before = image->strings - p.p_vaddr;
		if (image->strings < p.p_vaddr || before > size) {
			scan(reading, bytes + p.p_offset, size);
			continue;
		}
		scan(reading, bytes + p.p_offset, before);
		if (size - before > image->strings_size)
			scan(reading, bytes + p.p_offset + before + image->strings_size,
			     size - before - image->strings_size);
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
		note_soname(reading, image, bytes, size);
	if (!why)
		why = lc_image_needed(image, note_library, reading);
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
		.arena = arena, .tables = tables, .findings = findings, .unscanned = size,
	};
	struct lc_image image;

	*findings = (struct findings){ .foreign = is_foreign(bytes, size) };
	if (findings->foreign)
		return;
	findings->error = read_image(&reading, &image, bytes, size);
	if (!findings->error && arena->failed)
		findings->error = "is too much for this machine's memory";
	if (findings->error || findings->itself)
		return;
	if (!scan_sections(&reading, bytes, size))
		scan_segments(&reading, &image, bytes);
}
