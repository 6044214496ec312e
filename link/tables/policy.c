/* SPDX-License-Identifier: MIT */
/* policy.c - the decision tables: which linker, by what is installed and needed */
#include "policy.h"

#include "versions.h"
#include "../../stubs/base/count.h"

#define NONE_USABLE (LK_ABSENT | LK_TOO_OLD)
#define COMPARABLE (LK_SAME_MAJOR | LK_UNCOMPARED)
#define OTHER_MAJOR (LK_DRIVER_NEWER | LK_DRIVER_OLDER)
#define ANY (NONE_USABLE | COMPARABLE | OTHER_MAJOR)

#define YES LK_YES
#define NO LK_NO
#define ANYWAY LK_EITHER

/*
 * The matrix of cuda-python #1911, to the letter, and a row for what the driver here need not
 * load.  Objections of the chosen linker are considered afterwards.
 */
static const struct lk_rule strict[] = {
	/* name, driver known, nvJitLink, needs, nvJitLink takes all, driver takes all, elsewhere */
	{ "A1", YES, NONE_USABLE, NO, ANYWAY, ANYWAY, ANYWAY, LK_USE_DRIVER, LAZYCUDA_CODE_OK,
	  "there is no nvJitLink to use, and nothing that needs it" },
	{ "A2", YES, LK_ABSENT, YES, ANYWAY, ANYWAY, ANYWAY, LK_REFUSE,
	  LAZYCUDA_CODE_NVJITLINK_REQUIRED, "there is no nvJitLink" },
	{ "A2", YES, LK_TOO_OLD, YES, ANYWAY, ANYWAY, ANYWAY, LK_REFUSE,
	  LAZYCUDA_CODE_NVJITLINK_TOO_OLD, "nvJitLink is too old to be used" },
	{ "A3", YES, LK_SAME_MAJOR, ANYWAY, ANYWAY, ANYWAY, ANYWAY, LK_USE_NVJITLINK,
	  LAZYCUDA_CODE_OK, "nvJitLink and the driver are of one major" },
	{ "A4o", YES, OTHER_MAJOR, ANYWAY, YES, ANYWAY, YES, LK_USE_NVJITLINK, LAZYCUDA_CODE_OK,
	  "nvJitLink takes everything, and the driver here need not load the result" },
	{ "A4", YES, OTHER_MAJOR, NO, ANYWAY, ANYWAY, ANYWAY, LK_USE_DRIVER, LAZYCUDA_CODE_OK,
	  "nvJitLink and the driver are of different majors, and nothing needs nvJitLink" },
	{ "A5", YES, OTHER_MAJOR, YES, ANYWAY, ANYWAY, ANYWAY, LK_REFUSE,
	  LAZYCUDA_CODE_CROSS_MAJOR, "nvJitLink and the driver are of different majors" },
	{ "A6", ANYWAY, LK_UNCOMPARED, ANYWAY, ANYWAY, ANYWAY, ANYWAY, LK_USE_NVJITLINK,
	  LAZYCUDA_CODE_OK, "a version is unknown, and nvJitLink is there" },
	{ "A7", NO, NONE_USABLE, NO, ANYWAY, ANYWAY, ANYWAY, LK_USE_DRIVER, LAZYCUDA_CODE_OK,
	  "there is no nvJitLink to use, and nothing is known of the driver" },
	{ "A8", NO, LK_ABSENT, YES, ANYWAY, ANYWAY, ANYWAY, LK_REFUSE,
	  LAZYCUDA_CODE_NVJITLINK_REQUIRED, "there is no nvJitLink" },
	{ "A8", NO, LK_TOO_OLD, YES, ANYWAY, ANYWAY, ANYWAY, LK_REFUSE,
	  LAZYCUDA_CODE_NVJITLINK_TOO_OLD, "nvJitLink is too old to be used" },
};

/*
 * Considers the direction: an older nvJitLink is used with a newer driver, which
 * loads what it makes; a newer one is not used where an older driver, which need
 * not load what it makes, has to load the result.
 */
