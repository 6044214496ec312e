/* SPDX-License-Identifier: MIT */
/* choose.h - what a linker takes of a container, and why it does not take the rest */
#ifndef LINK_CHOOSE_H
#define LINK_CHOOSE_H

#include <stdbool.h>

#include "../../include/lazycuda_link.h"
#include "../../stubs/base/arena.h"
#include "../tables/arch.h"

/* ---- choose.c ---- */

struct lk_linker {
	enum lazycuda_backend backend;
	int version;		/* UNKNOWN: every version of the backend would do */
	int isa;		/* the newest PTX that it reads; 0: not known */
	struct lk_arch target;
	unsigned flags;		/* LAZYCUDA_LINK_* */
	bool strict;		/* takes nothing in doubt */
};

/* Makes a linker; one that is not installed counts as of unknown version. */
struct lk_linker lk_linker(enum lazycuda_backend backend, int version,
			   const struct lk_arch *target, unsigned flags, bool strict);

/* Texts in the arena: "12.9"; "sm_90a"; "nvJitLink 12.9", "the driver (CUDA 12.4)", "nvJitLink of
 * unknown version". */
const char *lk_version(struct lc_arena *arena, int version);
const char *lk_arch(struct lc_arena *arena, int sm, char suffix);
const char *lk_linker_text(struct lc_arena *arena, const struct lk_linker *linker);

/* "nvJitLink 12.9 or later"; for the driver "a driver for CUDA 12.9 or later". */
const char *lk_or_later(struct lc_arena *arena, enum lazycuda_backend backend, int version);

struct lk_acceptance {
	enum lazycuda_code code;	/* OK: taken */
	enum lazycuda_form form;	/* how, if it is taken */
	bool doubt;		/* something that the linker will check is not known */
};

/* Judges one entry by itself, whether or not LTO-IR is asked for. */
struct lk_acceptance lk_accept(const struct lk_linker *linker,
			       const struct lazycuda_entry *entry);

/* The range of toolkits that may have made an entry; false, and 0, if nothing tells. */
bool lk_entry_toolkits(const struct lazycuda_entry *entry, int *oldest, int *newest);

/* Entries of an inspection of which one is taken: those of one fatbin
 * container, or one that is in none. */
struct lk_group {
	const struct lazycuda_entry *const *entries;
	size_t first, count;	/* the index of the first in the inspection */
};

/* The group that begins with an entry. */
struct lk_group lk_group_at(const struct lazycuda_inspection *inspection, size_t first);

struct lk_choice {
	const struct lazycuda_entry *entry;	/* NULL: none can be taken */
	enum lazycuda_form form;
	bool doubt;
	/* if there is none: why; NO_USABLE_ENTRY if entries differ in that */
	enum lazycuda_code code;
	const struct lazycuda_entry *offender;	/* the one that the code is about, or NULL */
};

/*
 * With `lto`, LTO-IR comes first; without, it is ignored.  Then come cubins and PTX,
 * in this order, first those that the linker is sure to take and then those that it
 * may take.  Of one kind the highest architecture is taken, and of one architecture
 * the last entry.  The driver's linker is never given LTO-IR.
 */
struct lk_choice lk_choose(const struct lk_linker *linker,
			   const struct lk_group *group, bool lto);

/*
 * LLVM IR of an offload binary's group that may be compiled for the target, the highest
 * architecture and of one architecture the last; NULL if there is none.  It is what can be
 * used if the linker takes nothing that is there.
 */
const struct lazycuda_entry *lk_choose_ir(const struct lk_linker *linker, const struct lk_group *group);

/* Returns true if a group has LTO-IR for the target and no PTX or cubin that could be
 * linked for it, of whatever version. */
bool lk_group_is_ltoir(const struct lk_linker *linker, const struct lk_group *group);

/* From this GPU on addresses have 64 bits. */
#define LK_NO_32_BIT 90

/* ---- objection.c ---- */

/* Before an architecture and a colon: of that GPU, the one that the inputs need. */
#define LK_FROM_INPUTS "from-inputs"

/* Why there is no image, as struct lazycuda_plan says it. */
struct lk_refusal {
	enum lazycuda_code code;
	size_t input;
	const char *have, *need, *message;
};

/* What an entry is: "PTX 9.0 of CUDA 13.0 for sm_90". */
const char *lk_entry_text(struct lc_arena *arena, const struct lazycuda_entry *entry);

/* "libx.a(member.o)", fit for a message; without a member the name of the file, which is so already. */
const char *lk_member_name(struct lc_arena *arena, const char *file, const char *member);

/* "lto sm_61 of {ptx sm_52, lto sm_52, lto sm_61}: the highest not above sm_86" */
const char *lk_choice_reason(struct lc_arena *arena, const struct lk_linker *linker,
			     const struct lk_group *group, const struct lk_choice *choice,
			     bool lto);

/* Says in a refusal, which has its input and code, why of a group no entry can be
 * taken; `name` is the input's. */
void lk_object(struct lc_arena *arena, const struct lk_linker *linker, const char *name,
	       const struct lk_group *group,
	       const struct lk_choice *choice, struct lk_refusal *refusal);

#endif
