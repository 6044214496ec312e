/* SPDX-License-Identifier: MIT */
/* hash.h - the hash of GNU's symbol tables, of any text */
#ifndef HASH_H
#define HASH_H

#include <stddef.h>
#include <stdint.h>

/* A first call hashes hundreds of names, so this takes four characters in a turn. */
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

#endif
