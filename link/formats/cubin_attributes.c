/* SPDX-License-Identifier: MIT */
/*
 * cubin_attributes.c - the attributes of functions in a cubin
 *
 * Wrong symbols in them, and attributes that run past the end of theirs, crash nvJitLink.
 */
#include "cubin_sound.h"

#include <inttypes.h>
#include <string.h>

static bool is_symbol(const struct lk_symbol_table *table, uint64_t index)
{
	return index && index < table->count;
}

static bool is_function_here(const struct lk_symbol_table *table, uint64_t index)
{
	return is_symbol(table, index) && lk_symbol_is_function(table->at + index) &&
	       table->at[index].st_shndx;
}

#define REGISTER_COUNT 0x2f		/* the number that a function needs */

/* What the first word of an attribute's value holds, by attribute number. */
enum first_word { ANYTHING, FUNCTION, SYMBOL, SYMBOLS, PARAMETER };

static const struct {
	uint8_t first;		/* enum first_word */
	uint8_t least;		/* bytes */
} attributes[256] = {
	[0x0a] = { SYMBOL, 8 },		/* constant bank of the parameters */
	[0x0f] = { SYMBOLS, 0 },	/* externals */
	[0x11] = { FUNCTION, 8 },	/* size of the frame */
	[0x12] = { FUNCTION, 8 },	/* least size of the stack */
	[0x17] = { PARAMETER, 12 },
	[0x23] = { SYMBOL, 8 },		/* largest size of the stack; __UFT_CANONICAL has one
					   in what nvJitLink 13.5 makes with -r */
	[REGISTER_COUNT] = { FUNCTION, 8 },
};

static uint32_t word_at(const unsigned char *at)
{
	uint32_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

/* Parameters have to be numbered from 0 without a gap. */
struct parameters {
	unsigned count, largest;
};

static bool are_symbols(const struct lk_symbol_table *table, const unsigned char *at,
			unsigned size)
{
	for (unsigned i = 0; i + 4 <= size; i += 4)
		if (!is_symbol(table, word_at(at + i)))
			return false;
	return size % 4 == 0;
}

static bool is_parameter(const unsigned char *at, struct parameters *parameters)
{
	unsigned ordinal = word_at(at + 4) & 0xffff;

	parameters->count++;
	if (ordinal > parameters->largest)
		parameters->largest = ordinal;
	return word_at(at) == 0;
}

static bool is_value(const struct lk_symbol_table *table, enum first_word first,
		     const unsigned char *at, unsigned size, struct parameters *parameters)
{
	switch (first) {
	case FUNCTION:
		return is_function_here(table, word_at(at));
	case SYMBOL:
		return is_symbol(table, word_at(at));
	case SYMBOLS:
		return are_symbols(table, at, size);
	case PARAMETER:
		return is_parameter(at, parameters);
	default:
		return true;
	}
}

static bool is_sound_value(const struct lk_symbol_table *table, unsigned number,
			   const unsigned char *at, unsigned size, struct parameters *parameters)
{
	return size >= attributes[number].least &&
	       (attributes[number].first == ANYTHING ||
		is_value(table, attributes[number].first, at, size, parameters));
}

/*
 * An attribute is a format, a number, and 16 bits: the value itself or, for format
 * SIZED, the number of value bytes that follow.  A cubin has more attributes than
 * anything else.  Returns NULL, or what is wrong with attribute *count.
 */
static const char *check_values(const struct lk_symbol_table *table, const unsigned char *at,
				uint64_t left, uint64_t *count, uint64_t *registers)
{
	struct parameters parameters = { 0, 0 };

	for (*count = 0; left; ++*count) {
		const uint32_t head = left >= 4 ? word_at(at) : 0;
		const unsigned format = head & 0xff, number = head >> 8 & 0xff, size = head >> 16;

		if (format < LK_FORMAT_FIRST || format > LK_FORMAT_SIZED)
			return "its format";
		at += 4;
		left -= 4;
		if (format != LK_FORMAT_SIZED)
			continue;
		if (size > left)
			return "its size";
		if (!is_sound_value(table, number, at, size, &parameters))
			return "its value";
		*registers += number == REGISTER_COUNT;
		at += size;
		left -= size;
	}
	return !parameters.count || parameters.largest < parameters.count ? NULL :
		"a parameter's number";
}

const char *lk_cubin_attributes(const struct lk_device_elf *elf,
				const struct lk_symbol_table *table,
				const lk_elf_section *section, const unsigned char *at,
				const char *name, uint64_t *registers)
{
	uint64_t count;
	const char *why = check_values(table, at, section->sh_size, &count, registers);

	return why ? lk_device_elf_damage(elf, "attribute", count, name, why) : NULL;
}