static const struct lk_rule best_effort[] = {
	{ "B1", NO, LK_ABSENT, NO, ANYWAY, ANYWAY, ANYWAY, LK_REFUSE,
	  LAZYCUDA_CODE_NO_BACKEND, "there is no nvJitLink, and no driver is known" },
	{ "B1", NO, LK_TOO_OLD, NO, ANYWAY, ANYWAY, ANYWAY, LK_REFUSE,
	  LAZYCUDA_CODE_NVJITLINK_TOO_OLD,
	  "nvJitLink is too old to be used, and nothing is known of a driver" },
	{ "B2", ANYWAY, LK_ABSENT, YES, ANYWAY, ANYWAY, ANYWAY, LK_REFUSE,
	  LAZYCUDA_CODE_NVJITLINK_REQUIRED, "there is no nvJitLink" },
	{ "B2", ANYWAY, LK_TOO_OLD, YES, ANYWAY, ANYWAY, ANYWAY, LK_REFUSE,
	  LAZYCUDA_CODE_NVJITLINK_TOO_OLD, "nvJitLink is too old to be used" },
	{ "B3", YES, NONE_USABLE, NO, ANYWAY, YES, ANYWAY, LK_USE_DRIVER, LAZYCUDA_CODE_OK,
	  "there is no nvJitLink to use, and the driver takes everything" },
	{ "B4", YES, NONE_USABLE, NO, ANYWAY, NO, ANYWAY, LK_REFUSE_AS_DRIVER, LAZYCUDA_CODE_OK,
	  "there is no nvJitLink to use, and the driver does not take everything" },
	{ "B5", NO, LK_UNCOMPARED, ANYWAY, YES, ANYWAY, ANYWAY, LK_USE_NVJITLINK, LAZYCUDA_CODE_OK,
	  "nothing is known of the driver, and nvJitLink takes everything" },
	{ "B5", NO, LK_UNCOMPARED, ANYWAY, NO, ANYWAY, ANYWAY, LK_REFUSE_AS_NVJITLINK,
	  LAZYCUDA_CODE_OK,
	  "nothing is known of the driver, and nvJitLink does not take everything" },
	{ "B6", YES, COMPARABLE, ANYWAY, YES, ANYWAY, ANYWAY, LK_USE_NVJITLINK, LAZYCUDA_CODE_OK,
	  "nvJitLink takes everything, and the driver loads what it makes" },
	{ "B7", YES, COMPARABLE, NO, NO, YES, ANYWAY, LK_USE_DRIVER, LAZYCUDA_CODE_OK,
	  "nvJitLink does not take everything, and the driver does" },
	{ "B8", YES, COMPARABLE, ANYWAY, NO, ANYWAY, ANYWAY, LK_REFUSE_AS_NVJITLINK,
	  LAZYCUDA_CODE_OK, "nvJitLink does not take everything, and the driver cannot stand in" },
	{ "B9o", YES, OTHER_MAJOR, ANYWAY, YES, ANYWAY, YES, LK_USE_NVJITLINK, LAZYCUDA_CODE_OK,
	  "nvJitLink takes everything, and the driver here need not load the result" },
	{ "B9", YES, LK_DRIVER_NEWER, NO, ANYWAY, YES, ANYWAY, LK_USE_DRIVER, LAZYCUDA_CODE_OK,
	  "the driver is of a later major than nvJitLink and takes everything" },
	{ "B10", YES, LK_DRIVER_NEWER, NO, YES, NO, ANYWAY, LK_USE_NVJITLINK, LAZYCUDA_CODE_OK,
	  "the driver's linker does not take everything, and it loads what an older nvJitLink"
	  " makes" },
	{ "B11", YES, LK_DRIVER_NEWER, YES, YES, ANYWAY, ANYWAY, LK_USE_NVJITLINK, LAZYCUDA_CODE_OK,
	  "nvJitLink is needed, and a driver of a later major loads what it makes" },
	{ "B12", YES, LK_DRIVER_NEWER, YES, NO, ANYWAY, ANYWAY, LK_REFUSE_AS_NVJITLINK,
	  LAZYCUDA_CODE_OK, "nvJitLink is needed and does not take everything" },
	{ "B12", YES, LK_DRIVER_NEWER, NO, NO, NO, ANYWAY, LK_REFUSE_AS_DRIVER, LAZYCUDA_CODE_OK,
	  "neither linker takes everything" },
	{ "B13", YES, LK_DRIVER_OLDER, NO, ANYWAY, YES, ANYWAY, LK_USE_DRIVER, LAZYCUDA_CODE_OK,
	  "the driver is of an earlier major than nvJitLink and takes everything" },
	{ "B14", YES, LK_DRIVER_OLDER, NO, ANYWAY, NO, ANYWAY, LK_REFUSE_AS_DRIVER,
	  LAZYCUDA_CODE_OK,
	  "the driver does not take everything, nor load what a later major's nvJitLink makes" },
	{ "B15o", YES, LK_DRIVER_OLDER, YES, NO, ANYWAY, YES, LK_REFUSE_AS_NVJITLINK,
	  LAZYCUDA_CODE_OK, "nvJitLink is needed and does not take everything" },
	{ "B15", YES, LK_DRIVER_OLDER, YES, ANYWAY, ANYWAY, NO, LK_REFUSE,
	  LAZYCUDA_CODE_CROSS_MAJOR,
	  "nvJitLink is of a later major than the driver, which need not load what it makes" },
};

