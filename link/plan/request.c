/* SPDX-License-Identifier: MIT */
/* request.c - whether the request makes sense */
#include <string.h>

#include "../tables/options.h"
#include "planning.h"
#include "../tables/sized.h"
#include "../tables/versions.h"


static bool bad(struct lk_refusal *refusal, const char *message)
{
	return lk_refuse(refusal, LAZYCUDA_CODE_BAD_REQUEST, LAZYCUDA_NO_INDEX, NULL, NULL,
			 message);
}

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

static bool refuse_arch(const struct lk_planning *planning, const char *arch,
			struct lk_refusal *refusal)
{
	const struct lk_arch *target = &planning->target;
	const char *have = lc_printable(planning->arena, arch), *real;

	if (!*arch)
		return lk_refuse(refusal, LAZYCUDA_CODE_BAD_ARCH, LAZYCUDA_NO_INDEX, NULL,
				 "an architecture such as sm_90",
				 "the request names no architecture to link for, such as sm_90");
	if (!strcmp(arch, LK_NATIVE_ARCH))
		return lk_refuse(refusal, LAZYCUDA_CODE_BAD_ARCH, LAZYCUDA_NO_INDEX, have,
				 "an architecture such as sm_90", "native is the architecture of the GPU here, and the"
				 " plan is for a given environment; name one, such as"
				 " sm_90 or " LK_FROM_INPUTS ":sm_90");
	if (!target->sm)
		return lk_refuse(refusal, LAZYCUDA_CODE_BAD_ARCH, LAZYCUDA_NO_INDEX, have,
				 "an architecture such as sm_90",
				 lc_format(planning->arena, "%s is not an architecture; sm_90 is one,"
					   " and so is sm_90a", have));
	if (!is_known(planning))
		return lk_refuse(refusal, LAZYCUDA_CODE_BAD_ARCH, LAZYCUDA_NO_INDEX, have,
				 "an architecture that exists",
				 lc_format(planning->arena, "nothing here knows an architecture %s;"
					   " it may be misspelt", have));
	real = lc_format(planning->arena, "sm_%d%.1s", target->sm, &target->suffix);
	return lk_refuse(refusal, LAZYCUDA_CODE_BAD_ARCH, LAZYCUDA_NO_INDEX, have, real,
			 lc_format(planning->arena, "%s is an architecture for PTX output alone; an"
				   " image is for %s", have, real));
}

static bool check_arch(struct lk_planning *planning, struct lk_refusal *refusal)
{
	const char *arch = planning->request.arch ? planning->request.arch : "";

	if (lk_arch_parse(arch, &planning->target) && is_known(planning) &&
	    (!planning->target.virtual || planning->request.output == LAZYCUDA_OUTPUT_PTX))
		return true;
	return refuse_arch(planning, arch, refusal);
}

/* ---- options ---- */

/* Checks options for any backend.  An option that some versions lack is judged once
 * the linker is known. */
static bool known_options(struct lk_planning *planning, struct lk_refusal *refusal)
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
		return lk_refuse(refusal, LAZYCUDA_CODE_BAD_OPTION, LAZYCUDA_NO_INDEX, option, NULL,
				 lc_format(planning->arena, "option %s: %s", option, verdict.why));
	}
	for (size_t i = 0; i < request->compile_option_count; i++) {
		const char *option;

		if (!lk_compile_option_is_ours(request->compile_options[i]))
			continue;
		option = lc_printable(planning->arena, request->compile_options[i]);
		return lk_refuse(refusal, LAZYCUDA_CODE_BAD_OPTION, LAZYCUDA_NO_INDEX, option, NULL,
				 lc_format(planning->arena, "compile option %s: the plan sets it"
					   " itself, from arch and lto; leave it out", option));
	}
	return true;
}

/* ---- support modules ---- */

static bool check_support(struct lk_planning *planning, struct lk_refusal *refusal)
{
	const struct lazycuda_request *request = &planning->request;
	struct lazycuda_support support;
	const char *lacks;

	if (request->support_count > LK_MAX_SUPPORT)
		return bad(refusal, lc_format(planning->arena, "%zu support modules are more than"
					      " %d",
					      request->support_count, LK_MAX_SUPPORT));
	if (request->support_count && !request->support)
		return bad(refusal, "support modules are counted and not given");
	for (size_t i = 0; i < request->support_count; i++) {
		if (!lk_sized_copy(&support, sizeof(support), request->support[i]))
			return bad(refusal, lc_format(planning->arena, "support module %zu "
						      LK_NO_STRUCT, i));
		if (!support.enabled)
			continue;
		lacks = !support.input ? "has no input" :
			!lk_texts_are_there(support.functions, support.function_count) ?
			"lacks a function's name" : NULL;
		if (lacks)
			return bad(refusal, lc_format(planning->arena,
						      "support module %zu (%s) %s", i,
						      support.name ? support.name : "", lacks));
	}
	return true;
}

