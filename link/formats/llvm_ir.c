/* SPDX-License-Identifier: MIT */
/*
 * llvm_ir.c - LLVM IR: whether bitcode is whole; of text, whether it has a data layout, the names that it defines and
 * declares, and whether @llvm.used lists all that it offers
 *
 * It offers its kernels, and the variables that others see.  If something is not understood for
 * certain, no names are known.
 */
#include <ctype.h>
#include <string.h>

#include "../../stubs/base/count.h"
#include "formats.h"
#include "symbols.h"

#define IR_TOKEN 2048	/* bytes; a longer name is not understood */

/* What stands at the top level of a module, as far as it matters. */
enum ir_entity {
	IR_OTHER, IR_DEFINE, IR_DECLARE, IR_VARIABLE, IR_METADATA, IR_LIST
};

/* Who else sees a name. */
enum ir_linkage { IR_VISIBLE, IR_WEAK, IR_LOCAL, IR_EXTERNAL };

/* How much of `target datalayout = "..."` was seen; blanks and comments may lie between. */
enum ir_layout { IR_NO_LAYOUT, IR_LAYOUT_WORD, IR_LAYOUT_EQUALS };

struct ir_text {
	struct lk_symbols names;	/* that others see, or that are needed of others */
	struct lk_symbols listed, kernels;	/* in @llvm.used; in a node of kernels */
	struct lk_symbols seen, commons;	/* all names, weak if again; `common` variables */
	struct lc_arena *arena;		/* of `node` */
	/* The token that is being read: a name behind @, a word, a text in quotes. */
	char token[IR_TOKEN], sigil;
	size_t length;			/* of the whole token, which may be longer */
	bool quoted;
	/* The last name at the top level, which a = makes that of a variable. */
	char name[IR_TOKEN];
	char last;			/* the sigil of the last token, if nothing else followed it */
	enum ir_entity entity;
	enum ir_linkage linkage;	/* DEFINE, DECLARE, VARIABLE */
	bool shared;			/* VARIABLE: in shared memory */
	bool common;			/* VARIABLE: 0, unless another input says otherwise */
	size_t depth;			/* of brackets */
	bool kernel;			/* DEFINE: its calling convention; METADATA: "kernel" is in it */
	struct lc_strings node;		/* names in the METADATA so far */
	bool numbered;			/* one of these is a number */
	enum ir_layout layout;
	bool no_layout;			/* there is none, or the last one is empty */
	bool libdevice;			/* a function of libdevice is declared */
	bool unsure;			/* something was not understood */
};

#define LIST "llvm.used"

static bool is(const struct ir_text *text, const char *word)
{
	return text->length == strlen(word) && !memcmp(text->token, word, text->length);
}

static bool is_any_of(const struct ir_text *text, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (is(text, words[i]))
			return true;
	return false;
}

static bool begins(const char *name, const char *beginning)
{
	return !strncmp(name, beginning, strlen(beginning));
}

/* Adds a name that others see, or that is needed of others, by its linkage.  Shared memory
 * belongs to a kernel: what is external is as large as the launch says, and no input defines it. */
static void add_ir_symbol(struct ir_text *text, const char *name, bool variable)
{
	const struct lazycuda_symbol like = {
		.defined = text->linkage != IR_EXTERNAL,
		.weak = text->linkage == IR_WEAK || text->shared,
		.kernel = text->kernel,
		/* It counts as not listed until the list is known. */
		.flags = (variable || text->kernel ? LAZYCUDA_SYMBOL_UNLISTED : 0) |
			 (variable && text->linkage != IR_EXTERNAL ? LAZYCUDA_SYMBOL_VARIABLE : 0),
	};

	/* Values without a name have numbers, by which nothing is found here; nor is a local kernel
	 * found by others, and no list keeps it. */
	if (text->linkage == IR_LOCAL)
		text->unsure |= text->kernel;
	else if (!*name)
		text->unsure |= like.flags & LAZYCUDA_SYMBOL_UNLISTED && like.defined;
	else if (like.defined || !text->shared)
		lk_symbols_add(&text->names, name, strlen(name), &like);
}

/* ---- linkage ---- */

