/* SPDX-License-Identifier: MIT */
/* layouts.c - conversions of a struct that is larger than any there has been */
#include "libbig_stub.layouts.h"

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition) \
	do { \
		if (!(condition)) { \
			printf("line %d: not %s\n", __LINE__, #condition); \
			return 1; \
		} \
	} while (0)

int main(void)
{
	unsigned char *small = calloc(1, LC_SIZE_large_A), *large = calloc(1, LC_SIZE_large_B);

	LC_FIELD(unsigned, small, LC_AT_large_A_count) = 5;
	lc_convert(large, small, &LC_FROM(large_B, large_A));
	CHECK(LC_FIELD(unsigned, large, LC_AT_large_B_count) == 5);
	CHECK(lc_fits(small, &LC_FROM(large_B, large_A)));
	CHECK(lc_fits(large, &LC_FROM(large_A, large_B)));
	large[LC_AT_large_B_bytes + 8] = 1;	/* the first that is not in the small one */
	CHECK(!lc_fits(large, &LC_FROM(large_A, large_B)));
	return 0;
}
