/* SPDX-License-Identifier: MIT */
/* plan.c - which linker takes which part of which input, or why none does */
#include "planning.h"
#include "../tables/text.h"
#include "../tables/versions.h"

/* What a caller gets, and where it and all that it points to lie. */
struct planned {
	struct lazycuda_plan plan;
	struct lc_arena *arena;
};

/* ---- who links ---- */

/* The rule, if it does not matter to the table what the driver's linker makes of
 * the items; else NULL. */
static const struct lc_rule *rule_without_driver(enum lazycuda_policy policy,
						 struct lc_situation situation)
{
	const struct lc_rule *yes, *no;

	situation.accepts = true;
	yes = lc_policy_decide(policy, &situation);
	if (yes->decision == LC_USE_DRIVER || yes->decision == LC_REFUSE_AS_DRIVER)
		return NULL;
	situation.accepts = false;
	no = lc_policy_decide(policy, &situation);
	return yes == no ? yes : NULL;
}

/* What the linkers make of the items, as far as it matters: that is most of the
 * time that a plan takes. */
static const struct lc_rule *judge(struct lc_planning *planning, struct lc_side *nvjitlink,
				   struct lc_side *driver)
{
	const unsigned elsewhere = LAZYCUDA_LINK_OFFLINE | LAZYCUDA_LINK_FORWARD_COMPATIBLE;
	const struct lazycuda_environment *environment = &planning->environment;
	enum lazycuda_policy policy = planning->request.policy;
	struct lc_situation situation = {
		.relation = lc_policy_relation(environment->driver, environment->nvjitlink),
		.driver = environment->driver > 0,
		.needs = planning->needs,
		.elsewhere = planning->request.flags & elsewhere,
	};
	const struct lc_rule *rule;

	if (situation.relation != LC_ABSENT) {
		lc_plan_side(planning, LAZYCUDA_BACKEND_NVJITLINK, nvjitlink);
		situation.nvjitlink = nvjitlink->refusal.code == LAZYCUDA_CODE_OK;
	}
	rule = rule_without_driver(policy, situation);
	if (rule)
		return rule;
	lc_plan_side(planning, LAZYCUDA_BACKEND_DRIVER, driver);
	situation.accepts = driver->refusal.code == LAZYCUDA_CODE_OK;
	return lc_policy_decide(policy, &situation);
}

/* "link-time optimisation is asked for, and there is no nvJitLink; ..." */
static void refuse_by_rule(struct lc_planning *planning, const struct lc_rule *rule,
			   struct lc_refusal *refusal)
{
	const struct lazycuda_environment *environment = &planning->environment;
	struct lc_arena *arena = planning->arena;
	const char *nvjitlink = environment->nvjitlink ?
		lc_format(arena, "nvJitLink %s", lc_version(arena, environment->nvjitlink)) :
		"no nvJitLink";
	const char *oldest = lc_format(arena, "nvJitLink %s or later",
				       lc_version(arena, LC_NVJITLINK_OLDEST));
	const char *have = nvjitlink, *need = oldest, *what = rule->reason;

	switch (rule->code) {
	case LAZYCUDA_CODE_NO_BACKEND:
		have = "no nvJitLink and no driver";
		need = lc_format(arena, "%s, or a driver", oldest);
		break;
	case LAZYCUDA_CODE_CROSS_MAJOR:
		have = lc_format(arena, "%s and a driver for CUDA %s", nvjitlink,
				 lc_version(arena, environment->driver));
		need = lc_format(arena, "nvJitLink %d, or a driver for CUDA %d",
				 LC_CUDA_MAJOR(environment->driver),
				 LC_CUDA_MAJOR(environment->nvjitlink));
		break;
	default:
		break;
	}
	lc_refuse(refusal, rule->code, planning->needs_input, have, need,
		  planning->needs ?
		  lc_format(arena, "%s, and %s (%s is here); take %s", planning->needs_why, what,
			    have, need) :
		  lc_format(arena, "%s (%s is here); take %s", what, have, need));
}

/* The side that links, or NULL and the refusal. */
static const struct lc_side *choose_side(struct lc_planning *planning, const struct lc_rule *rule,
					 const struct lc_side *nvjitlink,
					 const struct lc_side *driver,
					 struct lc_refusal *refusal)
{
	const struct lc_side *side = driver;

	switch (rule->decision) {
	case LC_REFUSE:
		refuse_by_rule(planning, rule, refusal);
		return NULL;
	case LC_USE_NVJITLINK:
	case LC_REFUSE_AS_NVJITLINK:
		side = nvjitlink;
		break;
	case LC_USE_DRIVER:
	case LC_REFUSE_AS_DRIVER:
		break;
	}
	if (side->refusal.code == LAZYCUDA_CODE_OK)
		return side;
	*refusal = side->refusal;
	return NULL;
}

static bool decide(struct lc_planning *planning, struct lazycuda_plan *plan,
		   struct lc_refusal *refusal)
{
	struct lc_side nvjitlink = { .count = 0 }, driver = { .count = 0 };
	const struct lc_side *side;
	const struct lc_rule *rule;

	lc_plan_needs(planning);
	rule = judge(planning, &nvjitlink, &driver);
	if (planning->arena->failed)
		return false;
	plan->rule = rule->name;
	side = choose_side(planning, rule, &nvjitlink, &driver, refusal);
	if (!side || !lc_plan_result(planning, side, refusal))
		return false;
	lc_plan_write(planning, side, rule, plan);
	return true;
}

struct lazycuda_plan *lc_plan(struct lc_arena *arena,
			      const struct lazycuda_environment *environment,
			      const struct lazycuda_request *request,
			      const struct lazycuda_input *const *inputs, size_t count)
{
	struct planned *planned = lc_alloc(arena, sizeof(*planned));
	struct lc_planning planning = { .arena = arena, .needs_input = LAZYCUDA_NO_INDEX };
	struct lc_refusal refusal = { .input = LAZYCUDA_NO_INDEX };
	struct lazycuda_plan *plan;

	if (!planned)
		return NULL;
	planned->arena = arena;
	plan = &planned->plan;
	plan->size = sizeof(*plan);
	if (lc_plan_request(&planning, environment, request, &refusal) &&
	    lc_plan_inputs(&planning, inputs, count, &refusal))
		decide(&planning, plan, &refusal);
	if (arena->failed)
		return NULL;
	plan->code = refusal.code;
	plan->input = refusal.input;
	if (plan->code != LAZYCUDA_CODE_OK) {
		plan->have = refusal.have;
		plan->need = refusal.need;
		plan->message = refusal.message;
	}
	return plan;
}

/* ---- for callers ---- */

struct lazycuda_plan *lazycuda_plan(const struct lazycuda_environment *environment,
				    const struct lazycuda_request *request,
				    const struct lazycuda_input *const *inputs,
				    size_t input_count)
{
	struct lc_arena *arena = lc_arena_new();
	struct lazycuda_plan *plan = arena ?
		lc_plan(arena, environment, request, inputs, input_count) : NULL;

	if (!plan)
		lc_arena_free(arena);
	return plan;
}

void lazycuda_plan_free(struct lazycuda_plan *plan)
{
	if (plan)
		lc_arena_free(((struct planned *)plan)->arena);
}