/* ---- all of it ---- */

static bool parse_constraint(struct lk_planning *planning, struct lk_refusal *refusal)
{
	const char *constraint = planning->request.constraint, *wrong;

	if (!constraint || lc_constraint_holds(constraint, LC_CUDA(12, 0), &wrong) >= 0)
		return true;
	return lk_refuse(refusal, LAZYCUDA_CODE_BAD_REQUEST, LAZYCUDA_NO_INDEX,
			 lc_printable(planning->arena, constraint), "such as >=13.2,<14",
			 lc_format(planning->arena, "the constraint %s makes no sense from \"%s\""
				   " on; >=13.2,<14 is one",
				   lc_printable(planning->arena, constraint),
				   lc_printable(planning->arena, wrong)));
}

static bool check_numbers(struct lk_planning *planning, struct lk_refusal *refusal)
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
		return bad(refusal, lc_format(planning->arena, "there is no policy %d",
					      (int)request->policy));
	if ((unsigned)request->output > LAZYCUDA_OUTPUT_LTOIR)
		return bad(refusal, lc_format(planning->arena, "there is no output %d",
					      (int)request->output));
	if (request->flags & LAZYCUDA_LINK_IGNORE_TILE && request->flags & LAZYCUDA_LINK_TILE_ONLY)
		return bad(refusal, "Tile IR is both to be left out and all that is asked for");
	if (request->flags & ~flags)
		return bad(refusal, lc_format(planning->arena, "the request has flags that do not"
					      " exist, %#x", request->flags & ~flags));
	if (!lk_is_version(environment->driver) || !lk_is_version(environment->nvjitlink) ||
	    !lk_is_version(environment->nvrtc) || environment->branch < 0)
		return bad(refusal, "the environment has a number that is not a version: 12.9 is 12090");
	if ((request->time_limit || request->memory_limit) &&
	    !(request->flags & LAZYCUDA_LINK_ISOLATED))
		return bad(refusal, "limits of time and memory are those of an isolated link");
	if (!lk_texts_are_there(request->options, request->option_count) ||
	    !lk_texts_are_there(request->compile_options, request->compile_option_count) ||
	    !lk_texts_are_there(request->symbols, request->symbol_count))
		return bad(refusal, "a list of the request has no text where it should have one");
	return true;
}

static bool check_others(const struct lazycuda_request *request, struct lk_refusal *refusal)
{
	struct lazycuda_others others;

	if (!request->others)
		return true;
	if (!lk_sized_copy(&others, sizeof(others), request->others))
		return bad(refusal, "what else may be used " LK_NO_STRUCT);
	if ((others.nvjitlink_count && !others.nvjitlinks) || (others.nvrtc_count && !others.nvrtcs) ||
	    (others.nvvm_count && !others.nvvms) || (others.tileiras_count && !others.tileirases))
		return bad(refusal, "what else may be used is counted and not given");
	return true;
}

bool lk_plan_request(struct lk_planning *planning, const struct lazycuda_environment *environment,
		     const struct lazycuda_request *request, struct lk_refusal *refusal)
{
	if (!lk_sized_copy(&planning->environment, sizeof(planning->environment), environment))
		return bad(refusal, "the environment " LK_NO_STRUCT);
	if (!lk_sized_copy(&planning->request, sizeof(planning->request), request))
		return bad(refusal, "the request " LK_NO_STRUCT);
	/* The branch tells the version if the driver itself did not. */
	if (planning->environment.driver == LAZYCUDA_VERSION_UNKNOWN &&
	    lk_cuda_of_branch(planning->environment.branch))
		planning->environment.driver = lk_cuda_of_branch(planning->environment.branch);
	return check_numbers(planning, refusal) && check_others(&planning->request, refusal) &&
	       check_arch(planning, refusal) &&
	       parse_constraint(planning, refusal) && known_options(planning, refusal) &&
	       lk_plan_settings(planning, refusal) && check_support(planning, refusal);
}
