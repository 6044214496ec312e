/* SPDX-License-Identifier: MIT */
/*
 * check.c - compares a library with symbols.txt
 *
 * The SONAME tells which library the file is.  The toolkit comes from the caller
 * (FILE=12.9), else from the folders above the file (.../12.9/...,
 * .../cuda-12.9/...), else it is the one whose names are most like the file's.
 */
#include "scan.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct listed_name {
	const char *name;
	struct ranges in;
};

struct listed_soname {
	const char *soname;
	struct ranges in;
};

struct listed_library {
	const char *name;
	bool without_majors;	/* `majors none`; `majors own` are majors */
	bool without_nodes;
	struct list sonames, names;
};

struct listing {
	const char *path;
	version toolkits[MAX_TOOLKITS];
	int count;
	struct list libraries;
};

/* ---- reading the list ---- */

struct reader {
	struct place place;
	struct listing *listing;
	struct listed_library *library;
	bool in_functions;
};

/* Returns the next word of a line, NULL at its end, and sets place->column to its start. */
static const char *next_word(char **line, struct place *place, const char *start)
{
	char *word = *line + strspn(*line, " \t");
	size_t length = strcspn(word, " \t");

	if (!length || *word == '#')
		return NULL;
	place->column = (int)(word - start) + 1;
	*line = word + length;
	return scan_intern_n(word, length);
}

static struct ranges read_ranges(struct reader *reader, const char *word)
{
	struct ranges ranges;

	if (!word)
		fail_at(reader->place, "a range of versions is missing");
	if (!parse_ranges(word, &ranges))
		fail_at(reader->place, "'%s' is not a range of versions", word);
	return ranges;
}

static void read_toolkits(struct reader *reader, char *line, const char *start)
{
	struct listing *listing = reader->listing;
	const char *word;

	while ((word = next_word(&line, &reader->place, start))) {
		if (listing->count == MAX_TOOLKITS)
			fail_at(reader->place, "more than %d toolkits", MAX_TOOLKITS);
		if (!parse_version(word, strlen(word), &listing->toolkits[listing->count++]))
			fail_at(reader->place, "'%s' is not a version", word);
	}
}

static void read_block(struct reader *reader, char *line, const char *start)
{
	const char *key = next_word(&line, &reader->place, start), *name;

	reader->in_functions = !strcmp(key, "functions");
	if (!strcmp(key, "toolkits"))
		read_toolkits(reader, line, start);
	if (reader->in_functions && !reader->library)
		fail_at(reader->place, "functions before any library");
	if (strcmp(key, "library"))
		return;
	name = next_word(&line, &reader->place, start);
	if (!name)
		fail_at(reader->place, "a library without a name");
	reader->library = scan_alloc(sizeof(*reader->library));
	reader->library->name = name;
	list_add(&reader->listing->libraries, reader->library);
}

static void read_function(struct reader *reader, char *line, const char *start)
{
	struct listed_name *name = scan_alloc(sizeof(*name));

	name->name = next_word(&line, &reader->place, start);
	name->in = read_ranges(reader, next_word(&line, &reader->place, start));
	list_add(&reader->library->names, name);
}

static bool is_none(const char *word)
{
	return word && !strcmp(word, "none");
}

static void read_library_row(struct reader *reader, char *line, const char *start)
{
	struct listed_soname *soname = scan_alloc(sizeof(*soname));
	const char *key = next_word(&line, &reader->place, start);
	const char *word = next_word(&line, &reader->place, start);

	if (!strcmp(key, "majors"))
		reader->library->without_majors = is_none(word);
	if (!strcmp(key, "nodes"))
		reader->library->without_nodes = is_none(word);
	if (strcmp(key, "soname"))
		return;
	soname->soname = word;
	soname->in = read_ranges(reader, next_word(&line, &reader->place, start));
	list_add(&reader->library->sonames, soname);
}

static void read_line(struct reader *reader, char *line)
{
	char *start = line, *rest = line;

	reader->place.column = 1;
	if (!next_word(&rest, &reader->place, start))
		return;
	if (*line != ' ' && *line != '\t')
		read_block(reader, line, start);
	else if (reader->in_functions)
		read_function(reader, line, start);
	else if (reader->library)
		read_library_row(reader, line, start);
}

static void read_listing(struct listing *listing, const char *path)
{
	struct reader reader = { .place = { path, 0, 1 }, .listing = listing };
	char *text = read_text(path), *line;

	while ((line = next_line(&text))) {
		reader.place.line++;
		read_line(&reader, line);
	}
	listing->path = path;
	if (!listing->count || !listing->libraries.count)
		fail(path, "is not a list of symbols: it names no %s",
		     listing->count ? "library" : "toolkits");
}

/* ---- comparing ---- */

/* Returns true if ranges cover a version that the list need not contain.  As the head of
 * symbols.txt says, a row for the oldest toolkit holds for older ones of its major, and a
 * row for the newest of a major for later ones of that major. */
