/* SPDX-License-Identifier: MIT */
/* list.c - reads symbols.txt; gen/symbols.head says what it means */
#include "list.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LINE 16384
#define MAX_BYTES (1 << 24)	/* of a struct */

const char *const kind_names[] = {
	"i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f32", "f64", "ptr", "", "void"
};
const unsigned kind_sizes[] = { 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 8 };

/* ---- words ---- */

struct word {
	const char *text;
	struct place place;
};

/* One line, split.  Words are consumed from the left. */
struct line {
	ARRAY(struct word) words;
	size_t next;
	struct place end;	/* where the line ends, for what is missing there */
	bool indented;
};

static void add_word(struct line *line, const char *text, size_t length, struct place place)
{
	struct word *word = push(&line->words);
	char *copy = allocate(length + 1, 1);

	memcpy(copy, text, length);
	word->text = copy;
	word->place = place;
}

static void check_bytes(const char *text, size_t length, unsigned number)
{
	bool comment = false;

	if (length > MAX_LINE)
		fail_at((struct place){ number, MAX_LINE + 1 },
			"this line is longer than %d bytes", MAX_LINE);
	for (size_t i = 0; i < length; i++) {
		unsigned char byte = (unsigned char)text[i];
		struct place place = { number, (unsigned)i + 1 };

		comment |= byte == '#';
		if (byte == '\r')
			fail_at(place, "a carriage return: lines end with a line feed alone");
		if (!byte)
			fail_at(place, "a NUL byte");
		if (!comment && byte != '\t' && (byte < ' ' || byte > '~' || strchr("\"\\", byte)))
			fail_at(place, "unexpected byte 0x%02x", byte);
	}
}

/* Splits at blanks; between parentheses commas stand alone too. */
static void split(struct line *line, const char *text, size_t length, unsigned number)
{
	bool inside = false;
	size_t i = 0;

	check_bytes(text, length, number);
	line->words.count = line->next = 0;
	line->indented = length && (text[0] == ' ' || text[0] == '\t');
	line->end = (struct place){ number, 1 };
	while (i < length && text[i] != '#') {
		const char *ends = inside ? " \t#()," : " \t#()";
		size_t first = i;

		if (text[i] == ' ' || text[i] == '\t') {
			i++;
			continue;
		}
		while (i < length && !strchr(ends, text[i]))
			i++;
		if (i == first) {
			if (text[i] != ',')
				inside = text[i] == '(';
			i++;
		}
		add_word(line, text + first, i - first, (struct place){ number, (unsigned)first + 1 });
		line->end.column = (unsigned)i + 1;
	}
}

static const struct word *peek(const struct line *line)
{
	static const struct word none = { .text = "" };

	return line->next < line->words.count ? &line->words.items[line->next] : &none;
}

static struct word take(struct line *line, const char *what)
{
	if (line->next == line->words.count)
		fail_at(line->end, "the line ends where %s is expected", what);
	return line->words.items[line->next++];
}

static bool take_if(struct line *line, const char *text)
{
	if (strcmp(peek(line)->text, text))
		return false;
	line->next++;
	return true;
}

static void expect(struct line *line, const char *text, const char *what)
{
	struct word word = take(line, what);

	if (strcmp(word.text, text))
		fail_at(word.place, "`%s` where %s is expected", word.text, what);
}

static void expect_end(struct line *line)
{
	if (line->next < line->words.count)
		fail_at(peek(line)->place, "unexpected `%s` at the end of the line",
			peek(line)->text);
}

static bool is_identifier(const char *text)
{
	if (!isalpha((unsigned char)*text) && *text != '_')
		return false;
	while (isalnum((unsigned char)*text) || *text == '_')
		text++;
	return !*text;
}

static struct word take_identifier(struct line *line, const char *what)
{
	struct word word = take(line, what);

	if (!is_identifier(word.text))
		fail_at(word.place, "`%s` is not a name: letters, digits and _ are", word.text);
	return word;
}

/* A word of letters, digits and some of "._+-/%"; it begins with none of these. */
static struct word take_file(struct line *line, const char *what, const char *others)
{
	struct word word = take(line, what);

	for (const char *c = word.text; *c; c++)
		if (!isalnum((unsigned char)*c) && (c == word.text || !strchr(others, *c)))
			fail_at((struct place){ word.place.line,
						word.place.column + (unsigned)(c - word.text) },
				"unexpected `%c` in %s", *c, what);
	return word;
}

