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

static const enum lc_relation relations[] = {
	LC_ABSENT, LC_TOO_OLD, LC_SAME_MAJOR, LC_DRIVER_NEWER, LC_DRIVER_OLDER, LC_UNCOMPARED,
};
static const char *const names[] = {
	"absent", "too_old", "same", "driver_newer", "driver_older", "uncompared",
};
static const char *const policies[] = { "best_effort", "strict", "off" };

/* Two majors are compared only if both are known. */
static int is_possible(const struct lc_situation *situation)
{
	return situation->driver || situation->relation == LC_ABSENT ||
	       situation->relation == LC_TOO_OLD || situation->relation == LC_UNCOMPARED;
}

static int check_policy(enum lazycuda_policy policy)
{
	int used[MOST_RULES] = { 0 }, failures = 0;
	size_t count;
	const struct lc_rule *rules = lc_policy_rules(policy, &count);

	for (size_t r = 0; r < sizeof(relations) / sizeof(*relations); r++) {
		for (unsigned bits = 0; bits < 32; bits++) {
			const struct lc_situation situation = {
				.relation = relations[r], .driver = bits & 1, .needs = bits & 2,
				.nvjitlink = bits & 4, .accepts = bits & 8, .elsewhere = bits & 16,
			};
			const struct lc_rule *rule = lc_policy_decide(policy, &situation);

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
	return failures != 0 || lc_policy_rules(3, &count) != NULL;
}