static const struct {
	const char *word;
	enum ir_linkage linkage;
} ir_linkages[] = {
	{ "internal", IR_LOCAL }, { "private", IR_LOCAL },
	{ "linkonce", IR_WEAK }, { "linkonce_odr", IR_WEAK }, { "weak", IR_WEAK },
	{ "weak_odr", IR_WEAK }, { "common", IR_WEAK },
	{ "external", IR_EXTERNAL }, { "extern_weak", IR_EXTERNAL },
	{ "available_externally", IR_EXTERNAL },
};

static void take_linkage(struct ir_text *text)
{
	for (size_t i = 0; i < LC_COUNT(ir_linkages); i++)
		if (is(text, ir_linkages[i].word))
			text->linkage = ir_linkages[i].linkage;
}

/* ---- entities ---- */

static void begin(struct ir_text *text, enum ir_entity entity)
{
	if (text->entity == IR_DEFINE || text->entity == IR_DECLARE ||
	    text->entity == IR_VARIABLE)
		text->unsure = true;	/* its name, or what it is, was not seen */
	if (text->entity == IR_METADATA && text->kernel) {
		for (size_t i = 0; i < text->node.count; i++)
			lk_names_add(&text->kernels, text->node.list[i]);
		text->unsure |= text->numbered;
	}
	text->entity = entity;
	text->linkage = entity == IR_DECLARE ? IR_EXTERNAL : IR_VISIBLE;
	text->kernel = text->shared = text->common = text->numbered = false;
	text->node.count = 0;
}

/* A variable, whose linkage is known by now. */
static void take_variable(struct ir_text *text)
{
	text->entity = !strcmp(text->name, LIST) ? IR_LIST : IR_OTHER;
	if (!begins(text->name, "llvm."))
		add_ir_symbol(text, text->name, true);
	if (text->common && *text->name)
		lk_names_add(&text->commons, text->name);
}

/* A function, whose linkage is known by now.  libnvvm has what LLVM declares, and gets libdevice
 * to take __nv_* from. */
static void take_function(struct ir_text *text)
{
	const bool declared = text->entity == IR_DECLARE;

	text->entity = IR_OTHER;
	text->libdevice |= declared && begins(text->token, "__nv_");
	if (!declared || (!begins(text->token, "llvm.") && !begins(text->token, "__nv_") &&
			  !begins(text->token, "__nvvm_")))
		add_ir_symbol(text, text->token, false);
}

/* The words that begin an entity; the others begin with a name and =. */
static void take_first_word(struct ir_text *text)
{
	static const char *const others[] = {
		"target", "source_filename", "attributes", "uselistorder",
		"uselistorder_bb", "deplibs",
	};

	if (is(text, "define"))
		begin(text, IR_DEFINE);
	else if (is(text, "declare"))
		begin(text, IR_DECLARE);
	else if (is_any_of(text, others, LC_COUNT(others)))
		begin(text, IR_OTHER);
	else if (is(text, "module"))
		text->unsure = true;	/* assembler code may define anything */
}

/* ptx_kernel is number 71 of the calling conventions, and may be written "cc 71". */
static bool is_kernel_convention(const struct ir_text *text)
{
	static const char end[] = "_kernel";
	const size_t length = strlen(end);

	return (text->length < IR_TOKEN && text->length > length &&
		!memcmp(text->token + text->length - length, end, length)) ||
	       (text->length > 1 && !memcmp(text->token, "cc", 2) && !is(text, "ccc"));
}

static void take_word_of_variable(struct ir_text *text)
{
	static const char *const ends[] = { "global", "constant", "alias", "ifunc" };

	take_linkage(text);
	text->common |= is(text, "common");
	if (is_any_of(text, ends, LC_COUNT(ends)))
		take_variable(text);
}

/* What a list is read for certain with: names as they are, or cast to other pointers.  Of a
 * difference of two names, say, neither is kept. */
static bool may_be_in_list(const struct ir_text *text)
{
	static const char *const words[] = {
		"x", "ptr", "void", "half", "float", "double", "bitcast", "addrspacecast", "to",
		"addrspace", "...",
	};
	size_t first = text->token[0] == 'i' && text->length > 1;

	if (is_any_of(text, words, LC_COUNT(words)))
		return true;
	for (size_t i = first; i < text->length; i++)
		if (i == IR_TOKEN || !isdigit((unsigned char)text->token[i]))
			return false;
	return true;
}

