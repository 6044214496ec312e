/* SPDX-License-Identifier: MIT */
/* setting_words.h - what is said once, in the words of compiler and linker */
#ifndef LINK_SETTING_WORDS_H
#define LINK_SETTING_WORDS_H

#include "../../include/lazycuda_link.h"
#include "../../stubs/base/arena.h"
#include "arch.h"

#define LK_SETTING_WORDS 4	/* the most that one setting is to a tool */

/* NULL, or why it makes no sense: there is no such setting, or its value is none. */
const char *lk_setting_wrong(const struct lazycuda_setting *setting);

/* Reads "NAME" or "NAME=VALUE".  Returns NULL, or why that is no setting. */
const char *lk_setting_read(const char *text, struct lazycuda_setting *setting);

/* "max-registers"; NULL if there is no such setting. */
const char *lk_setting_name(const struct lazycuda_setting *setting);

/* Of a setting that makes sense: fills `words` with the options of nvrtc, nvJitLink or libnvvm,
 * and returns how many there are. */
size_t lk_setting_words(struct lc_arena *arena, const struct lazycuda_setting *setting,
			enum lk_tool tool, const char *words[LK_SETTING_WORDS]);

/* Of one that makes sense: the first nvrtc that has it; 0: all have, or it is nothing to a compiler. */
int lk_setting_since(const struct lazycuda_setting *setting);

/* Whether two options are one, with the same value or another. */
bool lk_is_same_option(const char *option, const char *other);

/* Of one that makes sense: whether an option of the request for this tool says the same as
 * the setting or a part of it, in whatever spelling and with whatever value. */
bool lk_setting_says(const struct lazycuda_setting *setting, enum lk_tool tool,
		     const char *option);

#endif
