/* SPDX-License-Identifier: MIT */
/* options.h - linker options: which nvJitLink takes them, what the driver calls them */
#ifndef LINK_OPTIONS_H
#define LINK_OPTIONS_H

#include "../../include/lazycuda_link.h"
#include "../../stubs/base/arena.h"

/* What becomes of an option on a backend. */
enum lk_option_fate {
	LK_OPTION_TAKEN,
	LK_OPTION_DROPPED,	/* harmless to leave out: say so in a note */
	LK_OPTION_REFUSED,	/* this backend or version lacks it: OPTION_UNSUPPORTED */
	LK_OPTION_RESERVED,	/* the plan sets it itself, by a field of the request, as
				   -arch, -lto, -ptx and -r: BAD_OPTION */
	LK_OPTION_UNKNOWN,	/* no version has it: BAD_OPTION */
	LK_OPTION_MALFORMED	/* its value makes no sense: BAD_OPTION */
};

struct lk_option_verdict {
	enum lk_option_fate fate;
	int since;		/* the first nvJitLink that has it; 0: any, or none */
	int jit_option;		/* on the driver: CUjit_option and its value, if TAKEN */
	unsigned jit_value;
	const char *jit_name;	/* "CU_JIT_MAX_REGISTERS" */
	const char *why;	/* unless TAKEN: a phrase, "the driver's linker has no timing" */
};

/* `version` is nvJitLink's or the driver's; UNKNOWN takes what any version takes. */
struct lk_option_verdict lk_option_judge(const char *option, enum lazycuda_backend backend,
					 int version);

#endif
