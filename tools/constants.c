/* SPDX-License-Identifier: MIT */
/* constants.c - finds CUDA libraries in the string constants of an ELF file */
#include "findings.h"

#include <ctype.h>
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "../stubs/base/count.h"
#include "ready.h"

/* More than any compiled file has: four for each library that there may be a stub of. */
#define MAX_OPENS (4 * MAX_TABLES)
#define MAX_SCANNED (64 << 20)	/* bytes of a segment */

struct sweep {
	const struct findings *findings;
	struct lc_arena *arena;
	struct tables *tables;
	struct constants *constants;
	size_t left;	/* bytes that may still be scanned */
};

/* Returns true if a stub in the file opens this one, for which the stub chooses. */
static bool opens_inside(const struct sweep *scan, const struct table *table, const char *name)
{
	for (size_t i = 0; i < scan->findings->import_count; i++) {
		const struct found_import *import = &scan->findings->imports[i];

		if (!import->inside)
			continue;
		if (import->table == table)
			return true;
		for (const struct lc_opened *opens = import->table->library->opens; opens && opens->soname; opens++)
			if (!strcmp(opens->soname, name))
				return true;
	}
	return false;
}

static void add_open(struct sweep *scan, const struct table *table, const char *name)
{
	struct constants *constants = scan->constants;

	if (opens_inside(scan, table, name))
		return;
	if (lc_is_among(name, constants->opens.list, constants->opens.count))
		return;
	if (constants->opens.count == MAX_OPENS) {
		constants->more_opens = true;
		return;
	}
	lc_add_string(scan->arena, &constants->opens, name);
}

/* Notes "libcudart.so.12" if it is a whole string or the end of a path. */
static void note_string(struct sweep *scan, const struct table *table, const char *start,
			const char *end, const char *found, const char *digits)
{
	const char *last = digits;

	if (found > start && found[-1] && found[-1] != '/')
		return;
	while (last < end && (isdigit((unsigned char)*last) || *last == '.'))
		last++;
	if (last < end && !*last && last > digits)
		add_open(scan, table, found);
}

/* Has a stub loaded if the name that ends with this ".so." is of a library that has one. */
static void meet(struct sweep *scan, const char *start, const char *at, const char *end)
{
	const char *first = at;
	char name[64];

	while (first > start && at - first < 48 && (isalnum((unsigned char)first[-1]) || first[-1] == '_'))
		first--;
	if (at - first < 4 || at - first >= 48 || memcmp(first, "lib", 3) || end - at < 6)
		return;
	snprintf(name, sizeof(name), "%.*s.so.1", (int)(at - first), first);
	ready_add(scan->tables, "audit", name);
}

/* Scans the bytes once, for every ".so." in them. */
static void scan_bytes(struct sweep *scan, const char *start, size_t size)
{
	/* A name of the CUDA runtime's shared memory, which nothing else contains. */
	static const char inside[] = "/cudart.shm.";
	const char *end;

	/* Sections and segments of a hostile file may overlap: limit the total. */
	if (size > scan->left)
		size = scan->left;
	scan->left -= size;
	end = start + size;
	if (!scan->constants->has_static && memmem(start, size, inside, sizeof(inside) - 1))
		scan->constants->has_static = true;
	for (const char *at = start; (at = memmem(at, (size_t)(end - at), ".so.", 4)); at += 4) {
		meet(scan, start, at, end);
		for (size_t i = 0; i < scan->tables->count; i++) {
			const struct table *table = &scan->tables->all[i];
			size_t length = table->stem_length;

			/* Not the driver's: a file that opens these gets the installed ones. */
			if (lc_has_majors(table->library) && (size_t)(at - start) >= length &&
			    !memcmp(at - length, table->stem, length))
				note_string(scan, table, start, end, at - length, at + 4);
		}
	}
}

/* Scans sections whose name begins with .rodata: they hold the constants.  Device code,
 * often a hundred times larger, is in other sections.  False if there are none. */
static bool scan_sections(struct sweep *scan, const char *bytes, size_t size)
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
		scan_bytes(scan, bytes + section.sh_offset, section.sh_size);
	}
	return any;
}

/* For files without section headers: scans the read-only segments except the dynamic
 * string table. */
static void scan_segments(struct sweep *scan, const struct lc_image *image, const char *bytes)
{
	const Elf64_Off strings = image->strings ? (size_t)(image->strings - bytes) : 0;

	for (size_t i = 0; i < image->phdr_count; i++) {
		const lc_phdr *p = &image->phdrs[i];
		size_t size, before;

		if (p->p_type != PT_LOAD || p->p_flags & PF_W)
			continue;
		size = p->p_filesz < MAX_SCANNED ? p->p_filesz : MAX_SCANNED;
		before = strings - p->p_offset;
		if (!image->strings || strings < p->p_offset || before > size) {
			scan_bytes(scan, bytes + p->p_offset, size);
			continue;
		}
		scan_bytes(scan, bytes + p->p_offset, before);
		if (size - before > image->strings_size)
			scan_bytes(scan, bytes + p->p_offset + before + image->strings_size,
				   size - before - image->strings_size);
	}
}

void constants_read(struct lc_arena *arena, struct tables *tables,
		    const struct lc_image *image, struct findings *findings)
{
	struct sweep scan = {
		.findings = findings, .arena = arena, .tables = tables, .constants = &findings->constants,
		.left = image->source.size,
	};
	const char *bytes = image->source.bytes;

	if (!scan_sections(&scan, bytes, image->source.size))
		scan_segments(&scan, image, bytes);
}
