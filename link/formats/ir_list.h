/* SPDX-License-Identifier: MIT */
/*
 * ir_list.h - whether LLVM IR, as text, lists in @llvm.used all that it offers
 *
 * It offers its kernels, and the variables that others see.  What is not understood for certain
 * counts as not listed.
 */
#ifndef LINK_IR_LIST_H
#define LINK_IR_LIST_H

#include "symbols.h"

#define LK_IR_TOKEN 2048	/* bytes; a longer name is not understood */

/* What stands at the top level of a module, as far as it matters. */
enum lk_ir_entity { LK_IR_OTHER, LK_IR_DEFINE, LK_IR_VARIABLE, LK_IR_METADATA, LK_IR_LIST };

/* Initialise to zero, except the two arenas. */
struct lk_ir_list {
	struct lk_symbols names;
	struct lc_arena *arena;		/* of `node` */
	/* The token that is being read: a name behind @, a word, a text in quotes. */
	char token[LK_IR_TOKEN], sigil;
	size_t length;			/* of the whole token, which may be longer */
	bool quoted;
	/* The last name at the top level, which a = makes that of a variable. */
	char name[LK_IR_TOKEN];
	char last;			/* the sigil of the last token, if nothing else followed it */
	enum lk_ir_entity entity;
	size_t depth;			/* of brackets */
	bool kernel;			/* DEFINE: its calling convention; METADATA: "kernel" is in it */
	bool hidden, declared;		/* VARIABLE: nobody else sees it; it is no definition */
	const char **node;		/* names in the METADATA so far */
	size_t node_count;
	bool numbered;			/* one of these is a number */
	bool is_there, unsure;		/* @llvm.used; something was not understood */
};

/* Takes the next byte that is not in a comment; a quote that ends a text is in it. */
void lk_ir_list_take(struct lk_ir_list *list, char byte, bool in_text);

/* Whether all is listed.  If not, *lacks is the first name that the list lacks, or NULL. */
bool lk_ir_list_end(struct lk_ir_list *list, const struct lazycuda_symbol **lacks);

#endif
