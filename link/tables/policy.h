/* SPDX-License-Identifier: MIT */
/* policy.h - the decision tables: which linker, by what is installed and needed */
#ifndef LINK_POLICY_H
#define LINK_POLICY_H

#include <stdbool.h>
#include <stddef.h>

#include "../../include/lazycuda_link.h"

/* How the installed nvJitLink relates to the driver; one bit each. */
enum lc_relation {
	LC_ABSENT = 0x01,	/* there is none */
	LC_TOO_OLD = 0x02,	/* it is older than LC_NVJITLINK_OLDEST */
	LC_SAME_MAJOR = 0x04,
	LC_DRIVER_NEWER = 0x08,	/* the driver is of a later major */
	LC_DRIVER_OLDER = 0x10,	/* the driver is of an earlier major */
	LC_UNCOMPARED = 0x20,	/* there is one, and its version or the driver's is unknown */
};

/* What the tables look at. */
struct lc_situation {
	enum lc_relation relation;
	bool driver;		/* its version is known */
	bool needs;		/* something that nvJitLink alone can do */
	bool nvjitlink;		/* nvJitLink takes everything */
	bool accepts;		/* the driver does */
	bool elsewhere;		/* the driver here need not be able to load the result */
};

/* What a row asks of a yes-or-no of the situation. */
enum lc_answer { LC_EITHER, LC_YES, LC_NO };

enum lc_decision {
	LC_USE_NVJITLINK,
	LC_USE_DRIVER,
	LC_REFUSE_AS_NVJITLINK,	/* with what nvJitLink objects to */
	LC_REFUSE_AS_DRIVER,	/* with what the driver's linker objects to */
	LC_REFUSE,		/* with the rule's code */
};

struct lc_rule {
	const char *name;
	/* conditions */
	enum lc_answer driver;
	unsigned relations;	/* any of these */
	enum lc_answer needs, nvjitlink, accepts, elsewhere;
	/* outcome */
	enum lc_decision decision;
	enum lazycuda_code code;
	const char *reason;
};

/* The table of a policy; NULL for a policy that is none. */
const struct lc_rule *lc_policy_rules(enum lazycuda_policy policy, size_t *count);

/* The relation of two versions, as in struct lazycuda_environment. */
enum lc_relation lc_policy_relation(int driver, int nvjitlink);

bool lc_rule_matches(const struct lc_rule *rule, const struct lc_situation *situation);

/* The first row that matches.  There always is one. */
const struct lc_rule *lc_policy_decide(enum lazycuda_policy policy,
				       const struct lc_situation *situation);

#endif
