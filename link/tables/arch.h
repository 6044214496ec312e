/* SPDX-License-Identifier: MIT */
/* arch.h - GPU architectures: which exist, which tools know them, what fits what */
#ifndef LINK_ARCH_H
#define LINK_ARCH_H

#include <stdbool.h>

#include "../../include/lazycuda_link.h"

/* The section of a host file in which nvcc puts relocatable device code. */
#define LK_RELOCATABLE_SECTION "__nv_relfatbin"

struct lk_arch {
	int sm;			/* 90 */
	char suffix;		/* 'a', 'f', 0 */
	bool virtual;		/* compute_90, not sm_90 */
};

/* Reads "sm_90a", "compute_90" or "lto_90"; the last two are both virtual.  False if
 * the text has another form.  Whether such a GPU exists is not checked. */
bool lk_arch_parse(const char *text, struct lk_arch *arch);

#define LK_ARCH_TEXT 24
const char *lk_arch_text(const struct lk_arch *arch, char text[LK_ARCH_TEXT]);

/* 1: it exists; 0: the table does not have it; -1: it is older than all in the table. */
int lk_arch_known(const struct lk_arch *arch);

/*
 * Returns true if a tool of this version (UNKNOWN: any version) knows the target.
 * A version newer than the table knows what the newest version there knows.  It may
 * also know targets that the table lacks, so these are true for it.
 */
enum lk_tool {
	LK_NVRTC, LK_NVJITLINK, LK_DRIVER,
	LK_NVVM,	/* knows what the nvrtc of its version knows: ask for that */
	LK_TILEIRAS	/* what it knows is in link/plan/alone.c */
};
bool lk_arch_supported(const struct lk_arch *arch, enum lk_tool tool, int version);
/* The first version of the tool that knows it; 0 if none in the table does.
 * lk_arch_known() then tells a target that a later version may know from one that
 * none ever will. */
int lk_arch_since(const struct lk_arch *arch, enum lk_tool tool);
/* The last version that knows it; 0 if the newest still does. */
int lk_arch_until(const struct lk_arch *arch, enum lk_tool tool);

/*
 * Returns true if code of one architecture may be linked into an image for another.
 *
 * PTX and LTO-IR: code with `a` fits only exactly itself; code with `f` fits its
 * family (sm_100f: 100, 103, 107), except for earlier members; other code fits
 * every architecture that is not earlier.  Cubins fit their own architecture, and
 * those that a table names for the linker: 80 fits 86 and 89, never 90; a cubin
 * with `a` fits only exactly itself.  sm_101 is sm_110, which got its name in 13.0.
 *
 * Follows the documentation where the real library is more lenient: nvJitLink
 * takes LTO-IR of sm_90a for anything later, and up to 13.0 cubins of sm_90a for
 * sm_90.
 *
 * `linker` is the version that links, nvJitLink's or the driver's; UNKNOWN: only
 * what all versions do.  Whether that version knows the target is not checked.
 */
bool lk_arch_fits(enum lazycuda_kind kind, const struct lk_arch *code,
		  const struct lk_arch *target, int linker);

/* The oldest driver that loads a linked cubin or PTX; 0 if that is not known, or if it is no
 * such code.  A driver compiles PTX itself, so it has to know the ISA.  It loads cubins of every
 * toolkit of its major, if it knows the architecture. */
int lk_driver_for(const struct lazycuda_entry *entry);

#endif
