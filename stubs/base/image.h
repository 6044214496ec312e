/* SPDX-License-Identifier: MIT */
/*
 * image.h - reads what an ELF file, or an object in memory, is and imports
 *
 * One reader serves both, since both are found through the program headers and
 * the dynamic section; section headers are not trusted.  Everything is checked
 * against the segments: a file may be hostile, and an object in memory may have
 * been changed by unknown tools.  The reader takes no lock and allocates
 * nothing, so it may be used from within dl_iterate_phdr().
 */
#ifndef IMAGE_H
#define IMAGE_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LC_SMALLEST_PAGE 4096u

/* The tables of the dynamic section, as addresses in the file. */
struct lc_image {
	const unsigned char *bytes;	/* of the file; NULL for an object in memory */
	size_t size;
	uintptr_t base;			/* of an object in memory: the load address */
	const ElfW(Phdr) *phdrs;
	size_t phdr_count;
	ElfW(Addr) dynamic, strings, symbols, versym, verneed, verdef, hash, gnu_hash;
	size_t dynamic_count, strings_size, verneed_count, verdef_count;
	ElfW(Addr) tables[8];		/* where tables begin, which bounds those before them */
	size_t table_count;
};

/*
 * How many bytes of a file a segment maps.  Pages are mapped whole, and patchelf puts
 * tables into the rest of the last one (a position-dependent program with four changes).
 * Where more memory follows, that rest is zeroed.
 */
static inline size_t lc_mapped_size(const ElfW(Phdr) *p)
{
	size_t rest = -(p->p_vaddr + p->p_filesz) & (LC_SMALLEST_PAGE - 1);

	if (!p->p_filesz || p->p_memsz > p->p_filesz || rest > SIZE_MAX - p->p_filesz)
		return p->p_filesz;
	return p->p_filesz + rest;
}

/* An undefined symbol: another object has to define it. */
struct lc_undefined {
	const char *name;
	const char *node;	/* its version node; NULL if it has none */
	const char *file;	/* the SONAME that the verneed entry names */
};

/*
 * Opens a file's bytes, or an object that dl_iterate_phdr() reports.  Returns
 * NULL, or what is wrong with it, as a phrase: "is truncated".  A file without
 * a dynamic section, and so without imports, has dynamic_count 0.
 */
const char *lc_image_open(struct lc_image *image, const void *bytes, size_t size);
const char *lc_image_loaded(struct lc_image *image, const struct dl_phdr_info *info);

/* The string of a dynamic entry such as DT_SONAME; NULL if there is none.  It
 * lives as long as the image. */
const char *lc_image_string(const struct lc_image *image, ElfW(Sxword) tag);

/* The string table, which holds all names; NULL if there is none. */
const char *lc_image_strings(const struct lc_image *image);

/* Returns true if functions are bound at their first calls, and not at load time. */
bool lc_image_is_lazy(const struct lc_image *image);

/*
 * Each of these calls `each` until that returns true.  Strings live as long as
 * the image.  Returns NULL, or what is wrong.
 *
 * The first version node that an image defines is its own name, which is the
 * node of no symbol: lc_image_nodes() passes it on only if `own_name` is true.
 *
 * lc_image_undefined() passes on only symbols whose version node `wanted`
 * accepts.  It calls `wanted` once for each node, and with NULL for symbols
 * without a version.
 */
const char *lc_image_needed(const struct lc_image *image,
			    bool (*each)(const char *soname, void *data), void *data);
const char *lc_image_nodes(const struct lc_image *image, bool own_name,
			   bool (*each)(const char *node, void *data), void *data);
const char *lc_image_undefined(const struct lc_image *image,
			       bool (*wanted)(const char *node, void *data),
			       bool (*each)(const struct lc_undefined *symbol, void *data),
			       void *data);

#endif
