/* SPDX-License-Identifier: MIT */
/*
 * hints.c - reads gen/hints.txt; the head of that file describes the format
 *
 * What a hint only copies to the list, such as a status or a type, is judged by the reader of the
 * list, which write_list() calls.
 */
#include "scanner.h"

#include <string.h>

struct hint_line {
	struct position position;
	struct word *words;
	size_t count, capacity;
	bool indented;
};

static void split(struct hint_line *line, const char *text)
{
	const char *c = text;

	line->count = 0;
	line->indented = *c == ' ' || *c == '\t';
	for (;;) {
		struct word word = { .position = line->position };
		size_t length;

		c += strspn(c, " \t");
		if (!*c || *c == '#')
			break;
		length = strcspn(c, " \t");
		word.position.column = (unsigned)(c - text) + 1;
		word.text = scan_intern_n(c, length);
		line->words = grow(line->words, line->count, &line->capacity, sizeof(word));
		line->words[line->count++] = word;
		c += length;
	}
	if (line->count)
		line->position.column = line->words[0].position.column;
}

/* Adds a hint of the words from one on; messages about it name the first of them. */
static struct hint *add_words(struct list *list, const struct hint_line *line, size_t first,
			      size_t most)
{
	struct hint *hint = allocate(1, sizeof(*hint));

	hint->position = line->words[first].position;
	for (size_t i = first; i < line->count && hint->count < most; i++)
		hint->words[hint->count++] = line->words[i].text;
	list_add(list, hint);
	return hint;
}

static void read_range(struct hint *hint, const struct hint_line *line, size_t index)
{
	if (!parse_ranges(line->words[index].text, &hint->ranges))
		fail_at(line->words[index].position, "'%s' is not a range of versions",
			line->words[index].text);
}

static void one_of(const struct hint_line *line, size_t index, const char *const *choices)
{
	const char *all = "";

	for (size_t i = 0; choices[i]; i++) {
		if (!strcmp(line->words[index].text, choices[i]))
			return;
		all = format("%s%s%s", all, i ? ", " : "", choices[i]);
	}
	fail_at(line->words[index].position, "'%s' is none of %s", line->words[index].text, all);
}

/* ---- readers: `into` is the member of struct subject that a hint is for ---- */

static void read_name(void *into, const struct hint_line *line)
{
	const char **name = into;

	if (*name)
		fail_at(line->position, "%s is given twice", line->words[0].text);
	*name = line->words[1].text;
}

static void read_none(void *into, const struct hint_line *line)
{
	static const char *const none[] = { "none", NULL };

	one_of(line, 1, none);
	*(bool *)into = true;
}

/* One hint of all words, or a hint of each. */
static void read_hint(void *into, const struct hint_line *line)
{
	add_words(into, line, 1, line->count);
}

static void read_each(void *into, const struct hint_line *line)
{
	for (size_t i = 1; i < line->count; i++)
		add_words(into, line, i, 1);
}

static void read_exported(void *into, const struct hint_line *line)
{
	for (size_t i = 2; i < line->count; i++)
		read_range(add_words(into, line, i, 1), line, 1);
}

static void read_folder(void *into, const struct hint_line *line)
{
	read_range(add_words(into, line, 1, 2), line, 2);
}

static void read_parse(void *into, const struct hint_line *line)
{
	static const char *const languages[] = { "c", "c++", NULL };
	struct parse_hint *parse = allocate(1, sizeof(*parse));

	one_of(line, 1, languages);
	parse->position = line->position;
	parse->cplusplus = !strcmp(line->words[1].text, "c++");
	for (size_t i = 2; i < line->count; i++) {
		const char *word = line->words[i].text;

		list_add(word[0] == '-' ? &parse->defines : &parse->headers, word);
	}
	list_add(into, parse);
}

static void read_direction(void *into, const struct hint_line *line)
{
	static const char *const directions[] = { "in", "out", "inout", "buf", "ptr", NULL };

	one_of(line, 3, directions);
	for (const char *name = line->words[2].text, *end; *name; name = end + (*end == ',')) {
		end = name + strcspn(name, ",");
		add_words(into, line, 1, 4)->words[1] = scan_intern_n(name, (size_t)(end - name));
	}
}

/* declared|measured NAME (TYPE, ...) [-> RESULT] */
static void read_signature(void *into, const struct hint_line *line)
{
	struct hint *hint = add_words(into, line, 1, 1);
	const char *text = line->words[2].text;

	for (size_t i = 3; i < line->count; i++)
		text = format("%s %s", text, line->words[i].text);
	hint->words[hint->count++] = text;
	hint->words[hint->count++] = line->words[0].text;
}

static void read_layout(void *into, const struct hint_line *line)
{
	struct hint *hint = add_words(into, line, 1, 5);
	const char *as_of = line->words[4].text;

	read_range(hint, line, 2);
	if (strcmp(as_of, "same") && !parse_version(as_of, strlen(as_of), &hint->as_of))
		fail_at(line->words[4].position, "'%s' is neither a version nor same", as_of);
}

