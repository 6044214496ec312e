/* SPDX-License-Identifier: MIT */
/* sums.c - the SHA-256 of 0 to 299 bytes, added in pieces, a line each */
#include <stdio.h>

#include "../../link/run/sha256.h"

int main(void)
{
	unsigned char bytes[300], digest[LK_SHA256_BYTES];

	for (int length = 0; length < 300; length++) {
		struct lk_sha256 sum = lk_sha256_new();

		bytes[length] = (unsigned char)(7 * length);
		for (int at = 0, step = 0; at < length; at += step) {
			step = step % 71 + 1 < length - at ? step % 71 + 1 : length - at;
			lk_sha256_add(&sum, bytes + at, (size_t)step);
		}
		lk_sha256_end(&sum, digest);
		for (int i = 0; i < LK_SHA256_BYTES; i++)
			printf("%02x", digest[i]);
		putchar('\n');
	}
	return 0;
}
