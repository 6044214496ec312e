/* SPDX-License-Identifier: MIT */
/* policy.h - the decision tables: which linker, by what is installed and needed */
#ifndef LINK_POLICY_H
#define LINK_POLICY_H

#include <stdbool.h>
#include <stddef.h>

#include "../../include/lazycuda_link.h"

/* How the installed nvJitLink relates to the driver; one bit each. */
enum lk_relation {
	LK_ABSENT = 0x01,	/* there is none */
	LK_TOO_OLD = 0x02,	/* it is older than LK_NVJITLINK_OLDEST */
	LK_SAME_MAJOR = 0x04,
	LK_DRIVER_NEWER = 0x08,	/* the driver is of a later major */
	LK_DRIVER_OLDER = 0x10,	/* the driver is of an earlier major */
	LK_UNCOMPARED = 0x20,	/* there is one, but its version or the driver's is unknown */
};

/* What the tables decide by. */
struct lk_situation {
	enum lk_relation relation;
	bool driver;		/* the driver's version is known */
	bool needs;		/* the link needs what nvJitLink alone can do */
	bool nvjitlink;		/* nvJitLink takes everything */
	bool accepts;		/* the driver's linker takes everything */
	bool elsewhere;		/* the driver here need not load the result, or has no device to do so */
};

/* What a row requires of a bool of the situation. */
enum lk_answer { LK_EITHER, LK_YES, LK_NO };

enum lk_decision {
	LK_USE_NVJITLINK,
	LK_USE_DRIVER,
	LK_REFUSE_AS_NVJITLINK,	/* with nvJitLink's objection */
	LK_REFUSE_AS_DRIVER,	/* with the objection of the driver's linker */
	LK_REFUSE,		/* with the rule's code */
};

struct lk_rule {
	const char *name;
	/* conditions */
	enum lk_answer driver;
	unsigned relations;	/* any of these */
	enum lk_answer needs, nvjitlink, accepts, elsewhere;
	/* outcome */
	enum lk_decision decision;
	enum lazycuda_code code;
	const char *reason;
};

/* The table of a policy; NULL if there is no such policy. */
const struct lk_rule *lk_policy_rules(enum lazycuda_policy policy, size_t *count);

/* The relation of two versions, as in struct lazycuda_environment. */
enum lk_relation lk_policy_relation(int driver, int nvjitlink);

/* The first row that matches.  There always is one. */
const struct lk_rule *lk_policy_decide(enum lazycuda_policy policy,
				       const struct lk_situation *situation);

#endif
