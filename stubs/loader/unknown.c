/* SPDX-License-Identifier: MIT */
/* unknown.c - real libraries of majors and SONAMEs that are not in symbols.txt */
#include "unknown.h"

#include <stdlib.h>
#include <string.h>

#include "../base/glibc.h"
#include "../base/library_name.h"
#include "../base/verdict.h"

const struct lc_major *lc_listed_major(const struct lc_library *library, int major)
{
	for (size_t i = 0; i < library->major_count; i++)
		if (library->majors[i].major == major)
			return &library->majors[i];
	return NULL;
}

int lc_unknown_major(const struct lc_library *library, const char *node)
{
	int major = lc_node_major(library, node);

	return lc_listed_major(library, major) ? 0 : major;
}

const char *lc_unknown_reason(struct lc_arena *arena, const struct lc_library *library, int major)
{
	bool later = major > library->majors[0].major;

	if (library->own_majors)
		return lc_format(arena, "is of major %d, for which this stub was not made", major);
	return lc_format(arena, "is of CUDA %d, which this lazycuda does not know%s", major,
			 later ? "; a later release may" : "");
}

const char *lc_older_reason(struct lc_arena *arena, const struct lc_library *library,
			    const char *soname)
{
	const struct lc_major *major = lc_listed_major(library, lc_node_major(library, soname));

	if (!major || !strcmp(soname, major->soname) || library->own_majors)
		return NULL;
	return lc_format(arena, "is %s, and of CUDA %d this lazycuda knows %d.%d and later, which have %s",
			 soname, major->major, LC_MAJOR(major->oldest), LC_MINOR(major->oldest),
			 major->soname);
}

const struct lc_major *lc_older_soname(struct lc_arena *arena, const struct lc_major *major)
{
	struct lc_major *made = lc_alloc(arena, sizeof(*made));
	struct lc_ending ending;
	const char *second;

	if (!made || !lc_read_name(major->soname, &ending) || !ending.numbers)
		return NULL;
	second = strchr(ending.numbers, '.');
	if (!second || atoi(second + 1) <= 0)
		return NULL;
	*made = *major;
	made->soname = lc_format(arena, "%.*s.%d", (int)(second - major->soname), major->soname,
				 atoi(second + 1) - 1);
	return made;
}

/* "nvidia/cu14/lib" for "nvidia/cu13/lib"; NULL if the name has no 13. */
static const char *with_major(struct lc_arena *arena, const char *name, int from, int to)
{
	static const char numerals[] = "0123456789";
	const char *digits = name + strcspn(name, numerals);

	for (; *digits; digits += strcspn(digits, numerals)) {
		const char *end = digits + strspn(digits, numerals);

		if (atoi(digits) == from)
			return lc_format(arena, "%.*s%d%s", (int)(digits - name), name, to, end);
		digits = end;
	}
	return NULL;
}

const struct lc_major *lc_later_major(struct lc_arena *arena, const struct lc_major *newest,
				      int later)
{
	struct lc_major *made = lc_alloc(arena, sizeof(*made));

	if (!made)
		return NULL;
	made->major = later;
	made->soname = with_major(arena, newest->soname, newest->major, later);
	if (newest->folder)
		made->folder = with_major(arena, newest->folder, newest->major, later);
	return made->soname ? made : NULL;
}
