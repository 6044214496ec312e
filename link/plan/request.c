/* SPDX-License-Identifier: MIT */
/* request.c - whether the request makes sense; its settings, as options of compiler and linker */
#include <string.h>

#include "../../stubs/base/count.h"
#include "planning.h"
#include "../tables/options.h"
#include "../tables/setting_words.h"
#include "../tables/sized.h"
#include "../tables/versions.h"

/* ---- the target ---- */

/* A target newer than the table counts as known if there is a linker newer than the
 * table. */
static bool is_known(const struct lk_planning *planning)
{
	const struct lazycuda_environment *environment = &planning->environment;
	const struct lk_arch *target = &planning->target;
	int known = lk_arch_known(target);

	if (known)
		return known > 0;
	return (environment->nvjitlink > 0 &&
		lk_arch_supported(target, LK_NVJITLINK, environment->nvjitlink)) ||
	       (environment->driver > 0 &&
		lk_arch_supported(target, LK_DRIVER, environment->driver));
}

static bool refuse_arch(struct lk_planning *planning, const char *arch)
{
	const struct lk_arch *target = &planning->target;
	const char *have = *arch ? lc_printable(planning->arena, arch) : NULL;
	const char *need = "an architecture such as sm_90", *why;

	if (!*arch) {
		why = "the request names no architecture to link for, such as sm_90";
	} else if (!strcmp(arch, LK_NATIVE_ARCH)) {
		why = "native is the architecture of the GPU here, and the plan is for a given"
		      " environment; name one, such as sm_90 or " LK_FROM_INPUTS ":sm_90";
	} else if (!target->sm) {
		why = lc_format(planning->arena, "%s is not an architecture; sm_90 is one, and so is sm_90a",
				have);
	} else if (!is_known(planning)) {
		need = "an architecture that exists";
		why = lc_format(planning->arena, "nothing here knows an architecture %s; it may be misspelt",
				have);
	} else {
		need = lk_arch(planning->arena, target->sm, target->suffix);
		why = lc_format(planning->arena, "%s is an architecture for PTX output alone; an image is"
				" for %s", have, need);
	}
	return lk_refuse(planning, LAZYCUDA_CODE_BAD_ARCH, NULL, have, need, "%s", why);
}

static bool check_arch(struct lk_planning *planning)
{
	const char *arch = planning->request.arch ? planning->request.arch : "";

	return (lk_arch_parse(arch, &planning->target) && is_known(planning) &&
		(!planning->target.virtual || planning->request.output == LAZYCUDA_OUTPUT_PTX)) ||
	       refuse_arch(planning, arch);
}

/* ---- options ---- */

/* Whether the plan sets a compile option itself. */
static bool is_ours(const char *option)
{
	static const char *const ours[] = {
		"-arch", "--gpu-architecture", "-dlto", "--dlink-time-opt", "-rdc",
		"--relocatable-device-code", "-optix-ir", "--optix-ir",
	};

	for (size_t i = 0; i < LC_COUNT(ours); i++) {
		size_t length = strlen(ours[i]);

		if (!strncmp(option, ours[i], length) &&
		    (!option[length] || option[length] == '='))
			return true;
	}
	return false;
}

/* Checks options for any backend.  An option that some versions lack is judged once
 * the linker is known. */
static bool known_options(struct lk_planning *planning)
{
	const struct lazycuda_request *request = &planning->request;

	for (size_t i = 0; i < request->option_count; i++) {
		struct lk_option_verdict verdict =
			lk_option_judge(request->options[i], LAZYCUDA_BACKEND_NVJITLINK,
					LAZYCUDA_VERSION_UNKNOWN);
		const char *option;

		if (verdict.fate != LK_OPTION_RESERVED && verdict.fate != LK_OPTION_UNKNOWN &&
		    verdict.fate != LK_OPTION_MALFORMED)
			continue;
		option = lc_printable(planning->arena, request->options[i]);
		return lk_refuse(planning, LAZYCUDA_CODE_BAD_OPTION, NULL, option, NULL,
				 "option %s: %s", option, verdict.why);
	}
	for (size_t i = 0; i < request->compile_option_count; i++) {
		const char *option = request->compile_options[i];

		if (!is_ours(option))
			continue;
		option = lc_printable(planning->arena, option);
		return lk_refuse(planning, LAZYCUDA_CODE_BAD_OPTION, NULL, option, NULL,
				 "compile option %s: the plan sets it itself, from arch and lto; leave it"
				 " out", option);
	}
	return true;
}

