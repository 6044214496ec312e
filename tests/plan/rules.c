/* SPDX-License-Identifier: MIT */
/*
 * rules.c - the decision tables, asked in every situation there can be
 *
 * Prints a line for each situation: policy, situation, rule.  Fails if one has
 * no rule, or a rule has no situation.
 */
#include <stdio.h>

#include "../../link/tables/policy.h"

#define MOST_RULES 64

static const enum lk_relation relations[] = {
	LK_ABSENT, LK_TOO_OLD, LK_SAME_MAJOR, LK_DRIVER_NEWER, LK_DRIVER_OLDER, LK_UNCOMPARED,
};
static const char *const names[] = {
	"absent", "too_old", "same", "driver_newer", "driver_older", "uncompared",
};
static const char *const policies[] = { "best_effort", "strict", "off" };

/* Two majors are compared only if both are known. */
static int is_possible(const struct lk_situation *situation)
{
	return situation->driver || situation->relation == LK_ABSENT ||
	       situation->relation == LK_TOO_OLD || situation->relation == LK_UNCOMPARED;
}

static int check_policy(enum lazycuda_policy policy)
{
	int used[MOST_RULES] = { 0 }, failures = 0;
	size_t count;
	const struct lk_rule *rules = lk_policy_rules(policy, &count);

	for (size_t r = 0; r < sizeof(relations) / sizeof(*relations); r++) {
		for (unsigned bits = 0; bits < 32; bits++) {
			const struct lk_situation situation = {
				.relation = relations[r], .driver = bits & 1, .needs = bits & 2,
				.nvjitlink = bits & 4, .accepts = bits & 8, .elsewhere = bits & 16,
			};
			const struct lk_rule *rule = lk_policy_decide(policy, &situation);

			if (!is_possible(&situation))
				continue;
			printf("%s %s %u %s\n", policies[policy], names[r], bits,
			       rule ? rule->name : "none");
			failures += !rule;
			if (rule)
				used[rule - rules]++;
		}
	}
	for (size_t i = 0; i < count; i++) {
		if (used[i])
			continue;
		printf("row %zu, %s, is never reached\n", i, rules[i].name);
		failures++;
	}
	return failures;
}

int main(void)
{
	int failures = 0;
	size_t count;

	for (int policy = 0; policy < 3; policy++)
		failures += check_policy(policy);
	return failures != 0 || lk_policy_rules(3, &count) != NULL;
}