/* Asks only whether there is an nvJitLink. */
static const struct lk_rule off[] = {
	{ "O1", ANYWAY, ANY & ~LK_ABSENT, ANYWAY, ANYWAY, ANYWAY, ANYWAY, LK_USE_NVJITLINK,
	  LAZYCUDA_CODE_OK, "there is an nvJitLink, and the policy is off" },
	{ "O2", ANYWAY, LK_ABSENT, ANYWAY, ANYWAY, ANYWAY, ANYWAY, LK_USE_DRIVER, LAZYCUDA_CODE_OK,
	  "there is no nvJitLink, and the policy is off" },
};

const struct lk_rule *lk_policy_rules(enum lazycuda_policy policy, size_t *count)
{
	switch (policy) {
	case LAZYCUDA_POLICY_STRICT:
		*count = LC_COUNT(strict);
		return strict;
	case LAZYCUDA_POLICY_BEST_EFFORT:
		*count = LC_COUNT(best_effort);
		return best_effort;
	case LAZYCUDA_POLICY_OFF:
		*count = LC_COUNT(off);
		return off;
	}
	*count = 0;
	return NULL;
}

enum lk_relation lk_policy_relation(int driver, int nvjitlink)
{
	if (nvjitlink == LAZYCUDA_VERSION_NONE)
		return LK_ABSENT;
	if (nvjitlink > 0 && nvjitlink < LK_NVJITLINK_OLDEST)
		return LK_TOO_OLD;
	if (nvjitlink < 0 || driver <= 0)
		return LK_UNCOMPARED;
	if (LC_CUDA_MAJOR(driver) == LC_CUDA_MAJOR(nvjitlink))
		return LK_SAME_MAJOR;
	return driver > nvjitlink ? LK_DRIVER_NEWER : LK_DRIVER_OLDER;
}

static bool answers(enum lk_answer asked, bool is)
{
	return asked == LK_EITHER || (asked == LK_YES) == is;
}

static bool matches(const struct lk_rule *rule, const struct lk_situation *situation)
{
	return rule->relations & situation->relation &&
	       answers(rule->driver, situation->driver) &&
	       answers(rule->needs, situation->needs) &&
	       answers(rule->nvjitlink, situation->nvjitlink) &&
	       answers(rule->accepts, situation->accepts) &&
	       answers(rule->elsewhere, situation->elsewhere);
}

const struct lk_rule *lk_policy_decide(enum lazycuda_policy policy,
				       const struct lk_situation *situation)
{
	size_t count;
	const struct lk_rule *rules = lk_policy_rules(policy, &count);

	for (size_t i = 0; i < count; i++)
		if (matches(&rules[i], situation))
			return &rules[i];
	return NULL;
}
