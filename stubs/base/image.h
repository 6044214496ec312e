/* SPDX-License-Identifier: MIT */
/*
 * image.h - reads what an ELF file, or an object in memory, is, imports and exports
 *
 * This is the only reader of dynamic sections.  It reads a mapped file, a file through
 * a callback, and an object that ld.so has loaded: all are found through the program
 * headers and the dynamic section, and section headers are not trusted.  Everything is
 * checked against the segments: a file may be hostile, and an object in memory may have
 * been changed by unknown tools.  The reader takes no lock and allocates nothing, so it
 * may be used from within dl_iterate_phdr().
 */
#ifndef IMAGE_H
#define IMAGE_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LC_SMALLEST_PAGE 4096u
#define LC_TAGS 49

/* Nothing in a file need be aligned. */
#define LC_ANYWHERE __attribute__((aligned(1)))

typedef ElfW(Phdr) lc_phdr LC_ANYWHERE;
typedef ElfW(Dyn) lc_dyn LC_ANYWHERE;
typedef ElfW(Sym) lc_sym LC_ANYWHERE;
typedef ElfW(Half) lc_half LC_ANYWHERE;
typedef ElfW(Word) lc_word LC_ANYWHERE;

/* Where a file's bytes come from. */
struct lc_source {
	const void *bytes;	/* the whole file in memory, unless there is a callback */
	uint64_t size;		/* of the file */
	/*
	 * Copies bytes of the file to `to`, and returns that.  If `to` is NULL, the bytes
	 * go to memory that lives as long as the image.  NULL: they cannot be read.
	 */
	const void *(*read)(void *data, uint64_t offset, size_t size, void *to);
	void *data;
};

struct lc_image {
	struct lc_source source;
	bool loaded;			/* by ld.so: the bytes lie at their addresses */
	unsigned type, machine;		/* of a file: its e_type and e_machine */
	const lc_phdr *phdrs;
	size_t phdr_count;
	const lc_dyn *dynamic;
	size_t dynamic_count;		/* without DT_NULL */
	/* The value of each entry that a reader asks for, 0 without one; see lc_entry(). */
	ElfW(Xword) values[LC_TAGS];
	ElfW(Xword) last_string;	/* the highest string index in an entry */
	const char *strings;		/* the string table, which ends with a NUL; or NULL */
	size_t strings_size;
};

/* Where the value of an entry lies in `values`.  All other tags share index 0. */
static inline unsigned lc_tag_index(ElfW(Sxword) tag)
{
	if (tag >= DT_NULL && tag < 32)
		return (unsigned)tag;
	if (tag >= DT_VERSYM && tag < DT_VERSYM + 16)
		return 32 + (tag & 15);
	return tag == DT_GNU_HASH ? LC_TAGS - 1 : 0;
}

static inline ElfW(Xword) lc_entry(const struct lc_image *image, ElfW(Sxword) tag)
{
	return image->values[lc_tag_index(tag)];
}

/*
 * How many bytes of a file a segment maps.  Pages are mapped whole, and patchelf puts
 * tables into the rest of the last one (seen in a position-dependent program after four changes).
 * Where more memory follows, that rest is zeroed.
 */
static inline size_t lc_mapped_size(const lc_phdr *p)
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
	bool weak;		/* its address is NULL if nothing defines it */
};

/* A symbol that the image defines; `entry` says whether others may bind to it. */
struct lc_defined {
	const char *name;
	unsigned node;		/* index of its version node; below 2: it has none */
	ElfW(Sym) entry;
};

/* A version node that an image defines. */
struct lc_node {
	const char *name;
	unsigned index;
	bool own_name;		/* it is the image's own name, and the node of no symbol */
};

/*
 * Opens a file, or an object that dl_iterate_phdr() reports.  Returns NULL, or what is
 * wrong with it, as a phrase: "is truncated".  A file without a dynamic section, and so
 * without imports, has dynamic_count 0.  Even if something is wrong, type and machine
 * are set, unless the header itself cannot be read; then they are 0.
 */
