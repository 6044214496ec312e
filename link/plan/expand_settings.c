/* SPDX-License-Identifier: MIT */
/* expand_settings.c - the request's settings, as options of compiler and linker */
#include <string.h>

#include "../tables/setting_words.h"
#include "planning.h"

/* ---- whether they make sense ---- */

static bool bad_setting(struct lk_planning *planning, struct lk_refusal *refusal,
			const struct lazycuda_setting *setting, const char *why)
{
	const char *name = lk_setting_name(setting);

	if (!name)
		name = lc_format(planning->arena, "%d", (int)setting->kind);
	return lk_refuse(refusal, LAZYCUDA_CODE_BAD_OPTION, LAZYCUDA_NO_INDEX, name, NULL,
			 lc_format(planning->arena, "setting %s: %s", name, why));
}

static bool check_each(struct lk_planning *planning, struct lk_refusal *refusal)
{
	const struct lazycuda_request *request = &planning->request;

	if (request->setting_count && !request->settings)
		return lk_refuse(refusal, LAZYCUDA_CODE_BAD_REQUEST, LAZYCUDA_NO_INDEX, NULL, NULL,
				 "settings are counted and not given");
	for (size_t i = 0; i < request->setting_count; i++) {
		const struct lazycuda_setting *setting = &request->settings[i];
		const char *wrong = lk_setting_wrong(setting);

		for (size_t k = 0; k < i && !wrong; k++)
			if (request->settings[k].kind == setting->kind)
				wrong = "it is there twice";
		if (wrong)
			return bad_setting(planning, refusal, setting, wrong);
	}
	return true;
}

/* ---- as options ---- */

static bool is_among(const char *word, const char *const *options, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (lk_is_same_option(word, options[i]))
			return true;
	return false;
}

/* Appends a setting's options to the `count` that are there, except for those that another
 * setting has written: of fast math and ftz=0, ftz=0 wins. */
static size_t add_words(struct lk_planning *planning, const struct lazycuda_setting *setting,
			enum lk_tool tool, const char **options, size_t count)
{
	const char *words[LK_SETTING_WORDS];
	size_t more = lk_setting_words(planning->arena, setting, tool, words);

	for (size_t i = 0; i < more; i++)
		if (!is_among(words[i], options, count))
			options[count++] = words[i];
	return count;
}

size_t lk_most_setting_words(const struct lk_planning *planning)
{
	return planning->request.setting_count * LK_SETTING_WORDS;
}

/* Writes fast math first for nvrtc, which takes the last of two options, and last for others. */
size_t lk_write_settings(struct lk_planning *planning, enum lk_tool tool, const char **options)
{
	const struct lazycuda_request *request = &planning->request;
	size_t count = 0;

	for (int math_now = tool == LK_NVRTC, pass = 0; pass < 2; pass++, math_now = !math_now)
		for (size_t i = 0; i < request->setting_count; i++)
			if (math_now ==
			    (request->settings[i].kind == LAZYCUDA_SETTING_FAST_MATH))
				count = add_words(planning, &request->settings[i], tool, options,
						  count);
	return count;
}

static bool is_said(const struct lazycuda_request *request, enum lk_tool tool, const char *option)
{
	for (size_t i = 0; i < request->setting_count; i++)
		if (lk_setting_says(&request->settings[i], tool, option))
			return true;
	return false;
}

/* Puts the settings before the options that the request has for the tool. */
static bool join(struct lk_planning *planning, enum lk_tool tool, const char *const **options,
		 size_t *count, struct lk_refusal *refusal)
{
	const char **all = lc_alloc(planning->arena, (lk_most_setting_words(planning) + *count) *
				    sizeof(*all));
	size_t written;

	if (!all)
		return false;
	written = lk_write_settings(planning, tool, all);
	for (size_t i = 0; i < *count; i++) {
		const char *option = lc_printable(planning->arena, (*options)[i]);

		if (is_said(&planning->request, tool, (*options)[i]))
			return lk_refuse(refusal, LAZYCUDA_CODE_BAD_OPTION, LAZYCUDA_NO_INDEX,
					 option, NULL,
					 lc_format(planning->arena, "option %s: a setting of the"
						   " request says the same; leave one out",
						   option));
	}
	if (*count)	/* else there may be no array */
		memcpy(all + written, *options, *count * sizeof(*all));
	*options = all;
	*count += written;
	return true;
}

bool lk_plan_settings(struct lk_planning *planning, struct lk_refusal *refusal)
{
	struct lazycuda_request *request = &planning->request;

	if (!request->setting_count)
		return true;
	return check_each(planning, refusal) &&
	       join(planning, LK_NVJITLINK, &request->options, &request->option_count, refusal) &&
	       join(planning, LK_NVRTC, &request->compile_options, &request->compile_option_count,
		    refusal);
}

bool lk_compiler_has_settings(struct lk_planning *planning, const struct lk_item *item,
			      struct lk_refusal *refusal)
{
	const struct lazycuda_request *request = &planning->request;
	struct lc_arena *arena = planning->arena;
	int version = planning->environment.nvrtc;

	for (size_t i = 0; i < request->setting_count; i++) {
		int since = lk_setting_since(&request->settings[i]);
		const char *have, *need;

		if (version <= 0 || version >= since)
			continue;
		have = lc_format(arena, "nvrtc %s", lk_version(arena, version));
		need = lc_format(arena, "nvrtc %s or later", lk_version(arena, since));
		return lk_refuse(refusal, LAZYCUDA_CODE_OPTION_UNSUPPORTED, item->input, have, need,
				 lc_format(arena, "%s: %s does not have the setting %s; take %s",
					   item->name, have,
					   lk_setting_name(&request->settings[i]), need));
	}
	return true;
}
