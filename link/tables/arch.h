/* SPDX-License-Identifier: MIT */
/* arch.h - GPU architectures: which exist, who knows them, what fits what */
#ifndef LINK_ARCH_H
#define LINK_ARCH_H

#include <stdbool.h>

#include "../../include/lazycuda_link.h"

struct lk_arch {
	int sm;			/* 90 */
	char suffix;		/* 'a', 'f', 0 */
	bool virtual;		/* compute_90, not sm_90 */
};

/* "sm_90a", "compute_90", "lto_90", the last two both virtual; false if it is not
 * of that form.  Whether such a GPU exists is another question. */
bool lk_arch_parse(const char *text, struct lk_arch *arch);

#define LK_ARCH_TEXT 24
const char *lk_arch_text(const struct lk_arch *arch, char text[LK_ARCH_TEXT]);

/* 1: exists; 0: the table does not know it; -1: it is older than all in it. */
int lk_arch_known(const struct lk_arch *arch);

/*
 * Whether a tool of this version (UNKNOWN: any) knows the target.  A version
 * newer than the table knows what the newest in it knows and, maybe, what the
 * table does not: then true.
 */
enum lk_tool { LK_NVRTC, LK_NVJITLINK, LK_DRIVER };
bool lk_arch_supported(const struct lk_arch *arch, enum lk_tool tool, int version);
/* The first version of the tool that knows it; 0 if none in the table does, for
 * which lk_arch_known() tells apart what never will and what may yet. */
int lk_arch_since(const struct lk_arch *arch, enum lk_tool tool);
/* The last; 0 if the newest still does. */
int lk_arch_until(const struct lk_arch *arch, enum lk_tool tool);

/*
 * Whether code of one architecture may be linked into an image for another.
 *
 * PTX and LTO-IR: `a` only for exactly itself; `f` for its family (sm_100f:
 * 100, 103, 107), not for an earlier member; else for all that is not earlier.
 * Cubins: for their own architecture, and for those that a table names, which
 * depends on the linker: 80 for 86 and 89, never for 90; `a` only for exactly
 * itself.  sm_101 is sm_110, which got its name in 13.0.
 *
 * Follows the documentation where the real library is more lenient: nvJitLink
 * takes LTO-IR of sm_90a for anything later, up to 13.0 cubins of sm_90a for
 * sm_90, and from 13.2 on cubins of desktop GPUs for Tegra.
 *
 * `linker` is the version that does it, nvJitLink's or the driver's; UNKNOWN:
 * what all do.  Whether it knows the target is another question.
 */
bool lk_arch_fits(enum lazycuda_kind kind, const struct lk_arch *code,
		  const struct lk_arch *target, int linker);

#endif
