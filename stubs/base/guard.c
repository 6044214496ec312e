/* SPDX-License-Identifier: MIT */
/* guard.c - how careful the loader and the linker are: LAZYCUDA_GUARD, --policy */
#include "guard.h"
#include "count.h"

#include <stddef.h>
#include <string.h>

/* Arrays, as in other tables: ld.so would have to relocate pointers. */
static const char guards[][12] = {
	[LC_BEST_EFFORT] = "best_effort",
	[LC_STRICT] = "strict",
	[LC_OFF] = "off",
};

const char *lc_guard_name(enum lc_guard guard)
{
	return guards[guard];
}

bool lc_guard_read(const char *text, enum lc_guard *guard)
{
	for (size_t i = 0; i < LC_COUNT(guards); i++) {
		if (!strcmp(text, guards[i])) {
			*guard = (enum lc_guard)i;
			return true;
		}
	}
	return false;
}

bool lc_switch_read(const char *text, bool *on)
{
	if ((*text != '0' && *text != '1') || text[1])
		return false;
	*on = *text == '1';
	return true;
}