/* ---- settings ---- */

static bool check_settings(struct lk_planning *planning)
{
	const struct lazycuda_request *request = &planning->request;

	if (request->setting_count && !request->settings)
		return lk_refuse(planning, LAZYCUDA_CODE_BAD_REQUEST, NULL, NULL, NULL,
				 "settings are counted and not given");
	for (size_t i = 0; i < request->setting_count; i++) {
		const struct lazycuda_setting *setting = &request->settings[i];
		const char *wrong = lk_setting_wrong(setting), *name = lk_setting_name(setting);

		for (size_t k = 0; k < i && !wrong; k++)
			if (request->settings[k].kind == setting->kind)
				wrong = "it is there twice";
		if (!name)
			name = lc_format(planning->arena, "%d", (int)setting->kind);
		if (wrong)
			return lk_refuse(planning, LAZYCUDA_CODE_BAD_OPTION, NULL, name, NULL,
					 "setting %s: %s", name, wrong);
	}
	return true;
}

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
		 size_t *count)
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
			return lk_refuse(planning, LAZYCUDA_CODE_BAD_OPTION, NULL, option, NULL,
					 "option %s: a setting of the request says the same; leave one out",
					 option);
	}
	if (*count)	/* else there may be no array */
		memcpy(all + written, *options, *count * sizeof(*all));
	*options = all;
	*count += written;
	return true;
}

/* Checks the settings, and puts them before the options of the request, which is a copy. */
static bool expand_settings(struct lk_planning *planning)
{
	struct lazycuda_request *request = &planning->request;

	return !request->setting_count ||
	       (check_settings(planning) &&
		join(planning, LK_NVJITLINK, &request->options, &request->option_count) &&
		join(planning, LK_NVRTC, &request->compile_options, &request->compile_option_count));
}

bool lk_compiler_has_settings(struct lk_planning *planning, const struct lk_item *item)
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
		return lk_refuse(planning, LAZYCUDA_CODE_OPTION_UNSUPPORTED, item, have, need,
				 "%s does not have the setting %s; take %s", have,
				 lk_setting_name(&request->settings[i]), need);
	}
	return true;
}
/* ---- support modules ---- */

/* Refuses a request that makes no sense, for a reason in a format and what follows it. */
#define BAD(...) \
	lk_refuse(planning, LAZYCUDA_CODE_BAD_REQUEST, NULL, NULL, NULL, __VA_ARGS__)

static bool check_support(struct lk_planning *planning)
{
	const struct lazycuda_request *request = &planning->request;
	struct lazycuda_support support;

	if (request->support_count > LK_MAX_SUPPORT)
		return BAD("%zu support modules are more than %d", request->support_count,
			   LK_MAX_SUPPORT);
	if (request->support_count && !request->support)
		return BAD("support modules are counted and not given");
	for (size_t i = 0; i < request->support_count; i++) {
		if (!lk_sized_copy(&support, sizeof(support), request->support[i]))
			return BAD("support module %zu " LK_NO_STRUCT, i);
		if (support.enabled && !support.input)
			return BAD("support module %zu (%s) has no input", i,
				   support.name ? support.name : "");
		if (support.enabled && !lk_texts_are_there(support.functions, support.function_count))
			return BAD("support module %zu (%s) lacks a function's name", i,
				   support.name ? support.name : "");
	}
	return true;
}

/* ---- all of it ---- */

