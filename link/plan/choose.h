/* SPDX-License-Identifier: MIT */
/* choose.h - which entry of a container is taken */
#ifndef LINK_CHOOSE_H
#define LINK_CHOOSE_H

#include "accept.h"

/* Entries of an inspection of which one is taken: those of one fatbin
 * container, or one that is in none. */
struct lk_group {
	size_t first, count;
};

/* The group that begins with an entry. */
struct lk_group lk_group_at(const struct lazycuda_inspection *inspection, size_t first);

struct lk_choice {
	size_t entry;		/* NO_INDEX: none can be taken */
	enum lazycuda_form form;
	bool doubt;
	/* if there is none: why; NO_USABLE_ENTRY if entries differ in that */
	enum lazycuda_code code;
	size_t offender;	/* the entry that the code is about, or NO_INDEX */
};

/*
 * With `lto`, LTO-IR comes first; without, it is ignored.  Then come cubins and PTX,
 * in this order, first those that the linker is sure to take and then those that it
 * may take.  Of one kind the highest architecture is taken, and of one architecture
 * the last entry.  The driver's linker is never given LTO-IR.
 */
struct lk_choice lk_choose(const struct lk_linker *linker,
			   const struct lazycuda_inspection *inspection,
			   const struct lk_group *group, bool lto);

/*
 * LLVM IR of an offload binary's group that may be compiled for the target, the highest
 * architecture and of one architecture the last; NO_INDEX if there is none.  It is what can be
 * used if the linker takes nothing that is there.
 */
size_t lk_choose_ir(const struct lk_linker *linker, const struct lazycuda_inspection *inspection,
		    const struct lk_group *group);

/* Returns true if a group has LTO-IR for the target and no PTX or cubin that could be
 * linked for it, of whatever version. */
bool lk_group_is_ltoir(const struct lk_linker *linker,
		       const struct lazycuda_inspection *inspection, const struct lk_group *group);

/* "lto sm_61 of {ptx sm_52, lto sm_52, lto sm_61}: the highest not above sm_86" */
const char *lk_choice_reason(struct lc_arena *arena, const struct lk_linker *linker,
			     const struct lazycuda_inspection *inspection,
			     const struct lk_group *group, const struct lk_choice *choice,
			     bool lto);

/* "libx.a(member.o)", fit for a message. */
const char *lk_member_name(struct lc_arena *arena, const char *file, const char *member);

/* "{ptx sm_52, lto sm_52}" */
const char *lk_group_text(struct lc_arena *arena, const struct lazycuda_inspection *inspection,
			  const struct lk_group *group);

#endif
