/* SPDX-License-Identifier: MIT */
/* hints.c - reads gen/hints.txt; the head of that file describes the format */
#include "scanner.h"

#include <stdlib.h>
#include <string.h>

struct hint_word {
	struct place place;
	const char *text;
};

struct hint_line {
	struct place place;
	struct hint_word words[64];
	size_t count;
	bool indented;
};

static void split(struct hint_line *line, const char *text)
{
	const char *c = text;

	line->count = 0;
	line->indented = *c == ' ' || *c == '\t';
	for (;;) {
		size_t length;
		struct hint_word *word;

		c += strspn(c, " \t");
		if (!*c || *c == '#')
			break;
		length = strcspn(c, " \t");
		if (line->count == sizeof(line->words) / sizeof(line->words[0]))
			fail_at(line->place, "too many words");
		word = &line->words[line->count++];
		word->place = line->place;
		word->place.column = (unsigned)(c - text) + 1;
		word->text = scan_intern_n(c, length);
		c += length;
	}
	if (line->count)
		line->place.column = line->words[0].place.column;
}

static void expect(const struct hint_line *line, size_t count, const char *form)
{
	if (line->count != count)
		fail_at(line->place, "expected: %s", form);
}

/* Makes a hint of the words after the keyword; messages about it name the first of them. */
static struct hint *make_hint(const struct hint_line *line)
{
	struct hint *hint = scan_alloc(sizeof(*hint));

	hint->place = line->words[1].place;
	for (size_t i = 1; i < line->count && hint->count < 8; i++)
		hint->words[hint->count++] = line->words[i].text;
	return hint;
}