const char *lc_image_open(struct lc_image *image, const struct lc_source *source);
const char *lc_image_loaded(struct lc_image *image, const struct dl_phdr_info *info);

/* The string of a dynamic entry such as DT_SONAME; NULL if there is none.  It
 * lives as long as the image. */
const char *lc_image_string(const struct lc_image *image, ElfW(Sxword) tag);

/* Returns true if the dynamic section has an entry with this tag. */
bool lc_image_has(const struct lc_image *image, ElfW(Sxword) tag);

/* Returns true if functions are bound at their first calls, and not at load time. */
bool lc_image_is_lazy(const struct lc_image *image);

/*
 * Each of these calls `each` until that returns true.  Strings live as long as
 * the image.  Returns NULL, or what is wrong.
 *
 * A file without version definitions has its SONAME for a node: ld.so lets it serve those who
 * want that one.
 *
 * lc_image_undefined() passes on only symbols whose version node `wanted`
 * accepts.  It calls `wanted` once for each node, and with NULL for symbols
 * without a version.
 */
void lc_image_needed(const struct lc_image *image,
		     bool (*each)(const char *soname, void *data), void *data);
const char *lc_image_nodes(const struct lc_image *image,
			   bool (*each)(const struct lc_node *node, void *data), void *data);
const char *lc_image_undefined(const struct lc_image *image,
			       bool (*wanted)(const char *node, void *data),
			       bool (*each)(const struct lc_undefined *symbol, void *data),
			       void *data);
const char *lc_image_defined(const struct lc_image *image,
			     bool (*each)(const struct lc_defined *symbol, void *data),
			     void *data) __attribute__((cold));

/* Calls `each` with what LC_RECORD_NOTE of each embedded stub says (entry/note.h).  The bytes live as
 * long as the image, and may lie anywhere. */
const char *lc_image_records(const struct lc_image *image,
			     bool (*each)(const void *bytes, size_t size, void *data), void *data);

/* The hash of GNU's symbol tables, of any text; four characters in a turn. */
static inline uint32_t lc_hash(const char *text, size_t length)
{
	const unsigned char *c = (const unsigned char *)text, *end = c + length;
	uint32_t hash = 5381;

	for (; end - c >= 4; c += 4)
		hash = hash * (33u * 33 * 33 * 33) + c[0] * (33u * 33 * 33) + c[1] * (33u * 33) +
		       c[2] * 33u + c[3];
	for (; c < end; c++)
		hash = hash * 33 + *c;
	return hash;
}

/* The GNU hash table of a loaded object, for the names at one version node or at any. */
struct lc_names {
	const char *strings;		/* NULL: names cannot be looked up here */
	size_t strings_size;
	const void *base;		/* to which symbols' values are added */
	const lc_sym *symbols;
	const lc_half *versions;	/* NULL: there are none */
	const lc_word *buckets, *chains;
	uint32_t bucket_count, first;
	size_t count;			/* one past the last symbol that the tables have room for */
	unsigned node;			/* 0: names without a version, and default versions */
};

/* Fails, and sets names->strings to NULL, if the object has no such table, or not exactly
 * one node of this name.  `node` is NULL for what dlsym() finds.  What is set stays valid while
 * the object is loaded. */
void lc_names_of(const struct lc_image *image, const char *node, struct lc_names *names);

/*
 * Looks up a name in the object itself, where dlvsym() looks first.  Sets *address; NULL: the
 * object does not have the name.  Returns false if ld.so has to be asked, because the symbol is an
 * IFUNC, whose resolver ld.so calls, or is neither a function nor data.
 */
bool lc_names_find(const struct lc_names *names, const char *name, void **address);

/* The same, with the name's lc_hash(). */
bool lc_names_find_hashed(const struct lc_names *names, const char *name, uint32_t hash,
			  void **address);

#endif
