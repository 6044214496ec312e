/* SPDX-License-Identifier: MIT */
/* ptx.c - the header of PTX, and the symbols that it defines and declares */
#include <stdio.h>
#include <string.h>

#include "../tables/arch.h"
#include "bytes.h"
#include "ptx_text.h"
#include "symbols.h"
#include "../tables/versions.h"

#define HEADER_BYTES 65536	/* read if only the header is wanted */

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

static const char *read_version(struct lk_ptx_text *text, struct lazycuda_entry *entry)
{
	struct lk_ptx_token token = lk_ptx_next(text);
	const char *end;
	int parts[2];

	if (!lk_ptx_is(&token, ".version"))
		return "does not begin with a .version";
	entry->toolkit = find_toolkit(text->begin, token.at);
	token = lk_ptx_next(text);
	end = token.at + token.length;
	if (read_number(token.at, end, parts) != end || !parts[0])
		return "has a malformed .version";
	entry->isa = 10 * parts[0] + parts[1];
	return NULL;
}

static const char *read_target(struct lk_ptx_text *text, struct lazycuda_entry *entry)
{
	struct lk_ptx_token token = lk_ptx_next(text);
	char name[LK_ARCH_TEXT];
	struct lk_arch arch;

	if (!lk_ptx_is(&token, ".target"))
		return "has no .target after its .version";
	token = lk_ptx_next(text);
	snprintf(name, sizeof(name), "%.*s", (int)(token.length < sizeof(name) ? token.length : 0),
		 token.at);
	if (!lk_arch_parse(name, &arch))
		return "has a malformed .target";
	entry->arch = arch.sm;
	entry->suffix = arch.suffix;
	for (;;) {
		struct lk_ptx_text before = *text;

		token = lk_ptx_next(text);
		if (!lk_ptx_is(&token, ",")) {
			*text = before;
			return NULL;
		}
		token = lk_ptx_next(text);
		if (lk_ptx_is(&token, "debug"))
			entry->flags |= LAZYCUDA_ENTRY_DEBUG;
	}
}

/* Directives may follow in any order; without this one addresses have 64 bits. */
static void read_address_size(struct lk_ptx_text *text, struct lazycuda_entry *entry)
{
	struct lk_ptx_text before = *text;
	struct lk_ptx_token token = lk_ptx_next(text);

	if (lk_ptx_is(&token, ".address_size")) {
		token = lk_ptx_next(text);
		if (lk_ptx_is(&token, "32"))
			entry->flags |= LAZYCUDA_ENTRY_32_BIT;
	} else {
		*text = before;
	}
}

/* ---- declarations ---- */

enum linkage { LOCAL, VISIBLE, WEAK, COMMON, EXTERN };

static const struct {
	const char *directive;
	enum linkage linkage;
} linkages[] = {
	{ ".visible", VISIBLE }, { ".weak", WEAK }, { ".common", COMMON }, { ".extern", EXTERN },
};

static void add(struct lk_symbols *symbols, const struct lk_ptx_token *name, enum linkage linkage,
		struct lazycuda_symbol like)
{
	like.defined &= linkage != EXTERN;
	like.weak = linkage == WEAK || linkage == COMMON;
	if (linkage != LOCAL && name->length)
		lk_symbols_add(symbols, name->at, name->length, &like);
}

/* Reads what follows .func or .entry: (results) name (parameters) directives, then a body or
 * a semicolon. */
static void read_function(struct lk_ptx_text *text, enum linkage linkage, bool kernel,
			  struct lk_symbols *symbols)
{
	const char *begin = text->at;
	struct lk_ptx_token name = { begin, 0 };

	for (;;) {
		struct lk_ptx_token token = lk_ptx_next(text);

		if (!token.length) {
			lk_ptx_ends_in(text, begin, "the declaration of a function");
			return;
		}
		if (lk_ptx_is(&token, "("))
			lk_ptx_skip_group(text);
		else if (!name.length && lk_ptx_is_name(&token))
			name = token;
		else if (lk_ptx_is(&token, "{") || lk_ptx_is(&token, ";")) {
			add(symbols, &name, linkage, (struct lazycuda_symbol){
				.defined = *token.at == '{', .kernel = kernel });
			if (*token.at == '{')
				lk_ptx_skip_block(text, "the body of a function");
			return;
		}
	}
}

/* References to textures, samplers and surfaces: assemblers leave them undefined, .extern or not,
 * and the driver binds them by name. */
