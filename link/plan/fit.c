/* SPDX-License-Identifier: MIT */
/* fit.c - which of the nvJitLinks and nvrtcs that are installed fits a link */
#include <string.h>

#include "planning.h"
#include "../tables/sized.h"
#include "../tables/versions.h"

/* What a plan depends on, except for the versions. */
struct fit_question {
	struct lc_arena *arena;
	struct lazycuda_request request;
	const struct lazycuda_input *const *inputs;
	size_t count;
	enum lk_remedy remedy;
};

static struct lazycuda_plan *ask(const struct fit_question *question,
				 const struct lazycuda_environment *environment)
{
	struct lazycuda_plan *plan = lk_plan_with(question->arena, environment, &question->request,
						  question->inputs, question->count,
						  question->remedy);

	if (plan) {
		plan->nvjitlink = environment->nvjitlink;
		plan->nvrtc = environment->nvrtc;
	}
	return plan;
}

/* A plan on which no other versions can improve. */
static bool links_best(const struct lazycuda_plan *plan)
{
	return plan->code == LAZYCUDA_CODE_OK && plan->backend == LAZYCUDA_BACKEND_NVJITLINK;
}

static bool is_better(const struct lazycuda_plan *plan, const struct lazycuda_plan *than)
{
	return links_best(plan) ? !links_best(than) :
			    plan->code == LAZYCUDA_CODE_OK && than->code != LAZYCUDA_CODE_OK;
}

/* "nvJitLink 12.9, not 13.0: k.ltoir: ..." */
static const char *why(struct lc_arena *arena, const struct lazycuda_plan *taken,
		       const struct lazycuda_plan *first)
{
	const bool linker = taken->nvjitlink != first->nvjitlink;
	const bool compiler = taken->nvrtc != first->nvrtc;

	return lc_format(arena, "%s%s%s%s%s, not %s: %s",
			 linker ? "nvJitLink " : "",
			 linker ? lk_version(arena, taken->nvjitlink) : "",
			 linker && compiler ? " and " : "", compiler ? "nvrtc " : "",
			 compiler ? lk_version(arena, taken->nvrtc) : "",
			 lk_version(arena, linker ? first->nvjitlink : first->nvrtc),
			 first->message);
}

/* The nvrtc to try first with an nvJitLink: the one of its own version. */
static int own_compiler(int nvjitlink, int nvrtc, const struct lazycuda_others *others)
{
	for (size_t i = 0; i < others->nvrtc_count; i++)
		if (others->nvrtcs[i] == nvjitlink)
			return nvjitlink;
	return nvrtc;
}

/* The best plan for one target: tries every nvJitLink with every nvrtc, first those of the environment,
 * until one fits.  NULL on allocation failure. */
static struct lazycuda_plan *best_plan(const struct fit_question *question,
				       const struct lazycuda_environment *environment,
				       const struct lazycuda_others *others)
{
	struct lazycuda_environment one = *environment;
	struct lazycuda_plan *first = ask(question, environment), *best = first;

	for (size_t i = 0; best && i <= others->nvjitlink_count; i++) {
		one.nvjitlink = i ? others->nvjitlinks[i - 1] : environment->nvjitlink;
		for (size_t k = i ? 0 : 1; best && !links_best(best) && k <= others->nvrtc_count; k++) {
			struct lazycuda_plan *plan;

			one.nvrtc = k ? others->nvrtcs[k - 1] :
				    own_compiler(one.nvjitlink, environment->nvrtc, others);
			plan = ask(question, &one);
			if (!plan || is_better(plan, best))
				best = plan;
		}
	}
	if (!best || question->arena->failed)
		return NULL;
	if (best->compile_to == LAZYCUDA_KIND_UNKNOWN)
		best->nvrtc = first->nvrtc;	/* nothing is compiled */
	if (best != first)
		best->choice = why(question->arena, best, first);
	return best;
}

/* ---- the target ---- */

