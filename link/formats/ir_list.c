/* SPDX-License-Identifier: MIT */
/* ir_list.c - the names of LLVM IR, as text, and whether @llvm.used lists all that it offers */
#include "ir_list.h"

#include <ctype.h>
#include <string.h>

#include "../../stubs/base/count.h"

#define LIST "llvm.used"

static bool is(const struct lk_ir_list *list, const char *word)
{
	return list->length == strlen(word) && !memcmp(list->token, word, list->length);
}

static bool is_any_of(const struct lk_ir_list *list, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (is(list, words[i]))
			return true;
	return false;
}

static bool begins(const char *name, const char *beginning)
{
	return !strncmp(name, beginning, strlen(beginning));
}

static void add_ir_name(struct lk_symbols *names, const char *name)
{
	const struct lazycuda_symbol plain = { .name = NULL };

	if (*name)
		lk_symbols_add(names, name, strlen(name), &plain);
}

/* Adds a name that others see, or that is needed of others, by its linkage.  Shared memory
 * belongs to a kernel: what is external is as large as the launch says, and no input defines it. */
static void add_ir_symbol(struct lk_ir_list *list, const char *name, bool variable)
{
	const struct lazycuda_symbol like = {
		.defined = list->linkage != LK_IR_EXTERNAL,
		.weak = list->linkage == LK_IR_WEAK || list->shared,
		.kernel = list->kernel,
		/* It counts as not listed until the list is known. */
		.flags = (variable || list->kernel ? LAZYCUDA_SYMBOL_UNLISTED : 0) |
			 (variable && list->linkage != LK_IR_EXTERNAL ? LAZYCUDA_SYMBOL_VARIABLE : 0),
	};

	/* Values without a name have numbers, by which nothing is found here; nor is a local kernel
	 * found by others, and no list keeps it. */
	if (list->linkage == LK_IR_LOCAL)
		list->unsure |= list->kernel;
	else if (!*name)
		list->unsure |= like.flags & LAZYCUDA_SYMBOL_UNLISTED && like.defined;
	else if (like.defined || !list->shared)
		lk_symbols_add(&list->names, name, strlen(name), &like);
}

/* ---- linkage ---- */

static const struct {
	const char *word;
	enum lk_ir_linkage linkage;
} ir_linkages[] = {
	{ "internal", LK_IR_LOCAL }, { "private", LK_IR_LOCAL },
	{ "linkonce", LK_IR_WEAK }, { "linkonce_odr", LK_IR_WEAK }, { "weak", LK_IR_WEAK },
	{ "weak_odr", LK_IR_WEAK }, { "common", LK_IR_WEAK },
	{ "external", LK_IR_EXTERNAL }, { "extern_weak", LK_IR_EXTERNAL },
	{ "available_externally", LK_IR_EXTERNAL },
};

static void take_linkage(struct lk_ir_list *list)
{
	for (size_t i = 0; i < LC_COUNT(ir_linkages); i++)
		if (is(list, ir_linkages[i].word))
			list->linkage = ir_linkages[i].linkage;
}

/* ---- entities ---- */

static void begin(struct lk_ir_list *list, enum lk_ir_entity entity)
{
	if (list->entity == LK_IR_DEFINE || list->entity == LK_IR_DECLARE ||
	    list->entity == LK_IR_VARIABLE)
		list->unsure = true;	/* its name, or what it is, was not seen */
	if (list->entity == LK_IR_METADATA && list->kernel) {
		for (size_t i = 0; i < list->node_count; i++)
			add_ir_name(&list->kernels, list->node[i]);
		list->unsure |= list->numbered;
	}
	list->entity = entity;
	list->linkage = entity == LK_IR_DECLARE ? LK_IR_EXTERNAL : LK_IR_VISIBLE;
	list->kernel = list->shared = list->numbered = false;
	list->node_count = 0;
}

/* A variable, whose linkage is known by now. */
static void take_variable(struct lk_ir_list *list)
{
	list->entity = !strcmp(list->name, LIST) ? LK_IR_LIST : LK_IR_OTHER;
	if (!begins(list->name, "llvm."))
		add_ir_symbol(list, list->name, true);
}

/* A function, whose linkage is known by now.  libnvvm has what LLVM declares, and gets libdevice
 * to take __nv_* from. */
