/* SPDX-License-Identifier: MIT */
/*
 * printable.h - text from outside, fit for a message
 *
 * A file name may hold anything but a slash and a NUL: what a terminal obeys,
 * what breaks a line in two, and what is no text at all.
 */
#ifndef PRINTABLE_H
#define PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The length of the UTF-8 character that begins here, and which one it is; 0 if
 * none does. */
size_t lc_character(const char *text, uint32_t *which);

/* Whether a character is shown and does nothing else: control characters, line
 * separators, and what turns the direction of writing are not. */
bool lc_is_shown(uint32_t character);

/* Puts '?' in place of every other character, and of bytes that are none. */
void lc_make_printable(char *text);

#endif
