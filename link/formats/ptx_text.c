/* SPDX-License-Identifier: MIT */
/* ptx_text.c - the tokens of PTX */
#include "ptx_text.h"

#include <string.h>

/* Classes of bytes in a module. */
enum { OTHER, BLANK, NAME, BRACE };	/* BRACE: lk_ptx_skip_block() stops there */

static const unsigned char classes[256] = {
	[' '] = BLANK, ['\t'] = BLANK, ['\n'] = BLANK, ['\v'] = BLANK, ['\f'] = BLANK,
	['\r'] = BLANK,
	['0' ... '9'] = NAME, ['A' ... 'Z'] = NAME, ['a' ... 'z'] = NAME,
	['_'] = NAME, ['$'] = NAME, ['%'] = NAME, [0x80 ... 0xff] = NAME,
	['{'] = BRACE, ['}'] = BRACE, ['"'] = BRACE, ['/'] = BRACE,
};

void lk_ptx_ends_in(struct lk_ptx_text *text, const char *at, const char *what)
{
	if (text->open)
		return;
	text->open = at;
	text->what = what;
}

bool lk_ptx_is(const struct lk_ptx_token *token, const char *word)
{
	size_t length = strlen(word);

	return token->length == length && !memcmp(token->at, word, length);
}

void lk_ptx_skip_line(struct lk_ptx_text *text)
{
	const char *end = memchr(text->at, '\n', (size_t)(text->end - text->at));

	text->at = end ? end + 1 : text->end;
}

/* Skips a comment.  Returns false if none begins here. */
static bool skip_comment(struct lk_ptx_text *text)
{
	const char *begin = text->at, *end;

	if (text->end - begin < 2 || begin[0] != '/')
		return false;
	if (begin[1] == '/') {
		lk_ptx_skip_line(text);
		return true;
	}
	if (begin[1] != '*')
		return false;
	end = memmem(begin + 2, (size_t)(text->end - begin) - 2, "*/", 2);
	if (!end)
		lk_ptx_ends_in(text, begin, "a comment");
	text->at = end ? end + 2 : text->end;
	return true;
}

/* Skips the string that begins here.  A backslash in a string escapes nothing. */
static void skip_string(struct lk_ptx_text *text)
{
	const char *begin = text->at;
	const char *end = memchr(begin + 1, '"', (size_t)(text->end - begin) - 1);

	if (!end)
		lk_ptx_ends_in(text, begin, "a string");
	text->at = end ? end + 1 : text->end;
}

bool lk_ptx_is_name(const struct lk_ptx_token *token)
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
static const char *next_comment(struct lk_ptx_text *text, const char **end)
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

const char *lk_ptx_not_ascii(const char *begin, const char *end, bool *in_comments)
{
	struct lk_ptx_text text = { .begin = begin, .at = begin, .end = end };
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
	struct lk_ptx_text text = { .begin = begin, .at = begin, .end = begin + length };
	const char *comment, *end;

	while (text.at < text.end)
		for (comment = next_comment(&text, &end); comment < end; comment++)
			if (*comment & 0x80)
				begin[comment - text.begin] = '?';
}

/* ---- tokens ---- */

static void skip_blanks(struct lk_ptx_text *text)
{
	for (;;) {
		while (text->at < text->end && classes[(unsigned char)*text->at] == BLANK)
			text->at++;
		if (text->at == text->end || !skip_comment(text))
			return;
	}
}

struct lk_ptx_token lk_ptx_next(struct lk_ptx_text *text)
{
	struct lk_ptx_token token;
	bool number;

	skip_blanks(text);
	token.at = text->at;
	if (text->at == text->end)
		return (struct lk_ptx_token){ text->end, 0 };
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

void lk_ptx_skip_block(struct lk_ptx_text *text, const char *what)
{
	const char *begin = text->at - 1;
	size_t depth = 1;

	while (depth) {
		while (text->at < text->end && classes[(unsigned char)*text->at] != BRACE)
			text->at++;
		if (text->at == text->end) {
			lk_ptx_ends_in(text, begin, what);
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

void lk_ptx_skip_group(struct lk_ptx_text *text)
{
	const char *begin = text->at - 1;
	char open = *begin, close = open == '(' ? ')' : ']';
	size_t depth = 1;

	while (depth) {
		struct lk_ptx_token token = lk_ptx_next(text);

		if (!token.length) {
			lk_ptx_ends_in(text, begin, "a list");
			return;
		}
		depth += *token.at == open;
		depth -= *token.at == close;
	}
}
