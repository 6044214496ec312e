/* SPDX-License-Identifier: MIT */
/* llvm_ir.c - whether LLVM IR, as text, has a data layout, and what it defines and declares */
#include <string.h>

#include "containers.h"
#include "ir_list.h"

/* In a string no quote is escaped, and no comment begins. */
enum where { IN_CODE, IN_COMMENT, IN_STRING };

/* How much of `target datalayout = "..."` was seen; blanks and comments may lie between. */
enum ir_layout { NO_LAYOUT, LAYOUT_WORD, LAYOUT_EQUALS, LAYOUT_QUOTE };

struct ir_text {
	enum where where;
	char word[16];		/* the beginning of the word that is being read */
	size_t length;		/* of the whole word, which may be longer */
	enum ir_layout layout;
	unsigned flags;
	struct lk_ir_list list;
};

static bool is_word(const struct ir_text *text, const char *word)
{
	return text->length == strlen(word) && !memcmp(text->word, word, text->length);
}

static void end_word(struct ir_text *text)
{
	if (!text->length)
		return;
	if (is_word(text, "datalayout"))
		text->layout = LAYOUT_WORD;
	else
		text->layout = NO_LAYOUT;
	text->length = 0;
}

static void take_code(struct ir_text *text, char byte)
{
	switch (byte) {
	case 0:			/* as blank as a space */
	case ' ':
	case '\t':
	case '\n':
	case '\r':
		end_word(text);
		break;
	case ';':
		end_word(text);
		text->where = IN_COMMENT;
		break;
	case '=':
		end_word(text);
		text->layout = text->layout == LAYOUT_WORD ? LAYOUT_EQUALS : NO_LAYOUT;
		break;
	case '"':
		end_word(text);
		text->where = IN_STRING;
		text->layout = text->layout == LAYOUT_EQUALS ? LAYOUT_QUOTE : NO_LAYOUT;
		break;
	default:
		if (text->length < sizeof(text->word))
			text->word[text->length] = byte;
		text->length++;
	}
}

static void take_quoted(struct ir_text *text, char byte)
{
	/* Of several layouts the last one counts. */
	if (text->layout == LAYOUT_QUOTE && byte == '"')
		text->flags |= LAZYCUDA_ENTRY_NO_LAYOUT;
	else if (text->layout == LAYOUT_QUOTE)
		text->flags &= ~LAZYCUDA_ENTRY_NO_LAYOUT;
	text->layout = NO_LAYOUT;
	if (byte == '"')
		text->where = IN_CODE;
}

static void take_byte(struct ir_text *text, char byte)
{
	if (text->where == IN_COMMENT) {
		if (byte != '\n' && byte != '\r')
			return;
		text->where = IN_CODE;
	}
	lk_ir_list_take(&text->list, byte, text->where == IN_STRING);
	if (text->where == IN_STRING)
		take_quoted(text, byte);
	else
		take_code(text, byte);
}

static void take_text(const struct lk_part *part, struct ir_text *text)
{
	char bytes[4096];

	for (uint64_t at = 0; at < part->length; at += sizeof(bytes)) {
		size_t size = part->length - at < sizeof(bytes) ? (size_t)(part->length - at) :
								  sizeof(bytes);

		if (!lk_part_read(part, at, bytes, size)) {
			text->list.unsure = true;
			return;
		}
		for (size_t i = 0; i < size; i++)
			take_byte(text, bytes[i]);
	}
}

/* Without names it offers nothing that a list could lack. */
static bool lists_all(const struct lk_symbols *names)
{
	for (size_t i = 0; i < names->count; i++)
		if (names->list[i].flags & LAZYCUDA_SYMBOL_UNLISTED)
			return false;
	return true;
}

void lk_llvm_ir_read(const struct lk_part *part, struct lc_arena *arena,
		     struct lazycuda_entry *entry)
{
	struct ir_text text = { .flags = LAZYCUDA_ENTRY_NO_LAYOUT };
	struct lk_ir_list *list = &text.list;

	list->arena = list->names.arena = list->listed.arena = list->kernels.arena = arena;
	take_text(part, &text);
	if (lk_ir_list_end(list)) {
		entry->symbols = list->names.list;
		entry->symbol_count = list->names.count;
		if (lists_all(&list->names))
			text.flags |= LAZYCUDA_ENTRY_LISTED;
	}
	if (list->libdevice)
		text.flags |= LAZYCUDA_ENTRY_LIBDEVICE;
	entry->flags |= text.flags;
}