static void hint_range(struct hint *hint, const struct hint_line *line, size_t index)
{
	if (!parse_ranges(line->words[index].text, &hint->ranges))
		fail_at(line->words[index].place, "'%s' is not a range of versions",
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
	fail_at(line->words[index].place, "'%s' is none of %s", line->words[index].text, all);
}

static void read_parse(struct subject *library, const struct hint_line *line)
{
	static const char *const languages[] = { "c", "c++", NULL };
	struct parse_hint *parse = scan_alloc(sizeof(*parse));

	if (line->count < 3)
		fail_at(line->place, "expected: parse c|c++ [-DNAME...] HEADER...");
	one_of(line, 1, languages);
	parse->place = line->place;
	parse->cplusplus = !strcmp(line->words[1].text, "c++");
	for (size_t i = 2; i < line->count; i++) {
		const char *word = line->words[i].text;

		list_add(word[0] == '-' ? &parse->defines : &parse->headers, (void *)word);
	}
	list_add(&library->parses, parse);
}

static bool is_scalar(const char *text, size_t length)
{
	for (int base = I8; base <= PTR; base++)
		if (strlen(kind_names[base]) == length && !memcmp(text, kind_names[base], length))
			return true;
	return false;
}

/* `(...)` or `(...) -> RESULT`. */
static bool is_signature(const char *text)
{
	const char *end = strchr(text, ')');

	if (*text != '(' || !end)
		return false;
	return !end[1] || (!strncmp(end, ") -> ", 5) && end[5] && !strpbrk(end + 5, " ()"));
}

/* declared|measured NAME (TYPE, ...) [-> RESULT] */
static void read_signature(struct subject *library, const struct hint_line *line)
{
	struct hint *hint = make_hint(line);
	const char *text = "";
	bool result = false;

	if (line->count < 3 || line->words[2].text[0] != '(')
		fail_at(line->place, "expected: %s NAME (TYPE, ...) [-> RESULT]",
			line->words[0].text);
	for (size_t i = 2; i < line->count; i++) {
		const char *word = line->words[i].text;
		const char *bare = word + (*word == '(');
		size_t length = strcspn(bare, ",)");

		if (!strcmp(word, "->"))
			result = true;
		else if (!(result && !strcmp(word, "void")) && length && !is_scalar(bare, length) &&
			 strcmp(bare, "in") && strcmp(bare, "out") && strcmp(bare, "buf"))
			fail_at(line->words[i].place, "'%.*s' is not a type", (int)length, bare);
		text = format("%s%s%s", text, *text ? " " : "", word);
	}
	if (!is_signature(text))
		fail_at(line->words[2].place, "'%s' is not a signature", text);
	hint->words[0] = line->words[0].text;
	hint->words[1] = line->words[1].text;
	hint->words[2] = text;
	hint->count = 3;
	list_add(&library->signatures, hint);
}

static void read_layout(struct subject *library, const struct hint_line *line)
{
	struct hint *hint;
	const char *as_of;

	expect(line, 6, "layout FUNCTION RANGE STRUCT VERSION NAME");
	hint = make_hint(line);
	hint_range(hint, line, 2);
	as_of = line->words[4].text;
	if (strcmp(as_of, "same") && !parse_version(as_of, strlen(as_of), &hint->as_of))
		fail_at(line->words[4].place, "'%s' is neither a version nor same", as_of);
	list_add(&library->layouts, hint);
}

static void read_direction(struct subject *library, const struct hint_line *line)
{
	static const char *const directions[] = { "in", "out", "inout", "buf", "ptr", NULL };

	if (line->count != 5)
		expect(line, 4, "direction FUNCTION PARAMETER in|out|inout|buf|ptr [TYPE]");
	one_of(line, 3, directions);
	if (line->count == 5 && !is_scalar(line->words[4].text, strlen(line->words[4].text)))
		fail_at(line->words[4].place, "'%s' is not a type", line->words[4].text);
	list_add(&library->directions, make_hint(line));
}

static void read_error(struct subject *library, const struct hint_line *line)
{
	static const char *const kinds[] = {
		"missing", "absent", "refused", "driver", "incoherent", "ending", "released",
		NULL
	};
	char *end;

	expect(line, 3, "error KIND VALUE");
	one_of(line, 1, kinds);
	strtol(line->words[2].text, &end, 10);
	if (*end)
		fail_at(line->words[2].place, "'%s' is not a number", line->words[2].text);
	list_add(&library->errors, make_hint(line));
}

static void read_place(struct list *list, const struct hint_line *line)
{
	struct hint *hint;

	expect(line, 3, "folder|include DIR RANGE");
	hint = make_hint(line);
	hint_range(hint, line, 2);
	list_add(list, hint);
}

static void read_node(struct subject *library, const struct hint_line *line)
{
	char *end;

	expect(line, 3, "node NODE MAJOR");
	strtol(line->words[2].text, &end, 10);
	if (*end)
		fail_at(line->words[2].place, "'%s' is not a major version", line->words[2].text);
	list_add(&library->nodes, make_hint(line));
}

static void read_words(struct list *list, const struct hint_line *line)
{
	if (line->count < 2)
		fail_at(line->place, "expected: %s PATTERN...", line->words[0].text);
	for (size_t i = 1; i < line->count; i++) {
		struct hint *hint = scan_alloc(sizeof(*hint));

		hint->place = line->words[i].place;
		hint->words[0] = line->words[i].text;
		hint->count = 1;
		list_add(list, hint);
	}
}

static void read_pair(struct list *list, const struct hint_line *line, const char *form)
{
	expect(line, 3, form);
	list_add(list, make_hint(line));
}

static void read_name(const char **name, const struct hint_line *line)
{
	if (line->count != 2)
		fail_at(line->place, "expected: %s NAME", line->words[0].text);
	if (*name)
		fail_at(line->place, "%s is given twice", line->words[0].text);
	*name = line->words[1].text;
}

/* exported RANGE NAME... */
static void read_exported(struct subject *library, const struct hint_line *line)
{
	if (line->count < 3)
		fail_at(line->place, "expected: exported RANGE NAME...");
	for (size_t i = 2; i < line->count; i++) {
		struct hint *hint = scan_alloc(sizeof(*hint));

		hint->place = line->words[i].place;
		hint_range(hint, line, 1);
		hint->words[0] = line->words[i].text;
		hint->count = 1;
		list_add(&library->exported, hint);
	}
}

static void read_row(struct subject *library, const struct hint_line *line)
{
	static const char *const none[] = { "none", NULL };
	const char *key = line->words[0].text;

	if (!strcmp(key, "stub"))
		read_name(&library->stub, line);
	else if (!strcmp(key, "variable"))
		read_name(&library->variable, line);
	else if (!strcmp(key, "status"))
		read_name(&library->status, line);
	else if (!strcmp(key, "soname"))
		read_name(&library->soname, line);
	else if (!strcmp(key, "majors")) {
		expect(line, 2, "majors none");
		one_of(line, 1, none);
		library->without_majors = true;
	} else if (!strcmp(key, "witness"))
		read_name(&library->witness, line);
	else if (!strcmp(key, "home"))
		read_words(&library->homes, line);
	else if (!strcmp(key, "package"))
		read_words(&library->packages, line);
	else if (!strcmp(key, "exported"))
		read_exported(library, line);
	else if (!strcmp(key, "tag"))
		read_words(&library->tags, line);
	else if (!strcmp(key, "folder"))
		read_place(&library->folders, line);
	else if (!strcmp(key, "include"))
		read_place(&library->includes, line);
	else if (!strcmp(key, "node"))
		read_node(library, line);
	else if (!strcmp(key, "companion"))
		read_words(&library->companions, line);
	else if (!strcmp(key, "error"))
		read_error(library, line);
	else if (!strcmp(key, "parse"))
		read_parse(library, line);
	else if (!strcmp(key, "reserved"))
		read_words(&library->reserved, line);
	else if (!strcmp(key, "direction"))
		read_direction(library, line);
	else if (!strcmp(key, "result"))
		read_pair(&library->results, line, "result FUNCTION TYPE|status");
	else if (!strcmp(key, "declared") || !strcmp(key, "measured"))
		read_signature(library, line);
	else if (!strcmp(key, "family"))
		read_pair(&library->families, line, "family PATTERN NAME");
	else if (!strcmp(key, "hook"))
		read_words(&library->hooks, line);
	else if (!strcmp(key, "apart"))
		read_words(&library->aparts, line);
	else if (!strcmp(key, "layout"))
		read_layout(library, line);
	else
		fail_at(line->place, "'%s' is not a kind of hint", key);
}

static struct subject *open_library(struct list *libraries, const struct hint_line *line)
{
	struct subject *library;

	if (strcmp(line->words[0].text, "library") || line->count != 2)
		fail_at(line->place, "expected: library NAME");
	for (size_t i = 0; i < libraries->count; i++) {
		library = libraries->items[i];
		if (library->name == line->words[1].text)
			fail_at(line->words[1].place, "library %s is there already", library->name);
	}
	library = scan_alloc(sizeof(*library));
	library->place = line->place;
	library->name = line->words[1].text;
	list_add(libraries, library);
	return library;
}

static void check_subject(const struct subject *library)
{
	if (!library->stub)
		fail_at(library->place, "library %s has no `stub`", library->name);
	if (!library->status)
		fail_at(library->place, "library %s has no `status`", library->name);
	if (library->without_majors != !!library->soname)
		fail_at(library->place, "library %s needs both of `majors none` and `soname`, or"
			" neither", library->name);
	if (!library->folders.count && !library->soname)
		fail_at(library->place, "library %s has no `folder`", library->name);
}

struct list read_hints(const char *path)
{
	struct list libraries = { 0 };
	struct subject *library = NULL;
	struct hint_line line = { .place = { path, 0, 1 } };
	char *text = read_text(path), *row;

	while ((row = next_line(&text))) {
		line.place.line++;
		line.place.column = 1;
		split(&line, row);
		if (!line.count)
			continue;
		if (!line.indented)
			library = open_library(&libraries, &line);
		else if (!library)
			fail_at(line.place, "a row before any `library`");
		else
			read_row(library, &line);
	}
	for (size_t i = 0; i < libraries.count; i++)
		check_subject(libraries.items[i]);
	if (!libraries.count)
		fail(path, "names no library");
	return libraries;
}