static void take_ir_word(struct ir_text *text)
{
	if (text->depth) {
		if (text->entity == IR_LIST && !may_be_in_list(text))
			text->unsure = true;
		text->shared |= text->entity == IR_VARIABLE && is(text, "3");	/* addrspace(3) */
		return;
	}
	take_first_word(text);
	if (text->entity == IR_DEFINE) {
		take_linkage(text);
		text->kernel |= is_kernel_convention(text);
	} else if (text->entity == IR_VARIABLE) {
		take_word_of_variable(text);
	}
}

/* ---- names ---- */

static int hex(char digit)
{
	const char *digits = "0123456789abcdef", *found = strchr(digits, tolower((unsigned char)digit));

	return digit && found ? (int)(found - digits) : -1;
}

/* Replaces escapes: \\ and \ with two digits. */
static void unescape(struct ir_text *text)
{
	size_t to = 0;

	for (size_t i = 0; i < text->length; i++, to++) {
		const char *at = &text->token[i];
		size_t left = text->length - i;

		text->token[to] = *at;
		if (*at == '\\' && left > 1 && at[1] == '\\') {
			i++;
		} else if (*at == '\\' && left > 2 && hex(at[1]) >= 0 && hex(at[2]) >= 0) {
			text->token[to] = (char)(hex(at[1]) << 4 | hex(at[2]));
			i += 2;
		}
	}
	text->length = to;
}

static void see_name(struct ir_text *text)
{
	struct lazycuda_symbol *symbol = lk_names_find(&text->seen, text->token);

	if (symbol)
		symbol->weak = 1;
	else
		lk_names_add(&text->seen, text->token);
}

static void take_value_name(struct ir_text *text)
{
	const bool numbered = !text->quoted && isdigit((unsigned char)text->token[0]);

	if (memchr(text->token, 0, text->length) || !text->length)
		text->unsure = true;
	if (numbered)
		text->length = 0;
	text->token[text->length] = 0;
	if (text->length)
		see_name(text);
	if (text->depth && text->entity == IR_LIST) {
		lk_names_add(&text->listed, text->token);
	} else if (text->depth && text->entity == IR_METADATA && numbered) {
		text->numbered = true;
	} else if (text->depth && text->entity == IR_METADATA) {
		lc_add_string(text->arena, &text->node, lc_text(text->arena, text->token));
	} else if (!text->depth &&
		   (text->entity == IR_DEFINE || text->entity == IR_DECLARE)) {
		take_function(text);
	} else if (!text->depth) {
		memcpy(text->name, text->token, text->length + 1);
	}
}

/* ---- tokens ---- */

/* Of several layouts the last one counts. */
static void look_for_layout(struct ir_text *text)
{
	if (text->quoted && text->layout == IR_LAYOUT_EQUALS)
		text->no_layout = !text->length;
	text->layout = !text->quoted && !text->sigil && is(text, "datalayout") ? IR_LAYOUT_WORD :
									    IR_NO_LAYOUT;
}

static void end_token(struct ir_text *text)
{
	const bool fits = text->length < IR_TOKEN;

	if (!text->length && !text->quoted)
		return;
	look_for_layout(text);
	text->last = text->sigil;
	if (text->quoted && fits)
		unescape(text);
	if (text->sigil == '@' && fits)
		take_value_name(text);
	else if (text->sigil == '@')
		text->unsure = true;
	else if (text->quoted && text->entity == IR_METADATA)
		text->kernel |= is(text, "kernel");
	else if (!text->quoted && !text->sigil)
		take_ir_word(text);
	text->length = 0;
	text->sigil = 0;
	text->quoted = false;
}

static void take_bracket(struct ir_text *text, char byte)
{
	if (strchr("([{", byte))
		text->depth++;
	else if (text->depth)
		text->depth--;
	else
		text->unsure = true;
}

static void take_mark(struct ir_text *text, char byte)
{
	if (!byte || strchr(" \t\r\n;", byte))
		return;			/* LLVM skips NULs, too */
	text->layout = byte == '=' && text->layout == IR_LAYOUT_WORD ? IR_LAYOUT_EQUALS :
									  IR_NO_LAYOUT;
	if (byte == '=' && !text->depth)
		begin(text, text->last == '@' ? IR_VARIABLE :
			    text->last == '!' ? IR_METADATA : IR_OTHER);
	text->last = 0;
	if (strchr("()[]{}", byte))
		take_bracket(text, byte);
	else if (!strchr("@%!#^,*:<>|+=", byte))
		text->unsure = true;	/* a comment of another kind, say */
}

