/* SPDX-License-Identifier: MIT */
/*
 * printable.h - makes text from outside fit for a message
 *
 * A file name may hold anything but a slash and a NUL: control sequences that a
 * terminal obeys, line breaks, and bytes that are not text at all.
 */
#ifndef PRINTABLE_H
#define PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The length of the UTF-8 character that begins here, with its code point in
 * *which; 0 if no valid character begins here. */
size_t lc_character(const char *text, uint32_t *which);

/* Returns true if a character is shown and does nothing else; false for control
 * characters, line separators and controls of the writing direction. */
bool lc_is_shown(uint32_t character);

/* Puts '?' in place of every character that lc_is_shown() rejects, and of every
 * byte that belongs to no valid character. */
void lc_make_printable(char *text);

#endif