#define MOST SIZE_MAX
#define INTO(member) offsetof(struct subject, member)

static const struct {
	const char *form;	/* its first word is the keyword */
	size_t least, most;	/* words */
	void (*read)(void *into, const struct hint_line *line);
	size_t into;
} kinds[] = {
	{ "stub NAME", 2, 2, read_name, INTO(stub) },
	{ "variable NAME", 2, 2, read_name, INTO(variable) },
	{ "status NAME", 2, 2, read_name, INTO(status) },
	{ "soname NAME", 2, 2, read_name, INTO(soname) },
	{ "majors none", 2, 2, read_none, INTO(without_majors) },
	{ "witness NAME", 2, 2, read_name, INTO(witness) },
	{ "home DIR...", 2, MOST, read_each, INTO(homes) },
	{ "package NAME...", 2, MOST, read_each, INTO(packages) },
	{ "exported RANGE NAME...", 3, MOST, read_exported, INTO(exported) },
	{ "tag FIELD...", 2, MOST, read_each, INTO(tags) },
	{ "folder DIR RANGE", 3, 3, read_folder, INTO(folders) },
	{ "include DIR RANGE", 3, 3, read_folder, INTO(includes) },
	{ "node NODE MAJOR", 3, 3, read_hint, INTO(nodes) },
	{ "companion SONAME...", 2, MOST, read_each, INTO(companions) },
	{ "error KIND VALUE", 3, 3, read_hint, INTO(errors) },
	{ "parse c|c++ [-DNAME...] HEADER...", 3, MOST, read_parse, INTO(parses) },
	{ "reserved NAME...", 2, MOST, read_each, INTO(reserved) },
	{ "direction FUNCTION PARAMETER[,...] in|out|inout|buf|ptr [TYPE]", 4, 5, read_direction,
	  INTO(directions) },
	{ "result FUNCTION TYPE|status", 3, 3, read_hint, INTO(results) },
	{ "declared NAME (TYPE, ...) [-> RESULT]", 3, MOST, read_signature, INTO(signatures) },
	{ "measured NAME (TYPE, ...) [-> RESULT]", 3, MOST, read_signature, INTO(signatures) },
	{ "family PATTERN NAME", 3, 3, read_hint, INTO(families) },
	{ "hook PATTERN...", 2, MOST, read_each, INTO(hooks) },
	{ "slow PATTERN...", 2, MOST, read_each, INTO(slows) },
	{ "apart PATTERN...", 2, MOST, read_each, INTO(aparts) },
	{ "layout FUNCTION RANGE STRUCT VERSION NAME", 6, 6, read_layout, INTO(layouts) },
};

static void read_row(struct subject *library, const struct hint_line *line)
{
	const char *key = line->words[0].text;
	const size_t length = strlen(key), count = COUNT(kinds);
	size_t i = 0;

	while (i < count && (strncmp(kinds[i].form, key, length) || kinds[i].form[length] != ' '))
		i++;
	if (i == count)
		fail_at(line->position, "'%s' is not a kind of hint", key);
	if (line->count < kinds[i].least || line->count > kinds[i].most)
		fail_at(line->position, "expected: %s", kinds[i].form);
	kinds[i].read((char *)library + kinds[i].into, line);
}

static struct subject *open_library(struct list *libraries, const struct hint_line *line)
{
	struct subject *library;

	if (strcmp(line->words[0].text, "library") || line->count != 2)
		fail_at(line->position, "expected: library NAME");
	for (size_t i = 0; i < libraries->count; i++) {
		library = libraries->items[i];
		if (library->name == line->words[1].text)
			fail_at(line->words[1].position, "library %s is there already", library->name);
	}
	library = allocate(1, sizeof(*library));
	library->position = line->position;
	library->name = line->words[1].text;
	list_add(libraries, library);
	return library;
}

static void check_subject(const struct subject *library)
{
	if (!library->stub)
		fail_at(library->position, "library %s has no `stub`", library->name);
	if (!library->status)
		fail_at(library->position, "library %s has no `status`", library->name);
	if (library->without_majors != !!library->soname)
		fail_at(library->position, "library %s needs both of `majors none` and `soname`, or"
			" neither", library->name);
	if (!library->folders.count && !library->soname)
		fail_at(library->position, "library %s has no `folder`", library->name);
}

struct list read_hints(const char *path)
{
	struct list libraries = { 0 };
	struct subject *library = NULL;
	struct hint_line line = { .position = { path, 0, 1 } };
	char *text = read_text(path), *row;

	while ((row = next_line(&text))) {
		line.position.line++;
		line.position.column = 1;
		split(&line, row);
		if (!line.count)
			continue;
		if (!line.indented)
			library = open_library(&libraries, &line);
		else if (!library)
			fail_at(line.position, "a row before any `library`");
		else
			read_row(library, &line);
	}
	for (size_t i = 0; i < libraries.count; i++)
		check_subject(libraries.items[i]);
	if (!libraries.count)
		fail(path, "names no library");
	return libraries;
}
