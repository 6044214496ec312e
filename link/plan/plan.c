/* SPDX-License-Identifier: MIT */
/* plan.c - which linker takes which part of which input, or why none does */
#include <string.h>

#include "planning.h"
#include "../tables/sized.h"
#include "../tables/text.h"
#include "../tables/versions.h"

/* The plan that a caller gets, and the arena that holds it and all it points to. */
struct planned {
	struct lazycuda_plan plan;
	struct lc_arena *arena;
};

/* ---- who links ---- */

/* The rule, if it does not depend on what the driver's linker takes of the items;
 * else NULL. */
static const struct lk_rule *rule_without_driver(enum lazycuda_policy policy,
						 struct lk_situation situation)
{
	const struct lk_rule *yes, *no;

	situation.accepts = true;
	yes = lk_policy_decide(policy, &situation);
	if (yes->decision == LK_USE_DRIVER || yes->decision == LK_REFUSE_AS_DRIVER)
		return NULL;
	situation.accepts = false;
	no = lk_policy_decide(policy, &situation);
	return yes == no ? yes : NULL;
}

/* Finds the rule.  The driver's linker judges the items only if the rule depends on
 * that, since judging takes most of a plan's time. */
static const struct lk_rule *find_rule(struct lk_planning *planning, struct lk_side *nvjitlink,
				       struct lk_side *driver)
{
	const struct lazycuda_environment *environment = &planning->environment;
	enum lazycuda_policy policy = planning->request.policy;
	struct lk_situation situation = {
		.relation = lk_policy_relation(environment->driver, environment->nvjitlink),
		.driver = environment->driver > 0,
		.needs = planning->needs,
		.elsewhere = lk_is_for_elsewhere(planning),
	};
	const struct lk_rule *rule;

	if (situation.relation != LK_ABSENT) {
		lk_plan_side(planning, LAZYCUDA_BACKEND_NVJITLINK, nvjitlink);
		situation.nvjitlink = nvjitlink->refusal.code == LAZYCUDA_CODE_OK;
	}
	rule = rule_without_driver(policy, situation);
	if (rule)
		return rule;
	lk_plan_side(planning, LAZYCUDA_BACKEND_DRIVER, driver);
	situation.accepts = driver->refusal.code == LAZYCUDA_CODE_OK;
	return lk_policy_decide(policy, &situation);
}

/* Whether the side takes everything and, if that is asked, for sure. */
static bool takes(const struct lk_side *side, bool sure)
{
	for (size_t i = 0; sure && i < side->count; i++)
		if (side->taken[i].choice.doubt)
			return false;
	return side->refusal.code == LAZYCUDA_CODE_OK;
}

/* Whether there is a plan with another driver and nvJitLink, for the target with a suffix. */
static bool would_do_with(const struct lk_planning *planning, int driver, int nvjitlink, char suffix,
			  bool sure)
{
	struct lk_planning other = *planning;
	struct lk_side sides[2] = { { .count = 0 } };
	const struct lk_rule *rule;

	other.environment.driver = driver;
	other.environment.nvjitlink = nvjitlink;
	other.target.suffix = suffix;
	other.needs = false;
	other.trial = true;
	lk_plan_needs(&other);
	rule = find_rule(&other, &sides[0], &sides[1]);
	return (rule->decision == LK_USE_NVJITLINK && takes(&sides[0], sure)) ||
	       (rule->decision == LK_USE_DRIVER && takes(&sides[1], sure));
}

static bool would_do(const struct lk_planning *planning, int driver, int nvjitlink, bool sure)
{
	const char suffix = planning->target.suffix;

	if (would_do_with(planning, driver, nvjitlink, suffix, sure))
		return true;
	return planning->remedy == LK_REMEDY_FOR_GPU && !suffix &&
	       (would_do_with(planning, driver, nvjitlink, 'f', sure) ||
		would_do_with(planning, driver, nvjitlink, 'a', sure));
}

/* The oldest version from `from` on that would do, as nvJitLink beside the driver, as a driver
 * without nvJitLink, or as both; 0 if none would. */
