/* SPDX-License-Identifier: MIT */
/* model.c - queries on a list, even one that is still being read */
#include "symbols_txt.h"

#include <string.h>

const char *const kind_names[] = {
	"i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f32", "f64", "ptr", "", "void"
};
const unsigned kind_sizes[] = { 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 8 };

unsigned first_bit(toolkits set)
{
	return (unsigned)__builtin_ctzll(set);
}

unsigned last_bit(toolkits set)
{
	return 63 - (unsigned)__builtin_clzll(set);
}

bool means_field(const char *word, const char *field)
{
	const char *dot = strrchr(field, '.'), *last = dot ? dot + 1 : field;
	size_t length = strlen(word);

	return !strncmp(last, word, length) && !last[length + strspn(last + length, "0123456789")];
}

bool is_reserved(const struct library *library, const char *field)
{
	for (size_t i = 0; i < library->reserved.count; i++)
		if (means_field(library->reserved.items[i].text, field))
			return true;
	return false;
}

struct symbols view_of(const struct symbols *list, const struct library *library)
{
	struct symbols view = *list;

	view.without_majors = library->without_majors;
	return view;
}

unsigned major_at(const struct symbols *list, unsigned bit)
{
	if (list->without_majors)
		return 0;
	return list->toolkits[bit < list->toolkit_count ? bit : list->toolkit_count - 1].major;
}

bool is_newest_of_major(const struct symbols *list, unsigned toolkit)
{
	return toolkit + 1 == list->toolkit_count ||
	       major_at(list, toolkit) != major_at(list, toolkit + 1);
}

int32_t error_in(const struct library *library, enum error_kind kind, unsigned toolkit)
{
	for (size_t i = 0; i < library->errors[kind].count; i++)
		if (library->errors[kind].items[i].in & BIT(toolkit))
			return library->errors[kind].items[i].value;
	return 0;
}

toolkits major_set(const struct symbols *list, unsigned major)
{
	toolkits set = 0;

	for (unsigned bit = 0; bit <= list->toolkit_count; bit++)
		if (major_at(list, bit) == major)
			set |= BIT(bit);
	return set;
}

const char *bit_text(const struct symbols *list, unsigned bit)
{
	bool later = bit == list->toolkit_count;
	const struct version *version = &list->toolkits[bit - later];

	return format("%s%u.%u", later ? "versions later than " : "", version->major,
		      version->minor);
}
