/* SPDX-License-Identifier: MIT */
/*
 * formats.h - the formats of device code, one reader each
 *
 * A reader is given a part of a source, fills an entry, and returns NULL or
 * what is wrong with the part, as a phrase with the place: "ends inside its
 * section headers (0x340)".  It believes no offset, size or count.  What it
 * allocates lies in the arena.  lc_arena.failed is the caller's to look at.
 */
#ifndef LINK_FORMATS_H
#define LINK_FORMATS_H

#include "../../include/lazycuda_link.h"
#include "../../stubs/base/arena.h"
#include "source.h"

struct lk_part {
	const struct lk_source *source;
	uint64_t offset, length;
};

/* ---- recognised by their first bytes ---- */

/*
 * What a part begins like, from at most its first 64 KiB: any kind of
 * lazycuda_kind.  An ELF file is a CUBIN by its machine, else an OBJECT
 * (ET_REL) or SHARED.  PTX is a .version directive behind white space and
 * comments; SOURCE is text that is not PTX and has what CUDA C++ has (a
 * preprocessor line, __global__, extern "C", ...).
 */
enum lazycuda_kind lk_recognise(const struct lk_part *part);

/* ---- readers of entries: fill kind, arch, suffix, toolkit and what is theirs ---- */

/* ISA, target and, if `symbols`, what it defines and declares. */
const char *lk_ptx_read(const struct lk_part *part, struct lc_arena *arena,
			struct lazycuda_entry *entry, bool symbols);

/* Producer by the three layouts, arch, ABI, relocatable or linked, symbols. */
const char *lk_cubin_read(const struct lk_part *part, struct lc_arena *arena,
			  struct lazycuda_entry *entry, bool symbols);

/* Version bytes, level and arch; kind OPTIXIR for level 2. */
const char *lk_ltoir_read(const struct lk_part *part, struct lazycuda_entry *entry);

/* Any of the three, by what lk_recognise() says of it; what fits none is an error. */
const char *lk_code_read(const struct lk_part *part, enum lazycuda_kind kind,
			 struct lc_arena *arena, struct lazycuda_entry *entry, bool symbols);

/* ---- readers of containers: call `each` for every entry ---- */

/* `entry` lives in the arena; what the container tells of it is filled in. */
typedef void lk_each_entry(struct lazycuda_entry *entry, void *data);

/*
 * Fatbin containers behind each other, up to the end of the part; zero padding
 * between them is skipped.  Offsets are of the source.  *count grows by the
 * number of containers.
 */
const char *lk_fatbin_read(const struct lk_part *part, struct lc_arena *arena, int *count,
			   lk_each_entry *each, void *data);

/* The sections __nv_relfatbin and .nv_fatbin of a host ELF file. */
const char *lk_host_read(const struct lk_part *part, struct lc_arena *arena, int *count,
			 lk_each_entry *each, void *data);

/* The members of an archive, each as what it is. */
const char *lk_archive_read(const struct lk_part *part, struct lc_arena *arena, int *count,
			    lk_each_entry *each, void *data);

/* ---- the image that a linker made ---- */

/*
 * Whether an image is what was asked for: NULL, or what is wrong with it, as a
 * phrase: "has no code in it".  A cubin is whole, ET_EXEC (ET_REL for
 * RELOCATABLE), of this architecture, with a virtual architecture in its flags
 * where its ABI has one, has something in it, nothing undefined, and defines
 * `symbols`; PTX and LTO-IR are of their kind and not for a later architecture.
 */
const char *lk_image_check(const void *image, size_t length, enum lazycuda_output output,
			   int arch, char suffix, const char *const *symbols,
			   size_t symbol_count, struct lc_arena *arena);

#endif
