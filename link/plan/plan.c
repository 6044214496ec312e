/* SPDX-License-Identifier: MIT */
/* plan.c - which linker takes which part of which input, or why none does */
#include <string.h>

#include "planning.h"
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
static const struct lk_rule *judge(struct lk_planning *planning, struct lk_side *nvjitlink,
				   struct lk_side *driver)
{
	const unsigned elsewhere = LAZYCUDA_LINK_OFFLINE | LAZYCUDA_LINK_FORWARD_COMPATIBLE;
	const struct lazycuda_environment *environment = &planning->environment;
	enum lazycuda_policy policy = planning->request.policy;
	struct lk_situation situation = {
		.relation = lk_policy_relation(environment->driver, environment->nvjitlink),
		.driver = environment->driver > 0,
		.needs = planning->needs,
		.elsewhere = planning->request.flags & elsewhere,
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

/* Whether there is a plan with another driver and nvJitLink, and with a suffix of the target. */
static bool would_do_with(const struct lk_planning *planning, int driver, int nvjitlink, char suffix)
{
	struct lk_planning other = *planning;
	struct lk_side sides[2] = { { .count = 0 } };
	const struct lk_rule *rule;

	other.environment.driver = driver;
	other.environment.nvjitlink = nvjitlink;
	other.target.suffix = suffix;
	other.needs = false;
	lk_plan_needs(&other);
	rule = judge(&other, &sides[0], &sides[1]);
	return (rule->decision == LK_USE_NVJITLINK && sides[0].refusal.code == LAZYCUDA_CODE_OK) ||
	       (rule->decision == LK_USE_DRIVER && sides[1].refusal.code == LAZYCUDA_CODE_OK);
}

static bool would_do(const struct lk_planning *planning, int driver, int nvjitlink)
{
	const char suffix = planning->target.suffix;

	if (would_do_with(planning, driver, nvjitlink, suffix))
		return true;
	return planning->remedy == LK_REMEDY_FOR_GPU && !suffix &&
	       (would_do_with(planning, driver, nvjitlink, 'f') ||
		would_do_with(planning, driver, nvjitlink, 'a'));
}

/* The oldest version from `from` on that would do, as nvJitLink beside the driver, as a driver
 * without nvJitLink, or as both; 0 if none would. */
enum lk_change { LK_OTHER_NVJITLINK, LK_OTHER_DRIVER, LK_OTHER_BOTH };
static int first_that_would_do(const struct lk_planning *planning, enum lk_change change, int from)
{
	int here = planning->environment.driver;

	for (int cuda = from; cuda; cuda = lk_next_cuda(cuda))
		if (would_do(planning, change == LK_OTHER_NVJITLINK ? here : cuda,
			     change == LK_OTHER_DRIVER ? LAZYCUDA_VERSION_NONE : cuda))
			return cuda;
	return 0;
}

/* What would have to be installed, for a refusal that is about nvJitLink. */
static const char *what_would_do(struct lk_planning *planning)
{
	struct lc_arena *arena = planning->arena;
	int here = planning->environment.driver, from = here < LK_NVJITLINK_OLDEST ?
		LK_NVJITLINK_OLDEST : here, found;
	const char *version;

	found = first_that_would_do(planning, LK_OTHER_NVJITLINK, LK_NVJITLINK_OLDEST);
	if (found) {
		version = lk_version(arena, found);
		/* The driver need not load what an nvJitLink of a later major makes. */
		return would_do(planning, here, LK_NVJITLINK_NEWEST) ?
			lc_format(arena, "nvJitLink %s or later", version) :
			lc_format(arena, "nvJitLink %s or a later %d", version, LC_CUDA_MAJOR(found));
	}
	found = first_that_would_do(planning, LK_OTHER_DRIVER, from);
	if (found)
		return lc_format(arena, "a driver for CUDA %s or later", lk_version(arena, found));
	found = first_that_would_do(planning, LK_OTHER_BOTH, from);
	if (!found)
		return "inputs that one linker takes";
	version = lk_version(arena, found);
	return lc_format(arena, "nvJitLink %s or later and a driver for CUDA %s or later", version,
			 version);
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
		need = lc_format(arena, "nvJitLink %s or later, or a driver",
				 lk_version(arena, LK_NVJITLINK_OLDEST));
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
	    refusal->code != LAZYCUDA_CODE_LTOIR_TOO_NEW)
		return;
	would = what_would_do(planning);
	if (would && strcmp(would, refusal->need))
		refusal->message = lc_format(planning->arena, "%s. What would do here: %s",
					     refusal->message, would);
}

/* The side that links; or NULL, with the refusal filled. */
static const struct lk_side *choose_side(struct lk_planning *planning, const struct lk_rule *rule,
					 const struct lk_side *nvjitlink,
					 const struct lk_side *driver)
{
	const struct lk_side *side = driver;

	switch (rule->decision) {
	case LK_REFUSE:
		refuse_by_rule(planning, rule);
		return NULL;
	case LK_USE_NVJITLINK:
	case LK_REFUSE_AS_NVJITLINK:
		side = nvjitlink;
		break;
	case LK_USE_DRIVER:
	case LK_REFUSE_AS_DRIVER:
		break;
	}
	if (side->refusal.code == LAZYCUDA_CODE_OK)
		return side;
	planning->refusal = side->refusal;
	if (planning->remedy)
		add_remedy(planning);
	return NULL;
}

static bool decide(struct lk_planning *planning, struct lazycuda_plan *plan)
{
	struct lk_side nvjitlink = { .count = 0 }, driver = { .count = 0 }, alone = { .count = 0 };
	const struct lk_side *side;
	const struct lk_rule *rule;

	if (planning->request.flags & LAZYCUDA_LINK_TILE_ONLY) {
		side = lk_plan_alone(planning, &alone);
		if (side)
			lk_plan_write(planning, side, NULL, plan);
		return side;
	}
	lk_plan_needs(planning);
	rule = judge(planning, &nvjitlink, &driver);
	if (planning->arena->failed)
		return false;
	plan->rule = rule->name;
	side = choose_side(planning, rule, &nvjitlink, &driver);
	if (!side || !lk_plan_result(planning, side)) {
		side = lk_plan_alone(planning, &alone);
		if (!side)
			return false;
	}
	lk_plan_write(planning, side, rule, plan);
	return true;
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

struct lazycuda_plan *lk_plan_with(struct lc_arena *arena,
				   const struct lazycuda_environment *environment,
				   const struct lazycuda_request *request,
				   const struct lazycuda_input *const *inputs, size_t count,
				   enum lk_remedy remedy)
{
	struct lk_planning planning = { .arena = arena, .needs_input = LAZYCUDA_NO_INDEX,
					.remedy = remedy, .refusal = LK_NO_REFUSAL };
	const struct lk_refusal *refusal = &planning.refusal;
	struct lazycuda_plan *plan = new_plan(arena);

	if (!plan)
		return NULL;
	if (lk_plan_request(&planning, environment, request) &&
	    lk_plan_inputs(&planning, inputs, count))
		decide(&planning, plan);
	if (arena->failed)
		return NULL;
	plan->symbol_errors = (const struct lazycuda_symbol_error *const *)planning.symbol_errors.list;
	plan->symbol_error_count = planning.symbol_errors.count;
	plan->arch = planning.request.arch ? LK_CONCAT(arena, planning.request.arch) : NULL;
	plan->code = refusal->code;
	plan->input = refusal->input;
	if (plan->code != LAZYCUDA_CODE_OK) {
		plan->have = refusal->have;
		plan->need = refusal->need;
		plan->message = refusal->message;
	}
	return plan;
}

/* ---- for callers ---- */

void lazycuda_plan_free(struct lazycuda_plan *plan)
{
	if (plan)
		lc_arena_free(((struct planned *)plan)->arena);
}
