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
	struct position end;	/* where the line ends, for messages about a missing word */
	bool indented;
};

static void add_word(struct line *line, const char *text, size_t length, struct position position)
{
	struct word *word = push(&line->words);
	char *copy = allocate(length + 1, 1);

	memcpy(copy, text, length);
	word->text = copy;
	word->position = position;
}

static void check_bytes(const char *text, size_t length, unsigned number)
{
	bool comment = false;

	if (length > MAX_LINE)
		fail_at((struct position){ list_file, number, MAX_LINE + 1 },
			"this line is longer than %d bytes", MAX_LINE);
	for (size_t i = 0; i < length; i++) {
		unsigned char byte = (unsigned char)text[i];
		struct position position = { list_file, number, (unsigned)i + 1 };

		comment |= byte == '#';
		if (byte == '\r')
			fail_at(position, "a carriage return: lines end with a line feed alone");
		if (!byte)
			fail_at(position, "a NUL byte");
		if (!comment && byte != '\t' && (byte < ' ' || byte > '~' || strchr("\"\\", byte)))
			fail_at(position, "unexpected byte 0x%02x", byte);
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
	line->end = (struct position){ list_file, number, 1 };
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
			 (struct position){ list_file, number, (unsigned)first + 1 });
		line->end.column = (unsigned)i + 1;
	}
}

static const struct word *peek(const struct line *line)
{
	static const struct word none = { .text = "" };

	return line->next < line->words.count ? &line->words.items[line->next] : &none;
}

static struct word take_word(struct line *line, const char *what)
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
	struct word word = take_word(line, what);

	if (strcmp(word.text, text))
		fail_at(word.position, "`%s` where %s is expected", word.text, what);
}

