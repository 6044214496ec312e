/* SPDX-License-Identifier: MIT */
/* ir_list.c - whether LLVM IR, as text, lists in @llvm.used all that it offers */
#include "ir_list.h"

#include <ctype.h>
#include <string.h>

#include "../../stubs/base/count.h"

#define LIST "llvm.used"

/* What a name of the table is: a symbol has just the room for it. */
static const struct lazycuda_symbol offered_variable = { .defined = 1, .variable = 1 };
static const struct lazycuda_symbol offered_kernel = { .defined = 1, .kernel = 1 };
static const struct lazycuda_symbol listed = { .weak = 1 };

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

static void add_ir_name(struct lk_ir_list *list, const char *name,
			const struct lazycuda_symbol *like)
{
	/* Values without a name have numbers, by which nothing is found here. */
	if (*name)
		lk_symbols_add(&list->names, name, strlen(name), like);
	else if (like->defined)
		list->unsure = true;
}

/* ---- entities ---- */

static void begin(struct lk_ir_list *list, enum lk_ir_entity entity)
{
	if (list->entity == LK_IR_DEFINE || list->entity == LK_IR_VARIABLE)
		list->unsure = true;	/* its name, or what it is, was not seen */
	if (list->entity == LK_IR_METADATA && list->kernel) {
		for (size_t i = 0; i < list->node_count; i++)
			add_ir_name(list, list->node[i], &offered_kernel);
		list->unsure |= list->numbered;
	}
	list->entity = entity;
	list->kernel = list->hidden = list->declared = list->numbered = false;
	list->node_count = 0;
}

/* A variable, whose linkage is known by now. */
static void take_variable(struct lk_ir_list *list, bool declared)
{
	list->entity = LK_IR_OTHER;
	if (!strcmp(list->name, LIST)) {
		list->entity = LK_IR_LIST;
		list->is_there = true;
	} else if (strncmp(list->name, "llvm.", strlen("llvm.")) && !list->hidden && !declared) {
		add_ir_name(list, list->name, &offered_variable);
	}
}

/* The words that begin an entity; the others begin with a name and =. */
static void take_first_word(struct lk_ir_list *list)
{
	static const char *const others[] = {
		"declare", "target", "source_filename", "attributes", "uselistorder",
		"uselistorder_bb", "deplibs",
	};

	if (is(list, "define"))
		begin(list, LK_IR_DEFINE);
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
	static const char *const hiding[] = {
		"internal", "private", "linkonce", "linkonce_odr", "available_externally",
	};
	static const char *const declaring[] = { "external", "extern_weak" };

	list->hidden |= is_any_of(list, hiding, LC_COUNT(hiding));
	list->declared |= is_any_of(list, declaring, LC_COUNT(declaring));
	if (is(list, "global") || is(list, "constant"))
		take_variable(list, list->declared);
	else if (is(list, "alias") || is(list, "ifunc"))
		take_variable(list, false);
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
		return;
	}
	take_first_word(list);
	if (list->entity == LK_IR_DEFINE)
		list->kernel |= is_kernel_convention(list);
	else if (list->entity == LK_IR_VARIABLE)
		take_word_of_variable(list);
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
		add_ir_name(list, list->token, &listed);
	} else if (list->depth && list->entity == LK_IR_METADATA && numbered) {
		list->numbered = true;
	} else if (list->depth && list->entity == LK_IR_METADATA) {
		slot = lc_grow(list->arena, &list->node, &list->node_count, sizeof(*slot));
		if (slot)
			*slot = lc_text(list->arena, list->token);
	} else if (!list->depth && list->entity == LK_IR_DEFINE) {
		list->entity = LK_IR_OTHER;
		if (list->kernel)
			add_ir_name(list, list->token, &offered_kernel);
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
	if (byte && strchr(" \t\r\n;", byte))
		return;
	if (byte == '=' && !list->depth)
		begin(list, list->last == '@' ? LK_IR_VARIABLE :
			    list->last == '!' ? LK_IR_METADATA : LK_IR_OTHER);
	list->last = 0;
	if (byte && strchr("()[]{}", byte))
		take_bracket(list, byte);
	else if (!byte || !strchr("@%!#^,*:<>|+=", byte))
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

bool lk_ir_list_end(struct lk_ir_list *list, const struct lazycuda_symbol **lacks)
{
	*lacks = NULL;
	if (list->quoted || list->depth)
		list->unsure = true;
	end_token(list);
	begin(list, LK_IR_OTHER);
	if (!list->is_there || list->unsure)
		return false;
	for (size_t i = 0; i < list->names.count && !*lacks; i++)
		if (list->names.list[i].defined && !list->names.list[i].weak)
			*lacks = &list->names.list[i];
	return !*lacks;
}
