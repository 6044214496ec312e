/* SPDX-License-Identifier: MIT */
/* cubin_rules.h - what a relocatable cubin keeps to, or nvJitLink crashes on it */
#ifndef LINK_CUBIN_RULES_H
#define LINK_CUBIN_RULES_H

#include "elf_device.h"

/* Formats of the records in .nv.info and .nv.compat.  After a SIZED one, as many bytes
 * follow as its value says. */
enum { LK_FORMAT_FIRST = 1, LK_FORMAT_SIZED = 4 };

/*
 * Checks that the references between the sections of a relocatable cubin hold.
 * Returns NULL, or what is wrong as a phrase.  No version of nvJitLink checks them,
 * and a wrong one crashes it.  The symbols have to be loaded; `abi` is 7, 8 or, of a
 * cubin of which nothing is known, 0.
 */
const char *lk_cubin_sound(const struct lk_device_elf *elf, int abi);

/*
 * Checks that a cubin that is sound is also laid out as every compiler of its toolkit lays
 * it out.  Returns NULL, or what is wrong; NULL for a toolkit that is newer than those that
 * were looked at.
 */
const char *lk_cubin_usual(const struct lk_device_elf *elf, int abi, int toolkit);

#endif
