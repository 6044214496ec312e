/* SPDX-License-Identifier: MIT */
/* ptx.c - the tokens of PTX, its header, and the symbols that it defines and declares */
#include <stdio.h>
#include <string.h>

#include "../../stubs/base/count.h"
#include "../tables/arch.h"
#include "formats.h"
#include "symbols.h"
#include "../tables/versions.h"

#define HEADER_BYTES 65536	/* read if only the header is wanted */

struct ptx_text {
	const char *begin, *at, *end;
	const char *open;	/* start of the construct that the text ends inside, or NULL */
	const char *what;	/* name of that construct: "a comment" */
};

/* A directive with its dot, a name, a number, a string with its quotes, or any other single
 * character.  The length is 0 at the end of the text. */
struct ptx_token {
	const char *at;
	size_t length;
};

/* Classes of bytes in a module. */
enum { OTHER, BLANK, NAME, BRACE };	/* BRACE: skip_block() stops there */

static const unsigned char classes[256] = {
	[' '] = BLANK, ['\t'] = BLANK, ['\n'] = BLANK, ['\v'] = BLANK, ['\f'] = BLANK,
	['\r'] = BLANK,
	['0' ... '9'] = NAME, ['A' ... 'Z'] = NAME, ['a' ... 'z'] = NAME,
	['_'] = NAME, ['$'] = NAME, ['%'] = NAME, [0x80 ... 0xff] = NAME,
	['{'] = BRACE, ['}'] = BRACE, ['"'] = BRACE, ['/'] = BRACE,
};

/* Records that the text ends inside a construct that begins at `at`, unless one is recorded. */
static void ends_in(struct ptx_text *text, const char *at, const char *what)
{
	if (text->open)
		return;
	text->open = at;
	text->what = what;
}

static bool is_token(const struct ptx_token *token, const char *word)
{
	size_t length = strlen(word);

	return token->length == length && !memcmp(token->at, word, length);
}

/* Skips the rest of the line. */
static void skip_line(struct ptx_text *text)
{
	const char *end = memchr(text->at, '\n', (size_t)(text->end - text->at));

	text->at = end ? end + 1 : text->end;
}

/* Skips a comment.  Returns false if none begins here. */
static bool skip_comment(struct ptx_text *text)
{
	const char *begin = text->at, *end;

	if (text->end - begin < 2 || begin[0] != '/')
		return false;
	if (begin[1] == '/') {
		skip_line(text);
		return true;
	}
	if (begin[1] != '*')
		return false;
	end = memmem(begin + 2, (size_t)(text->end - begin) - 2, "*/", 2);
	if (!end)
		ends_in(text, begin, "a comment");
	text->at = end ? end + 2 : text->end;
	return true;
}

/* Skips the string that begins here.  A backslash in a string escapes nothing. */
static void skip_string(struct ptx_text *text)
{
	const char *begin = text->at;
	const char *end = memchr(begin + 1, '"', (size_t)(text->end - begin) - 1);

	if (!end)
		ends_in(text, begin, "a string");
	text->at = end ? end + 1 : text->end;
}

static bool is_name(const struct ptx_token *token)
{
	return token->length && classes[(unsigned char)*token->at] == NAME &&
	       !(*token->at >= '0' && *token->at <= '9');
}

/* ---- bytes that are not ASCII ---- */

static const char *find_not_ascii(const char *at, const char *end)
{
	while (at < end && !(*at & 0x80))
		at++;
	return at < end ? at : NULL;
}

/* Moves past the next comment, and returns where it begins, with its end in *end; both are the
 * end of the text if there is none. */
static const char *next_comment(struct ptx_text *text, const char **end)
{
	while (text->at < text->end) {
		const char *begin = text->at;

		if (*begin == '"') {
			skip_string(text);
		} else if (skip_comment(text)) {
			*end = text->at;
			return begin;
		} else {
			text->at++;
		}
	}
	*end = text->end;
	return text->end;
}

/* Returns the first byte outside of comments that is not ASCII, or NULL.  *in_comments is
 * set if a comment before it has such a byte. */
static const char *not_ascii(const char *begin, const char *end, bool *in_comments)
{
	struct ptx_text text = { .begin = begin, .at = begin, .end = end };
	const char *last = find_not_ascii(begin, end), *found, *comment;

	while (last && text.at < end) {
		const char *from = text.at;

		comment = next_comment(&text, &last);
		found = find_not_ascii(from, comment);
		if (found)
			return found;
		*in_comments |= find_not_ascii(comment, last) != NULL;
	}
	return NULL;
}