static void take_function(struct lk_ir_list *list)
{
	const bool declared = list->entity == LK_IR_DECLARE;

	list->entity = LK_IR_OTHER;
	list->libdevice |= declared && begins(list->token, "__nv_");
	if (!declared || (!begins(list->token, "llvm.") && !begins(list->token, "__nv_") &&
			  !begins(list->token, "__nvvm_")))
		add_ir_symbol(list, list->token, false);
}

/* The words that begin an entity; the others begin with a name and =. */
static void take_first_word(struct lk_ir_list *list)
{
	static const char *const others[] = {
		"target", "source_filename", "attributes", "uselistorder",
		"uselistorder_bb", "deplibs",
	};

	if (is(list, "define"))
		begin(list, LK_IR_DEFINE);
	else if (is(list, "declare"))
		begin(list, LK_IR_DECLARE);
	else if (is_any_of(list, others, LC_COUNT(others)))
		begin(list, LK_IR_OTHER);
	else if (is(list, "module"))
		list->unsure = true;	/* assembler code may define anything */
}

/* ptx_kernel is number 71 of the calling conventions, and may be written "cc 71". */
static bool is_kernel_convention(const struct lk_ir_list *list)
{
	static const char end[] = "_kernel";
	const size_t length = strlen(end);

	return (list->length < LK_IR_TOKEN && list->length > length &&
		!memcmp(list->token + list->length - length, end, length)) ||
	       (list->length > 1 && !memcmp(list->token, "cc", 2) && !is(list, "ccc"));
}

static void take_word_of_variable(struct lk_ir_list *list)
{
	static const char *const ends[] = { "global", "constant", "alias", "ifunc" };

	take_linkage(list);
	if (is_any_of(list, ends, LC_COUNT(ends)))
		take_variable(list);
}

/* What a list is read for certain with: names as they are, or cast to other pointers.  Of a
 * difference of two names, say, neither is kept. */
static bool may_be_in_list(const struct lk_ir_list *list)
{
	static const char *const words[] = {
		"x", "ptr", "void", "half", "float", "double", "bitcast", "addrspacecast", "to",
		"addrspace", "...",
	};
	size_t first = list->token[0] == 'i' && list->length > 1;

	if (is_any_of(list, words, LC_COUNT(words)))
		return true;
	for (size_t i = first; i < list->length; i++)
		if (i == LK_IR_TOKEN || !isdigit((unsigned char)list->token[i]))
			return false;
	return true;
}

static void take_ir_word(struct lk_ir_list *list)
{
	if (list->depth) {
		if (list->entity == LK_IR_LIST && !may_be_in_list(list))
			list->unsure = true;
		list->shared |= list->entity == LK_IR_VARIABLE && is(list, "3");	/* addrspace(3) */
		return;
	}
	take_first_word(list);
	if (list->entity == LK_IR_DEFINE) {
		take_linkage(list);
		list->kernel |= is_kernel_convention(list);
	} else if (list->entity == LK_IR_VARIABLE) {
		take_word_of_variable(list);
	}
}

/* ---- names ---- */

static int hex(char digit)
{
	const char *digits = "0123456789abcdef", *found = strchr(digits, tolower((unsigned char)digit));

	return digit && found ? (int)(found - digits) : -1;
}

/* Replaces escapes: \\ and \ with two digits. */
static void unescape(struct lk_ir_list *list)
{
	size_t to = 0;

	for (size_t i = 0; i < list->length; i++, to++) {
		const char *at = &list->token[i];
		size_t left = list->length - i;

		list->token[to] = *at;
		if (*at == '\\' && left > 1 && at[1] == '\\') {
			i++;
		} else if (*at == '\\' && left > 2 && hex(at[1]) >= 0 && hex(at[2]) >= 0) {
			list->token[to] = (char)(hex(at[1]) << 4 | hex(at[2]));
			i += 2;
		}
	}
	list->length = to;
}