const char *lk_arch_from_inputs(const char *arch)
{
	const size_t length = sizeof(LK_FROM_INPUTS) - 1;

	if (!arch || strncmp(arch, LK_FROM_INPUTS, length))
		return NULL;
	arch += length;
	return !*arch ? LK_NATIVE_ARCH : *arch == ':' ? arch + 1 : NULL;
}

/* Where a GPU's own target is refused, tries those that are for its family and for it alone.  The
 * question is left with the target whose plan is returned: of refusals the one that comes last. */
static struct lazycuda_plan *try_targets(struct fit_question *question,
					 const struct lazycuda_environment *environment,
					 const struct lazycuda_others *others,
					 struct lazycuda_plan *best)
{
	const char *gpu = question->request.arch, *taken = gpu, *needs = best->have;
	const bool refused = best->input != LAZYCUDA_NO_INDEX;

	for (const char *suffix = "fa"; refused && *suffix && best->code; suffix++) {
		struct lazycuda_plan *plan;

		question->request.arch = lc_format(question->arena, "%s%c", gpu, *suffix);
		plan = best_plan(question, environment, others);
		if (!plan)
			return NULL;
		if (plan->code && (plan->input == LAZYCUDA_NO_INDEX || plan->input <= best->input))
			continue;
		best = plan;
		taken = question->request.arch;
	}
	question->request.arch = taken;
	if (taken != gpu && !best->code)
		lk_plan_note(question->arena, best, lc_format(question->arena, "the target is %s, not %s, for"
							      " the sake of %s", taken, gpu, needs));
	return question->arena->failed ? NULL : best;
}

/* ---- all of it ---- */

/* If the stub found none, the first of the others counts as the installed one. */
static void take_first(int *version, const int **others, size_t *count)
{
	if (!*others)
		*count = 0;
	if (*version != LAZYCUDA_VERSION_NONE || !*count)
		return;
	*version = *(*others)++;
	--*count;
}

struct lazycuda_plan *lk_plan(struct lc_arena *arena, const struct lazycuda_environment *given,
			      const struct lazycuda_request *request,
			      const struct lazycuda_input *const *inputs, size_t count)
{
	struct fit_question question = { .arena = arena, .inputs = inputs, .count = count };
	struct lazycuda_environment environment;
	struct lazycuda_others others;
	struct lazycuda_plan *plan;
	const char *gpu;

	if (!lk_sized_copy(&environment, sizeof(environment), given) ||
	    !lk_sized_copy(&question.request, sizeof(question.request), request))
		return lk_plan_with(arena, given, request, inputs, count, LK_NO_REMEDY);
	environment.size = sizeof(environment);
	lk_sized_copy(&others, sizeof(others), question.request.others);
	take_first(&environment.nvjitlink, &others.nvjitlinks, &others.nvjitlink_count);
	take_first(&environment.nvrtc, &others.nvrtcs, &others.nvrtc_count);
	gpu = lk_arch_from_inputs(question.request.arch);
	if (gpu)
		question.request.arch = gpu;
	plan = best_plan(&question, &environment, &others);
	if (plan && gpu)
		plan = try_targets(&question, &environment, &others, plan);
	if (!plan || plan->code == LAZYCUDA_CODE_OK)
		return plan;
	/* It is the refusal of the first plan. */
	question.remedy = gpu ? LK_REMEDY_FOR_GPU : LK_REMEDY_FOR_TARGET;
	return ask(&question, &environment);
}

/* ---- for callers ---- */

struct lazycuda_plan *lazycuda_plan(const struct lazycuda_environment *environment,
				    const struct lazycuda_request *request,
				    const struct lazycuda_input *const *inputs,
				    size_t input_count)
{
	struct lc_arena *arena = lc_arena_new();
	struct lazycuda_plan *plan = arena ?
		lk_plan(arena, environment, request, inputs, input_count) : NULL;

	if (!plan)
		lc_arena_free(arena);
	return plan;
}
