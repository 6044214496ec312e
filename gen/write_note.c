/* SPDX-License-Identifier: MIT */
/* write_note.c - writes the notes of stubs/entry/note.h: what a stub may open, who has it */
#include "writers.h"

#include <string.h>

static void add_quoted(struct text *c, size_t *count, const char *name)
{
	put(c, "%s\\\"%s\\\"", (*count)++ ? ",\"\n\t\t\"" : "", name);
}

/* The companion's SONAME in one toolkit: %M and %m become its major and minor. */
static const char *companion_of(const char *pattern, struct version version)
{
	struct text name = { 0 };

	for (; *pattern; pattern++) {
		if (pattern[0] == '%' && (pattern[1] == 'M' || pattern[1] == 'm'))
			put(&name, "%u", *++pattern == 'M' ? version.major : version.minor);
		else
			put(&name, "%c", *pattern);
	}
	return name.bytes;
}

static void add_sonames(struct text *c, const struct plan *plan)
{
	const struct symbols *list = plan->list;
	size_t count = 0;

	for (unsigned i = list->toolkit_count; i--;) {
		const char *soname = soname_of(plan, major_at(list, i));

		if (is_newest_of_major(list, i) && soname)
			add_quoted(c, &count, soname);
	}
}

static void add_companions(struct text *c, const struct plan *plan)
{
	size_t count = 0;

	for (unsigned i = plan->list->toolkit_count; i--;)
		if (plan->library->in & BIT(i))
			add_quoted(c, &count, companion_of(plan->library->companion,
							   plan->list->toolkits[i]));
}

/* A SONAME that is in rows of several CUDAs is one name to open. */
static bool is_first(const struct library *library, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (!strcmp(library->opens.items[i].soname, library->opens.items[index].soname))
			return false;
	return true;
}

static void add_opens(struct text *c, const struct library *library)
{
	size_t count = 0;

	for (size_t i = library->opens.count; i--;)
		if (is_first(library, i))
			add_quoted(c, &count, library->opens.items[i].soname);
}

/* A feature has one description: a published reader of these notes breaks on two. */
static void add_feature(struct text *c, const char *name)
{
	put(c, "\",\n\t\t\"%s\", \"the real library that calls are forwarded to\")", name);
}

static void write_packages(struct text *c, const struct library *library)
{
	size_t count = 0;

	if (!library->packages.count)
		return;
	put(c, "\nLC_PACKAGE_NOTE(\"");
	for (size_t i = 0; i < library->packages.count; i++)
		add_quoted(c, &count, library->packages.items[i].text);
	put(c, "\")\n");
}

/* What LC_RECORD_NOTE says; `major` is the library's own of the CUDA that callers are compiled for. */
static void write_inside(struct text *c, const struct plan *plan, unsigned major)
{
	put(c, "\n#define LC_COPY_OF \"%s %u %u\"", file_name(plan->library), plan->embedded, major);
	for (size_t i = 0; plan->pruned && i < plan->uses.count; i++)
		put(c, " \\\n\t\" %s\"", plan->uses.items[i].name);
	put(c, "\n");
}

/* SONAMEs are in the order of the search, newest first. */
void write_note(struct text *c, const struct plan *plan, unsigned major)
{
	const struct library *library = plan->library;

	put(c, "\nLC_DLOPEN_NOTE(\n\tLC_DLOPEN(\"");
	add_sonames(c, plan);
	add_feature(c, library->name);
	if (library->companion) {
		put(c, " \",\"\n\tLC_DLOPEN(\"");
		add_companions(c, plan);
		add_feature(c, library->name);
	}
	if (library->opens.count) {
		put(c, " \",\"\n\tLC_DLOPEN(\"");
		add_opens(c, library);
		add_feature(c, library->name);
	}
	put(c, ")\n");
	write_packages(c, library);
	if (plan->embedded)
		write_inside(c, plan, major);
}
