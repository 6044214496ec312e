/* SPDX-License-Identifier: MIT */
/* cubin_sound.h - whether a relocatable cubin can be linked without harm */
#ifndef LINK_CUBIN_SOUND_H
#define LINK_CUBIN_SOUND_H

#include "elf_device.h"

/*
 * Whether all that the sections of a relocatable cubin say of each other is so:
 * NULL, or what is not, as a phrase.  No version of nvJitLink looks, and what is
 * wrong here crashes it.  The symbols have to be loaded.
 */
const char *lk_cubin_sound(const struct lk_device_elf *elf);

#endif
