/* SPDX-License-Identifier: MIT */
/* cubin_sound.h - whether a relocatable cubin can be linked without harm */
#ifndef LINK_CUBIN_SOUND_H
#define LINK_CUBIN_SOUND_H

#include "elf_device.h"

/*
 * Checks that the references between the sections of a relocatable cubin hold.
 * Returns NULL, or what is wrong as a phrase.  No version of nvJitLink checks them,
 * and a wrong one crashes it.  The symbols have to be loaded; `abi` is 7, 8 or, of a
 * cubin of which nothing is known, 0.
 */
const char *lk_cubin_sound(const struct lk_device_elf *elf, int abi);

#endif