void lk_ptx_make_ascii(char *begin, size_t length)
{
	struct ptx_text text = { .begin = begin, .at = begin, .end = begin + length };
	const char *comment, *end;

	while (text.at < text.end)
		for (comment = next_comment(&text, &end); comment < end; comment++)
			if (*comment & 0x80)
				begin[comment - text.begin] = '?';
}

/* ---- tokens ---- */

static void skip_blanks(struct ptx_text *text)
{
	for (;;) {
		while (text->at < text->end && classes[(unsigned char)*text->at] == BLANK)
			text->at++;
		if (text->at == text->end || !skip_comment(text))
			return;
	}
}

/* Returns the next token, after white space and comments. */
static struct ptx_token next_token(struct ptx_text *text)
{
	struct ptx_token token;
	bool number;

	skip_blanks(text);
	token.at = text->at;
	if (text->at == text->end)
		return (struct ptx_token){ text->end, 0 };
	number = *text->at >= '0' && *text->at <= '9';
	if (*text->at == '"') {
		skip_string(text);
	} else {
		bool word = *text->at == '.' || classes[(unsigned char)*text->at] == NAME;

		text->at++;
		while (word && text->at < text->end &&
		       (classes[(unsigned char)*text->at] == NAME || (number && *text->at == '.')))
			text->at++;
	}
	token.length = (size_t)(text->at - token.at);
	return token;
}

/* Takes the next token if it is this one. */
static bool take_if(struct ptx_text *text, const char *word)
{
	struct ptx_text after = *text;
	struct ptx_token token = next_token(&after);

	if (!is_token(&token, word))
		return false;
	*text = after;
	return true;
}

/* Skips a block in braces; its opening brace was the last token. */
static void skip_block(struct ptx_text *text, const char *what)
{
	const char *begin = text->at - 1;
	size_t depth = 1;

	while (depth) {
		while (text->at < text->end && classes[(unsigned char)*text->at] != BRACE)
			text->at++;
		if (text->at == text->end) {
			ends_in(text, begin, what);
			return;
		}
		if (*text->at == '"') {
			skip_string(text);
		} else if (!skip_comment(text)) {
			depth += *text->at == '{';
			depth -= *text->at == '}';
			text->at++;
		}
	}
}

/* Skips a group in parentheses or brackets; the opening one was the last token. */
static void skip_group(struct ptx_text *text)
{
	const char *begin = text->at - 1;
	char open = *begin, close = open == '(' ? ')' : ']';
	size_t depth = 1;

	while (depth) {
		struct ptx_token token = next_token(text);

		if (!token.length) {
			ends_in(text, begin, "a list");
			return;
		}
		depth += *token.at == open;
		depth -= *token.at == close;
	}
}

/* ---- the header ---- */

/* Parses a version such as "13.0" before `end`.  Returns where it ends, or NULL if it is none. */
static const char *read_number(const char *at, const char *end, int parts[2])
{
	for (int i = 0; i < 2; i++) {
		const char *begin = at;

		parts[i] = 0;
		for (; at < end && *at >= '0' && *at <= '9' && at - begin < 3; at++)
			parts[i] = 10 * parts[i] + (*at - '0');
		if (at == begin || (i == 0 && (at == end || *at++ != '.')))
			return NULL;
	}
	return at;
}

/* The compiler writes its version into the first comment. */
static int find_toolkit(const char *begin, const char *end)
{
	static const char before[] = "Cuda compilation tools, release ";
	const char *at = memmem(begin, (size_t)(end - begin), before, sizeof(before) - 1);
	int parts[2];

	if (!at || !read_number(at + sizeof(before) - 1, end, parts))
		return LAZYCUDA_VERSION_NONE;
	return LC_CUDA(parts[0], parts[1]);
}

static const char *read_version(struct ptx_text *text, struct lazycuda_entry *entry)
{
	struct ptx_token token = next_token(text);
	const char *end;
	int parts[2];

	if (!is_token(&token, ".version"))
		return "does not begin with a .version";
	entry->toolkit = find_toolkit(text->begin, token.at);
	token = next_token(text);
	end = token.at + token.length;
	if (read_number(token.at, end, parts) != end || !parts[0])
		return "has a malformed .version";
	entry->isa = 10 * parts[0] + parts[1];
	return NULL;
}