static void expect_end(struct line *line)
{
	if (line->next < line->words.count)
		fail_at(peek(line)->position, "unexpected `%s` at the end of the line",
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

	for (size_t i = 0; i < COUNT(keywords); i++)
		if (!strcmp(keywords[i], text))
			return true;
	return false;
}

static struct word take_identifier(struct line *line, const char *what)
{
	struct word word = take_word(line, what);

	if (!is_identifier(word.text))
		fail_at(word.position, "`%s` is not a name of letters, digits and _", word.text);
	if (is_keyword(word.text))
		fail_at(word.position, "`%s` is a keyword of C, not a name", word.text);
	return word;
}

/* Takes a word of letters, digits and `others`; it must begin with a letter or a digit. */
static struct word take_file(struct line *line, const char *what, const char *others)
{
	struct word word = take_word(line, what);

	for (const char *c = word.text; *c; c++)
		if (!isalnum((unsigned char)*c) && (c == word.text || !strchr(others, *c)))
			fail_at((struct position){ list_file, word.position.line,
						word.position.column + (unsigned)(c - word.text) },
				"unexpected `%c` in %s", *c, what);
	return word;
}

static int64_t take_number(struct line *line, const char *what, int64_t low, int64_t high)
{
	struct word word = take_word(line, what);
	const char *digits = word.text + (*word.text == '-');
	long long value;

	if (!*digits || digits[strspn(digits, "0123456789")])
		fail_at(word.position, "`%s` is not a number, as %s has to be", word.text, what);
	errno = 0;
	value = strtoll(word.text, NULL, 10);
	if (errno || value < low || value > high)
		fail_at(word.position, "%s is %s, and must be from %lld to %lld", what, word.text,
			(long long)low, (long long)high);
	return value;
}

/* ---- versions and ranges ---- */

/* Reads MAJOR.MINOR; returns a pointer to the rest of the text. */
static const char *parse_dotted(const char *text, struct position position, struct version *version)
{
	unsigned long parts[2];

	for (int i = 0; i < 2; i++) {
		size_t digits = strspn(text, "0123456789");

		if (!digits || digits > 3 || (i == 0 && text[digits] != '.'))
			fail_at(position, "a version such as 12.9 is expected");
		parts[i] = strtoul(text, NULL, 10);
		text += digits + (i == 0);
	}
	if (parts[0] < 1 || parts[0] > MAX_MAJOR || parts[1] > MAX_MINOR)
		fail_at(position, "a version is from 1.0 to %d.%d", MAX_MAJOR, MAX_MINOR);
	*version = (struct version){ (unsigned)parts[0], (unsigned)parts[1] };
	return text;
}

static bool newer(struct version a, struct version b)
{
	return a.major != b.major ? a.major > b.major : a.minor > b.minor;
}

static const char *parse_toolkit(const struct symbols *list, const char *text, struct position position,
				 unsigned *bit)
{
	struct version version;

	text = parse_dotted(text, position, &version);
	for (*bit = 0; *bit < list->toolkit_count; ++*bit)
		if (list->toolkits[*bit].major == version.major &&
		    list->toolkits[*bit].minor == version.minor)
			return text;
	fail_at(position, "no toolkit %u.%u: line %u does not name it", version.major, version.minor,
		list->toolkits_position.line);
}

static struct position within(struct word word, const char *at)
{
	word.position.column += (unsigned)(at - word.text);
	return word.position;
}

static toolkits take_range(const struct symbols *list, struct line *line)
{
	struct word word = take_word(line, "a range of versions");
	const char *at = word.text;
	toolkits set = 0;

	for (;;) {
		struct position position = within(word, at);
		unsigned first, last;

		at = parse_toolkit(list, at, position, &first);
		last = first;
		if (at[0] == '-' && (!at[1] || at[1] == ',')) {
			last = list->toolkit_count;
			at++;
		} else if (*at == '-') {
			at = parse_toolkit(list, at + 1, within(word, at + 1), &last);
		}
		if (last < first)
			fail_at(position, "this range ends before it begins");
		if (set && first <= last_bit(set))
			fail_at(position, "this range begins before the one before it has ended");
		set |= (BIT(last) | (BIT(last) - 1)) & ~(BIT(first) - 1);
		if (!*at)
			return set;
		if (*at != ',')
			fail_at(within(word, at), "unexpected `%c` in a range", *at);
		at++;
	}
}

static void read_toolkits(struct symbols *list, struct line *line, struct position position)
{
	if (list->toolkit_count)
		fail_at(position, "the toolkits are named on line %u already",
			list->toolkits_position.line);
	list->toolkits_position = position;
	do {
		struct word word = take_word(line, "a version");
		struct version version;
		const char *rest = parse_dotted(word.text, word.position, &version);

		if (*rest)
			fail_at(within(word, rest), "unexpected `%c` in a version", *rest);
		if (list->toolkit_count == MAX_TOOLKITS)
			fail_at(word.position, "more than %d toolkits", MAX_TOOLKITS);
		if (list->toolkit_count &&
		    !newer(version, list->toolkits[list->toolkit_count - 1]))
			fail_at(word.position, "toolkits are named from the oldest to the newest");
		list->toolkits[list->toolkit_count++] = version;
	} while (line->next < line->words.count);
}

/* ---- library ---- */

/* For a row that a library has once. */
static void note_once(struct position *once, struct position row)
{
	if (once->line)
		fail_at(row, "this was given on line %u already", once->line);
	*once = row;
}

static void set_once(const char **text, struct position *position, struct word word, struct position row)
{
	note_once(position, row);
	*text = word.text;
	*position = word.position;
}

/* A row of a library, behind its key. */
struct given {
	const struct symbols *list;
	struct library *library;
	struct line *line;
	struct position position;
};

static bool has_more(const struct line *line)
{
	return line->next < line->words.count;
}

/* Takes one of two words; returns true for the first. */
static bool take_choice(struct line *line, const char *first, const char *second)
{
	const char *what = *second ? format("`%s` or `%s`", first, second) : format("`%s`", first);
	struct word word = take_word(line, what);

	if (strcmp(word.text, first) && strcmp(word.text, second))
		fail_at(word.position, "`%s` where %s is expected", word.text, what);
	return !strcmp(word.text, first);
}

static void read_error(const struct given *given)
{
	struct word word = take_word(given->line, "what the error is for");
	int kind = ON_MISSING;
	struct error *row;

	while (kind < ERROR_KINDS && strcmp(error_names[kind], word.text))
		kind++;
	if (kind == ERROR_KINDS)
		fail_at(word.position, "no error `%s`: there are missing, absent, refused, driver, "
			"incoherent, ending, released", word.text);
	row = push(&given->library->errors[kind]);
	row->position = given->position;
	row->value = (int32_t)take_number(given->line, "the status", INT32_MIN, INT32_MAX);
	row->in = has_more(given->line) ? take_range(given->list, given->line) : ~(toolkits)0;
	if (!row->value)
		fail_at(given->position, "an error cannot be 0, which is success");
}

static void read_ranged(struct ranged *ranged, const struct symbols *list, struct line *line,
			struct word word)
{
	ranged->text = word.text;
	ranged->position = word.position;
	ranged->in = take_range(list, line);
}

static void take_home(struct library *library, struct line *line)
{
	struct word word = take_word(line, "a folder");
	struct ranged *home = push(&library->homes);

	if (*word.text != '/')
		fail_at(word.position, "`%s` is not an absolute path", word.text);
	*home = (struct ranged){ .text = word.text, .position = word.position };
}

static void read_cuda(const struct given *given)
{
	struct word word = take_file(given->line, "a SONAME", "._+-");
	struct cuda *row = push(&given->library->cuda);

	*row = (struct cuda){ .soname = word.text, .position = word.position };
	do
		row->in |= 1u << take_number(given->line, "a major of CUDA", 1, MAX_CUDA);
	while (has_more(given->line));
}

static struct version take_toolkit(const struct symbols *list, struct line *line)
{
	struct word version = take_word(line, "a version");
	unsigned bit;
	const char *rest = parse_toolkit(list, version.text, version.position, &bit);

	if (*rest)
		fail_at(within(version, rest), "unexpected `%c` in a version", *rest);
	return list->toolkits[bit];
}

static void read_called(const struct given *given)
{
	struct called *row = push(&given->library->called);
	struct word number;

	row->version = take_toolkit(given->list, given->line);
	number = take_word(given->line, "its number");
	row->number = number.text;
	row->position = number.position;
	if (strlen(number.text) > MAX_NUMBER || number.text[strspn(number.text, "0123456789.")])
		fail_at(number.position, "`%s` is not a version", number.text);
}

static void read_shipped(const struct given *given)
{
	struct shipped *row = push(&given->library->ships), *before = row - 1;
	struct word cuda = take_word(given->line, "a version of CUDA");
	const char *rest = parse_dotted(cuda.text, cuda.position, &row->cuda);

	if (*rest)
		fail_at(within(cuda, rest), "unexpected `%c` in a version", *rest);
	row->version = take_toolkit(given->list, given->line);
	row->position = cuda.position;
	if (given->library->ships.count > 1 && !newer(row->cuda, before->cuda))
		fail_at(row->position, "these are named from the oldest to the newest CUDA");
}

static void read_opens(const struct given *given)
{
	struct opened *row = push(&given->library->opens);
	struct word soname, folder;
	bool any = has_more(given->line) &&
		   !strcmp(given->line->words.items[given->line->next].text, "any");

	if (any)
		take_word(given->line, "`any`");
	else
		row->cuda = (unsigned)take_number(given->line, "a major of CUDA", 1, MAX_CUDA);
	soname = take_file(given->line, "a SONAME", "._+-");
	folder = any ? take_word(given->line, "`.`") : take_file(given->line, "a folder", "._+-/");
	if (any && strcmp(folder.text, "."))
		fail_at(folder.position, "`%s` where `.` is expected", folder.text);
	row->soname = soname.text;
	row->folder = folder.text;
	row->position = soname.position;
}

/* Joins the words again, with one blank wherever the line had blanks. */
static void read_advice(const struct given *given)
{
	struct text text = { 0 };
	unsigned end = 0;

	note_once(&given->library->advice_position, given->position);
	do {
		struct word word = take_word(given->line, "a sentence");

		put(&text, "%s%s", end && word.position.column > end ? " " : "", word.text);
		end = word.position.column + (unsigned)strlen(word.text);
	} while (has_more(given->line));
	given->library->advice = text.bytes;
}

static void read_data(const struct given *given)
{
	struct variable *row = push(&given->library->variables);
	struct word word = take_identifier(given->line, "a variable's name");

	row->name = word.text;
	row->position = word.position;
	row->size = (unsigned)take_number(given->line, "the size", 1, MAX_STRUCT_BYTES);
	row->in = take_range(given->list, given->line);
	if (given->line->next == given->line->words.count)
		return;
	word = take_word(given->line, "the bytes");
	row->bytes = word.text;
	if (word.text[strspn(word.text, "0123456789abcdef")] || strlen(word.text) != 2 * (size_t)row->size)
		fail_at(word.position, "%u bytes in hexadecimal are expected", row->size);
}

static void read_soname(const struct given *given)
{
	struct word word = take_file(given->line, "a file name", "._+-");

	read_ranged(push(&given->library->sonames), given->list, given->line, word);
}

static void read_folder(const struct given *given)
{
	struct word word = take_file(given->line, "a folder", "._+-/");

	read_ranged(push(&given->library->folders), given->list, given->line, word);
}

static void read_package(const struct given *given)
{
	*push(&given->library->packages) = take_file(given->line, "a package", "._-");
}

static void read_reserved(const struct given *given)
{
	do
		*push(&given->library->reserved) = take_identifier(given->line, "a field's name");
	while (has_more(given->line));
}

static void read_home(const struct given *given)
{
	do
		take_home(given->library, given->line);
	while (has_more(given->line));
}

static void read_majors(const struct given *given)
{
	note_once(&given->library->majors_position, given->position);
	given->library->without_majors = take_choice(given->line, "none", "own");
	given->library->own_majors = !given->library->without_majors;
}

static void read_nodes(const struct given *given)
{
	note_once(&given->library->node_names_position, given->position);
	given->library->node_names = take_choice(given->line, "none", "other") ? NODES_NONE : NODES_OTHER;
}

/* Without the row it has stubs under its SONAMEs. */
static void read_compat(const struct given *given)
{
	note_once(&given->library->compat_position, given->position);
	take_choice(given->line, "none", "");
}

static void read_node(const struct given *given)
{
	struct node *node = push(&given->library->nodes);
	struct word word = take_file(given->line, "a version node", "._+-");

	node->name = word.text;
	node->position = word.position;
	node->major = (unsigned)take_number(given->line, "the major version", 1, MAX_MAJOR);
}

#define ONCE(member) .text = offsetof(struct library, member), \
	.position = offsetof(struct library, member##_position)

/* Rows of one word that a library has once, and rows with a reader. */
static const struct library_row {
	const char *key;
	void (*read)(const struct given *given);
	size_t text, position;
	const char *what, *others;	/* an identifier if there are no others: take_file() */
} library_rows[] = {
	{ "stub", ONCE(stub), .what = "a file name", .others = "._+-" },
	{ "soname", .read = read_soname }, { "majors", .read = read_majors },
	{ "cuda", .read = read_cuda }, { "called", .read = read_called },
	{ "ships", .read = read_shipped }, { "opens", .read = read_opens },
	{ "nodes", .read = read_nodes }, { "data", .read = read_data }, { "compat", .read = read_compat },
	{ "witness", ONCE(witness), .what = "a name" },
	{ "home", .read = read_home }, { "node", .read = read_node },
	{ "folder", .read = read_folder }, { "package", .read = read_package },
	{ "variable", ONCE(variable), .what = "a variable" },
	{ "companion", ONCE(companion), .what = "a file name", .others = "._+-%" },
	{ "advice", .read = read_advice }, { "error", .read = read_error },
	{ "status", ONCE(status), .what = "an enumeration" },
	{ "reserved", .read = read_reserved },
};

static void read_library_row(struct symbols *list, struct library *library, struct line *line)
{
	const struct library_row *end = library_rows + COUNT(library_rows);
	struct word key = take_word(line, "");
	struct text keys = { 0 };

	for (const struct library_row *row = library_rows; row < end; row++) {
		if (strcmp(row->key, key.text)) {
			put(&keys, "%s%s", row == library_rows ? "" : ", ", row->key);
			continue;
		}
		if (row->read)
			row->read(&(struct given){ list, library, line, key.position });
		else
			set_once((const char **)((char *)library + row->text),
				 (struct position *)((char *)library + row->position),
				 row->others ? take_file(line, row->what, row->others) :
					       take_identifier(line, row->what), key.position);
		return;
	}
	fail_at(key.position, "no row `%s` in a library: there are %s", key.text, keys.bytes);
}

/* ---- enum, struct ---- */

static void read_enumerator(const struct symbols *list, struct library *library, struct line *line)
{
	struct enumeration *last = &library->enums.items[library->enums.count - 1];
	struct enumerator *value = push(&last->values);
	struct word word = take_identifier(line, "an enumerator");

	value->name = word.text;
	value->position = word.position;
	value->value = (int32_t)take_number(line, "the value", INT32_MIN, INT32_MAX);
	value->in = take_range(list, line);
}

/* Only a result can be `void`.  A word that is not a kind is the name of a struct. */
static void parse_type(struct type *type, const char *text, struct position position, bool result)
{
	type->position = position;
	type->count = 1;
	type->kind = STRUCT;
	for (unsigned kind = I8; kind <= VOID; kind++)
		if (kind != STRUCT && !strcmp(kind_names[kind], text))
			type->kind = (enum kind)kind;
	if (type->kind == VOID && !result)
		fail_at(position, "a value cannot be void");
	if (type->kind != STRUCT)
		return;
	if (!is_identifier(text))
		fail_at(position, "`%s` is not a type", text);
	type->name = text;
}

/* TYPE or *STRUCT. */
static void parse_target(struct type *type, const char *text, struct position position)
{
	bool pointer = *text == '*';

	parse_type(type, text + pointer, position, false);
	type->pointer = pointer;
	if (pointer && type->kind != STRUCT)
		fail_at(position, "`%s` is not a type: a pointer to a scalar is ptr", text);
}

/* TYPE, *STRUCT, and either with [COUNT]. */
static void take_field_type(struct line *line, struct type *type)
{
	struct word word = take_word(line, "a type");
	const char *bracket = strchr(word.text, '[');
	char *end;

	parse_target(type, format("%.*s", (int)strcspn(word.text, "["), word.text), word.position);
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
	field->position = word.position;
	take_field_type(line, &field->type);
	field->offset = (unsigned)take_number(line, "the offset", 0, MAX_STRUCT_BYTES);
	field->in = take_range(list, line);
}

static void read_size(const struct symbols *list, struct record *record, struct line *line,
		      struct position position)
{
	struct size *size = push(&record->sizes);
	struct word letter;

	size->position = position;
	size->bytes = (unsigned)take_number(line, "the size", 1, MAX_STRUCT_BYTES);
	size->in = take_range(list, line);
	expect(line, "layout", "`layout`");
	letter = take_word(line, "a letter");
	if (letter.text[0] < 'A' || letter.text[0] > 'Z' || letter.text[1])
		fail_at(letter.position, "`%s` is not a letter from A to Z", letter.text);
	size->letter = letter.text[0];
	take_if(line, "tail");
	take_if(line, "union");
}

static void read_struct_row(const struct symbols *list, struct library *library, struct line *line)
{
	struct record *record = &library->records.items[library->records.count - 1];
	struct word key = take_word(line, "");

	if (!strcmp(key.text, "size"))
		read_size(list, record, line, key.position);
	else if (key.text[0] == '.')
		read_field(list, record, line, key);
	else
		fail_at(key.position, "`%s` where `size` or a .FIELD is expected", key.text);
}

/* ---- functions ---- */

static void take_param(struct line *line, struct param *param)
{
	static const char *const directions[] = { "", "in", "out", "inout", "buf" };
	struct word word = take_word(line, "a parameter");

	for (unsigned direction = IN; direction <= BUF; direction++) {
		if (strcmp(directions[direction], word.text))
			continue;
		param->direction = (enum direction)direction;
		word = take_word(line, "a type");
		break;
	}
	parse_target(&param->type, word.text, word.position);
	if (param->type.pointer && param->direction == BY_VALUE)
		fail_at(word.position, "`%s` is not passed by value: a pointer to a struct is `inout`, or "
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
		params[0].direction == BY_VALUE && params[0].type.kind == I32 &&
		params[1].direction == OUT && params[1].type.kind == PTR);
}

/* A number that has room for every `error` value, and a sign. */
static bool may_be_negative(const struct row *row)
{
	return !row->unknown && (row->result.kind == I32 || row->result.kind == I64);
}

static void take_words(struct line *line, struct row *row)
{
	while (line->next < line->words.count) {
		struct word word = take_word(line, "");

		if (!strcmp(word.text, "family") && !row->family_position.line) {
			word = take_identifier(line, "the family's name");
			row->family = word.text;
			row->family_position = word.position;
		} else if (!strcmp(word.text, "hook") && !row->hook) {
			row->hook = true;
			if (row->unknown)
				fail_at(word.position, "a hook needs a prototype");
		} else if (!strcmp(word.text, "slow") && row->hook && !row->slow) {
			row->slow = true;
		} else if (!strcmp(word.text, "text") && !row->text) {
			row->text = true;
			if (!may_be_text(row))
				fail_at(word.position,
					"a text needs a prototype with `-> ptr`, or (i32, out ptr), "
					"and no hook");
		} else if (!strcmp(word.text, "negative") && !row->negative) {
			row->negative = true;
			if (!may_be_negative(row))
				fail_at(word.position,
					"what is negative where a call fails needs a prototype with "
					"`-> i32` or `-> i64`");
		} else if (!strcmp(word.text, "apart") && !row->apart) {
			row->apart = true;
		} else if (!strcmp(word.text, "undeclared") && !row->undeclared) {
			row->undeclared = true;
		} else {
			fail_at(word.position, "unexpected `%s`: `-> RESULT`, `family NAME`, `hook`, "
				"`slow` after it, `text`, `negative`, `apart` and `undeclared` can follow, once and in "
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
	row->position = word.position;
	row->range_position = line->next < line->words.count ? peek(line)->position : line->end;
	row->in = take_range(list, line);
	take_params(line, row);
	row->result = (struct type){ .kind = STATUS, .count = 1, .position = word.position };
	if (take_if(line, "->")) {
		struct word type = take_word(line, "a type");

		parse_type(&row->result, type.text, type.position, true);
	}
	take_words(line, row);
	if (row->unknown && !row->undeclared)
		fail_at(row->position, "%s has no prototype, and is not marked `undeclared`",
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
			fail_at(name.position, "library %s is on line %u already", name.text,
				list->libraries.items[i].position.line);
	library = push(&list->libraries);
	library->name = name.text;
	library->position = name.position;
}

static enum block open_block(struct symbols *list, struct line *line)
{
	struct library *library = list->libraries.count ?
		&list->libraries.items[list->libraries.count - 1] : NULL;
	struct word key = take_word(line, "");

	if (!strcmp(key.text, "toolkits")) {
		read_toolkits(list, line, key.position);
		return NO_BLOCK;
	}
	if (!list->toolkit_count)
		fail_at(key.position, "`%s` where `toolkits` is expected", key.text);
	if (!strcmp(key.text, "library")) {
		open_library(list, line);
		return LIBRARY_BLOCK;
	}
	if (!library)
		fail_at(key.position, "`%s` where `library` is expected", key.text);
	if (!strcmp(key.text, "enum")) {
		struct enumeration *one = push(&library->enums);
		struct word name = take_identifier(line, "a name");

		one->name = name.text;
		one->position = name.position;
		return ENUM_BLOCK;
	}
	if (!strcmp(key.text, "struct")) {
		struct record *record = push(&library->records);
		struct word name = take_identifier(line, "a name");

		record->name = name.text;
		record->position = name.position;
		return RECORD_BLOCK;
	}
	if (!strcmp(key.text, "functions")) {
		if (library->functions_position.line)
			fail_at(key.position, "library %s has its functions on line %u already",
				library->name, library->functions_position.line);
		library->functions_position = key.position;
		return FUNCTIONS_BLOCK;
	}
	fail_at(key.position, "no block `%s`: there are library, enum, struct, functions", key.text);
}

static void read_row(struct symbols *list, struct line *line, enum block block)
{
	struct library *library = list->libraries.count ?
		&list->libraries.items[list->libraries.count - 1] : NULL;

	switch (block) {
	case NO_BLOCK:
		fail_at(peek(line)->position, "a row that belongs to no block");
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
	size_t capacity = 0;

	if (!file)
		fail(NULL, "cannot read %s: %s", path, strerror(errno));
	*length = 0;
	do {
		bytes = grow(bytes, capacity, &capacity, 1);
		*length += fread(bytes + *length, 1, capacity - *length, file);
	} while (*length == capacity);
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
			fail_at((struct position){ list_file, number, (unsigned)(end - text) + 1 },
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
		fail_at((struct position){ list_file, number, 1 },
			"the file ends where `library` is expected");
	for (size_t i = 0; i < list->libraries.count; i++)
		check_library(list, &list->libraries.items[i]);
}
