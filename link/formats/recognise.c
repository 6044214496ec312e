/* SPDX-License-Identifier: MIT */
/* recognise.c - the kind of a part, from its first bytes; what each kind is called */
#include <elf.h>
#include <string.h>

#include "elf_device.h"
#include "formats.h"
#include "../../stubs/base/count.h"

/* ---- by magic numbers ---- */

static const struct magic {
	enum lazycuda_kind kind;
	size_t length;
	char bytes[25];
} magics[] = {
	{ LAZYCUDA_KIND_FATBIN,		4, "\x50\xed\x55\xba" },
	{ LAZYCUDA_KIND_LTOIR,		4, "\xed\x43\x4e\x7f" },
	{ LAZYCUDA_KIND_ARCHIVE,	8, "!<arch>\n" },
	{ LAZYCUDA_KIND_THIN_ARCHIVE,	8, "!<thin>\n" },
	{ LAZYCUDA_KIND_BITCODE,	4, "BC\xc0\xde" },
	{ LAZYCUDA_KIND_BITCODE,	4, "\xde\xc0\x17\x0b" },	/* in a wrapper */
	{ LAZYCUDA_KIND_OFFLOAD,	4, LK_OFFLOAD_MAGIC },
	{ LAZYCUDA_KIND_BUNDLE,	4, "CCOB" },			/* compressed */
	{ LAZYCUDA_KIND_BUNDLE,	24, "__CLANG_OFFLOAD_BUNDLE__" },
	{ LAZYCUDA_KIND_TILEIR,		8, "\x7fTileIR" },
};

static enum lazycuda_kind by_magic(const unsigned char *head, size_t length)
{
	for (size_t i = 0; i < LC_COUNT(magics); i++)
		if (length >= magics[i].length &&
		    !memcmp(head, magics[i].bytes, magics[i].length))
			return magics[i].kind;
	return LAZYCUDA_KIND_UNKNOWN;
}

/* OptiX-IR has the magic number of LTO-IR; the level field tells them apart. */
#define LEVEL_OFFSET 14

/* ---- ELF ---- */

/* Returns true for GPUs of Intel and AMD, whose code is neither CUDA's nor a host's. */
static bool is_foreign_gpu(unsigned machine)
{
	return machine == 205 || machine == 224;
}

/*
 * A 32-bit or big-endian file gets the kind that it would otherwise have: the reader
 * of that kind then reports what is wrong.  For the same reason a file that is cut
 * off in these fields is an OBJECT.
 */
static enum lazycuda_kind elf_kind(const unsigned char *head, size_t length)
{
	bool big = length > EI_DATA && head[EI_DATA] == ELFDATA2MSB;
	unsigned type, machine;

	if (length < 20)
		return LAZYCUDA_KIND_OBJECT;
	type = (unsigned)head[big ? 17 : 16] | (unsigned)head[big ? 16 : 17] << 8;
	machine = (unsigned)head[big ? 19 : 18] | (unsigned)head[big ? 18 : 19] << 8;
	if (machine == LK_EM_CUDA)
		return LAZYCUDA_KIND_CUBIN;
	if (is_foreign_gpu(machine))
		return LAZYCUDA_KIND_UNKNOWN;
	if (type == ET_REL)
		return LAZYCUDA_KIND_OBJECT;
	return type == ET_EXEC || type == ET_DYN ? LAZYCUDA_KIND_SHARED : LAZYCUDA_KIND_UNKNOWN;
}

/* ---- text ---- */

/* Bytes that are looked at, behind the comments that a text begins with: licences are long, and
 * so is what a generator says of itself. */
#define LOOKED_AT 65536
#define END (-1)
#define WORD 32

struct text_reader {
	const struct lk_part *part;
	uint64_t next, length;		/* offset of the next read, and its limit */
	size_t at, filled;		/* position and end in the window */
	bool fresh;			/* only blanks so far in this line */
	bool binary;			/* a byte was seen that is not text */
	bool leading;			/* nothing but blanks and comments so far */
	unsigned char window[1024];
};

