/* SPDX-License-Identifier: MIT */
/* ptx_text.h - the tokens of PTX */
#ifndef LINK_PTX_TEXT_H
#define LINK_PTX_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct lk_ptx_text {
	const char *begin, *at, *end;
	const char *open;	/* where what the text ended in began, or NULL */
	const char *what;	/* and what it is: "a comment" */
};

/* A directive with its dot, a name or a number; a string with its quotes; else
 * one character.  Of length 0 at the end. */
struct lk_ptx_token {
	const char *at;
	size_t length;
};

/* White space and comments are skipped. */
struct lk_ptx_token lk_ptx_next(struct lk_ptx_text *text);

bool lk_ptx_is(const struct lk_ptx_token *token, const char *word);
bool lk_ptx_is_name(const struct lk_ptx_token *token);

/* Up to the end of a line. */
void lk_ptx_skip_line(struct lk_ptx_text *text);
/* What is in braces, of which the first was the last token. */
void lk_ptx_skip_block(struct lk_ptx_text *text, const char *what);
/* What is in parentheses or brackets, of which the first was the last token. */
void lk_ptx_skip_group(struct lk_ptx_text *text);

/* The text turned out to end in something that began there. */
void lk_ptx_ends_in(struct lk_ptx_text *text, const char *begin, const char *what);

#endif
