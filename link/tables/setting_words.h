/* SPDX-License-Identifier: MIT */
/* setting_words.h - a setting as options of nvrtc, nvJitLink and libnvvm */
#ifndef LINK_SETTING_WORDS_H
#define LINK_SETTING_WORDS_H

#include "../../include/lazycuda_link.h"
#include "../../stubs/base/arena.h"
#include "arch.h"

#define LK_SETTING_WORDS 4	/* the most options of one tool for one setting */

/* NULL, or why a setting is not valid: its kind does not exist, or its value is not allowed. */
const char *lk_setting_wrong(const struct lazycuda_setting *setting);

/* Reads "NAME" or "NAME=VALUE".  Returns NULL, or why that is not a valid setting. */
const char *lk_setting_read(const char *text, struct lazycuda_setting *setting);

/* "max-registers"; NULL if there is no such setting. */
const char *lk_setting_name(const struct lazycuda_setting *setting);

/* Fills `words` with the options of nvrtc, nvJitLink or libnvvm for a valid setting, and returns
 * how many there are. */
size_t lk_setting_words(struct lc_arena *arena, const struct lazycuda_setting *setting,
			enum lk_tool tool, const char *words[LK_SETTING_WORDS]);

/* The first nvrtc that has a valid setting; 0 if all have it, or if nvrtc has no option for it. */
int lk_setting_since(const struct lazycuda_setting *setting);

/* Whether two options have one name, whatever their values. */
bool lk_is_same_option(const char *option, const char *other);

/* Whether an option of the request for this tool says the same as a valid setting or a part of
 * it, in any spelling and with any value. */
bool lk_setting_says(const struct lazycuda_setting *setting, enum lk_tool tool,
		     const char *option);

#endif