static int64_t take_number(struct line *line, const char *what, int64_t low, int64_t high)
{
	struct word word = take(line, what);
	const char *digits = word.text + (*word.text == '-');
	long long value;

	if (!*digits || digits[strspn(digits, "0123456789")])
		fail_at(word.place, "`%s` is not a number, which %s is", word.text, what);
	errno = 0;
	value = strtoll(word.text, NULL, 10);
	if (errno || value < low || value > high)
		fail_at(word.place, "%s is %s, and must be from %lld to %lld", what, word.text,
			(long long)low, (long long)high);
	return value;
}

/* ---- versions and ranges ---- */

unsigned first_bit(toolkits set)
{
	return (unsigned)__builtin_ctzll(set);
}

unsigned last_bit(toolkits set)
{
	return 63 - (unsigned)__builtin_clzll(set);
}

unsigned major_of(const struct list *list, unsigned bit)
{
	return list->toolkits[bit < list->toolkit_count ? bit : list->toolkit_count - 1].major;
}

toolkits major_set(const struct list *list, unsigned major)
{
	toolkits set = 0;

	for (unsigned bit = 0; bit <= list->toolkit_count; bit++)
		if (major_of(list, bit) == major)
			set |= BIT(bit);
	return set;
}

const char *bit_text(const struct list *list, unsigned bit)
{
	bool later = bit == list->toolkit_count;
	const struct version *version = &list->toolkits[bit - later];

	return format("%s%u.%u", later ? "versions later than " : "", version->major,
		      version->minor);
}

/* Reads MAJOR.MINOR; returns what follows. */
static const char *parse_version(const char *text, struct place place, struct version *version)
{
	unsigned long parts[2];

	for (int i = 0; i < 2; i++) {
		size_t digits = strspn(text, "0123456789");

		if (!digits || digits > 3 || (i == 0 && text[digits] != '.'))
			fail_at(place, "a version such as 12.9 is expected");
		parts[i] = strtoul(text, NULL, 10);
		text += digits + (i == 0);
	}
	/* The loader keeps 100 * major + minor in 16 bits. */
	if (parts[0] < 1 || parts[0] > 654 || parts[1] > 99)
		fail_at(place, "a version is from 1.0 to 654.99");
	*version = (struct version){ (unsigned)parts[0], (unsigned)parts[1] };
	return text;
}

static bool newer(struct version a, struct version b)
{
	return a.major != b.major ? a.major > b.major : a.minor > b.minor;
}

static const char *parse_toolkit(const struct list *list, const char *text, struct place place,
				 unsigned *bit)
{
	struct version version;

	text = parse_version(text, place, &version);
	for (*bit = 0; *bit < list->toolkit_count; ++*bit)
		if (list->toolkits[*bit].major == version.major &&
		    list->toolkits[*bit].minor == version.minor)
			return text;
	fail_at(place, "no toolkit %u.%u: line %u does not name it", version.major, version.minor,
		list->toolkits_place.line);
}

static struct place within(struct word word, const char *at)
{
	word.place.column += (unsigned)(at - word.text);
	return word.place;
}

static toolkits take_range(const struct list *list, struct line *line)
{
	struct word word = take(line, "a range of versions");
	const char *at = word.text;
	toolkits set = 0;

	for (;;) {
		struct place place = within(word, at);
		unsigned first, last;

		at = parse_toolkit(list, at, place, &first);
		last = first;
		if (at[0] == '-' && (!at[1] || at[1] == ',')) {
			last = list->toolkit_count;
			at++;
		} else if (*at == '-') {
			at = parse_toolkit(list, at + 1, within(word, at + 1), &last);
		}
		if (last < first)
			fail_at(place, "this range ends before it begins");
		if (set && first <= last_bit(set))
			fail_at(place, "this range begins before the one before it has ended");
		set |= (BIT(last) | (BIT(last) - 1)) & ~(BIT(first) - 1);
		if (!*at)
			return set;
		if (*at != ',')
			fail_at(within(word, at), "unexpected `%c` in a range", *at);
		at++;
	}
}