/* Returns the next byte without consuming it; END after the text or at a NUL. */
static int peek(struct text_reader *text)
{
	if (text->at == text->filled) {
		uint64_t left = text->length - text->next;

		text->filled = left < sizeof(text->window) ? (size_t)left : sizeof(text->window);
		text->at = 0;
		if (!text->filled ||
		    !lk_part_read(text->part, text->next, text->window, text->filled)) {
			text->filled = 0;
			return END;
		}
		text->next += text->filled;
	}
	return text->window[text->at] ? text->window[text->at] : END;
}

static bool is_blank(int c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static int take_character(struct text_reader *text)
{
	int c = peek(text);

	if (c == END)
		return END;
	text->at++;
	text->binary |= (c < ' ' && !is_blank(c)) || c == 0x7f;
	text->fresh = c == '\n' || (text->fresh && is_blank(c));
	return c;
}

static bool take_if(struct text_reader *text, int c)
{
	return peek(text) == c && take_character(text) == c;
}

static void begin_comment(struct text_reader *text)
{
	if (text->leading)
		text->length = text->part->length;
}

static void end_comment(struct text_reader *text)
{
	if (text->leading && text->part->length - text->next > LOOKED_AT)
		text->length = text->next + LOOKED_AT;
}

static void finish_comment(struct text_reader *text, bool line)
{
	int before = 0, c;

	begin_comment(text);
	while ((c = take_character(text)) != END && !(line ? c == '\n' : before == '*' && c == '/'))
		before = c;
	end_comment(text);
}

/* Skips white space and comments, and also a slash that begins no comment. */
static void skip_space(struct text_reader *text)
{
	for (;;) {
		if (is_blank(peek(text)))
			take_character(text);
		else if (!take_if(text, '/'))
			return;
		else if (take_if(text, '/'))
			finish_comment(text, true);
		else if (take_if(text, '*'))
			finish_comment(text, false);
	}
}

static void skip_quoted(struct text_reader *text, int quote)
{
	int c;

	while ((c = take_character(text)) != END && c != quote && c != '\n')
		if (c == '\\')
			take_character(text);
}

static bool is_letter(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Reads a word.  A longer one is cut off, and then matches no known word. */
static void take_word(struct text_reader *text, char word[WORD])
{
	size_t length = 0;

	while (is_letter(peek(text)) || (length && peek(text) >= '0' && peek(text) <= '9')) {
		char c = (char)take_character(text);

		if (length < WORD - 1)
			word[length++] = c;
	}
	word[length] = '\0';
}

static bool is_one_of(const char *word, const char *const *list)
{
	for (; *list; list++)
		if (!strcmp(word, *list))
			return true;
	return false;
}

/* Words right after a '#' that begins a line.  No blank may come between: "# if" begins
 * many comment lines in other languages. */
static const char *const directives[] = {
	"include", "define", "undef", "if", "ifdef", "ifndef", "pragma", "line", "error", NULL
};

static const char *const words_of_cuda[] = {
	"__global__", "__device__", "__host__", "__shared__", "__constant__", "__managed__",
	"__forceinline__", "__launch_bounds__", "__grid_constant__",
	"threadIdx", "blockIdx", "blockDim", "gridDim", NULL
};

static bool is_source_word(struct text_reader *text, const char *word)
{
	if (!strcmp(word, "extern")) {
		skip_space(text);
		return take_if(text, '"') && take_if(text, 'C') && take_if(text, '"');
	}
	if (!strcmp(word, "template")) {
		skip_space(text);
		return peek(text) == '<';
	}
	return is_one_of(word, words_of_cuda);
}

static bool is_source(struct text_reader *text)
{
	char word[WORD];

	for (;;) {
		bool fresh;

		skip_space(text);
		text->leading = false;
		fresh = text->fresh;
		if (peek(text) == END || text->binary)
			return false;
		if (is_letter(peek(text))) {
			take_word(text, word);
			if (is_source_word(text, word))
				return !text->binary;
		} else if (take_if(text, '#')) {
			take_word(text, word);
			if (fresh && is_one_of(word, directives))
				return !text->binary;
		} else {
			int c = take_character(text);

			if (c == '"' || c == '\'')
				skip_quoted(text, c);
		}
	}
}

static bool begins_with(struct text_reader *text, const char *word)
{
	while (*word && take_if(text, *word))
		word++;
	return !*word;
}

/* clang's text bundles begin with a comment in the language of the text. */
static bool is_text_bundle(struct text_reader *text)
{
	while (is_blank(peek(text)) || peek(text) == '/' || peek(text) == '#' || peek(text) == ';')
		take_character(text);
	return begins_with(text, "__CLANG_OFFLOAD_BUNDLE__");
}

/* What LLVM IR may begin with after comments.  A plus stands for blanks, a blank for blanks or
 * nothing, N for a name, D for a number, L for the rest of a line up to an @, and W for one of
 * words_of_globals. */
static const char *const first_entities[] = {
	"source_filename = \"", "target+triple = \"", "target+datalayout = \"", "module+asm \"",
	"define+L@N(", "declare+L@N(", "@N = W", "%N = type+", "$N = comdat", "attributes #D = {",
	"!N = !", "!N = distinct+", "^D = module", "^D = gv", "^D = typeid", "^D = flags",
};

/* What a global variable or an alias begins with. */
static const char *const words_of_globals[] = {
	"global", "constant", "alias", "ifunc", "private", "internal", "external", "common", "weak",
	"weak_odr", "linkonce", "linkonce_odr", "appending", "extern_weak", "available_externally",
	"dso_local", "dso_preemptable", "hidden", "protected", "default", "thread_local",
	"unnamed_addr", "local_unnamed_addr", "addrspace", "externally_initialized", NULL
};

static bool is_digit(int c)
{
	return c >= '0' && c <= '9';
}

static bool is_of_name(int c)
{
	return is_letter(c) || is_digit(c) || c == '$' || c == '-' || c == '.';
}

static bool take_all(struct text_reader *text, bool (*is)(int c))
{
	bool any = false;

	for (; is(peek(text)); any = true)
		take_character(text);
	return any;
}

static bool take_ir_name(struct text_reader *text)
{
	if (!take_if(text, '"'))
		return take_all(text, is_of_name);
	while (peek(text) != END && peek(text) != '\n' && peek(text) != '"')
		take_character(text);
	return take_if(text, '"');
}

static bool is_before_at(int c)
{
	return c != END && c != '\n' && c != '\r' && c != '@';
}

static bool take_as(struct text_reader *text, char how)
{
	char word[WORD];

	switch (how) {
	case '+':
		return take_all(text, is_blank);
	case ' ':
		take_all(text, is_blank);
		return true;
	case 'N':
		return take_ir_name(text);
	case 'D':
		return take_all(text, is_digit);
	case 'L':
		return take_all(text, is_before_at);
	case 'W':
		take_word(text, word);
		return is_one_of(word, words_of_globals);
	default:
		return take_if(text, how);
	}
}

/* LLVM ends a line, and a comment, at a carriage return, too. */
static void skip_ir_comments(struct text_reader *text)
{
	int c;

	while (is_blank(peek(text)) || peek(text) == ';') {
		if (take_character(text) != ';')
			continue;
		begin_comment(text);
		while ((c = take_character(text)) != END && c != '\n' && c != '\r')
			;
		end_comment(text);
	}
}

static bool is_llvm_ir(struct text_reader *text)
{
	skip_ir_comments(text);
	for (size_t i = 0; i < LC_COUNT(first_entities); i++) {
		const char *how = first_entities[i];
		struct text_reader copy = *text;

		while (*how && take_as(&copy, *how))
			how++;
		if (!*how)
			return !copy.binary;
	}
	return false;
}

static void rewind_text(struct text_reader *text, const struct lk_part *part, uint64_t start)
{
	text->part = part;
	text->next = start;
	text->length = part->length < LOOKED_AT ? part->length : LOOKED_AT;
	text->at = text->filled = 0;
	text->fresh = true;
	text->binary = false;
	text->leading = true;
}

static enum lazycuda_kind text_kind(const struct lk_part *part, const unsigned char *head,
				    size_t length)
{
	/* Compilers skip a byte order mark; ptxas does not.  PTX after a byte order
	 * mark is recognised all the same, so that its reader can report the damage. */
	uint64_t start = length >= 3 && !memcmp(head, "\xef\xbb\xbf", 3) ? 3 : 0;
	struct text_reader text;

	rewind_text(&text, part, start);
	if (is_text_bundle(&text))
		return LAZYCUDA_KIND_BUNDLE;
	rewind_text(&text, part, start);
	skip_space(&text);
	if (begins_with(&text, ".version") && !text.binary && is_blank(peek(&text)))
		return LAZYCUDA_KIND_PTX;
	rewind_text(&text, part, start);
	if (is_llvm_ir(&text))
		return LAZYCUDA_KIND_LLVMIR;
	rewind_text(&text, part, start);
	return is_source(&text) ? LAZYCUDA_KIND_SOURCE : LAZYCUDA_KIND_UNKNOWN;
}

enum lazycuda_kind lk_recognise(const struct lk_part *part)
{
	unsigned char head[64];
	size_t length = part->length < sizeof(head) ? (size_t)part->length : sizeof(head);
	enum lazycuda_kind kind;

	if (!lk_part_read(part, 0, head, length))
		return LAZYCUDA_KIND_UNKNOWN;
	if (length >= SELFMAG && !memcmp(head, ELFMAG, SELFMAG))
		return elf_kind(head, length);
	kind = by_magic(head, length);
	if (kind == LAZYCUDA_KIND_LTOIR && length > LEVEL_OFFSET + 1 &&
	    head[LEVEL_OFFSET] == LK_LEVEL_OPTIX && !head[LEVEL_OFFSET + 1])
		return LAZYCUDA_KIND_OPTIXIR;
	return kind != LAZYCUDA_KIND_UNKNOWN ? kind : text_kind(part, head, length);
}

static const char *const kind_names[LK_KINDS] = {
	[LAZYCUDA_KIND_UNKNOWN] = "unknown",
	[LAZYCUDA_KIND_PTX] = "ptx",
	[LAZYCUDA_KIND_CUBIN] = "cubin",
	[LAZYCUDA_KIND_LTOIR] = "ltoir",
	[LAZYCUDA_KIND_FATBIN] = "fatbin",
	[LAZYCUDA_KIND_OBJECT] = "object",
	[LAZYCUDA_KIND_ARCHIVE] = "archive",
	[LAZYCUDA_KIND_SHARED] = "shared",
	[LAZYCUDA_KIND_SOURCE] = "source",
	[LAZYCUDA_KIND_THIN_ARCHIVE] = "thin archive",
	[LAZYCUDA_KIND_BITCODE] = "bitcode",
	[LAZYCUDA_KIND_OFFLOAD] = "offload binary",
	[LAZYCUDA_KIND_OPTIXIR] = "optixir",
	[LAZYCUDA_KIND_TILEIR] = "tileir",
	[LAZYCUDA_KIND_LLVMIR] = "llvm ir",
	[LAZYCUDA_KIND_BUNDLE] = "offload bundle",
};

const char *lazycuda_kind_name(enum lazycuda_kind kind)
{
	return (unsigned)kind < LK_KINDS ? kind_names[kind] : kind_names[0];
}