static bool check_constraint_text(struct lk_planning *planning)
{
	const char *constraint = planning->request.constraint, *wrong;

	if (!constraint || lc_constraint_holds(constraint, LC_CUDA(12, 0), &wrong) >= 0)
		return true;
	constraint = lc_printable(planning->arena, constraint);
	return lk_refuse(planning, LAZYCUDA_CODE_BAD_REQUEST, NULL, constraint,
			 "such as >=13.2,<14",
			 "the constraint %s makes no sense from \"%s\" on; >=13.2,<14 is one", constraint,
			 lc_printable(planning->arena, wrong));
}

static bool check_numbers(struct lk_planning *planning)
{
	const struct lazycuda_request *request = &planning->request;
	const struct lazycuda_environment *environment = &planning->environment;
	const unsigned flags = LAZYCUDA_LINK_LTO_ACROSS_MAJORS | LAZYCUDA_LINK_OFFLINE |
			       LAZYCUDA_LINK_FORWARD_COMPATIBLE |
			       LAZYCUDA_LINK_NO_SUPPORT | LAZYCUDA_LINK_IGNORE_NON_LTO |
			       LAZYCUDA_LINK_IGNORE_TILE | LAZYCUDA_LINK_TILE_ONLY |
			       LAZYCUDA_LINK_ISOLATED;
	size_t count;

	if (!lk_policy_rules(request->policy, &count))
		return BAD("there is no policy %d", (int)request->policy);
	if ((unsigned)request->output > LAZYCUDA_OUTPUT_LTOIR)
		return BAD("there is no output %d", (int)request->output);
	if (request->flags & LAZYCUDA_LINK_IGNORE_TILE && request->flags & LAZYCUDA_LINK_TILE_ONLY)
		return BAD("it has both IGNORE_TILE and TILE_ONLY: leave one out");
	if (request->flags & ~flags)
		return BAD("the request has flags that do not exist, %#x", request->flags & ~flags);
	if (!lk_is_version(environment->driver) || !lk_is_version(environment->nvjitlink) ||
	    !lk_is_version(environment->nvrtc) || environment->branch < 0)
		return BAD("the environment has a number that is not a version: 12.9 is 12090");
	if ((request->time_limit || request->memory_limit) &&
	    !(request->flags & LAZYCUDA_LINK_ISOLATED))
		return BAD("limits of time and memory are those of an isolated link");
	if (!lk_texts_are_there(request->options, request->option_count) ||
	    !lk_texts_are_there(request->compile_options, request->compile_option_count) ||
	    !lk_texts_are_there(request->symbols, request->symbol_count))
		return BAD("a list of the request has no text where it should have one");
	return true;
}

static bool check_others(struct lk_planning *planning)
{
	struct lazycuda_others others;

	if (!planning->request.others)
		return true;
	if (!lk_sized_copy(&others, sizeof(others), planning->request.others))
		return BAD("what else may be used " LK_NO_STRUCT);
	if ((others.nvjitlink_count && !others.nvjitlinks) || (others.nvrtc_count && !others.nvrtcs) ||
	    (others.nvvm_count && !others.nvvms) || (others.tileiras_count && !others.tileirases))
		return BAD("what else may be used is counted and not given");
	return true;
}

bool lk_plan_request(struct lk_planning *planning, const struct lazycuda_environment *environment,
		     const struct lazycuda_request *request)
{
	if (!lk_sized_copy(&planning->environment, sizeof(planning->environment), environment))
		return BAD("the environment " LK_NO_STRUCT);
	if (!lk_sized_copy(&planning->request, sizeof(planning->request), request))
		return BAD("the request " LK_NO_STRUCT);
	/* The branch tells the version if the driver itself did not. */
	if (planning->environment.driver == LAZYCUDA_VERSION_UNKNOWN &&
	    lk_cuda_of_branch(planning->environment.branch))
		planning->environment.driver = lk_cuda_of_branch(planning->environment.branch);
	return check_numbers(planning) && check_others(planning) &&
	       check_arch(planning) && check_constraint_text(planning) &&
	       known_options(planning) && expand_settings(planning) &&
	       check_support(planning);
}