static bool is_of_word(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
	       isdigit((unsigned char)byte) || (byte && strchr("-$._", byte));
}

static void append_byte(struct ir_text *text, char byte)
{
	if (text->length < IR_TOKEN)
		text->token[text->length] = byte;
	text->length++;
}

/* Takes the next byte that is not in a comment; a quote that ends a text is in it. */
static void take_ir_byte(struct ir_text *text, char byte, bool in_text)
{
	if (in_text && byte != '"') {
		append_byte(text, byte);
	} else if (in_text) {
		end_token(text);
	} else if (is_of_word(byte)) {
		append_byte(text, byte);
	} else if (byte == '"') {
		if (text->length)
			end_token(text);
		text->quoted = true;
	} else {
		end_token(text);
		take_mark(text, byte);
		text->sigil = byte && strchr("@%!#^", byte) ? byte : 0;
	}
}

/* Kernels that nodes name: they are defined before or after the node. */
static void mark_kernels(struct ir_text *text)
{
	for (size_t i = 0; i < text->kernels.count; i++) {
		struct lazycuda_symbol *symbol = lk_names_find(&text->names, text->kernels.list[i].name);

		if (!symbol) {
			text->unsure = true;	/* it is local */
			continue;
		}
		symbol->kernel = 1;
		symbol->flags |= LAZYCUDA_SYMBOL_UNLISTED;
	}
}

/* Whether it has to be kept for others: not what numba-cuda's environments are, `common` and named
 * nowhere else. */
static bool is_offered(const struct ir_text *text, const struct lazycuda_symbol *symbol)
{
	const struct lazycuda_symbol *seen = lk_names_find(&text->seen, symbol->name);

	return symbol->kernel || !seen || seen->weak || !lk_names_find(&text->commons, symbol->name);
}

/* Ends the text.  If all was understood, `names` is complete, and LAZYCUDA_SYMBOL_UNLISTED is set of
 * those that are offered and not listed.  *all: there are none of these. */
static void end_ir(struct ir_text *text, bool *all)
{
	if (text->quoted || text->depth)
		text->unsure = true;
	end_token(text);
	begin(text, IR_OTHER);
	mark_kernels(text);
	*all = true;
	for (size_t i = 0; i < text->names.count; i++) {
		struct lazycuda_symbol *symbol = &text->names.list[i];

		if (!symbol->defined || lk_names_find(&text->listed, symbol->name) ||
		    !is_offered(text, symbol))
			symbol->flags &= (unsigned char)~LAZYCUDA_SYMBOL_UNLISTED;
		*all &= !(symbol->flags & LAZYCUDA_SYMBOL_UNLISTED);
	}
}

/* In a string no quote is escaped, and no comment begins. */
static void take_ir(struct ir_text *text, const struct lk_part *part)
{
	bool in_comment = false, in_text = false;
	char bytes[4096];

	for (uint64_t at = 0; at < part->length; at += sizeof(bytes)) {
		size_t left = part->length - at < sizeof(bytes) ? (size_t)(part->length - at) :
								  sizeof(bytes);

		if (!lk_part_read(part, at, bytes, left)) {
			text->unsure = true;
			return;
		}
		for (size_t i = 0; i < left; i++) {
			in_comment &= bytes[i] != '\n' && bytes[i] != '\r';
			if (in_comment)
				continue;
			take_ir_byte(text, bytes[i], in_text);
			in_comment = !in_text && bytes[i] == ';';
			in_text ^= bytes[i] == '"';
		}
	}
}

void lk_llvm_ir_read(const struct lk_part *part, struct lc_arena *arena,
		     struct lazycuda_entry *entry)
{
	struct ir_text text = { .names.arena = arena, .listed.arena = arena, .arena = arena,
				   .kernels.arena = arena, .seen.arena = arena,
				   .commons.arena = arena, .no_layout = true };
	bool all;

