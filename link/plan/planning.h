/* SPDX-License-Identifier: MIT */
/*
 * planning.h - the state of a plan in the making, shared by the steps
 *
 *	plan.c			the steps in their order
 *	planning.c		what every step uses
 *	request.c		whether the request makes sense
 *	inputs.c		whether the inputs make sense; what is to be linked
 *	support.c		which support modules are linked
 *	side.c			what each linker would take, and what it objects to
 *	compile.c		how source is compiled
 *	duplicates.c		symbols that are defined twice
 *	result.c		what has to hold of the result
 *	write.c			writes the plan, once the linker is chosen
 *	notes.c			notes on the plan
 *
 * A function that is given a refusal returns false if it has filled it, or on
 * allocation failure, which marks the arena.
 */
#ifndef LINK_PLANNING_H
#define LINK_PLANNING_H

#include "objection.h"
#include "../tables/policy.h"

/* One thing to link. */
struct lk_item {
	size_t input;		/* index; NO_INDEX: support module `support` */
	size_t support;
	struct lazycuda_input what;	/* as this version of the library knows it */
	const struct lazycuda_inspection *inspection;	/* NULL for source */
	const char *section;	/* the only section of the file that counts; NULL: all do */
	const char *name;	/* fit for messages */
};

/* What a linker is going to be given. */
struct lk_taken {
	const struct lk_item *item;
	struct lk_group group;
	struct lk_choice choice;	/* for source, its entry is NO_INDEX */
};

/* What source is going to be compiled to. */
struct lk_compilation {
	enum lazycuda_kind to;	/* UNKNOWN: nothing is compiled */
	struct lk_arch arch;
};

/* A linker, and what it takes of the items. */
struct lk_side {
	struct lk_linker linker;
	bool lto;		/* LTO-IR is taken if there is some */
	struct lk_taken *taken;
	size_t count;
	size_t ltoir;		/* how many of these are LTO-IR */
	struct lk_compilation compilation;
	struct lk_refusal refusal;	/* code OK: the linker takes everything */
};

struct lk_planning {
	struct lc_arena *arena;
	struct lazycuda_environment environment;
	struct lazycuda_request request;
	struct lk_arch target;
	struct lk_item *items;
	size_t count;
	/* Whether the link needs something that only nvJitLink does, for which input
	 * or NO_INDEX, and why; `lto`: LTO-IR is to be taken if there is some. */
	bool needs, lto;
	size_t needs_input;
	const char *needs_why;
	const char **notes;
	size_t note_count;
};

/* ---- plan.c ---- */

/* lazycuda_plan() in an arena that the caller frees; NULL on allocation failure. */
struct lazycuda_plan *lk_plan(struct lc_arena *arena,
			      const struct lazycuda_environment *environment,
			      const struct lazycuda_request *request,
			      const struct lazycuda_input *const *inputs, size_t count);

/* ---- planning.c ---- */

/* Fills a refusal, and returns false. */
bool lk_refuse(struct lk_refusal *refusal, enum lazycuda_code code, size_t input,
	       const char *have, const char *need, const char *message)
	__attribute__((cold));

void lk_note(struct lk_planning *planning, const char *note);

/* A version as text in the arena. */
const char *lk_version(struct lc_arena *arena, int version);

/* ---- request.c ---- */

/* Copies environment and request, and checks them. */
bool lk_plan_request(struct lk_planning *planning, const struct lazycuda_environment *environment,
		     const struct lazycuda_request *request, struct lk_refusal *refusal);

/* ---- inputs.c ---- */

/* Fills the items with the inputs and the support modules that these need. */
bool lk_plan_inputs(struct lk_planning *planning, const struct lazycuda_input *const *inputs,
		    size_t count, struct lk_refusal *refusal);

/* Moves on to the next group of entries of which one is to be linked; { 0, 0 } comes
 * before the first.  False at the end.  In planning.c. */
bool lk_next_group(const struct lk_item *item, struct lk_group *group);

/* Finds out whether nvJitLink is needed. */
void lk_plan_needs(struct lk_planning *planning);

/* ---- support.c ---- */

/* Bit n is set if support module n is linked.  So far the items are only the inputs. */
uint64_t lk_support_needed(struct lk_planning *planning);

/* ---- side.c ---- */

/* The linker of the environment, to be judged as the request says.  In planning.c. */
struct lk_linker lk_linker_of(const struct lk_planning *planning, enum lazycuda_backend backend);

void lk_plan_side(struct lk_planning *planning, enum lazycuda_backend backend,
		  struct lk_side *side);

/* ---- compile.c ---- */

/* Decides how source would be compiled for this linker. */
bool lk_plan_compilation(struct lk_planning *planning, const struct lk_linker *linker, bool lto,
			 const struct lk_item *item, struct lk_compilation *compilation,
			 struct lk_refusal *refusal);

/* The options for a compilation. */
const char *const *lk_compile_options(struct lk_planning *planning,
				      const struct lk_compilation *compilation, size_t *count);

/* Returns true if the plan sets a compile option itself. */
bool lk_compile_option_is_ours(const char *option);

/* ---- duplicates.c ---- */

bool lk_plan_duplicates(struct lk_planning *planning, const struct lk_side *side,
			struct lk_refusal *refusal);

/* ---- result.c ---- */

/* Checks what has to hold of the result, whichever linker makes it. */
bool lk_plan_result(struct lk_planning *planning, const struct lk_side *side,
		    struct lk_refusal *refusal);

/* ---- write.c ---- */

/* Fills a plan to which there is no objection. */
void lk_plan_write(struct lk_planning *planning, const struct lk_side *side,
		   const struct lk_rule *rule, struct lazycuda_plan *plan);

/* ---- notes.c ---- */

void lk_plan_notes(struct lk_planning *planning, const struct lk_side *side,
		   struct lazycuda_plan *plan);

#endif
