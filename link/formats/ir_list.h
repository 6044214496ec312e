/* SPDX-License-Identifier: MIT */
/*
 * ir_list.h - the names of LLVM IR, as text, and whether @llvm.used lists all that it offers
 *
 * It offers its kernels, and the variables that others see.  If something is not understood for
 * certain, no names are known.
 */
#ifndef LINK_IR_LIST_H
#define LINK_IR_LIST_H

#include "symbols.h"

#define LK_IR_TOKEN 2048	/* bytes; a longer name is not understood */

/* What stands at the top level of a module, as far as it matters. */
enum lk_ir_entity {
	LK_IR_OTHER, LK_IR_DEFINE, LK_IR_DECLARE, LK_IR_VARIABLE, LK_IR_METADATA, LK_IR_LIST
};

/* Who else sees a name. */
enum lk_ir_linkage { LK_IR_VISIBLE, LK_IR_WEAK, LK_IR_LOCAL, LK_IR_EXTERNAL };

/* Initialise to zero, except the arenas. */
struct lk_ir_list {
	struct lk_symbols names;	/* that others see, or that are needed of others */
	struct lk_symbols listed, kernels;	/* in @llvm.used; in a node of kernels */
	struct lc_arena *arena;		/* of `node` */
	/* The token that is being read: a name behind @, a word, a text in quotes. */
	char token[LK_IR_TOKEN], sigil;
	size_t length;			/* of the whole token, which may be longer */
	bool quoted;
	/* The last name at the top level, which a = makes that of a variable. */
	char name[LK_IR_TOKEN];
	char last;			/* the sigil of the last token, if nothing else followed it */
	enum lk_ir_entity entity;
	enum lk_ir_linkage linkage;	/* DEFINE, DECLARE, VARIABLE */
	bool shared;			/* VARIABLE: in shared memory */
	size_t depth;			/* of brackets */
	bool kernel;			/* DEFINE: its calling convention; METADATA: "kernel" is in it */
	const char **node;		/* names in the METADATA so far */
	size_t node_count;
	bool numbered;			/* one of these is a number */
	bool libdevice;			/* a function of libdevice is declared */
	bool unsure;			/* something was not understood */
};

/* Takes the next byte that is not in a comment; a quote that ends a text is in it. */
void lk_ir_list_take(struct lk_ir_list *list, char byte, bool in_text);

/* Ends the text.  Returns whether all was understood; then `names` is complete, and LAZYCUDA_SYMBOL_UNLISTED
 * is set of those that are offered and not listed. */
bool lk_ir_list_end(struct lk_ir_list *list);

#endif