static void read_toolkits(struct list *list, struct line *line, struct place place)
{
	if (list->toolkit_count)
		fail_at(place, "the toolkits are named on line %u already",
			list->toolkits_place.line);
	list->toolkits_place = place;
	do {
		struct word word = take(line, "a version");
		struct version version;
		const char *rest = parse_version(word.text, word.place, &version);

		if (*rest)
			fail_at(within(word, rest), "unexpected `%c` in a version", *rest);
		if (list->toolkit_count == MAX_TOOLKITS)
			fail_at(word.place, "more than %d toolkits", MAX_TOOLKITS);
		if (list->toolkit_count &&
		    !newer(version, list->toolkits[list->toolkit_count - 1]))
			fail_at(word.place, "toolkits are named from the oldest to the newest");
		list->toolkits[list->toolkit_count++] = version;
	} while (line->next < line->words.count);
}

/* ---- library ---- */

static void set_once(const char **text, struct place *place, struct word word, struct place row)
{
	if (*text)
		fail_at(row, "this is said on line %u already", place->line);
	*text = word.text;
	*place = word.place;
}

static void read_error(struct library *library, struct line *line, struct place row)
{
	static const char *const names[] = {
		[MISSING] = "missing", [ABSENT] = "absent", [REFUSED] = "refused",
		[DRIVER] = "driver", [INCOHERENT] = "incoherent"
	};
	struct word word = take(line, "what the error is for");
	int kind = MISSING;

	while (kind < ERROR_KINDS && strcmp(names[kind], word.text))
		kind++;
	if (kind == ERROR_KINDS)
		fail_at(word.place, "no error `%s`: there are missing, absent, refused, driver, "
			"incoherent", word.text);
	if (library->error_places[kind].line)
		fail_at(row, "this is said on line %u already", library->error_places[kind].line);
	library->error_places[kind] = row;
	library->errors[kind] = (int32_t)take_number(line, "the status", INT32_MIN, INT32_MAX);
	if (!library->errors[kind])
		fail_at(row, "an error cannot be 0, which is success");
}

static void read_ranged(struct ranged *ranged, const struct list *list, struct line *line,
			struct word word)
{
	ranged->text = word.text;
	ranged->place = word.place;
	ranged->in = take_range(list, line);
}

static void read_library_row(struct list *list, struct library *library, struct line *line)
{
	struct word key = take(line, "");

	if (!strcmp(key.text, "stub")) {
		set_once(&library->stub, &library->stub_place,
			 take_file(line, "a file name", "._+-"), key.place);
	} else if (!strcmp(key.text, "variable")) {
		set_once(&library->variable, &library->variable_place,
			 take_identifier(line, "a variable"), key.place);
	} else if (!strcmp(key.text, "companion")) {
		set_once(&library->companion, &library->companion_place,
			 take_file(line, "a file name", "._+-%"), key.place);
	} else if (!strcmp(key.text, "status")) {
		set_once(&library->status, &library->status_place,
			 take_identifier(line, "an enumeration"), key.place);
	} else if (!strcmp(key.text, "soname")) {
		struct word word = take_file(line, "a file name", "._+-");

		read_ranged(push(&library->sonames), list, line, word);
	} else if (!strcmp(key.text, "folder")) {
		struct word word = take_file(line, "a folder", "._+-/");

		read_ranged(push(&library->folders), list, line, word);
	} else if (!strcmp(key.text, "node")) {
		struct node *node = push(&library->nodes);
		struct word word = take_file(line, "a version node", "._+-");

		node->name = word.text;
		node->place = word.place;
		node->major = (unsigned)take_number(line, "the major version", 1, 654);
	} else if (!strcmp(key.text, "error")) {
		read_error(library, line, key.place);
	} else {
		fail_at(key.place, "no row `%s` in a library: there are stub, soname, node, "
			"folder, variable, companion, error, status", key.text);
	}
}

/* ---- enum, struct ---- */

static void read_enumerator(const struct list *list, struct library *library, struct line *line)
{
	struct enumeration *last = &library->enums.items[library->enums.count - 1];
	struct enumerator *value = push(&last->values);
	struct word word = take_identifier(line, "an enumerator");

	value->name = word.text;
	value->place = word.place;
	value->value = (int32_t)take_number(line, "the value", INT32_MIN, INT32_MAX);
	value->in = take_range(list, line);
}

/* The last kind that `text` can be is `last`: fields and parameters end with
 * PTR, results with VOID.  Everything else is the name of a struct. */