static void take_value_name(struct lk_ir_list *list)
{
	const bool numbered = !list->quoted && isdigit((unsigned char)list->token[0]);
	const char **slot;

	if (memchr(list->token, 0, list->length) || !list->length)
		list->unsure = true;
	if (numbered)
		list->length = 0;
	list->token[list->length] = 0;
	if (list->depth && list->entity == LK_IR_LIST) {
		add_ir_name(&list->listed, list->token);
	} else if (list->depth && list->entity == LK_IR_METADATA && numbered) {
		list->numbered = true;
	} else if (list->depth && list->entity == LK_IR_METADATA) {
		slot = lc_grow(list->arena, &list->node, &list->node_count, sizeof(*slot));
		if (slot)
			*slot = lc_text(list->arena, list->token);
	} else if (!list->depth &&
		   (list->entity == LK_IR_DEFINE || list->entity == LK_IR_DECLARE)) {
		take_function(list);
	} else if (!list->depth) {
		memcpy(list->name, list->token, list->length + 1);
	}
}

/* ---- tokens ---- */

static void end_token(struct lk_ir_list *list)
{
	const bool fits = list->length < LK_IR_TOKEN;

	if (!list->length && !list->quoted)
		return;
	list->last = list->sigil;
	if (list->quoted && fits)
		unescape(list);
	if (list->sigil == '@' && fits)
		take_value_name(list);
	else if (list->sigil == '@')
		list->unsure = true;
	else if (list->quoted && list->entity == LK_IR_METADATA)
		list->kernel |= is(list, "kernel");
	else if (!list->quoted && !list->sigil)
		take_ir_word(list);
	list->length = 0;
	list->sigil = 0;
	list->quoted = false;
}

static void take_bracket(struct lk_ir_list *list, char byte)
{
	if (strchr("([{", byte))
		list->depth++;
	else if (list->depth)
		list->depth--;
	else
		list->unsure = true;
}

static void take_mark(struct lk_ir_list *list, char byte)
{
	if (!byte || strchr(" \t\r\n;", byte))
		return;			/* LLVM skips NULs, too */
	if (byte == '=' && !list->depth)
		begin(list, list->last == '@' ? LK_IR_VARIABLE :
			    list->last == '!' ? LK_IR_METADATA : LK_IR_OTHER);
	list->last = 0;
	if (strchr("()[]{}", byte))
		take_bracket(list, byte);
	else if (!strchr("@%!#^,*:<>|+=", byte))
		list->unsure = true;	/* a comment of another kind, say */
}

static bool is_of_word(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
	       isdigit((unsigned char)byte) || (byte && strchr("-$._", byte));
}

static void append_byte(struct lk_ir_list *list, char byte)
{
	if (list->length < LK_IR_TOKEN)
		list->token[list->length] = byte;
	list->length++;
}

void lk_ir_list_take(struct lk_ir_list *list, char byte, bool in_text)
{
	if (in_text && byte != '"') {
		append_byte(list, byte);
	} else if (in_text) {
		end_token(list);
	} else if (is_of_word(byte)) {
		append_byte(list, byte);
	} else if (byte == '"') {
		if (list->length)
			end_token(list);
		list->quoted = true;
	} else {
		end_token(list);
		take_mark(list, byte);
		list->sigil = byte && strchr("@%!#^", byte) ? byte : 0;
	}
}

/* Kernels that nodes name: they are defined before or after the node. */
static void mark_kernels(struct lk_ir_list *list)
{
	for (size_t i = 0; i < list->kernels.count; i++) {
		const char *name = list->kernels.list[i].name;
		struct lazycuda_symbol *symbol = lk_symbols_find(&list->names, name, strlen(name));

		if (!symbol) {
			list->unsure = true;	/* it is local */
			continue;
		}
		symbol->kernel = 1;
		symbol->flags |= LAZYCUDA_SYMBOL_UNLISTED;
	}
}

bool lk_ir_list_end(struct lk_ir_list *list)
{
	if (list->quoted || list->depth)
		list->unsure = true;
	end_token(list);
	begin(list, LK_IR_OTHER);
	mark_kernels(list);
	for (size_t i = 0; i < list->names.count; i++) {
		struct lazycuda_symbol *symbol = &list->names.list[i];

		if (!symbol->defined ||
		    lk_symbols_find(&list->listed, symbol->name, strlen(symbol->name)))
			symbol->flags &= (unsigned char)~LAZYCUDA_SYMBOL_UNLISTED;
	}
	return !list->unsure;
}
