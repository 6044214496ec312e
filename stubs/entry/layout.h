/* SPDX-License-Identifier: MIT */
/*
 * layout.h - structs whose layout differs between versions
 *
 * The generated *.layouts.h define LC_SIZE_S_A, the size of layout A of struct
 * S, and LC_AT_S_A_f, the offset of its field f; for a struct that has several
 * layouts, lc_conversion_S_A_from_S_B as well, and LC_NUMBER_S_f, which tells its
 * fields apart.
 */
#ifndef LAYOUT_H
#define LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a struct of one layout is made of one of another.  Each table ends with zeroes. */
struct lc_conversion {
	uint32_t to, from;	/* sizes of the structs */
	/* What both have, ascending in the target; adjacent fields are one copy. */
	const struct lc_copy { uint32_t to, from, size; } *copies;
	/* The fields that the target has no room for, reserved ones included. */
	const struct lc_lost { uint32_t at, size; } *lost;
	/* The target's fields that the source has not, reserved ones apart. */
	const struct lc_missing { uint32_t number, at; } *missing;
};

#define LC_FROM(to, from) lc_##to##_from_##from
#define LC_CONVERSION(to, from) \
	static const struct lc_conversion LC_FROM(to, from) __attribute__((unused))

/*
 * Makes a struct of another layout: every field that both have, by name; zeroes
 * elsewhere.  Reserved fields are not fields: each layout's are its own.
 */
void lc_convert(void *target, const void *source, const struct lc_conversion *conversion);

/* Whether nothing is lost in a conversion: all that it does not copy is zero. */
bool lc_fits(const void *source, const struct lc_conversion *conversion);

/* The field at a known offset. */
#define LC_FIELD(type, base, offset) (*(type *)((char *)(base) + (offset)))

#endif