static const char *read_target(struct ptx_text *text, struct lazycuda_entry *entry)
{
	struct ptx_token token = next_token(text);
	char name[LK_ARCH_TEXT];
	struct lk_arch arch;

	if (!is_token(&token, ".target"))
		return "has no .target after its .version";
	token = next_token(text);
	snprintf(name, sizeof(name), "%.*s", (int)(token.length < sizeof(name) ? token.length : 0),
		 token.at);
	if (!lk_arch_parse(name, &arch))
		return "has a malformed .target";
	entry->arch = arch.sm;
	entry->suffix = arch.suffix;
	while (take_if(text, ",")) {
		token = next_token(text);
		if (is_token(&token, "debug"))
			entry->flags |= LAZYCUDA_ENTRY_DEBUG;
	}
	/* Directives may follow in any order; without this one addresses have 64 bits. */
	if (take_if(text, ".address_size") && take_if(text, "32"))
		entry->flags |= LAZYCUDA_ENTRY_32_BIT;
	return NULL;
}

/* ---- declarations ---- */

enum linkage { LOCAL, VISIBLE, WEAK, COMMON, EXTERN };

static const struct {
	const char *directive;
	enum linkage linkage;
} linkages[] = {
	{ ".visible", VISIBLE }, { ".weak", WEAK }, { ".common", COMMON }, { ".extern", EXTERN },
};

static void add(struct lk_symbols *symbols, const struct ptx_token *name, enum linkage linkage,
		struct lazycuda_symbol like)
{
	like.defined &= linkage != EXTERN;
	like.weak = linkage == WEAK || linkage == COMMON;
	if (linkage != LOCAL && name->length)
		lk_symbols_add(symbols, name->at, name->length, &like);
}

/* Reads what follows .func or .entry: (results) name (parameters) directives, then a body or
 * a semicolon. */
static void read_function(struct ptx_text *text, enum linkage linkage, bool kernel,
			  struct lk_symbols *symbols)
{
	const char *begin = text->at;
	struct ptx_token name = { begin, 0 };

	for (;;) {
		struct ptx_token token = next_token(text);

		if (!token.length) {
			ends_in(text, begin, "the declaration of a function");
			return;
		}
		if (is_token(&token, "("))
			skip_group(text);
		else if (!name.length && is_name(&token))
			name = token;
		else if (is_token(&token, "{") || is_token(&token, ";")) {
			add(symbols, &name, linkage, (struct lazycuda_symbol){
				.defined = *token.at == '{', .kernel = kernel });
			if (*token.at == '{')
				skip_block(text, "the body of a function");
			return;
		}
	}
}

/* References to textures, samplers and surfaces: assemblers leave them undefined, .extern or not,
 * and the driver binds them by name. */
static bool is_texture(const struct ptx_token *token)
{
	return is_token(token, ".texref") || is_token(token, ".samplerref") ||
	       is_token(token, ".surfref");
}

/* Reads what follows .global or .const: properties name[sizes] = value, name = value; and returns
 * whether that is a variable that others see. */
static bool read_variables(struct ptx_text *text, enum linkage linkage,
			   struct lk_symbols *symbols)
{
	const char *begin = text->at;
	bool named = false, root = linkage != LOCAL && linkage != EXTERN;

	for (;;) {
		struct ptx_token token = next_token(text);

		if (!token.length) {
			ends_in(text, begin, "the declaration of a variable");
			return root;
		}
		if (is_token(&token, ";"))
			return root;
		if (is_texture(&token)) {
			root = false;
			linkage = linkage == LOCAL ? LOCAL : WEAK;
		}
		if (is_token(&token, "(") || is_token(&token, "["))
			skip_group(text);
		else if (is_token(&token, "{"))
			skip_block(text, "the value of a variable");
		else if (is_token(&token, ","))
			named = false;
		else if (!named && is_name(&token)) {
			add(symbols, &token, linkage, (struct lazycuda_symbol){
				.defined = true, .flags = LAZYCUDA_SYMBOL_VARIABLE });
			named = true;
		}
	}
}

/* Reads what follows .alias: the alias, declared before, and the name of a function. */
static void read_alias(struct ptx_text *text, struct lk_symbols *symbols)
{
	struct ptx_token name = next_token(text);
	struct lazycuda_symbol *symbol = lk_symbols_find(symbols, name.at, name.length);

	if (symbol)
		symbol->defined = 1;
}

/* Reads the module after its header.  Returns whether it has a kernel, or a variable that
 * others see; *sections, whether it has sections, which hold debug information. */
