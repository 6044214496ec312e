/* SPDX-License-Identifier: MIT */
/* options.h - linker options: which nvJitLink takes them, what the driver calls them */
#ifndef LINK_OPTIONS_H
#define LINK_OPTIONS_H

#include "../../include/lazycuda_link.h"
#include "../../stubs/base/arena.h"

/* What becomes of an option on a backend. */
enum lc_option_fate {
	LC_OPTION_TAKEN,
	LC_OPTION_DROPPED,	/* harmless to leave out: say so in a note */
	LC_OPTION_REFUSED,	/* this backend or version has it not: OPTION_UNSUPPORTED */
	LC_OPTION_RESERVED,	/* the plan sets it itself, by a field of the request:
				   -arch, -lto, -dlto, -ptx, -r: BAD_OPTION */
	LC_OPTION_UNKNOWN,	/* no version has it: BAD_OPTION */
	LC_OPTION_MALFORMED	/* its value makes no sense: BAD_OPTION */
};

struct lc_option_verdict {
	enum lc_option_fate fate;
	int since, until;	/* versions of nvJitLink that have it; 0: no bound */
	int jit_option;		/* driver: CUjit_option and its value, if TAKEN */
	unsigned jit_value;
	const char *jit_name;	/* "CU_JIT_MAX_REGISTERS" */
	const char *why;	/* unless TAKEN: a phrase, "the driver's linker has no timing" */
};

/* `version` is nvJitLink's or the driver's; UNKNOWN takes what any version takes. */
struct lc_option_verdict lc_option_judge(const char *option, enum lazycuda_backend backend,
					 int version);

#endif