enum lk_change { LK_OTHER_NVJITLINK, LK_OTHER_DRIVER, LK_OTHER_BOTH };
static int first_that_would_do(const struct lk_planning *planning, enum lk_change change, int from)
{
	int here = planning->environment.driver;

	for (int sure = true; sure >= false; sure--)
		for (int cuda = from; cuda; cuda = lk_next_cuda(cuda))
			if (would_do(planning, change == LK_OTHER_NVJITLINK ? here : cuda,
				     change == LK_OTHER_DRIVER ? LAZYCUDA_VERSION_NONE : cuda, sure))
				return cuda;
	return 0;
}

static const char no_linker[] = "inputs that one linker takes";

/* What would have to be installed, for a refusal that is about nvJitLink. */
static const char *what_would_do(struct lk_planning *planning)
{
	struct lc_arena *arena = planning->arena;
	int here = planning->environment.driver, from = here < LK_NVJITLINK_OLDEST ?
		LK_NVJITLINK_OLDEST : here, found;

	found = first_that_would_do(planning, LK_OTHER_NVJITLINK, LK_NVJITLINK_OLDEST);
	/* The driver need not load what an nvJitLink of a later major makes. */
	if (found && !would_do(planning, here, lk_newest_cuda(), false))
		return lc_format(arena, "nvJitLink %s or a later %d", lk_version(arena, found),
				 LC_CUDA_MAJOR(found));
	if (found)
		return lk_or_later(arena, LAZYCUDA_BACKEND_NVJITLINK, found);
	found = first_that_would_do(planning, LK_OTHER_DRIVER, from);
	if (found)
		return lk_or_later(arena, LAZYCUDA_BACKEND_DRIVER, found);
	found = first_that_would_do(planning, LK_OTHER_BOTH, from);
	return !found ? no_linker :
	       LK_CONCAT(arena, lk_or_later(arena, LAZYCUDA_BACKEND_NVJITLINK, found), " and ",
			 lk_or_later(arena, LAZYCUDA_BACKEND_DRIVER, found));
}

/* "link-time optimisation is asked for, and there is no nvJitLink; ..." */
static void refuse_by_rule(struct lk_planning *planning, const struct lk_rule *rule)
{
	const struct lazycuda_environment *environment = &planning->environment;
	struct lc_arena *arena = planning->arena;
	const char *nvjitlink = environment->nvjitlink ?
		lc_format(arena, "nvJitLink %s", lk_version(arena, environment->nvjitlink)) :
		"no nvJitLink";
	const char *have = nvjitlink, *need;

	switch (rule->code) {
	case LAZYCUDA_CODE_NO_BACKEND:
		have = "no nvJitLink and no driver";
		need = LK_CONCAT(arena, lk_or_later(arena, LAZYCUDA_BACKEND_NVJITLINK, LK_NVJITLINK_OLDEST),
				 ", or a driver");
		break;
	case LAZYCUDA_CODE_CROSS_MAJOR:
		have = lc_format(arena, "%s and a driver for CUDA %s", nvjitlink,
				 lk_version(arena, environment->driver));
		need = lc_format(arena, "nvJitLink %d, or a driver for CUDA %d",
				 LC_CUDA_MAJOR(environment->driver),
				 LC_CUDA_MAJOR(environment->nvjitlink));
		break;
	default:
		need = what_would_do(planning);
		break;
	}
	lk_refuse(planning, rule->code, NULL, have, need, "%s%s%s%s; take %s",
		  planning->needs ? planning->needs_why : "", planning->needs ? ", and " : "", rule->reason,
		  environment->nvjitlink ? lc_format(arena, " (%s is here)", have) : "", need);
	planning->refusal.input = planning->needs_input;
}

/* Adds to an objection to a version what would do beside the rest that is here. */
static void add_remedy(struct lk_planning *planning)
{
	struct lk_refusal *refusal = &planning->refusal;
	const char *would;

	if (refusal->code != LAZYCUDA_CODE_PTX_TOO_NEW && refusal->code != LAZYCUDA_CODE_CUBIN_TOO_NEW &&
	    refusal->code != LAZYCUDA_CODE_LTOIR_TOO_NEW && refusal->code != LAZYCUDA_CODE_NO_USABLE_ENTRY)
		return;
	would = what_would_do(planning);
	if (would && would != no_linker && strcmp(would, refusal->need))
		refusal->message = lc_format(planning->arena, "%s. What would do here: %s",
					     refusal->message, would);
}