static bool read_module(struct ptx_text *text, struct lk_symbols *symbols, bool *sections)
{
	enum linkage linkage = LOCAL;
	bool root = false;

	for (;;) {
		struct ptx_token token = next_token(text);

		if (!token.length)
			return root;
		for (size_t i = 0; i < LC_COUNT(linkages); i++)
			if (is_token(&token, linkages[i].directive))
				linkage = linkages[i].linkage;
		*sections |= is_token(&token, ".section");
		if (is_token(&token, ".func") || is_token(&token, ".entry")) {
			root |= is_token(&token, ".entry");
			read_function(text, linkage, is_token(&token, ".entry"), symbols);
			linkage = LOCAL;
		} else if (is_token(&token, ".global") || is_token(&token, ".const")) {
			root |= read_variables(text, linkage, symbols);
			linkage = LOCAL;
		} else if (is_token(&token, ".alias")) {
			read_alias(text, symbols);
		} else if (is_token(&token, "{")) {
			skip_block(text, "a section");
		} else if (is_token(&token, ";")) {
			linkage = LOCAL;	/* no symbol for other files: .extern .shared */
		} else if (is_token(&token, "#") || is_token(&token, "@")) {
			skip_line(text);	/* a preprocessor line, or @@DWARF of old PTX */
		}
	}
}

/* ---- all of it ---- */

/* The text may end in NULs, and nothing else may follow them. */
static const char *end_text(struct ptx_text *text, struct lc_arena *arena)
{
	const char *nul = memchr(text->begin, 0, (size_t)(text->end - text->begin));

	if (!nul)
		return NULL;
	for (const char *at = nul; at < text->end; at++)
		if (*at)
			return lc_format(arena, "has a NUL byte within its text, at 0x%zx",
					 (size_t)(nul - text->begin));
	text->end = nul;
	return NULL;
}

/*
 * PTX is ASCII.  nvJitLink 12.3 to 12.6 crash on any other byte in the name of a file, and
 * all others refuse it.  In comments 12.0 to 12.6 and 13.4 take it, and 12.8 to 13.3 do not:
 * lk_ptx_make_ascii() replaces it there.
 */
static const char *check_ascii(const struct ptx_text *text, struct lc_arena *arena,
			       struct lazycuda_entry *entry)
{
	bool in_comments = false;
	const char *at = not_ascii(text->begin, text->end, &in_comments);

	if (in_comments)
		entry->flags |= LAZYCUDA_ENTRY_NOT_ASCII;
	return at ? lc_format(arena, "is not ASCII, which PTX is, at 0x%zx",
			      (size_t)(at - text->begin)) : NULL;
}

static const char *read_ptx(const char *begin, size_t length, bool whole,
			    struct lk_symbols *symbols, struct lazycuda_entry *entry)
{
	struct ptx_text text = { .begin = begin, .at = begin, .end = begin + length };
	const char *why = end_text(&text, symbols->arena);
	bool sections = false;

	entry->kind = LAZYCUDA_KIND_PTX;
	entry->flags |= LAZYCUDA_ENTRY_RELOCATABLE;
	if (!why)
		why = check_ascii(&text, symbols->arena, entry);
	if (!why)
		why = read_version(&text, entry);
	if (!why)
		why = read_target(&text, entry);
	if (!why && whole && !read_module(&text, symbols, &sections))
		entry->flags |= LAZYCUDA_ENTRY_NO_ROOT;
	if (!why && whole && entry->flags & LAZYCUDA_ENTRY_DEBUG && !sections)
		entry->flags |= LAZYCUDA_ENTRY_NO_DEBUG_INFO;
	if (!why && text.open)
		why = lc_format(symbols->arena, "ends inside %s that begins at 0x%zx", text.what,
				(size_t)(text.open - text.begin));
	return why;
}

static const char *read_part(const struct lk_part *part, uint64_t length, struct lc_arena *arena,
			     struct lazycuda_entry *entry, bool symbols)
{
	struct lk_symbols found = { .arena = arena };
	struct lk_bytes bytes;
	const char *why = lk_bytes_get(&bytes, part, 0, length, "text", arena);

	if (why)
		return why;
	why = read_ptx((const char *)bytes.at, (size_t)length, symbols, &found, entry);
	lk_bytes_free(&bytes);
	if (!why) {
		entry->symbols = found.list;
		entry->symbol_count = found.count;
	}
	return why;
}

const char *lk_ptx_read(const struct lk_part *part, struct lc_arena *arena,
			struct lazycuda_entry *entry, bool symbols)
{
	/* If the header is longer than that, which is rare, all of the text is read. */
	if (symbols || part->length <= HEADER_BYTES ||
	    read_part(part, HEADER_BYTES, arena, entry, false))
		return read_part(part, part->length, arena, entry, symbols);
	return NULL;
}
