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

/* How many kinds of input this release knows; a later one may know more. */
#define LK_KINDS (LAZYCUDA_KIND_BUNDLE + 1)

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

/* LLVM IR, which is text: sets the flags LIBDEVICE, NO_LAYOUT and LISTED, and, if all of it is
 * understood, the symbols. */
void lk_llvm_ir_read(const struct lk_part *part, struct lc_arena *arena,
		     struct lazycuda_entry *entry);

/* Puts a question mark in place of each byte in a comment of PTX that is not ASCII. */
void lk_ptx_make_ascii(char *text, size_t length);

/* ---- readers of containers: call `each` for every entry ---- */

/* A new entry for this part, with all else unknown; NULL on allocation failure. */
struct lazycuda_entry *lk_entry_new(struct lc_arena *arena, const struct lk_part *part);

/* `entry` lives in the arena and has the fields that the container records.  Its offsets count from
 * the start of the source. */
struct lk_walk {
	struct lc_arena *arena;
	int *count;		/* grows by the number of fatbins and the like */
	void (*each)(struct lazycuda_entry *entry, void *data);
	void *data;
};

typedef const char *lk_container_reader(const struct lk_part *part, const struct lk_walk *walk);

/* Consecutive fatbin containers up to the end of the part, with zero padding between them. */
lk_container_reader lk_fatbin_read;

/*
 * Consecutive offload binaries of LLVM in the same way.  Each image is a container of its
 * own, with the flag LK_IMAGE, until lk_tell_sources() makes alternatives of those of one source.
 * The first that is not CUDA's is passed on with the flag LK_FOREIGN, and others are not.
 */
lk_container_reader lk_offload_read;

/* The sections __nv_relfatbin, .nv_fatbin and .llvm.offloading of a host ELF file. */
lk_container_reader lk_host_read;

/* The members of an archive, each read by its own kind. */
lk_container_reader lk_archive_read;

/* The reader of a kind that may be in an archive; NULL for what is no container. */
lk_container_reader *lk_container_reader_of(enum lazycuda_kind kind);

/* No file has more containers of alternatives, of whatever format. */
#define LK_MOST_CONTAINERS (1 << 20)

/* Returns the offset of the next byte that is not zero, or the length of the part. */
uint64_t lk_skip_zeros(const struct lk_part *part, uint64_t at);

#define LK_FATBIN_MAGIC 0xba55ed50u

struct lk_fatbin_header {
	uint32_t magic;
	uint16_t version, header_size;
	uint64_t size;		/* of all entries */
};

struct lk_fatbin_entry_header {
	uint16_t kind, version;
	uint32_t header_size;
	uint64_t payload_size;	/* with padding; the next entry follows it */
	uint32_t packed_size;	/* without padding; 0: not compressed */
	uint32_t options;	/* offset from this header, as `name` is; 0: none */
	uint16_t minor, major;	/* of the PTX ISA, or of the LTO-IR container */
	uint32_t arch;		/* 90 */
	uint32_t name, name_length;
	uint64_t flags;
	uint64_t key;		/* of obfuscated LTO-IR */
	uint64_t unpacked_size;	/* 0: not compressed */
};

/* The first bytes of an offload binary. */
#define LK_OFFLOAD_MAGIC "\x10\xff\x10\xad"

/* Flag of an entry that is no code of CUDA: it has an error that says so, and is not listed. */
#define LK_FOREIGN 0x80000000u

/* Flags of images of an offload binary until lk_tell_sources(): of each, of the first in a row, and
 * of those in an object that was compiled of one source. */
#define LK_IMAGE 0x40000000u
#define LK_FIRST_IMAGE 0x20000000u
#define LK_ONE_SOURCE 0x10000000u

/*
 * Tells which images of offload binaries are alternatives of one source.  Images of a row become
 * alternatives, which are in one container, if
 *
 *  - the object was compiled of one source (LK_ONE_SOURCE), and no two images in the row are of
 *    the same kind and architecture;
 *  - they define a name in common that is defined once in a link, or are both like a third one; or
 *  - they define the same names of kernels and variables: of functions if they have none of
 *    these, and no name at all if they define nothing.
 *
 * Of alternatives that are of the same kind and architecture, each is of another source.
 * Alternatives are put beside each other, and containers are numbered anew.
 */
void lk_tell_sources(struct lc_arena *arena, struct lazycuda_entry **entries, size_t count,
		     int *containers);

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
