/* SPDX-License-Identifier: MIT */
/* unpack.h - compressed payloads, with libraries that are loaded when needed */
#ifndef LINK_UNPACK_H
#define LINK_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Unpacks into `into`, which has exactly the size that the payload unpacks to;
 * anything else is an error.  `zstd`: ZSTD, else a raw LZ4 block.  Returns NULL
 * or why not, as a phrase: "is compressed with ZSTD and libzstd.so.1 is not
 * installed"; LK_NO_MEMORY of inspection.h.  Loads liblz4.so.1 or libzstd.so.1:
 * hold no lock.
 */
const char *lk_unpack(int zstd, const void *from, size_t length, void *into, size_t size);

/* NULL if the library is there, else the phrase that lk_unpack() has for it. */
const char *lk_unpack_missing(int zstd);

/* No more is ever unpacked, whatever a header claims: an image of device code is
 * at most so large. */
#define LK_MOST_UNPACKED ((uint64_t)1 << 31)

/* More than `length` bytes of the format can ever unpack to. */
uint64_t lk_unpack_limit(int zstd, uint64_t length);

#endif
