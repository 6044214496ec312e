/* SPDX-License-Identifier: MIT */
/*
 * formats.h - the formats of device code, one reader each
 *
 * A reader takes a part of a source and fills an entry.  It returns NULL, or a
 * phrase that says what is wrong and where: "ends inside its section headers
 * (0x340)".  It trusts no offset, size or count.  It allocates from the arena;
 * the caller checks lc_arena.failed.
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
 * Returns the kind of a part, judged from at most its first 64 KiB.  The machine
 * field makes an ELF file a CUBIN, or UNKNOWN for another vendor's GPU; else the
 * file is an OBJECT (ET_REL), SHARED (ET_EXEC, ET_DYN) or UNKNOWN.  PTX begins
 * with a .version directive, after white space and comments.  SOURCE is text
 * that is not PTX and has a mark of CUDA C++ (a preprocessor line, __global__,
 * extern "C", ...).
 */
enum lazycuda_kind lk_recognise(const struct lk_part *part);

/* ---- readers of entries: fill kind, arch, suffix, toolkit and the fields of that kind ---- */

/* ISA, target and, if `symbols`, the symbols that the PTX defines and declares. */
const char *lk_ptx_read(const struct lk_part *part, struct lc_arena *arena,
			struct lazycuda_entry *entry, bool symbols);

/* Toolkit (which three layouts record), arch, ABI, relocatable or linked, and, if `symbols`, the
 * symbols. */
const char *lk_cubin_read(const struct lk_part *part, struct lc_arena *arena,
			  struct lazycuda_entry *entry, bool symbols);

/* Version bytes, level and arch; the kind is OPTIXIR for this level. */
#define LK_LEVEL_OPTIX 2
const char *lk_ltoir_read(const struct lk_part *part, struct lazycuda_entry *entry);

const char *lk_tile_read(const struct lk_part *part, struct lc_arena *arena,
			 struct lazycuda_entry *entry);

/* Where there is no __tile_global__ kernel, nvrtc and nvcc of 13.3 to 13.5 write one that does
 * nothing. */
bool lk_tile_has_kernels(const void *bytes, size_t length);

/* Whether bitcode is whole, by its wrapper and its blocks; libnvvm checks what is in them. */
const char *lk_bitcode_read(const struct lk_part *part, struct lc_arena *arena);

/* The names that whole bitcode defines, of functions and variables alike, where LLVM has written
 * its table of them.  They only tell images of one source: a linker sees those of the PTX to which
 * the bitcode is compiled. */
void lk_bitcode_names(const struct lk_part *part, struct lc_arena *arena,
		      struct lazycuda_entry *entry);

/* LLVM IR, which is text: sets the flags LIBDEVICE, NO_LAYOUT and LISTED, and, if all of it is
 * understood, the symbols. */
void lk_llvm_ir_read(const struct lk_part *part, struct lc_arena *arena,
		     struct lazycuda_entry *entry);

/* Calls the reader of PTX, cubins or LTO-IR, by the kind that lk_recognise() returned; any other
 * kind is an error. */
const char *lk_code_read(const struct lk_part *part, enum lazycuda_kind kind,
			 struct lc_arena *arena, struct lazycuda_entry *entry, bool symbols);

/* ---- readers of containers: call `each` for every entry ---- */

/* `entry` lives in the arena and has the fields that the container records. */
typedef void lk_each_entry(struct lazycuda_entry *entry, void *data);

/*
 * Reads consecutive fatbin containers up to the end of the part, and skips zero
 * padding between them.  Offsets in entries count from the start of the source.
 * *count grows by the number of containers.
 */
const char *lk_fatbin_read(const struct lk_part *part, struct lc_arena *arena, int *count,
			   lk_each_entry *each, void *data);

/*
 * Reads consecutive offload binaries of LLVM in the same way.  Each image is a container of its
 * own, with the flag LK_IMAGE, until lk_tell_sources() makes alternatives of those of one source.
 * The first that is not CUDA's is passed on with the flag LK_FOREIGN, and others are not.
 */
const char *lk_offload_read(const struct lk_part *part, struct lc_arena *arena, int *count,
			    lk_each_entry *each, void *data);

/* The sections __nv_relfatbin, .nv_fatbin and .llvm.offloading of a host ELF file; without section
 * headers, the fatbins in its PT_LOAD segments. */
const char *lk_host_read(const struct lk_part *part, struct lc_arena *arena, int *count,
			 lk_each_entry *each, void *data);

/* The members of an archive, each read by its own kind. */
const char *lk_archive_read(const struct lk_part *part, struct lc_arena *arena, int *count,
			    lk_each_entry *each, void *data);

/* ---- the image that a linker made ---- */

/*
 * Checks that an image is what the caller asked for.  Returns NULL, or what is
 * wrong as a phrase: "has no code in it".  A cubin has to be whole, ET_EXEC
 * (ET_REL for RELOCATABLE) and for this architecture.  Its flags have to name a
 * virtual architecture where the ABI has one.  It has to have code or data, and to
 * define `symbols`.  In a linked one, only functions, shared memory and
 * references to textures may be undefined.  PTX and LTO-IR have to be of that kind and not
 * for a later architecture; PTX also has to define something, and `symbols`.
 */
const char *lk_image_check(const void *image, size_t length, enum lazycuda_output output,
			   int arch, char suffix, const char *const *symbols,
			   size_t symbol_count, struct lc_arena *arena);

/* Sets found[i] for each name that the image has, also as a local one.  LTO-IR shows none, and is
 * taken to have all. */
void lk_image_find(const void *image, size_t length, enum lazycuda_output output,
		   const char *const *names, size_t count, bool *found, struct lc_arena *arena);

#endif