static bool holds(const struct listing *listing, const struct ranges *ranges, version v)
{
	version oldest = listing->toolkits[0], before = v;

	if (v < oldest && MAJOR(v) == MAJOR(oldest))
		v = oldest;
	for (int i = 0; i < listing->count && MAJOR(listing->toolkits[i]) <= MAJOR(v); i++)
		before = listing->toolkits[i];
	/* In the newest major, open ranges cover later versions. */
	if (v > before && MAJOR(v) == MAJOR(before) &&
	    before != listing->toolkits[listing->count - 1])
		v = before;
	return in_ranges(ranges, v);
}

/* A driver has names before the headers of its toolkit do, so any version will do for it. */
static bool is_listed(const struct listing *listing, const struct listed_library *library,
		      const char *name, version v)
{
	for (size_t i = 0; i < library->names.count; i++) {
		const struct listed_name *listed = library->names.items[i];

		if (listed->name == name &&
		    (library->without_majors || holds(listing, &listed->in, v)))
			return true;
	}
	return false;
}

struct difference {
	size_t unlisted, lacking;
};

/* Counts, and prints if asked to, the names that only the library or only the list has.
 * Names are interned. */
static struct difference difference(const struct listing *listing,
				    const struct listed_library *library,
				    const struct exports *exports, version v, bool print)
{
	struct difference count = { 0, 0 };

	for (size_t i = 0; i < exports->count; i++) {
		if (is_listed(listing, library, exports->names[i], v))
			continue;
		if (print)
			printf("    + %s\n", exports->names[i]);
		count.unlisted++;
	}
	for (size_t i = 0; i < library->names.count; i++) {
		const struct listed_name *listed = library->names.items[i];

		if (!holds(listing, &listed->in, v) || exports_name(exports, listed->name))
			continue;
		if (print)
			printf("    - %s\n", listed->name);
		count.lacking++;
	}
	return count;
}

static const struct listed_library *find_soname(const struct listing *listing, const char *soname,
						const struct ranges **in)
{
	for (size_t i = 0; i < listing->libraries.count; i++) {
		const struct listed_library *library = listing->libraries.items[i];

		for (size_t j = 0; j < library->sonames.count; j++) {
			const struct listed_soname *listed = library->sonames.items[j];

			if (listed->soname != soname)
				continue;
			*in = &listed->in;
			return library;
		}
	}
	return NULL;
}

/* Takes the version from the nearest folder named 12.9 or something-12.9. */
static bool version_of_path(const struct listing *listing, const char *path,
			    const struct ranges *in, version *out)
{
	char *real = realpath(path, NULL), *slash, *dash;
	bool found = false;

	while (real && !found && (slash = strrchr(real, '/'))) {
		dash = strrchr(slash, '-');
		dash = dash ? dash : slash;
		found = parse_version(dash + 1, strlen(dash + 1), out) &&
			holds(listing, in, *out);
		*slash = '\0';
	}
	free(real);
	return found;
}

/* Returns the toolkit whose names differ least from the library's; of several, the newest. */
static version version_of_names(const struct listing *listing, const struct listed_library *library,
				const struct exports *exports, const struct ranges *in)
{
	size_t best = SIZE_MAX;
	version found = 0;

	for (int i = listing->count - 1; i >= 0; i--) {
		struct difference count;

		if (!in_ranges(in, listing->toolkits[i]))
			continue;
		count = difference(listing, library, exports, listing->toolkits[i], false);
		if (count.unlisted + count.lacking >= best)
			continue;
		best = count.unlisted + count.lacking;
		found = listing->toolkits[i];
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
static bool check_one(const struct listing *listing, char *argument)
{
	version v;
	const char *path = split_argument(argument, &v), *how = "";
	const struct listed_library *library;
	const struct ranges *in;
	struct exports exports;
	struct difference count;

	read_exports(path, &exports);
	library = find_soname(listing, exports.soname, &in);
	if (!library)
		fail(path, "%s does not list its SONAME, %s", listing->path, exports.soname);
	if (!library->without_majors && !library->without_nodes)
		refuse_plain(&exports);
	if (v && !holds(listing, in, v))
		fail(path, "its SONAME, %s, is not that of %d.%d", exports.soname, MAJOR(v), MINOR(v));
	if (!v && !version_of_path(listing, path, in, &v)) {
		v = version_of_names(listing, library, &exports, in);
		how = ", to judge by its names";
	}
	count = difference(listing, library, &exports, v, false);
	printf("%s: %s %d.%d%s: ", path, library->name, MAJOR(v), MINOR(v), how);
	if (!count.unlisted && !count.lacking)
		printf("%zu names, as listed\n", exports.count);
	else
		printf("%zu differ; + only the library has, - only the list has\n",
		       count.unlisted + count.lacking);
	difference(listing, library, &exports, v, true);
	return count.unlisted || (count.lacking && !library->without_majors);
}

int check(const char *list, char **arguments, int count)
{
	struct listing listing = { 0 };
	bool differ = false;

	read_listing(&listing, list);
	for (int i = 0; i < count; i++)
		differ |= check_one(&listing, arguments[i]);
	return differ;
}