static void parse_type(struct type *type, const char *text, struct place place, bool result)
{
	type->place = place;
	type->count = 1;
	type->kind = STRUCT;
	for (unsigned kind = I8; kind <= VOID; kind++)
		if (kind != STRUCT && !strcmp(kind_names[kind], text))
			type->kind = (enum kind)kind;
	if (type->kind == VOID && !result)
		fail_at(place, "void is no type of a value");
	if (type->kind != STRUCT)
		return;
	if (!is_identifier(text))
		fail_at(place, "`%s` is not a type", text);
	type->name = text;
}

/* TYPE, *STRUCT, and either with [COUNT]. */
static void take_field_type(struct line *line, struct type *type)
{
	struct word word = take(line, "a type");
	const char *bracket = strchr(word.text, '[');
	char *name = format("%.*s", (int)strcspn(word.text, "["), word.text);
	bool pointer = *name == '*';
	char *end;

	parse_type(type, name + pointer, word.place, false);
	type->pointer = pointer;
	if (pointer && type->kind != STRUCT)
		fail_at(word.place, "`%s` is not a type: a pointer to a scalar is ptr", word.text);
	if (!bracket)
		return;
	type->count = (unsigned)strtoul(bracket + 1, &end, 10);
	if (!isdigit((unsigned char)bracket[1]) || end - bracket > 9 || strcmp(end, "]") ||
	    type->count < 1 || type->count > MAX_BYTES)
		fail_at(within(word, bracket), "a count such as [16] is expected");
}

static void read_field(const struct list *list, struct record *record, struct line *line,
		       struct word word)
{
	struct field *field = push(&record->fields);

	for (const char *c = word.text; *c; c++)
		if ((*c == '.' && (c[1] == '.' || !c[1])) ||
		    (*c != '.' && *c != '_' && !isalnum((unsigned char)*c)))
			fail_at(within(word, c), "unexpected `%c` in a field's name", *c);
	field->name = word.text;
	field->place = word.place;
	take_field_type(line, &field->type);
	field->offset = (unsigned)take_number(line, "the offset", 0, MAX_BYTES);
	field->in = take_range(list, line);
}

static void read_size(const struct list *list, struct record *record, struct line *line,
		      struct place place)
{
	struct size *size = push(&record->sizes);
	struct word letter;

	size->place = place;
	size->bytes = (unsigned)take_number(line, "the size", 1, MAX_BYTES);
	size->in = take_range(list, line);
	expect(line, "layout", "`layout`");
	letter = take(line, "a letter");
	if (letter.text[0] < 'A' || letter.text[0] > 'Z' || letter.text[1])
		fail_at(letter.place, "`%s` is not a letter from A to Z", letter.text);
	size->letter = letter.text[0];
	take_if(line, "tail");
	take_if(line, "union");
}

static void read_struct_row(const struct list *list, struct library *library, struct line *line)
{
	struct record *record = &library->records.items[library->records.count - 1];
	struct word key = take(line, "");

	if (!strcmp(key.text, "size"))
		read_size(list, record, line, key.place);
	else if (key.text[0] == '.')
		read_field(list, record, line, key);
	else
		fail_at(key.place, "`%s` where `size` or a .FIELD is expected", key.text);
}

/* ---- functions ---- */

static void take_param(struct line *line, struct param *param)
{
	static const char *const ways[] = { "", "in", "out", "inout", "buf" };
	struct word word = take(line, "a parameter");

	for (unsigned way = IN; way <= BUF; way++) {
		if (strcmp(ways[way], word.text))
			continue;
		param->way = (enum way)way;
		word = take(line, "a type");
		break;
	}
	parse_type(&param->type, word.text, word.place, false);
}

static void take_params(struct line *line, struct row *row)
{
	expect(line, "(", "`(`");
	if (take_if(line, "?")) {
		row->unknown = true;
		expect(line, ")", "`)`");
		return;
	}
	if (take_if(line, ")"))
		return;
	do
		take_param(line, push(&row->params));
	while (take_if(line, ","));
	expect(line, ")", "`,` or `)`");
}

static void take_words(struct line *line, struct row *row)
{
	while (line->next < line->words.count) {
		struct word word = take(line, "");

		if (!strcmp(word.text, "family") && !row->family_place.line) {
			word = take_identifier(line, "the family's name");
			row->family = word.text;
			row->family_place = word.place;
		} else if (!strcmp(word.text, "hook") && !row->hook) {
			row->hook = true;
			if (row->unknown)
				fail_at(word.place, "a hook needs a prototype");
		} else if (!strcmp(word.text, "undeclared") && !row->undeclared) {
			row->undeclared = true;
		} else {
			fail_at(word.place, "unexpected `%s`: `-> RESULT`, `family NAME`, `hook` "
				"and `undeclared` can follow, once and in this order", word.text);
		}
	}
}