static bool is_texture(const struct lk_ptx_token *token)
{
	return lk_ptx_is(token, ".texref") || lk_ptx_is(token, ".samplerref") ||
	       lk_ptx_is(token, ".surfref");
}

/* Reads what follows .global or .const: properties name[sizes] = value, name = value; and returns
 * whether that is a variable that others see. */
static bool read_variables(struct lk_ptx_text *text, enum linkage linkage,
			   struct lk_symbols *symbols)
{
	const char *begin = text->at;
	bool named = false, root = linkage != LOCAL && linkage != EXTERN;

	for (;;) {
		struct lk_ptx_token token = lk_ptx_next(text);

		if (!token.length) {
			lk_ptx_ends_in(text, begin, "the declaration of a variable");
			return root;
		}
		if (lk_ptx_is(&token, ";"))
			return root;
		if (is_texture(&token)) {
			root = false;
			linkage = linkage == LOCAL ? LOCAL : WEAK;
		}
		if (lk_ptx_is(&token, "(") || lk_ptx_is(&token, "["))
			lk_ptx_skip_group(text);
		else if (lk_ptx_is(&token, "{"))
			lk_ptx_skip_block(text, "the value of a variable");
		else if (lk_ptx_is(&token, ","))
			named = false;
		else if (!named && lk_ptx_is_name(&token)) {
			add(symbols, &token, linkage, (struct lazycuda_symbol){
				.defined = true, .flags = LAZYCUDA_SYMBOL_VARIABLE });
			named = true;
		}
	}
}

/* Reads what follows .alias: the alias, declared before, and the name of a function. */
static void read_alias(struct lk_ptx_text *text, struct lk_symbols *symbols)
{
	struct lk_ptx_token name = lk_ptx_next(text);
	struct lazycuda_symbol *symbol = lk_symbols_find(symbols, name.at, name.length);

	if (symbol)
		symbol->defined = 1;
}

/* Reads the module after its header.  Returns whether it has a kernel, or a variable that
 * others see; *sections, whether it has sections, which hold debug information. */
static bool read_module(struct lk_ptx_text *text, struct lk_symbols *symbols, bool *sections)
{
	enum linkage linkage = LOCAL;
	bool root = false;

	for (;;) {
		struct lk_ptx_token token = lk_ptx_next(text);

		if (!token.length)
			return root;
		for (size_t i = 0; i < sizeof(linkages) / sizeof(*linkages); i++)
			if (lk_ptx_is(&token, linkages[i].directive))
				linkage = linkages[i].linkage;
		*sections |= lk_ptx_is(&token, ".section");
		if (lk_ptx_is(&token, ".func") || lk_ptx_is(&token, ".entry")) {
			root |= lk_ptx_is(&token, ".entry");
			read_function(text, linkage, lk_ptx_is(&token, ".entry"), symbols);
			linkage = LOCAL;
		} else if (lk_ptx_is(&token, ".global") || lk_ptx_is(&token, ".const")) {
			root |= read_variables(text, linkage, symbols);
			linkage = LOCAL;
		} else if (lk_ptx_is(&token, ".alias")) {
			read_alias(text, symbols);
		} else if (lk_ptx_is(&token, "{")) {
			lk_ptx_skip_block(text, "a section");
		} else if (lk_ptx_is(&token, ";")) {
			linkage = LOCAL;	/* no symbol for other files: .extern .shared */
		} else if (lk_ptx_is(&token, "#") || lk_ptx_is(&token, "@")) {
			lk_ptx_skip_line(text);	/* a preprocessor line, or @@DWARF of old PTX */
		}
	}
}

/* ---- all of it ---- */

/* The text may end in NULs, and nothing else may follow them. */
static const char *end_text(struct lk_ptx_text *text, struct lc_arena *arena)
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
static const char *check_ascii(const struct lk_ptx_text *text, struct lc_arena *arena,
			       struct lazycuda_entry *entry)
{
	bool in_comments = false;
	const char *at = lk_ptx_not_ascii(text->begin, text->end, &in_comments);

	if (in_comments)
		entry->flags |= LAZYCUDA_ENTRY_NOT_ASCII;
	return at ? lc_format(arena, "is not ASCII, which PTX is, at 0x%zx",
			      (size_t)(at - text->begin)) : NULL;
}

static const char *read_ptx(const char *begin, size_t length, bool whole,
			    struct lk_symbols *symbols, struct lazycuda_entry *entry)
{
	struct lk_ptx_text text = { .begin = begin, .at = begin, .end = begin + length };
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
	if (!why)
		read_address_size(&text, entry);
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
