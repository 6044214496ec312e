/* SPDX-License-Identifier: MIT */
/* amalgam.c - joins sources into one file, in which nothing is visible from outside */
#include "amalgam.h"

#include <ctype.h>
#include <string.h>

enum token_kind { WORD, STRING, COMMENT, SPACE, DIRECTIVE, OTHER };

#define NAMES 4096

struct token {
	enum token_kind kind;
	const char *at;
	size_t length;
	bool dropped;
	bool made_static;	/* the first one of a declaration */
};

struct unit {
	struct amalgam *amalgam;
	ARRAY(struct token) tokens;
	struct list own[NAMES];	/* the names that get the suffix, by their hash; "#" before tags */
	const char *suffix;
};

static bool is_among(const struct list *list, const char *at, size_t length)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strncmp(list->items[i], at, length) && !((const char *)list->items[i])[length])
			return true;
	return false;
}

static struct list *own_like(const struct unit *unit, const char *at, size_t length)
{
	return (struct list *)&unit->own[hash_of(at, length) % NAMES];
}

static bool is(const struct token *token, const char *text)
{
	return token->length == strlen(text) && !memcmp(token->at, text, token->length);
}

static bool is_letter(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* ---- reading ---- */

static size_t length_of_quoted(const char *at)
{
	size_t length = 1;

	while (at[length] && at[length] != *at)
		length += at[length] == '\\' ? 2 : 1;
	return length + 1;
}

static size_t length_of_comment(const char *at)
{
	const char *end = strstr(at + 2, "*/");

	return end ? (size_t)(end - at) + 2 : strlen(at);
}

/* A directive with its continuations and the comments that begin in it. */
static size_t length_of_directive(const char *at)
{
	size_t length = 0;

	while (at[length] && at[length] != '\n')
		if (!strncmp(at + length, "/*", 2))
			length += length_of_comment(at + length);
		else
			length += at[length] == '\\' ? 2 : 1;
	return length;
}

static struct token next_token(const char *at, bool line_begins)
{
	struct token token = { OTHER, at, 1, false, false };

	if (isspace((unsigned char)*at)) {
		token.kind = SPACE;
		token.length = strspn(at, " \t\n\f");
	} else if (*at == '#' && line_begins) {
		token.kind = DIRECTIVE;
		token.length = length_of_directive(at);
	} else if (!strncmp(at, "/*", 2)) {
		token.kind = COMMENT;
		token.length = length_of_comment(at);
	} else if (*at == '"' || *at == '\'') {
		token.kind = STRING;
		token.length = length_of_quoted(at);
	} else if (is_letter(*at)) {
		token.kind = WORD;
		token.length = word_length(at);
	} else if (!strncmp(at, "->", 2)) {
		token.length = 2;
	}
	return token;
}

/* "stubs/cudart/adaptors/../../loader/errors.h" without what leads back. */
static char *plain_path(const char *folder, size_t length, const char *name, size_t name_length)
{
	while (name_length > 3 && !strncmp(name, "../", 3)) {
		name += 3;
		name_length -= 3;
		while (length && folder[--length] != '/')
			;
	}
	return format("%.*s%s%.*s", (int)length, folder, length ? "/" : "", (int)name_length, name);
}

/* The path of what a directive includes by its name; NULL: it does no such thing. */
static char *included(const char *from, const struct token *directive)
{
	const char *name = memchr(directive->at, '"', directive->length), *slash = strrchr(from, '/');
	size_t length;

	if (strncmp(directive->at, "#include", strlen("#include")) || !name)
		return NULL;
	length = length_of_quoted(name) - 2;
	name++;
	/* These are below a folder that the compiler is told. */
	if (!strncmp(name, "generated/", 10) || !strncmp(name, "entry/", 6) || !strncmp(name, "loader/", 7))
		return format("stubs/%.*s", (int)length, name);
	return plain_path(from, slash ? (size_t)(slash - from) : 0, name, length);
}

static bool has_guard(const char *text)
{
	const char *guard = strstr(text, "#ifndef "), *define = guard ? strstr(guard, "\n#define ") : NULL;

	return define && define == strchr(guard, '\n');
}

static void read_source(struct unit *unit, const char *path, const char *from)
{
	const char *at = unit->amalgam->read(unit->amalgam->data, path, from);
	bool line_begins = true;

	if (has_guard(at)) {
		if (is_among(&unit->amalgam->done, path, strlen(path)))
			return;
		list_add(&unit->amalgam->done, path);
	}
	while (*at) {
		struct token token = next_token(at, line_begins);
		char *path_of_header = token.kind == DIRECTIVE ? included(path, &token) : NULL;

		at += token.length;
		if (token.kind == SPACE)
			line_begins |= memchr(token.at, '\n', token.length) != NULL;
		else
			line_begins = false;
		if (path_of_header)
			read_source(unit, path_of_header, path);
		else
			*push(&unit->tokens) = token;
	}
}

/* ---- declarations ---- */

/* The next token from `i` on that means something; tokens.count: there is none. */
static size_t next_meant(const struct unit *unit, size_t i)
{
	while (i < unit->tokens.count && (unit->tokens.items[i].kind == SPACE ||
					  unit->tokens.items[i].kind == COMMENT ||
					  unit->tokens.items[i].kind == DIRECTIVE))
		i++;
	return i;
}

static size_t last_meant(const struct unit *unit, size_t i)
{
	while (i-- && (unit->tokens.items[i].kind == SPACE || unit->tokens.items[i].kind == COMMENT))
		;
	return i;	/* SIZE_MAX: there is none */
}

static const struct token *token_at(const struct unit *unit, size_t i)
{
	static const struct token none = { OTHER, "", 0, false, false };

	return i < unit->tokens.count ? &unit->tokens.items[i] : &none;
}

/* Returns what is behind the bracket that closes the one at `i`. */
static size_t behind_brackets(const struct unit *unit, size_t i)
{
	int depth = 0;

	do {
		const struct token *token = token_at(unit, i);

		if (token->kind == OTHER && strchr("([{", *token->at))
			depth++;
		if (token->kind == OTHER && strchr(")]}", *token->at))
			depth--;
		i++;
	} while (depth && i < unit->tokens.count);
	return i;
}

static bool has_no_name(const struct token *word)
{
	return is(word, "__attribute__") || is(word, "__asm__") || is(word, "_Atomic") ||
	       is(word, "__typeof__") || is(word, "_Static_assert");
}

static bool is_macro(const struct token *word)
{
	for (size_t i = 0; i < word->length; i++)
		if (islower((unsigned char)word->at[i]))
			return false;
	return word->kind == WORD && isupper((unsigned char)*word->at);
}

struct declaration {
	size_t first, end;
	size_t name;		/* SIZE_MAX: it declares none, or what is in brackets does */
	size_t body;		/* of a struct or enumeration, its brace; else SIZE_MAX */
	size_t tag;
	bool keeps;		/* it is static, a type, assembly or a macro */
	bool open;		/* it has [] for a size */
	bool is_extern;
};

/* Macros stand for declarations of their own. */
static bool read_macro(const struct unit *unit, struct declaration *one)
{
	const struct token *word = token_at(unit, one->first);
	const size_t next = next_meant(unit, one->first + 1);

	if (!is_macro(word))
		return false;
	if (is(token_at(unit, next), "(")) {
		const size_t end = behind_brackets(unit, next), after = next_meant(unit, end);

		one->end = is(token_at(unit, after), ";") ? after + 1 : end;
		return true;
	}
	one->end = one->first + 1;
	return strncmp(word->at, "LC_ASM_", 7) == 0 || is(word, "LC_TABLE_OF_SLOTS");
}

/* Returns false at the end. */
static bool next_declaration(const struct unit *unit, size_t i, struct declaration *one)
{
	bool function = false, type = false;

	*one = (struct declaration){ .first = next_meant(unit, i), .name = SIZE_MAX, .body = SIZE_MAX,
				     .tag = SIZE_MAX };
	if (one->first >= unit->tokens.count)
		return false;
	if (read_macro(unit, one)) {
		one->keeps = true;
		return true;
	}
	for (i = one->first; i < unit->tokens.count; i = next_meant(unit, i)) {
		const struct token *token = token_at(unit, i);
		const size_t next = next_meant(unit, i + 1);

		if (is(token, ";") || is(token, "=")) {
			while (!is(token_at(unit, i), ";"))
				i = strchr("([{", *token_at(unit, i)->at) && token_at(unit, i)->kind == OTHER ?
				    behind_brackets(unit, i) : i + 1;
			one->end = i + 1;
			return true;
		}
		if (is(token, "{")) {
			if (function) {
				one->end = behind_brackets(unit, i);
				return true;
			}
			one->body = i;
			i = behind_brackets(unit, i);
			continue;
		}
		if (is(token, "(")) {
			i = behind_brackets(unit, i);
			continue;
		}
		if (is(token, "[")) {
			one->open |= is(token_at(unit, next), "]");
			i = behind_brackets(unit, i);
			continue;
		}
		if (token->kind == WORD) {
			one->keeps |= is(token, "static") || is(token, "typedef") || is(token, "__asm__") ||
				      is(token, "_Static_assert");
			one->is_extern |= is(token, "extern");
			if (type && one->body == SIZE_MAX)
				one->tag = i;
			type = is(token, "struct") || is(token, "union") || is(token, "enum");
			if (!is_macro(token) && !has_no_name(token) &&
			    (!function || is(token_at(unit, next), "("))) {
				function |= is(token_at(unit, next), "(");
				one->name = i;
			}
		}
		i++;
	}
	one->end = i;
	return true;
}

static void make_static(struct unit *unit, const struct declaration *one)
{
	const struct token *name = token_at(unit, one->name);

	/* A type alone. */
	if (one->keeps || one->name == SIZE_MAX || one->name == one->tag ||
	    (one->body != SIZE_MAX && one->name < one->body))
		return;
	if (one->is_extern && (strncmp(name->at, "lc_", 3) || one->open)) {
		if (one->open)
			list_add(&unit->amalgam->linked, format("%.*s", (int)name->length, name->at));
		return;
	}
	if (is_among(&unit->amalgam->linked, name->at, name->length) || !strncmp(name->at, "lazycuda_", 9))
		return;
	unit->tokens.items[one->first].made_static = true;
	for (size_t i = one->first; i < one->end; i++)
		if (is(token_at(unit, i), "extern") || is(token_at(unit, i), "LC_HIDDEN"))
			unit->tokens.items[i].dropped = true;
}

static void make_all_static(struct unit *unit)
{
	struct declaration one;

	for (size_t i = 0; next_declaration(unit, i, &one); i = one.end)
		make_static(unit, &one);
}

/* ---- names that are there for each library ---- */

static void add_own(struct unit *unit, const char *at, size_t length)
{
	static const char *const pasted[] = { "LC_SLOT_", "LC_NULL_", "LC_SIZE_", "LC_AT_", "LC_NUMBER_",
						"lc_adapt_", "driver_of_" };

	/* Macros make these of two parts.  What is behind it is a function's or a struct's name, which no
	 * two libraries share. */
	if (length == 1)
		return;		/* a macro of one generated file, which undefines it */
	for (size_t i = 0; i < COUNT(pasted); i++)
		if (!strncmp(at, pasted[i], strlen(pasted[i])) && length > strlen(pasted[i]))
			return;
	if (!is_among(own_like(unit, at, length), at, length))
		list_add(own_like(unit, at, length), format("%.*s", (int)length, at));
}

static void add_enumerators(struct unit *unit, const struct declaration *one)
{
	const size_t end = behind_brackets(unit, one->body);

	for (size_t i = one->body; i < end; i++) {
		const struct token *before = token_at(unit, last_meant(unit, i));

		if (token_at(unit, i)->kind == WORD && (is(before, "{") || is(before, ",")))
			add_own(unit, token_at(unit, i)->at, token_at(unit, i)->length);
	}
}

static void add_names(struct unit *unit)
{
	struct declaration one;

	for (size_t i = 0; next_declaration(unit, i, &one); i = one.end) {
		const struct token *tag = token_at(unit, one.tag), *name = token_at(unit, one.name);
		const bool is_enum = one.body != SIZE_MAX &&
			(is(token_at(unit, one.first), "enum") ||
			 is(token_at(unit, last_meant(unit, last_meant(unit, one.body))), "enum"));

		if (one.body != SIZE_MAX && one.tag != SIZE_MAX)
			add_own(unit, format("#%.*s", (int)tag->length, tag->at), tag->length + 1);
		if (is_enum)
			add_enumerators(unit, &one);
		if (one.name != SIZE_MAX && one.name != one.tag && name->kind == WORD &&
		    strncmp(name->at, "lazycuda_", 9) &&
		    !(one.body != SIZE_MAX && one.name < one.body))
			add_own(unit, name->at, name->length);
	}
	for (size_t i = 0; i < unit->tokens.count; i++) {
		const struct token *token = token_at(unit, i);
		const char *macro = token->at + strlen("#define ");

		if (token->kind == DIRECTIVE && !strncmp(token->at, "#define ", strlen("#define ")))
			add_own(unit, macro, word_length(macro));
	}
}

/* Members of structs have names of their own. */
static bool is_member(const struct unit *unit, size_t i, bool in_struct)
{
	const struct token *before = token_at(unit, last_meant(unit, i));
	const struct token *after = token_at(unit, next_meant(unit, i + 1));

	if (is(before, ".") || is(before, "->"))
		return true;
	if (!in_struct || is(before, "[") || is(before, "("))
		return false;
	return after->kind == OTHER && strchr(";,[:)", *after->at);
}

static void put_tag(struct text *out, const struct unit *unit, const struct token *tag)
{
	const char *name = format("#%.*s", (int)tag->length, tag->at);

	put(out, "%s%s", name + 1,
	    is_among(own_like(unit, name, tag->length + 1), name, tag->length + 1) ? unit->suffix : "");
}

static bool is_tag(const struct unit *unit, size_t i)
{
	const struct token *before = token_at(unit, last_meant(unit, i));

	return is(before, "struct") || is(before, "union") || is(before, "enum");
}

static void put_token(struct text *out, const struct unit *unit, const char *at, size_t length)
{
	put(out, "%.*s%s", (int)length, at, is_among(own_like(unit, at, length), at, length) ? unit->suffix : "");
}

/* Strings and directives: words in them that are names. */
static void put_words(struct text *out, const struct unit *unit, const struct token *token, bool in_string)
{
	const char *at = token->at, *end = token->at + token->length;
	bool tag = false;

	while (at < end) {
		size_t length = 0;

		while (at + length < end && is_letter(at[length]))
			length++;
		if (!length)
			put(out, "%.*s", (int)(length = 1), at);
		else if (tag)
			put_tag(out, unit, &(struct token){ .at = at, .length = length });
		else if ((in_string && strncmp(at, "lc_", 3)) || (at > token->at && at[-1] == '.') ||
			 (at > token->at + 1 && !strncmp(at - 2, "->", 2)))
			put(out, "%.*s", (int)length, at);
		else
			put_token(out, unit, at, length);
		if (is_letter(*at))
			tag = (length == 6 && !strncmp(at, "struct", 6)) || (length == 4 && !strncmp(at, "enum", 4));
		at += length;
	}
}

static void put_unit(struct text *out, const struct unit *unit)
{
	size_t depth = 0, in_struct[64] = { 0 };

	for (size_t i = 0; i < unit->tokens.count; i++) {
		const struct token *token = token_at(unit, i);

		if (token->made_static)
			put(out, "static ");
		if (token->dropped)
			continue;
		if (token->kind == OTHER && *token->at == '{' && depth + 1 < 64) {
			const size_t before = last_meant(unit, i), tag = last_meant(unit, before);

			in_struct[++depth] = is(token_at(unit, before), "struct") ||
					     is(token_at(unit, before), "union") ||
					     is(token_at(unit, tag), "struct") ||
					     is(token_at(unit, tag), "union");
		}
		if (token->kind == OTHER && *token->at == '}' && depth)
			depth--;
		if (token->kind == STRING || token->kind == DIRECTIVE)
			put_words(out, unit, token, token->kind == STRING);
		else if (token->kind == WORD && is_tag(unit, i))
			put_tag(out, unit, token);
		else if (token->kind == WORD && !is_member(unit, i, in_struct[depth]))
			put_token(out, unit, token->at, token->length);
		else
			put(out, "%.*s", (int)token->length, token->at);
	}
}

void amalgamate(struct amalgam *amalgam, struct text *out, const struct list *paths, const char *suffix,
		const char *const *names, bool for_each_library)
{
	struct unit *unit = allocate(1, sizeof(*unit));

	unit->amalgam = amalgam;
	unit->suffix = suffix;
	for (size_t i = 0; i < paths->count; i++)
		read_source(unit, paths->items[i], NULL);
	for (; *names; names++)
		add_own(unit, *names, strlen(*names));
	if (for_each_library)
		add_names(unit);
	make_all_static(unit);
	put_unit(out, unit);
}
