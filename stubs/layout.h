/* SPDX-License-Identifier: MIT */
/*
 * layout.h - structs whose layout differs between versions
 *
 * The generated *.layouts.h define LC_SIZE_S_A, the size of layout A of struct
 * S, LC_AT_S_A_f, the offset of its field f, and lc_layout_S_A, all of its
 * fields.
 */
#ifndef LAYOUT_H
#define LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lc_field {
	const char *name;
	uint32_t number;	/* the same for this name in all layouts of the struct */
	uint32_t offset, size;
	bool reserved;
};

struct lc_layout {
	size_t size;
	const struct lc_field *fields;	/* sorted by name, and so by number */
	size_t count;
};

#define LC_LAYOUT(name, bytes, ...) \
	static const struct lc_field lc_fields_##name[] __attribute__((unused)) = { __VA_ARGS__ }; \
	static const struct lc_layout lc_layout_##name __attribute__((unused)) = { \
		bytes, lc_fields_##name, sizeof(lc_fields_##name) / sizeof(*lc_fields_##name) \
	};

/*
 * Makes a struct of layout `to` of one of layout `from`: every field that both
 * have, by name; zeroes elsewhere.  Reserved fields are not fields: each
 * layout's are its own.
 */
void lc_convert(void *target, const struct lc_layout *to, const void *source,
		const struct lc_layout *from);

/*
 * Whether nothing is lost in a conversion: all that layout `to` has no field
 * for is zero in `source`, reserved fields included.
 */
bool lc_fits(const void *source, const struct lc_layout *from, const struct lc_layout *to);

/* Calls `each` with every field of `to` that `from` has not, reserved ones apart. */
void lc_each_missing(const struct lc_layout *to, const struct lc_layout *from,
		     void (*each)(const struct lc_field *field, void *data), void *data);

/* The field at a known offset. */
#define LC_FIELD(type, base, offset) (*(type *)((char *)(base) + (offset)))

#endif
