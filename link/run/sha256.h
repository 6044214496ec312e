/* SPDX-License-Identifier: MIT */
/* sha256.h - SHA-256 of bytes that come in pieces (FIPS 180-4) */
#ifndef LINK_SHA256_H
#define LINK_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define LK_SHA256_BYTES 32

struct lk_sha256 {
	uint32_t state[8];
	uint64_t length;	/* of all so far */
	unsigned char block[64];
};

struct lk_sha256 lk_sha256_new(void);
void lk_sha256_add(struct lk_sha256 *sum, const void *bytes, size_t length);
void lk_sha256_end(struct lk_sha256 *sum, unsigned char digest[LK_SHA256_BYTES]);

#endif