	take_ir(&text, part);
	end_ir(&text, &all);
	if (!text.unsure) {
		entry->symbols = text.names.list;
		entry->symbol_count = text.names.count;
		entry->flags |= all ? LAZYCUDA_ENTRY_LISTED : 0;
	}
	entry->flags |= (text.libdevice ? LAZYCUDA_ENTRY_LIBDEVICE : 0) |
			(text.no_layout ? LAZYCUDA_ENTRY_NO_LAYOUT : 0);
}

/* ---- bitcode: some that is not whole makes libnvvm end the process ---- */

struct wrapper {
	uint32_t magic, version, offset, length, cpu;
};

#define MODULE_BLOCK 8		/* id of a top-level block */
#define MAGIC_LENGTH 4
#define ENTER_BLOCK 1		/* the abbreviation that begins a block; outside of blocks an
				   abbreviation has two bits */
#define WIDEST_ABBREVIATION 32

/* LLVM looks for no further block in the last bytes, so many of them: some archivers pad. */
#define IGNORED 8

struct block_header {
	unsigned id;
	uint64_t end;
};

/*
 * Two words.  The first has ENTER_BLOCK in 2 bits, the id as vbr8, the width of the block's
 * abbreviations as vbr4, and padding; the second has the block's length in words.  The ids of
 * LLVM's blocks fit one group of vbr8, the widths two groups of vbr4.
 */
static bool read_block_header(const struct lk_part *part, uint64_t at, struct block_header *header)
{
	uint32_t words[2], width;

	if (!lk_part_read(part, at, words, sizeof(words)))
		return false;
	width = words[0] >> 10 & 7;
	if (words[0] >> 13 & 1)
		width |= (words[0] >> 14 & 7) << 3;
	header->id = words[0] >> 2 & 0x7f;
	header->end = at + sizeof(words) + (uint64_t)words[1] * 4;
	return (words[0] & 3) == ENTER_BLOCK && !(words[0] >> 9 & 1) &&
	       !(words[0] >> 13 & 1 && words[0] >> 17 & 1) && width &&
	       width <= WIDEST_ABBREVIATION;
}

static const char *read_blocks(const struct lk_part *part, struct lc_arena *arena)
{
	uint64_t at = MAGIC_LENGTH;
	size_t modules = 0;

	while (at + IGNORED < part->length || !modules) {
		struct block_header header;

		if (at >= part->length)
			return "has no module in it: it is cut off";
		if (!read_block_header(part, at, &header))
			return lc_format(arena, "has at 0x%llx what begins no block of bitcode",
					 (unsigned long long)(part->offset + at));
		if (header.end > part->length)
			return lc_format(arena, "ends inside its block %u (at 0x%llx)", header.id,
					 (unsigned long long)(part->offset + at));
		if (header.id == MODULE_BLOCK && modules++)
			return lc_format(arena, "has a second module (at 0x%llx), and libnvvm takes one"
					 " of a file; make a file of each, or one module with llvm-link",
					 (unsigned long long)(part->offset + at));
		at = header.end;
	}
	return NULL;
}

/* The blocks are where the wrapper says, if there is one. */
const char *lk_bitcode_read(const struct lk_part *part, struct lc_arena *arena)
{
	struct wrapper wrapper;
	struct lk_part inside;
	unsigned char magic[MAGIC_LENGTH];

	if (!lk_part_read(part, 0, magic, sizeof(magic)) || magic[0] == 'B')
		return read_blocks(part, arena);
	if (!lk_part_read(part, 0, &wrapper, sizeof(wrapper)))
		return "ends inside its wrapper";
	if (!lk_part_has(part, wrapper.offset, wrapper.length))
		return lc_format(arena, "ends at 0x%llx, and its wrapper says that bitcode is from"
				 " 0x%x to 0x%llx", (unsigned long long)part->length, wrapper.offset,
				 (unsigned long long)wrapper.offset + wrapper.length);
	inside = lk_part_of(part, wrapper.offset, wrapper.length);
	if (!lk_part_read(&inside, 0, magic, sizeof(magic)) || memcmp(magic, "BC\xc0\xde", 4))
		return lc_format(arena, "has no bitcode at 0x%x, where its wrapper says it is",
				 wrapper.offset);
	return read_blocks(&inside, arena);
}
