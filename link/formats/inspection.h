/* SPDX-License-Identifier: MIT */
/* inspection.h - an inspection and the payloads of its entries */
#ifndef LINK_INSPECTION_H
#define LINK_INSPECTION_H

#include "../../include/lazycuda_link.h"
#include "../../stubs/base/arena.h"
#include "source.h"

struct lk_inspection {
	struct lazycuda_inspection public;	/* first: callers hold its address */
	struct lc_arena *arena;			/* holds this struct and all that it points to */
	struct lk_source source;
	int read_error;		/* errno of a failed read */
	struct lk_budget budget;	/* of the source, during the inspection */
	struct lazycuda_entry **entries;
	bool payloads;			/* the caller wants payloads read */
	enum lazycuda_kind declared;	/* what the caller says it is, or UNKNOWN */
	uint64_t unpack_limit, unpacked;	/* limit on unpacked bytes, and their sum */
	bool host_lto;			/* GCC's LTO code is there */
	const char *unread;		/* why an entry could not be unpacked, or NULL */
	const char *foreign;		/* what the first image is that is not CUDA's, or NULL */
};

/* lazycuda_inspect_input() in an arena that the caller frees; NULL on allocation failure. */
struct lazycuda_inspection *lk_inspect_input(struct lc_arena *arena,
					     const struct lazycuda_input *input, unsigned flags,
					     uint64_t unpack_limit);

/* Returns NULL, or what is wrong with an input that is neither bytes nor a path. */
const char *lk_bytes_wrong(const struct lazycuda_input *input);

/* Closes the file, if there is one.  Call it before the arena is freed.  NULL is allowed. */
void lk_inspection_close(struct lazycuda_inspection *inspection);

/*
 * Loads an entry's payload as it is stored, or unpacked if `unpack`.  *code ends with
 * an extra NUL, and the caller frees it.  Returns NULL, or an error as a phrase that
 * lives as long as the process.  Compare with LK_NO_MEMORY by address.
 */
const char *lk_payload_load(const struct lk_source *source, const struct lazycuda_entry *entry,
			    bool unpack, unsigned char **code, size_t *length);

extern const char LK_NO_MEMORY[];

/* Returns NULL if the library that unpacks ZSTD, or else LZ4, is installed; else an error phrase: "is
 * compressed with ZSTD and libzstd.so.1 is not installed".  Loads it, so the caller must hold no
 * lock. */
const char *lk_unpack_missing(bool zstd);

/* No payload is unpacked to more, whatever its header claims: no image of device code is
 * larger. */
#define LK_MOST_UNPACKED ((uint64_t)1 << 31)

/* An upper bound on the size to which `length` bytes of the format can unpack. */
uint64_t lk_unpack_limit(bool zstd, uint64_t length);

/* Returns true for LLVM IR, bitcode or text, as a file of its own; an inspection may be NULL. */
static inline bool lk_is_llvm_ir(const struct lazycuda_inspection *inspection)
{
	return inspection && (inspection->kind == LAZYCUDA_KIND_BITCODE ||
			      inspection->kind == LAZYCUDA_KIND_LLVMIR);
}

/* Flags of an entry that is unpacked before it is read. */
#define LK_PACKED (LAZYCUDA_ENTRY_LZ4 | LAZYCUDA_ENTRY_ZSTD)

#endif