static void read_function(const struct list *list, struct library *library, struct line *line)
{
	struct word word = take_identifier(line, "a name");
	struct row *row = push(&library->rows);

	row->name = row->family = word.text;
	row->place = word.place;
	row->range_place = line->next < line->words.count ? peek(line)->place : line->end;
	row->in = take_range(list, line);
	take_params(line, row);
	row->result = (struct type){ .kind = STATUS, .count = 1, .place = word.place };
	if (take_if(line, "->")) {
		struct word type = take(line, "a type");

		parse_type(&row->result, type.text, type.place, true);
	}
	take_words(line, row);
	if (row->unknown && !row->undeclared)
		fail_at(row->place, "%s has no prototype, and is not marked `undeclared`",
			row->name);
}

/* ---- what can only be checked when a section is complete ---- */

static int compare_places(struct place a, struct place b)
{
	return (a.line > b.line) - (a.line < b.line);
}

static int compare_records(const void *one, const void *other)
{
	const struct record *a = one, *b = other;
	int order = strcmp(a->name, b->name);

	return order ? order : compare_places(a->place, b->place);
}

static int compare_fields(const void *one, const void *other)
{
	const struct field *a = one, *b = other;
	int order = strcmp(a->name, b->name);

	return order ? order : compare_places(a->place, b->place);
}

static int compare_rows(const void *one, const void *other)
{
	const struct row *a = one, *b = other;
	int order = strcmp(a->name, b->name);

	if (!order)
		order = (first_bit(a->in) > first_bit(b->in)) - (first_bit(a->in) < first_bit(b->in));
	return order ? order : compare_places(a->place, b->place);
}

static int compare_enumerators(const void *one, const void *other)
{
	const struct enumerator *a = one, *b = other;
	int order = strcmp(a->name, b->name);

	return order ? order : compare_places(a->place, b->place);
}

static void sort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *))
{
	if (count)
		qsort(items, count, size, compare);
}

/* Two rows say something of the same versions. */
static _Noreturn void fail_twice(const struct list *list, struct place a, struct place b,
				 toolkits both, const char *what)
{
	struct place first = compare_places(a, b) < 0 ? a : b;
	struct place second = compare_places(a, b) < 0 ? b : a;

	fail_at(second, "%s: line %u covers %s already", what, first.line,
		bit_text(list, first_bit(both)));
}

static struct record *find_record(const struct library *library, const char *name)
{
	struct record key = { .name = name };
	size_t low = 0, high = library->records.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(key.name, library->records.items[middle].name);

