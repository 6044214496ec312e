/* SPDX-License-Identifier: MIT */
/* list.c - reads symbols.txt; the head of that file describes the format */
#include "symbols_txt.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *list_file;	/* the file that is being read */

#define MAX_LINE 16384
#define MAX_STRUCT_BYTES (1 << 24)	/* of a struct */

/* ---- words ---- */

/* One line, split into words, which are consumed from the left. */
struct line {
	ARRAY(struct word) words;
	size_t next;
	struct place end;	/* where the line ends, for messages about a missing word */
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
		fail_at((struct place){ list_file, number, MAX_LINE + 1 },
			"this line is longer than %d bytes", MAX_LINE);
	for (size_t i = 0; i < length; i++) {
		unsigned char byte = (unsigned char)text[i];
		struct place place = { list_file, number, (unsigned)i + 1 };

		comment |= byte == '#';
		if (byte == '\r')
			fail_at(place, "a carriage return: lines end with a line feed alone");
		if (!byte)
			fail_at(place, "a NUL byte");
		if (!comment && byte != '\t' && (byte < ' ' || byte > '~' || strchr("\"\\", byte)))
			fail_at(place, "unexpected byte 0x%02x", byte);
	}
}

/* Splits at blanks.  Parentheses are words, and so are the commas between them. */
static void split(struct line *line, const char *text, size_t length, unsigned number)
{
	bool inside = false;
	size_t i = 0;

	check_bytes(text, length, number);
	line->words.count = line->next = 0;
	line->indented = length && (text[0] == ' ' || text[0] == '\t');
	line->end = (struct place){ list_file, number, 1 };
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
		add_word(line, text + first, i - first,
			 (struct place){ list_file, number, (unsigned)first + 1 });
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

/* Keywords of C, which generated C cannot use as names; a library of another language may. */
static bool is_keyword(const char *text)
{
	static const char *const keywords[] = {
		"asm", "auto", "break", "case", "char", "const", "continue", "default", "do",
		"double", "else", "enum", "extern", "float", "for", "goto", "if", "inline", "int",
		"long", "register", "restrict", "return", "short", "signed", "sizeof", "static",
		"struct", "switch", "typedef", "typeof", "union", "unsigned", "void", "volatile",
		"while"
	};

	for (size_t i = 0; i < sizeof(keywords) / sizeof(*keywords); i++)
		if (!strcmp(keywords[i], text))
			return true;
	return false;
}

static struct word take_identifier(struct line *line, const char *what)
{
	struct word word = take(line, what);

	if (!is_identifier(word.text))
		fail_at(word.place, "`%s` is not a name of letters, digits and _", word.text);
	if (is_keyword(word.text))
		fail_at(word.place, "`%s` is a keyword of C, not a name", word.text);
	return word;
}

/* Takes a word of letters, digits and `others`; it must begin with a letter or a digit. */
static struct word take_file(struct line *line, const char *what, const char *others)
{
	struct word word = take(line, what);

	for (const char *c = word.text; *c; c++)
		if (!isalnum((unsigned char)*c) && (c == word.text || !strchr(others, *c)))
			fail_at((struct place){ list_file, word.place.line,
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
		fail_at(word.place, "`%s` is not a number, as %s has to be", word.text, what);
	errno = 0;
	value = strtoll(word.text, NULL, 10);
	if (errno || value < low || value > high)
		fail_at(word.place, "%s is %s, and must be from %lld to %lld", what, word.text,
			(long long)low, (long long)high);
	return value;
}

/* ---- versions and ranges ---- */

/* Reads MAJOR.MINOR; returns a pointer to the rest of the text. */
static const char *parse_dotted(const char *text, struct place place, struct version *version)
{
	unsigned long parts[2];

	for (int i = 0; i < 2; i++) {
		size_t digits = strspn(text, "0123456789");

		if (!digits || digits > 3 || (i == 0 && text[digits] != '.'))
			fail_at(place, "a version such as 12.9 is expected");
		parts[i] = strtoul(text, NULL, 10);
		text += digits + (i == 0);
	}
	if (parts[0] < 1 || parts[0] > MAX_MAJOR || parts[1] > MAX_MINOR)
		fail_at(place, "a version is from 1.0 to %d.%d", MAX_MAJOR, MAX_MINOR);
	*version = (struct version){ (unsigned)parts[0], (unsigned)parts[1] };
	return text;
}

static bool newer(struct version a, struct version b)
{
	return a.major != b.major ? a.major > b.major : a.minor > b.minor;
}

static const char *parse_toolkit(const struct symbols *list, const char *text, struct place place,
				 unsigned *bit)
{
	struct version version;

	text = parse_dotted(text, place, &version);
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

static toolkits take_range(const struct symbols *list, struct line *line)
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

static void read_toolkits(struct symbols *list, struct line *line, struct place place)
{
	if (list->toolkit_count)
		fail_at(place, "the toolkits are named on line %u already",
			list->toolkits_place.line);
	list->toolkits_place = place;
	do {
		struct word word = take(line, "a version");
		struct version version;
		const char *rest = parse_dotted(word.text, word.place, &version);

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

/* For a row that a library has once. */
static void note_once(struct place *once, struct place row)
{
	if (once->line)
		fail_at(row, "this was given on line %u already", once->line);
	*once = row;
}

static void set_once(const char **text, struct place *place, struct word word, struct place row)
{
	note_once(place, row);
	*text = word.text;
	*place = word.place;
}

/* Takes one of two words; returns true for the first. */
static bool take_choice(struct line *line, const char *first, const char *second)
{
	const char *what = *second ? format("`%s` or `%s`", first, second) : format("`%s`", first);
	struct word word = take(line, what);

	if (strcmp(word.text, first) && strcmp(word.text, second))
		fail_at(word.place, "`%s` where %s is expected", word.text, what);
	return !strcmp(word.text, first);
}

static void read_error(const struct symbols *list, struct library *library, struct line *line,
		       struct place place)
{
	struct word word = take(line, "what the error is for");
	int kind = ON_MISSING;
	struct error *row;

	while (kind < ERROR_KINDS && strcmp(error_names[kind], word.text))
		kind++;
	if (kind == ERROR_KINDS)
		fail_at(word.place, "no error `%s`: there are missing, absent, refused, driver, "
			"incoherent, ending, released", word.text);
	row = push(&library->errors[kind]);
	row->place = place;
	row->value = (int32_t)take_number(line, "the status", INT32_MIN, INT32_MAX);
	row->in = line->next < line->words.count ? take_range(list, line) : ~(toolkits)0;
	if (!row->value)
		fail_at(place, "an error cannot be 0, which is success");
}

static void read_ranged(struct ranged *ranged, const struct symbols *list, struct line *line,
			struct word word)
{
	ranged->text = word.text;
	ranged->place = word.place;
	ranged->in = take_range(list, line);
}

static void take_home(struct library *library, struct line *line)
{
	struct word word = take(line, "a folder");
	struct ranged *home = push(&library->homes);

	if (*word.text != '/')
		fail_at(word.place, "`%s` is not an absolute path", word.text);
	*home = (struct ranged){ .text = word.text, .place = word.place };
}

static void read_cuda(struct library *library, struct line *line)
{
	struct word word = take_file(line, "a SONAME", "._+-");
	struct cuda *row = push(&library->cuda);

	*row = (struct cuda){ .soname = word.text, .place = word.place };
	do
		row->in |= 1u << take_number(line, "a major of CUDA", 1, MAX_CUDA);
	while (line->next < line->words.count);
}

static struct version take_toolkit(const struct symbols *list, struct line *line)
{
	struct word version = take(line, "a version");
	unsigned bit;
	const char *rest = parse_toolkit(list, version.text, version.place, &bit);

	if (*rest)
		fail_at(within(version, rest), "unexpected `%c` in a version", *rest);
	return list->toolkits[bit];
}

static void read_called(const struct symbols *list, struct library *library, struct line *line)
{
	struct called *row = push(&library->called);
	struct word number;

	row->version = take_toolkit(list, line);
	number = take(line, "its number");
	row->number = number.text;
	row->place = number.place;
	if (strlen(number.text) > MAX_NUMBER || number.text[strspn(number.text, "0123456789.")])
		fail_at(number.place, "`%s` is not a version", number.text);
}

static void read_shipped(const struct symbols *list, struct library *library, struct line *line)
{
	struct shipped *row = push(&library->ships), *before = row - 1;
	struct word cuda = take(line, "a version of CUDA");
	const char *rest = parse_dotted(cuda.text, cuda.place, &row->cuda);

	if (*rest)
		fail_at(within(cuda, rest), "unexpected `%c` in a version", *rest);
	row->version = take_toolkit(list, line);
	row->place = cuda.place;
	if (library->ships.count > 1 && !newer(row->cuda, before->cuda))
		fail_at(row->place, "these are named from the oldest to the newest CUDA");
}

static void read_opens(struct library *library, struct line *line)
{
	struct opened *row = push(&library->opens);
	struct word soname, folder;
	bool any = line->next < line->words.count &&
		   !strcmp(line->words.items[line->next].text, "any");

	if (any)
		take(line, "`any`");
	else
		row->cuda = (unsigned)take_number(line, "a major of CUDA", 1, MAX_CUDA);
	soname = take_file(line, "a SONAME", "._+-");
	folder = any ? take(line, "`.`") : take_file(line, "a folder", "._+-/");
	if (any && strcmp(folder.text, "."))
		fail_at(folder.place, "`%s` where `.` is expected", folder.text);
	row->soname = soname.text;
	row->folder = folder.text;
	row->place = soname.place;
}

/* Joins the words again, with one blank wherever the line had blanks. */
static void read_advice(struct library *library, struct line *line, struct place row)
{
	struct text text = { 0 };
	unsigned end = 0;

	note_once(&library->advice_place, row);
	do {
		struct word word = take(line, "a sentence");

		put(&text, "%s%s", end && word.place.column > end ? " " : "", word.text);
		end = word.place.column + (unsigned)strlen(word.text);
	} while (line->next < line->words.count);
	library->advice = text.bytes;
}

static void read_data(const struct symbols *list, struct library *library, struct line *line)
{
	struct variable *row = push(&library->variables);
	struct word word = take_identifier(line, "a variable's name");

	row->name = word.text;
	row->place = word.place;
	row->size = (unsigned)take_number(line, "the size", 1, MAX_STRUCT_BYTES);
	row->in = take_range(list, line);
	if (line->next == line->words.count)
		return;
	word = take(line, "the bytes");
	row->bytes = word.text;
	if (word.text[strspn(word.text, "0123456789abcdef")] || strlen(word.text) != 2 * (size_t)row->size)
		fail_at(word.place, "%u bytes in hexadecimal are expected", row->size);
}

static void read_library_row(struct symbols *list, struct library *library, struct line *line)
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
	} else if (!strcmp(key.text, "witness")) {
		set_once(&library->witness, &library->witness_place,
			 take_identifier(line, "a name"), key.place);
	} else if (!strcmp(key.text, "soname")) {
		struct word word = take_file(line, "a file name", "._+-");

		read_ranged(push(&library->sonames), list, line, word);
	} else if (!strcmp(key.text, "folder")) {
		struct word word = take_file(line, "a folder", "._+-/");

		read_ranged(push(&library->folders), list, line, word);
	} else if (!strcmp(key.text, "package")) {
		*push(&library->packages) = take_file(line, "a package", "._-");
	} else if (!strcmp(key.text, "reserved")) {
		do
			*push(&library->reserved) = take_identifier(line, "a field's name");
		while (line->next < line->words.count);
	} else if (!strcmp(key.text, "home")) {
		do
			take_home(library, line);
		while (line->next < line->words.count);
	} else if (!strcmp(key.text, "majors")) {
		note_once(&library->majors_place, key.place);
		library->without_majors = take_choice(line, "none", "own");
		library->own_majors = !library->without_majors;
	} else if (!strcmp(key.text, "cuda")) {
		read_cuda(library, line);
	} else if (!strcmp(key.text, "called")) {
		read_called(list, library, line);
	} else if (!strcmp(key.text, "ships")) {
		read_shipped(list, library, line);
	} else if (!strcmp(key.text, "opens")) {
		read_opens(library, line);
	} else if (!strcmp(key.text, "data")) {
		read_data(list, library, line);
	} else if (!strcmp(key.text, "nodes")) {
		note_once(&library->node_names_place, key.place);
		library->node_names = take_choice(line, "none", "other") ? NODES_NONE : NODES_OTHER;
	} else if (!strcmp(key.text, "compat")) {
		note_once(&library->compat_place, key.place);
		take_choice(line, "none", "");	/* without the row it has stubs under its SONAMEs */
	} else if (!strcmp(key.text, "advice")) {
		read_advice(library, line, key.place);
	} else if (!strcmp(key.text, "node")) {
		struct node *node = push(&library->nodes);
		struct word word = take_file(line, "a version node", "._+-");

		node->name = word.text;
		node->place = word.place;
		node->major = (unsigned)take_number(line, "the major version", 1, MAX_MAJOR);
	} else if (!strcmp(key.text, "error")) {
		read_error(list, library, line, key.place);
	} else {
		fail_at(key.place, "no row `%s` in a library: there are stub, soname, majors, cuda, opens, nodes, "
			"data, compat, witness, home, node, folder, package, variable, companion, advice, error, "
			"status, reserved",
			key.text);
	}
}

/* ---- enum, struct ---- */

static void read_enumerator(const struct symbols *list, struct library *library, struct line *line)
{
	struct enumeration *last = &library->enums.items[library->enums.count - 1];
	struct enumerator *value = push(&last->values);
	struct word word = take_identifier(line, "an enumerator");

	value->name = word.text;
	value->place = word.place;
	value->value = (int32_t)take_number(line, "the value", INT32_MIN, INT32_MAX);
	value->in = take_range(list, line);
}

/* Only a result can be `void`.  A word that is not a kind is the name of a struct. */
static void parse_type(struct type *type, const char *text, struct place place, bool result)
{
	type->place = place;
	type->count = 1;
	type->kind = STRUCT;
	for (unsigned kind = I8; kind <= VOID; kind++)
		if (kind != STRUCT && !strcmp(kind_names[kind], text))
			type->kind = (enum kind)kind;
	if (type->kind == VOID && !result)
		fail_at(place, "a value cannot be void");
	if (type->kind != STRUCT)
		return;
	if (!is_identifier(text))
		fail_at(place, "`%s` is not a type", text);
	type->name = text;
}

/* TYPE or *STRUCT. */
static void parse_target(struct type *type, const char *text, struct place place)
{
	bool pointer = *text == '*';

	parse_type(type, text + pointer, place, false);
	type->pointer = pointer;
	if (pointer && type->kind != STRUCT)
		fail_at(place, "`%s` is not a type: a pointer to a scalar is ptr", text);
}

/* TYPE, *STRUCT, and either with [COUNT]. */
static void take_field_type(struct line *line, struct type *type)
{
	struct word word = take(line, "a type");
	const char *bracket = strchr(word.text, '[');
	char *end;

	parse_target(type, format("%.*s", (int)strcspn(word.text, "["), word.text), word.place);
	if (!bracket)
		return;
	type->count = (unsigned)strtoul(bracket + 1, &end, 10);
	if (!isdigit((unsigned char)bracket[1]) || end - bracket > 9 || strcmp(end, "]") ||
	    type->count < 1 || type->count > MAX_STRUCT_BYTES)
		fail_at(within(word, bracket), "a count such as [16] is expected");
}

static void read_field(const struct symbols *list, struct record *record, struct line *line,
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
	field->offset = (unsigned)take_number(line, "the offset", 0, MAX_STRUCT_BYTES);
	field->in = take_range(list, line);
}

static void read_size(const struct symbols *list, struct record *record, struct line *line,
		      struct place place)
{
	struct size *size = push(&record->sizes);
	struct word letter;

	size->place = place;
	size->bytes = (unsigned)take_number(line, "the size", 1, MAX_STRUCT_BYTES);
	size->in = take_range(list, line);
	expect(line, "layout", "`layout`");
	letter = take(line, "a letter");
	if (letter.text[0] < 'A' || letter.text[0] > 'Z' || letter.text[1])
		fail_at(letter.place, "`%s` is not a letter from A to Z", letter.text);
	size->letter = letter.text[0];
	take_if(line, "tail");
	take_if(line, "union");
}

static void read_struct_row(const struct symbols *list, struct library *library, struct line *line)
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
	parse_target(&param->type, word.text, word.place);
	if (param->type.pointer && param->way == BY_VALUE)
		fail_at(word.place, "`%s` is not passed by value: a pointer to a struct is `inout`, or "
			"`ptr`", word.text);
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

/* A text is what a function returns, or what it writes for the status that it takes:
 * const char *f(int status), or int f(int status, const char **text). */
static bool may_be_text(const struct row *row)
{
	const struct param *params = row->params.items;

	if (row->unknown || row->hook)
		return false;
	return row->result.kind == PTR ||
	       (row->result.kind == STATUS && row->params.count == 2 &&
		params[0].way == BY_VALUE && params[0].type.kind == I32 &&
		params[1].way == OUT && params[1].type.kind == PTR);
}

/* A number that has room for every `error` value, and a sign. */
static bool may_be_negative(const struct row *row)
{
	return !row->unknown && (row->result.kind == I32 || row->result.kind == I64);
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
		} else if (!strcmp(word.text, "text") && !row->text) {
			row->text = true;
			if (!may_be_text(row))
				fail_at(word.place, "a text needs a prototype with `-> ptr`, or (i32, out ptr), "
					"and no hook");
		} else if (!strcmp(word.text, "negative") && !row->negative) {
			row->negative = true;
			if (!may_be_negative(row))
				fail_at(word.place, "what is negative where a call fails needs a prototype with "
					"`-> i32` or `-> i64`");
		} else if (!strcmp(word.text, "apart") && !row->apart) {
			row->apart = true;
		} else if (!strcmp(word.text, "undeclared") && !row->undeclared) {
			row->undeclared = true;
		} else {
			fail_at(word.place, "unexpected `%s`: `-> RESULT`, `family NAME`, `hook`, "
				"`text`, `negative`, `apart` and `undeclared` can follow, once and in "
				"this order",
				word.text);
		}
	}
}

static void read_function(const struct symbols *list, struct library *library, struct line *line)
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

/* ---- blocks ---- */

enum block { NO_BLOCK, LIBRARY_BLOCK, ENUM_BLOCK, RECORD_BLOCK, FUNCTIONS_BLOCK };

static void open_library(struct symbols *list, struct line *line)
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

static enum block open_block(struct symbols *list, struct line *line)
{
	struct library *library = list->libraries.count ?
		&list->libraries.items[list->libraries.count - 1] : NULL;
	struct word key = take(line, "");

	if (!strcmp(key.text, "toolkits")) {
		read_toolkits(list, line, key.place);
		return NO_BLOCK;
	}
	if (!list->toolkit_count)
		fail_at(key.place, "`%s` where `toolkits` is expected", key.text);
	if (!strcmp(key.text, "library")) {
		open_library(list, line);
		return LIBRARY_BLOCK;
	}
	if (!library)
		fail_at(key.place, "`%s` where `library` is expected", key.text);
	if (!strcmp(key.text, "enum")) {
		struct enumeration *one = push(&library->enums);
		struct word name = take_identifier(line, "a name");

		one->name = name.text;
		one->place = name.place;
		return ENUM_BLOCK;
	}
	if (!strcmp(key.text, "struct")) {
		struct record *record = push(&library->records);
		struct word name = take_identifier(line, "a name");

		record->name = name.text;
		record->place = name.place;
		return RECORD_BLOCK;
	}
	if (!strcmp(key.text, "functions")) {
		if (library->functions_place.line)
			fail_at(key.place, "library %s has its functions on line %u already",
				library->name, library->functions_place.line);
		library->functions_place = key.place;
		return FUNCTIONS_BLOCK;
	}
	fail_at(key.place, "no block `%s`: there are library, enum, struct, functions", key.text);
}

static void read_row(struct symbols *list, struct line *line, enum block block)
{
	struct library *library = list->libraries.count ?
		&list->libraries.items[list->libraries.count - 1] : NULL;

	switch (block) {
	case NO_BLOCK:
		fail_at(peek(line)->place, "a row that belongs to no block");
	case LIBRARY_BLOCK:
		read_library_row(list, library, line);
		break;
	case ENUM_BLOCK:
		read_enumerator(list, library, line);
		break;
	case RECORD_BLOCK:
		read_struct_row(list, library, line);
		break;
	case FUNCTIONS_BLOCK:
		read_function(list, library, line);
		break;
	}
}

char *load_file(const char *path, size_t *length)
{
	FILE *file = fopen(path, "r");
	char *bytes = NULL;
	size_t room = 0;

	if (!file)
		fail(NULL, "cannot read %s: %s", path, strerror(errno));
	*length = 0;
	do {
		bytes = grow(bytes, room, &room, 1);
		*length += fread(bytes + *length, 1, room - *length, file);
	} while (*length == room);
	if (ferror(file))
		fail(NULL, "cannot read %s: %s", path, strerror(errno));
	fclose(file);
	return bytes;
}

void read_list(struct symbols *list, const char *path)
{
	size_t length;
	const char *text = load_file(path, &length), *end = text + length;
	struct line line = { 0 };
	enum block block = NO_BLOCK;
	unsigned number = 1;

	list_file = path;
	for (; text < end; number++) {
		const char *feed = memchr(text, '\n', (size_t)(end - text));

		if (!feed)
			fail_at((struct place){ list_file, number, (unsigned)(end - text) + 1 },
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
		fail_at((struct place){ list_file, number, 1 },
			"the file ends where `library` is expected");
	for (size_t i = 0; i < list->libraries.count; i++)
		check_library(list, &list->libraries.items[i]);
}
