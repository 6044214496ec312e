/* SPDX-License-Identifier: MIT */
/* unpack.h - unpacks compressed payloads with libraries that are loaded when needed */
#ifndef LINK_UNPACK_H
#define LINK_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Unpacks ZSTD if `zstd`, else a raw LZ4 block.  The payload has to unpack to exactly
 * `size` bytes; anything else is an error.  Returns NULL, or an error phrase: "is
 * compressed with ZSTD and libzstd.so.1 is not installed", or LK_NO_MEMORY of
 * inspection.h.  Loads liblz4.so.1 or libzstd.so.1, so the caller must hold no lock.
 */
const char *lk_unpack(int zstd, const void *from, size_t length, void *into, size_t size);

/* Returns NULL if the library is installed, else the error phrase of lk_unpack(). */
const char *lk_unpack_missing(int zstd);

/* No payload is unpacked to more, whatever its header claims: no image of device code is
 * larger. */
#define LK_MOST_UNPACKED ((uint64_t)1 << 31)

/* An upper bound on the size to which `length` bytes of the format can unpack. */
uint64_t lk_unpack_limit(int zstd, uint64_t length);

#endif
