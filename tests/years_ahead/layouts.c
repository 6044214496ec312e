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

	CHECK(lc_layout_large_B.fields[1].offset == 70000);
	CHECK(lc_layout_large_B.fields[0].size == 70000);
	LC_FIELD(unsigned, small, LC_AT_large_A_count) = 5;
	lc_convert(large, &lc_layout_large_B, small, &lc_layout_large_A);
	CHECK(LC_FIELD(unsigned, large, LC_AT_large_B_count) == 5);
	/* Whether anything is lost it does not say of one so large. */
	CHECK(lc_fits(small, &lc_layout_large_A, &lc_layout_large_B));
	CHECK(!lc_fits(large, &lc_layout_large_B, &lc_layout_large_A));
	return 0;
}
