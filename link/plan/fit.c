/* SPDX-License-Identifier: MIT */
/* fit.c - which of the nvJitLinks and nvrtcs that are installed fits a link */
#include "planning.h"
#include "../tables/sized.h"
#include "../tables/versions.h"

/* What a plan depends on, except for the versions. */
struct fit_question {
	struct lc_arena *arena;
	const struct lazycuda_request *request;
	const struct lazycuda_input *const *inputs;
	size_t count;
	bool remedy;
};

static struct lazycuda_plan *ask(const struct fit_question *question,
				 const struct lazycuda_environment *environment)
{
	struct lazycuda_plan *plan = lk_plan_with(question->arena, environment, question->request,
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

/* Tries an nvJitLink with every nvrtc, first with the one of its own version.  Returns the
 * best plan; NULL on allocation failure. */
static struct lazycuda_plan *try_compilers(const struct fit_question *question,
					   const struct lazycuda_environment *environment,
					   const struct lazycuda_others *others,
					   struct lazycuda_plan *best)
{
	const int first = environment->nvrtc;
	struct lazycuda_environment one = *environment;

	for (size_t i = 0; i <= others->nvrtc_count && !links_best(best); i++) {
		struct lazycuda_plan *plan;

		one.nvrtc = i ? others->nvrtcs[i - 1] : first;
		plan = ask(question, &one);
		if (!plan)
			return NULL;
		if (is_better(plan, best))
			best = plan;
	}
	return best;
}

/* The nvrtc to try first with an nvJitLink. */
static int own_compiler(int nvjitlink, int nvrtc, const struct lazycuda_others *others)
{
	for (size_t i = 0; i < others->nvrtc_count; i++)
		if (others->nvrtcs[i] == nvjitlink)
			return nvjitlink;
	return nvrtc;
}

/* Tries every nvJitLink with every nvrtc, until one fits.  Returns the best plan. */
static struct lazycuda_plan *try_others(const struct fit_question *question,
					const struct lazycuda_environment *environment,
					const struct lazycuda_others *others,
					struct lazycuda_plan *first)
{
	struct lazycuda_environment one = *environment;
	struct lazycuda_plan *best = first;

	for (size_t i = 0; best && i <= others->nvjitlink_count && !links_best(best); i++) {
		one.nvjitlink = i ? others->nvjitlinks[i - 1] : environment->nvjitlink;
		one.nvrtc = i ? own_compiler(one.nvjitlink, environment->nvrtc, others) :
				environment->nvrtc;
		best = try_compilers(question, &one, others, best);
	}
	if (!best || question->arena->failed)
		return NULL;
	if (best->compile_to == LAZYCUDA_KIND_UNKNOWN)
		best->nvrtc = first->nvrtc;	/* nothing is compiled */
	if (best != first)
		best->choice = why(question->arena, best, first);
	return best;
}

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
	struct fit_question question = { arena, request, inputs, count, false };
	struct lazycuda_environment environment;
	struct lazycuda_request asked;
	struct lazycuda_others others;
	struct lazycuda_plan *plan;

	if (!lk_sized_copy(&environment, sizeof(environment), given) ||
	    !lk_sized_copy(&asked, sizeof(asked), request))
		return lk_plan_with(arena, given, request, inputs, count, false);
	environment.size = sizeof(environment);
	lk_sized_copy(&others, sizeof(others), asked.others);
	take_first(&environment.nvjitlink, &others.nvjitlinks, &others.nvjitlink_count);
	take_first(&environment.nvrtc, &others.nvrtcs, &others.nvrtc_count);
	plan = ask(&question, &environment);
	if (plan && !links_best(plan))
		plan = try_others(&question, &environment, &others, plan);
	if (!plan || plan->code == LAZYCUDA_CODE_OK)
		return plan;
	question.remedy = true;		/* it is the refusal of the first plan */
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
