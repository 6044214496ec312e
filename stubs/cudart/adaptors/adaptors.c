/* SPDX-License-Identifier: MIT */
/* adaptors.c - the table of adaptors, for the loader */
#include "adaptors.h"

#define SERVE_ROW(slot, needs, function) \
	{ LC_SLOT_##slot, LC_SLOT_##needs, (lc_function)lc_adapt_##function },

const struct lc_adaptor lc_adaptors[] = {
#include "rows.h"
	{ 0, 0, NULL }
};
