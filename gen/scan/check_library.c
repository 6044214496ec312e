/* SPDX-License-Identifier: MIT */
/*
 * check_library.c - compares a library with symbols.txt
 *
 * The SONAME tells which library the file is.  The toolkit comes from the caller
 * (FILE=12.9), else from the folders above the file (.../12.9/...,
 * .../cuda-12.9/...), else it is the one whose names are most like the file's.
 */
#include "scanner.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static version version_of(const struct symbols *list, unsigned toolkit)
{
	return VERSION(list->toolkits[toolkit].major, list->toolkits[toolkit].minor);
}

/* The toolkits that a range must have to hold for a version: if the list lacks the version,
 * the toolkit before it and the one after it.  As the head of symbols.txt says, a row for the
 * oldest toolkit holds for older ones of its major, and a row for the newest of a major for
 * later ones of that major.  0 if no range holds for the version. */
static toolkits bits_of(const struct symbols *list, version v)
{
	unsigned after = 0, count = list->toolkit_count;

	while (after < count && version_of(list, after) < v)
		after++;
	if (after < count && version_of(list, after) == v)
		return BIT(after);
	if (after == count)
		return BIT(count);	/* open ranges cover it */
	if (!after)
		return list->toolkits[0].major == MAJOR(v) ? BIT(0) : 0;
	if (list->toolkits[after - 1].major == MAJOR(v) && list->toolkits[after].major != MAJOR(v))
		return BIT(after - 1);
	return BIT(after - 1) | BIT(after);
}

static bool holds(toolkits in, toolkits wanted)
{
	return wanted && !(wanted & ~in);
}

/* A driver has names before the headers of its toolkit do, so any version will do for it. */
static bool is_listed(const struct library *library, const char *name, toolkits wanted)
{
	for (size_t i = 0; i < library->rows.count; i++) {
		const struct row *row = &library->rows.items[i];

		if (!strcmp(row->name, name) && (library->without_majors || holds(row->in, wanted)))
			return true;
	}
	return false;
}

struct difference {
	size_t unlisted, lacking;
};

/* Counts, and prints if asked to, the names that only the library or only the list has. */
static struct difference difference(const struct library *library, const struct exports *exports,
				    toolkits wanted, bool print)
{
	struct difference count = { 0, 0 };

	for (size_t i = 0; i < exports->count; i++) {
		if (is_listed(library, exports->names[i], wanted))
			continue;
		if (print)
			printf("    + %s\n", exports->names[i]);
		count.unlisted++;
	}
	for (size_t i = 0; i < library->rows.count; i++) {
		const struct row *row = &library->rows.items[i];

		if (!holds(row->in, wanted) || exports_name(exports, row->name))
			continue;
		if (print)
			printf("    - %s\n", row->name);
		count.lacking++;
	}
	return count;
}

static const struct library *find_soname(const struct symbols *list, const char *soname,
					 toolkits *in)
{
	for (size_t i = 0; i < list->libraries.count; i++) {
		const struct library *library = &list->libraries.items[i];

		for (size_t j = 0; j < library->sonames.count; j++) {
			if (strcmp(library->sonames.items[j].text, soname))
				continue;
			*in = library->sonames.items[j].in;
			return library;
		}
	}
	return NULL;
}

/* Takes the version from the nearest folder named 12.9 or something-12.9. */
static bool version_of_path(const struct symbols *list, const char *path, toolkits in, version *out)
{
	char *real = realpath(path, NULL), *slash, *dash;
	bool found = false;

	while (real && !found && (slash = strrchr(real, '/'))) {
		dash = strrchr(slash, '-');
		dash = dash ? dash : slash;
		found = parse_version(dash + 1, strlen(dash + 1), out) &&
			holds(in, bits_of(list, *out));
		*slash = '\0';
	}
	free(real);
	return found;
}

/* Returns the toolkit whose names differ least from the library's; of several, the newest. */
static version version_of_names(const struct symbols *list, const struct library *library,
				const struct exports *exports, toolkits in)
{
	size_t best = SIZE_MAX;
	version found = 0;

	for (unsigned i = list->toolkit_count; i-- > 0; ) {
		struct difference count;

		if (!(in & BIT(i)))
			continue;
		count = difference(library, exports, BIT(i), false);
		if (count.unlisted + count.lacking >= best)
			continue;
		best = count.unlisted + count.lacking;
		found = version_of(list, i);
	}
	return found;
}

/* FILE or FILE=VERSION. */
static const char *split_argument(char *argument, version *out)
{
	char *equals = strrchr(argument, '=');

	*out = 0;
	if (!equals || !access(argument, F_OK))
		return argument;
	if (!parse_version(equals + 1, strlen(equals + 1), out))
		fail(argument, "'%s' is not a version", equals + 1);
	return scan_intern_n(argument, (size_t)(equals - argument));
}

/* Returns true if the library and the list differ.  For a driver library, names that only
 * the list has are printed but do not count: headers declare, and so the list has, names
 * that no driver for this CPU ever had. */
static bool check_one(const struct symbols *list, const char *name, char *argument)
{
	version v;
	const char *path = split_argument(argument, &v), *how = "";
	const struct library *library;
	toolkits in, wanted;
	struct exports exports;
	struct difference count;

	read_exports(path, NULL, NULL, &exports);
	library = find_soname(list, exports.soname, &in);
	if (!library)
		fail(path, "%s does not list its SONAME, %s", name, exports.soname);
	if (!library->without_majors && library->node_names != NODES_NONE)
		refuse_plain(&exports);
	if (v && !holds(in, bits_of(list, v)))
		fail(path, "its SONAME, %s, is not that of %d.%d", exports.soname, MAJOR(v), MINOR(v));
	if (!v && !version_of_path(list, path, in, &v)) {
		v = version_of_names(list, library, &exports, in);
		how = ", to judge by its names";
	}
	wanted = bits_of(list, v);
	count = difference(library, &exports, wanted, false);
	printf("%s: %s %d.%d%s: ", path, library->name, MAJOR(v), MINOR(v), how);
	if (!count.unlisted && !count.lacking)
		printf("%zu names, as listed\n", exports.count);
	else
		printf("%zu differ; + only the library has, - only the list has\n",
		       count.unlisted + count.lacking);
	difference(library, &exports, wanted, true);
	return count.unlisted || (count.lacking && !library->without_majors);
}

int check(const char *path, char **arguments, int count)
{
	struct symbols list = { 0 };
	bool differ = false;

	read_list(&list, path);
	for (int i = 0; i < count; i++)
		differ |= check_one(&list, path, arguments[i]);
	return differ;
}
