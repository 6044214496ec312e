/* SPDX-License-Identifier: MIT */
/*
 * image.h - what an ELF file, or an object in memory, is and imports
 *
 * One reader for both, since both are found through the program headers and
 * the dynamic section; section headers are not believed.  Everything is
 * checked against the segments: a file may be hostile, and an object in memory
 * may have been changed by tools that nobody knows.  Calls nothing and
 * allocates nothing, so it may be used from within dl_iterate_phdr().
 */
#ifndef IMAGE_H
#define IMAGE_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The tables of the dynamic section, as addresses in the file. */
struct lc_image {
	const unsigned char *bytes;	/* of the file; NULL: it is in memory */
	size_t size;
	uintptr_t base;			/* in memory: where address 0 would be */
	const ElfW(Phdr) *phdrs;
	size_t phdr_count;
	ElfW(Addr) dynamic, strings, symbols, versym, verneed, verdef, hash, gnu_hash;
	size_t dynamic_count, strings_size, verneed_count, verdef_count;
	ElfW(Addr) tables[8];		/* where else something begins */
	size_t table_count;
};

/* A symbol that is to come from elsewhere. */
struct lc_undefined {
	const char *name;
	const char *node;	/* its version; NULL: it has none */
	const char *file;	/* the SONAME that was to have that version */
};

/*
 * Opens a file's bytes, or what dl_iterate_phdr() tells.  NULL, or what is
 * wrong with it, as a phrase: "is truncated".  A file that has no dynamic
 * section, and so no imports, has dynamic_count 0.
 */
const char *lc_image_open(struct lc_image *image, const void *bytes, size_t size);
const char *lc_image_loaded(struct lc_image *image, const struct dl_phdr_info *info);

/* The string of an entry such as DT_SONAME; NULL if there is none.  It lives as
 * long as the image. */
const char *lc_image_string(const struct lc_image *image, ElfW(Sxword) tag);

/* The table that all names are in; NULL if it is not there. */
const char *lc_image_strings(const struct lc_image *image);

/* Whether its functions are looked up at their first calls, and not when it is loaded. */
bool lc_image_is_lazy(const struct lc_image *image);

/*
 * Each calls `each` until it returns true.  Strings live as long as the image.
 * NULL, or what is wrong.
 *
 * Of the version nodes that it defines the first is its own name, which is no
 * node of any symbol: it is given if `own_name`.
 *
 * Of symbols only those are given whose version node `wanted` accepts; it is
 * called once for each node, and with NULL for symbols without a version.
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