/* The side that links; or NULL, with the refusal filled. */
static const struct lk_side *choose_side(struct lk_planning *planning, const struct lk_rule *rule,
					 const struct lk_side *nvjitlink,
					 const struct lk_side *driver)
{
	const struct lk_side *side = rule->decision == LK_USE_DRIVER ||
				     rule->decision == LK_REFUSE_AS_DRIVER ? driver : nvjitlink;

	if (rule->decision == LK_REFUSE) {
		refuse_by_rule(planning, rule);
		return NULL;
	}
	if (side->refusal.code == LAZYCUDA_CODE_OK)
		return side;
	planning->refusal = side->refusal;
	if (planning->remedy)
		add_remedy(planning);
	return NULL;
}

static void decide(struct lk_planning *planning, struct lazycuda_plan *plan)
{
	struct lk_side nvjitlink = { .count = 0 }, driver = { .count = 0 }, alone = { .count = 0 };
	const struct lk_side *side = NULL;
	const struct lk_rule *rule = NULL;

	if (!(planning->request.flags & LAZYCUDA_LINK_TILE_ONLY)) {
		lk_plan_needs(planning);
		rule = find_rule(planning, &nvjitlink, &driver);
		if (planning->arena->failed)
			return;
		plan->rule = rule->name;
		side = choose_side(planning, rule, &nvjitlink, &driver);
	}
	if (!side || !lk_plan_result(planning, side))
		side = lk_plan_alone(planning, &alone);
	if (side)
		lk_plan_write(planning, side, rule, plan);
}

static struct lazycuda_plan *new_plan(struct lc_arena *arena)
{
	struct planned *planned = lc_alloc(arena, sizeof(*planned));

	if (!planned)
		return NULL;
	planned->arena = arena;
	planned->plan.size = sizeof(planned->plan);
	return &planned->plan;
}

struct lazycuda_plan *lk_plan_refused(struct lc_arena *arena, enum lazycuda_code code,
				      const char *message)
{
	struct lazycuda_plan *plan = new_plan(arena);

	if (!plan || arena->failed)
		return NULL;
	plan->code = code;
	plan->input = LAZYCUDA_NO_INDEX;
	plan->message = message;
	return plan;
}

/* ---- which of the nvJitLinks and nvrtcs that are installed ---- */

/* What a plan depends on, except for the versions.  With a remedy, a refusal of a version says what
 * would do, which takes as long as many plans. */
struct fit_question {
	struct lc_arena *arena;
	struct lazycuda_request request;
	const struct lazycuda_input *const *inputs;
	size_t count;
	enum lk_remedy remedy;
};

/* A plan for the nvJitLink and nvrtc of the environment alone, whatever else is installed. */
static struct lazycuda_plan *ask(const struct fit_question *question,
				 const struct lazycuda_environment *environment)
{
	struct lc_arena *arena = question->arena;
	struct lk_planning planning = { .arena = arena, .needs_input = LAZYCUDA_NO_INDEX,
					.remedy = question->remedy, .refusal = LK_NO_REFUSAL };
	const struct lk_refusal *refusal = &planning.refusal;
	struct lazycuda_plan *plan = new_plan(arena);

	if (!plan)
		return NULL;
	if (lk_plan_request(&planning, environment, &question->request) &&
	    lk_plan_inputs(&planning, question->inputs, question->count))
		decide(&planning, plan);
	plan->arch = planning.request.arch ? LK_CONCAT(arena, planning.request.arch) : NULL;
	if (arena->failed)
		return NULL;
	plan->nvjitlink = environment->nvjitlink;
	plan->nvrtc = environment->nvrtc;
	plan->symbol_errors = (const struct lazycuda_symbol_error *const *)planning.symbol_errors.list;
	plan->symbol_error_count = planning.symbol_errors.count;
	plan->code = refusal->code;
	plan->input = refusal->input;
	if (plan->code != LAZYCUDA_CODE_OK) {
		plan->have = refusal->have;
		plan->need = refusal->need;
		plan->message = refusal->message;
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
	return question->arena->failed ? NULL : best;
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
		return ask(&question, &environment);	/* explains the first refusal */
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

void lazycuda_plan_free(struct lazycuda_plan *plan)
{
	if (plan)
		lc_arena_free(((struct planned *)plan)->arena);
}
