/* SPDX-License-Identifier: MIT */
/* ptx_text.h - the tokens of PTX */
#ifndef LINK_PTX_TEXT_H
#define LINK_PTX_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct lk_ptx_text {
	const char *begin, *at, *end;
	const char *open;	/* start of the construct that the text ends inside, or NULL */
	const char *what;	/* name of that construct: "a comment" */
};

/* A directive with its dot, a name, a number, a string with its quotes, or any other single
 * character.  The length is 0 at the end of the text. */
struct lk_ptx_token {
	const char *at;
	size_t length;
};

/* Returns the next token, after white space and comments. */
struct lk_ptx_token lk_ptx_next(struct lk_ptx_text *text);

bool lk_ptx_is(const struct lk_ptx_token *token, const char *word);
bool lk_ptx_is_name(const struct lk_ptx_token *token);

/* Returns the first byte outside of comments that is not ASCII, or NULL.  *in_comments is
 * set if a comment before it has such a byte. */
const char *lk_ptx_not_ascii(const char *begin, const char *end, bool *in_comments);
/* Puts a question mark in place of each byte in a comment that is not ASCII. */
void lk_ptx_make_ascii(char *text, size_t length);

/* Skips the rest of the line. */
void lk_ptx_skip_line(struct lk_ptx_text *text);
/* Skips a block in braces; its opening brace was the last token. */
void lk_ptx_skip_block(struct lk_ptx_text *text, const char *what);
/* Skips a group in parentheses or brackets; the opening one was the last token. */
void lk_ptx_skip_group(struct lk_ptx_text *text);

/* Records that the text ends inside a construct that begins at `begin`, unless one is recorded. */
void lk_ptx_ends_in(struct lk_ptx_text *text, const char *begin, const char *what);

#endif