		if (!order)
			return &library->records.items[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

const struct size *size_in(const struct record *record, unsigned toolkit)
{
	for (size_t i = 0; i < record->sizes.count; i++)
		if (record->sizes.items[i].in & BIT(toolkit))
			return &record->sizes.items[i];
	return NULL;
}

/* Finds the struct that a type names; it must have a size in all of `in`. */
static void resolve(const struct list *list, const struct library *library, struct type *type,
		    toolkits in)
{
	if (type->kind != STRUCT)
		return;
	type->record = find_record(library, type->name);
	if (!type->record)
		fail_at(type->place, "no struct %s in library %s", type->name, library->name);
	for (; in; in &= in - 1)
		if (!size_in(type->record, first_bit(in)))
			fail_at(type->place, "struct %s has no size in %s", type->name,
				bit_text(list, first_bit(in)));
}

static void check_sizes(const struct list *list, const struct record *record)
{
	if (!record->sizes.count)
		fail_at(record->place, "struct %s has no size", record->name);
	for (size_t i = 0; i < record->sizes.count; i++) {
		const struct size *a = &record->sizes.items[i];

		for (size_t j = 0; j < i; j++) {
			const struct size *b = &record->sizes.items[j];

			if (a->in & b->in)
				fail_twice(list, a->place, b->place, a->in & b->in, "size");
			if (a->letter == b->letter && a->bytes != b->bytes)
				fail_at(a->place, "layout %c has %u bytes here and %u on line %u",
					a->letter, a->bytes, b->bytes, b->place.line);
		}
	}
}

static uint64_t field_bytes(const struct field *field, unsigned toolkit)
{
	const struct type *type = &field->type;
	uint64_t each = kind_sizes[PTR];

	if (type->kind != STRUCT)
		each = kind_sizes[type->kind];
	else if (!type->pointer)
		each = size_in(type->record, toolkit)->bytes;
	return each * type->count;
}

static void check_field(const struct list *list, const struct library *library,
			const struct record *record, struct field *field)
{
	if (field->type.kind == STRUCT && !field->type.pointer)
		resolve(list, library, &field->type, field->in);
	else if (field->type.kind == STRUCT)
		field->type.record = find_record(library, field->type.name);
	for (toolkits in = field->in; in; in &= in - 1) {
		const struct size *size = size_in(record, first_bit(in));

		if (!size)
			fail_at(field->place, "struct %s has no size in %s", record->name,
				bit_text(list, first_bit(in)));
		if (field->offset + field_bytes(field, first_bit(in)) > size->bytes)
			fail_at(field->place, "%s ends behind the %u bytes that the struct has in %s",
				field->name, size->bytes, bit_text(list, first_bit(in)));
	}
}

static void check_record(const struct list *list, const struct library *library,
			 struct record *record)
{
	check_sizes(list, record);
	sort(record->fields.items, record->fields.count, sizeof(struct field), compare_fields);
	for (size_t i = 0, first = 0; i < record->fields.count; i++) {
		struct field *field = &record->fields.items[i];

		check_field(list, library, record, field);
		if (strcmp(field->name, record->fields.items[first].name))
			first = i;
		for (size_t j = first; j < i; j++)
			if (field->in & record->fields.items[j].in)
				fail_twice(list, field->place, record->fields.items[j].place,
					   field->in & record->fields.items[j].in, field->name);
	}
}

static void check_records(const struct list *list, struct library *library)
{
	sort(library->records.items, library->records.count, sizeof(struct record),
	     compare_records);
	for (size_t i = 1; i < library->records.count; i++) {
		const struct record *a = &library->records.items[i - 1], *b = a + 1;

		if (!strcmp(a->name, b->name))
			fail_at(b->place, "struct %s is on line %u already", b->name,
				a->place.line);
	}
	for (size_t i = 0; i < library->records.count; i++)
		check_record(list, library, &library->records.items[i]);
}

static void check_row(const struct list *list, const struct library *library, struct row *row)
{
	if (row->in & ~library->in)
		fail_at(row->range_place, "library %s has no soname in %s", library->name,
			bit_text(list, first_bit(row->in & ~library->in)));
	for (size_t i = 0; i < row->params.count; i++)
		resolve(list, library, &row->params.items[i].type, row->in);
	resolve(list, library, &row->result, row->in);
}

static const struct row *find_row(const struct library *library, const char *name)
{
	size_t low = 0, high = library->rows.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(library->rows.items[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == library->rows.count || strcmp(library->rows.items[low].name, name))
		return NULL;
	return &library->rows.items[low];
}

/* A family is named after one of its members, or after none. */
static void check_family(const struct library *library, const struct row *row)
{
	const struct row *head = find_row(library, row->family);

	if (head && strcmp(head->family, head->name))
		fail_at(row->family_place, "%s is of family %s itself", head->name, head->family);
}

static void check_rows(const struct list *list, struct library *library)
{
	sort(library->rows.items, library->rows.count, sizeof(struct row), compare_rows);
	for (size_t i = 0, first = 0; i < library->rows.count; i++) {
		struct row *row = &library->rows.items[i], *before;

		check_row(list, library, row);
		if (strcmp(row->name, library->rows.items[first].name))
			first = i;
		for (size_t j = first; j < i; j++) {
			before = &library->rows.items[j];
			if (row->in & before->in)
				fail_twice(list, row->place, before->place, row->in & before->in,
					   row->name);
		}
		before = &library->rows.items[first];
		if (strcmp(row->family, before->family))
			fail_at(row->family_place.line ? row->family_place : row->place,
				"%s is of family %s here, and of family %s on line %u", row->name,
				row->family, before->family, before->place.line);
	}
	for (size_t i = 0; i < library->rows.count; i++)
		check_family(library, &library->rows.items[i]);
}

static void check_enums(const struct list *list, struct library *library)
{
	for (size_t i = 0; i < library->enums.count; i++) {
		struct enumeration *one = &library->enums.items[i];

		for (size_t j = 0; j < i; j++)
			if (!strcmp(one->name, library->enums.items[j].name))
				fail_at(one->place, "enum %s is on line %u already", one->name,
					library->enums.items[j].place.line);
		sort(one->values.items, one->values.count, sizeof(struct enumerator),
		     compare_enumerators);
		for (size_t j = 0, first = 0; j < one->values.count; j++) {
			struct enumerator *value = &one->values.items[j];

			if (strcmp(value->name, one->values.items[first].name))
				first = j;
			for (size_t k = first; k < j; k++)
				if (value->in & one->values.items[k].in)
					fail_twice(list, value->place, one->values.items[k].place,
						   value->in & one->values.items[k].in, value->name);
		}
		if (library->status && !strcmp(one->name, library->status))
			library->statuses = one;
	}
	if (!library->statuses)
		fail_at(library->status_place, "no enum %s in library %s", library->status,
			library->name);
}

static void check_sonames(const struct list *list, struct library *library)
{
	for (size_t i = 0; i < library->sonames.count; i++) {
		const struct ranged *one = &library->sonames.items[i];
		unsigned major = major_of(list, first_bit(one->in));

		if (one->in & ~major_set(list, major))
			fail_at(one->place, "%s is the soname of majors %u and %u", one->text,
				major, major_of(list, last_bit(one->in)));
		for (size_t j = 0; j < i; j++) {
			const struct ranged *other = &library->sonames.items[j];

			if (!strcmp(one->text, other->text))
				fail_at(one->place, "soname %s is on line %u already", one->text,
					other->place.line);
			if (other->in & major_set(list, major))
				fail_at(one->place, "major %u has soname %s already", major,
					other->text);
		}
		library->in |= one->in;
	}
}

static void check_nodes(const struct list *list, const struct library *library)
{
	for (size_t i = 0; i < library->nodes.count; i++) {
		const struct node *node = &library->nodes.items[i];

		if (!(major_set(list, node->major) & library->in))
			fail_at(node->place, "library %s has no major %u", library->name,
				node->major);
		for (size_t j = 0; j < i; j++)
			if (!strcmp(node->name, library->nodes.items[j].name))
				fail_at(node->place, "node %s is on line %u already", node->name,
					library->nodes.items[j].place.line);
		for (size_t j = 0; j < library->sonames.count; j++)
			if (!strcmp(node->name, library->sonames.items[j].text))
				fail_at(node->place, "node %s is the soname on line %u", node->name,
					library->sonames.items[j].place.line);
	}
}

/* A stub looks for a library by its major: the folder is the same within it. */
static void check_folders(const struct list *list, const struct library *library)
{
	for (size_t i = 0; i < library->folders.count; i++) {
		const struct ranged *a = &library->folders.items[i];

		for (size_t j = 0; j < i; j++) {
			const struct ranged *b = &library->folders.items[j];

			if (a->in & b->in)
				fail_twice(list, a->place, b->place, a->in & b->in, "folder");
		}
		for (toolkits in = a->in; in; in &= in - 1) {
			unsigned major = major_of(list, first_bit(in));
			toolkits lacks = major_set(list, major) & library->in & ~a->in;

			if (lacks)
				fail_at(a->place, "a folder for some of major %u, and not for %s",
					major, bit_text(list, first_bit(lacks)));
		}
	}
}

static void check_given(const struct library *library)
{
	static const char *const errors[] = {
		[MISSING] = "missing", [ABSENT] = "absent", [REFUSED] = "refused",
		[DRIVER] = "driver", [INCOHERENT] = "incoherent"
	};
	const char *lacks = !library->stub ? "stub" : !library->variable ? "variable" :
			    !library->status ? "status" : !library->sonames.count ? "soname" : NULL;

	if (lacks)
		fail_at(library->place, "library %s has no row `%s`", library->name, lacks);
	for (int kind = MISSING; kind < ERROR_KINDS; kind++)
		if (!library->error_places[kind].line)
			fail_at(library->place, "library %s has no row `error %s`", library->name,
				errors[kind]);
	if (!library->functions_place.line)
		fail_at(library->place, "library %s has no functions", library->name);
}

static void check_library(const struct list *list, struct library *library)
{
	size_t length;

	check_given(library);
	length = strlen(library->stub);
	if (length < 4 || strcmp(library->stub + length - 3, ".so"))
		fail_at(library->stub_place, "a stub's file name ends in .so");
	for (size_t i = 0; i < list->libraries.count; i++) {
		const struct library *other = &list->libraries.items[i];

		if (other == library)
			break;
		if (!strcmp(other->stub, library->stub))
			fail_at(library->stub_place, "%s is the stub of library %s", library->stub,
				other->name);
	}
	check_sonames(list, library);
	check_nodes(list, library);
	check_folders(list, library);
	check_enums(list, library);
	check_records(list, library);
	check_rows(list, library);
}

/* ---- blocks ---- */

enum block { NOTHING, LIBRARY, ENUM, RECORD, FUNCTIONS };

static void open_library(struct list *list, struct line *line)
{
	struct word name = take_identifier(line, "a name");
	struct library *library;

	for (size_t i = 0; i < list->libraries.count; i++)
		if (!strcmp(list->libraries.items[i].name, name.text))
			fail_at(name.place, "library %s is on line %u already", name.text,
				list->libraries.items[i].place.line);
	library = push(&list->libraries);
	library->name = name.text;
	library->place = name.place;
}

static enum block open_block(struct list *list, struct line *line)
{
	struct library *library = list->libraries.count ?
		&list->libraries.items[list->libraries.count - 1] : NULL;
	struct word key = take(line, "");

	if (!strcmp(key.text, "toolkits")) {
		read_toolkits(list, line, key.place);
		return NOTHING;
	}
	if (!list->toolkit_count)
		fail_at(key.place, "`%s` where `toolkits` is expected", key.text);
	if (!strcmp(key.text, "library")) {
		open_library(list, line);
		return LIBRARY;
	}
	if (!library)
		fail_at(key.place, "`%s` where `library` is expected", key.text);
	if (!strcmp(key.text, "enum")) {
		struct enumeration *one = push(&library->enums);
		struct word name = take_identifier(line, "a name");

		one->name = name.text;
		one->place = name.place;
		return ENUM;
	}
	if (!strcmp(key.text, "struct")) {
		struct record *record = push(&library->records);
		struct word name = take_identifier(line, "a name");

		record->name = name.text;
		record->place = name.place;
		return RECORD;
	}
	if (!strcmp(key.text, "functions")) {
		if (library->functions_place.line)
			fail_at(key.place, "library %s has its functions on line %u already",
				library->name, library->functions_place.line);
		library->functions_place = key.place;
		return FUNCTIONS;
	}
	fail_at(key.place, "no block `%s`: there are library, enum, struct, functions", key.text);
}

static void read_row(struct list *list, struct line *line, enum block block)
{
	struct library *library = list->libraries.count ?
		&list->libraries.items[list->libraries.count - 1] : NULL;

	switch (block) {
	case NOTHING:
		fail_at(peek(line)->place, "a row that belongs to no block");
	case LIBRARY:
		read_library_row(list, library, line);
		break;
	case ENUM:
		read_enumerator(list, library, line);
		break;
	case RECORD:
		read_struct_row(list, library, line);
		break;
	case FUNCTIONS:
		read_function(list, library, line);
		break;
	}
}

static char *read_file(const char *path, size_t *length)
{
	FILE *file = fopen(path, "r");
	char *bytes = NULL;
	size_t room = 0;

	if (!file)
		fail("cannot read %s: %s", path, strerror(errno));
	*length = 0;
	do {
		bytes = grow(bytes, room, &room, 1);
		*length += fread(bytes + *length, 1, room - *length, file);
	} while (*length == room);
	if (ferror(file))
		fail("cannot read %s: %s", path, strerror(errno));
	fclose(file);
	return bytes;
}

void read_list(struct list *list, const char *path)
{
	size_t length;
	const char *text = read_file(path, &length), *end = text + length;
	struct line line = { 0 };
	enum block block = NOTHING;
	unsigned number = 1;

	list_file = path;
	for (; text < end; number++) {
		const char *feed = memchr(text, '\n', (size_t)(end - text));

		if (!feed)
			fail_at((struct place){ number, (unsigned)(end - text) + 1 },
				"the file ends within a line");
		split(&line, text, (size_t)(feed - text), number);
		text = feed + 1;
		if (!line.words.count)
			continue;
		if (line.indented)
			read_row(list, &line, block);
		else
			block = open_block(list, &line);
		expect_end(&line);
	}
	if (!list->libraries.count)
		fail_at((struct place){ number, 1 }, "the file ends where `library` is expected");
	for (size_t i = 0; i < list->libraries.count; i++)
		check_library(list, &list->libraries.items[i]);
}
