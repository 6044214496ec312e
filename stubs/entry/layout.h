/* SPDX-License-Identifier: MIT */
/*
 * layout.h - structs whose layout differs between versions
 *
 * The generated *.layouts.h define LC_SIZE_S_A, the size of layout A of struct
 * S, and LC_AT_S_A_f, the offset of field f in that layout.  For a struct with
 * several layouts they also define lc_S_A_from_S_B, the conversions, and
 * LC_NUMBER_S_f, a number for each field.
 */
#ifndef LAYOUT_H
#define LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How to convert a struct from one layout to another.  Each table ends with a row of zeroes. */
struct lc_conversion {
	uint32_t to, from;	/* sizes of the structs */
	/* The fields that both have, ascending in the target; adjacent fields share a copy. */
	const struct lc_copy { uint32_t to, from, size; } *copies;
	/* The source's field bytes that are not copied, reserved fields included. */
	const struct lc_lost { uint32_t at, size; } *lost;
	/* The target's fields that the source lacks, except reserved ones. */
	const struct lc_missing { uint32_t number, at; } *missing;
};

#define LC_FROM(to, from) lc_##to##_from_##from
#define LC_CONVERSION(to, from) \
	static const struct lc_conversion LC_FROM(to, from) __attribute__((unused))

/*
 * Converts a struct to another layout: copies every field that both have, by
 * name, and zeroes the rest.  Reserved fields are never copied: those of two
 * layouts have nothing in common.
 */
void lc_convert(void *target, const void *source, const struct lc_conversion *conversion);

/* Returns true if the conversion loses nothing: every field byte that is not copied is 0. */
bool lc_fits(const void *source, const struct lc_conversion *conversion);

/* The field at a known offset. */
#define LC_FIELD(type, base, offset) (*(type *)((char *)(base) + (offset)))

#endif
