/* SPDX-License-Identifier: MIT */
/* layout.c - structs whose layout differs between versions */
#include "layout.h"

#include <string.h>

/* Calls `each` with every field that both layouts have. */
static void for_common(const struct lc_layout *to, const struct lc_layout *from,
		       void (*each)(const struct lc_field *to, const struct lc_field *from,
				    void *data), void *data)
{
	size_t t = 0, f = 0;

	while (t < to->count && f < from->count) {
		uint32_t left = to->fields[t].number, right = from->fields[f].number;

		if (left == right && !to->fields[t].reserved)
			each(&to->fields[t], &from->fields[f], data);
		t += left <= right;
		f += left >= right;
	}
}

struct copy {
	char *target;
	const char *source;
};

static void copy_field(const struct lc_field *to, const struct lc_field *from, void *data)
{
	const struct copy *copy = data;

	memcpy(copy->target + to->offset, copy->source + from->offset,
	       to->size < from->size ? to->size : from->size);
}

void lc_convert(void *target, const struct lc_layout *to, const void *source,
		const struct lc_layout *from)
{
	struct copy copy = { target, source };

	memset(target, 0, to->size);
	for_common(to, from, copy_field, &copy);
}

static void mark_field(const struct lc_field *to, const struct lc_field *from, void *data)
{
	(void)to;
	memset((char *)data + from->offset, 1, from->size);
}

bool lc_fits(const void *source, const struct lc_layout *from, const struct lc_layout *to)
{
	char carried[2048] = { 0 };	/* the largest struct has 1032 bytes */
	const char *bytes = source;

	if (from->size > sizeof(carried))
		return false;
	for_common(to, from, mark_field, carried);
	/* Bytes between fields are nobody's and may hold anything. */
	for (size_t i = 0; i < from->count; i++) {
		const struct lc_field *field = &from->fields[i];

		for (size_t b = field->offset; b < (size_t)field->offset + field->size; b++)
			if (!carried[b] && bytes[b])
				return false;
	}
	return true;
}

void lc_each_missing(const struct lc_layout *to, const struct lc_layout *from,
		     void (*each)(const struct lc_field *field, void *data), void *data)
{
	size_t t = 0, f = 0;

	while (t < to->count) {
		uint32_t left = to->fields[t].number;
		uint32_t right = f < from->count ? from->fields[f].number : UINT32_MAX;

		if (left < right && !to->fields[t].reserved)
			each(&to->fields[t], data);
		t += left <= right;
		f += left >= right;
	}
}
