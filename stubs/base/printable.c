/* SPDX-License-Identifier: MIT */
/* printable.c - makes text from outside fit for a message */
#include "printable.h"

/* For each length, the first byte of a character and the smallest character that
 * needs that many bytes: overlong forms are invalid. */
static const struct {
	unsigned char mask, first;
	uint32_t smallest;
} forms[] = {
	{ 0x80, 0x00, 0 }, { 0xe0, 0xc0, 0x80 }, { 0xf0, 0xe0, 0x800 }, { 0xf8, 0xf0, 0x10000 },
};

size_t lc_character(const char *text, uint32_t *which)
{
	const unsigned char *byte = (const unsigned char *)text;
	size_t last = 0;

	while (last < 4 && (*byte & forms[last].mask) != forms[last].first)
		last++;
	if (last == 4)
		return 0;
	*which = *byte & ~forms[last].mask & 0xff;
	for (size_t i = 1; i <= last; i++) {
		if ((byte[i] & 0xc0) != 0x80)
			return 0;
		*which = *which << 6 | (byte[i] & 0x3f);
	}
	if (*which < forms[last].smallest || *which > 0x10ffff ||
	    (*which >= 0xd800 && *which <= 0xdfff))
		return 0;
	return last + 1;
}

bool lc_is_shown(uint32_t character)
{
	return character >= 0x20 && (character < 0x7f || character > 0x9f) && character != 0x61c &&
	       (character & -2u) != 0x200e && (character < 0x2028 || character > 0x202e) &&
	       (character < 0x2066 || character > 0x2069);
}

void lc_make_printable(char *text)
{
	char *end;
	uint32_t character;

	while (*text >= ' ' && *text < 0x7f)	/* nearly all text is all plain */
		text++;
	end = text;
	while (*text) {
		size_t length = lc_character(text, &character);

		if (length && lc_is_shown(character)) {
			for (size_t i = 0; i < length; i++)
				*end++ = text[i];
		} else {
			*end++ = '?';
		}
		text += length ? length : 1;
	}
	*end = 0;
}
