/* SPDX-License-Identifier: MIT */
/*
 * planning.h - one decision in the making, for the files that do parts of it
 *
 *	plan.c			the steps in their order
 *	plan_request.c		whether the request makes sense
 *	plan_inputs.c		whether the inputs do; what is to be linked
 *	support.c		which support modules are linked
 *	plan_side.c		what each linker would take, and what it objects to
 *	plan_compile.c		what becomes of source
 *	duplicates.c		what is defined twice
 *	plan_result.c		what has to hold of the result
 *	plan_write.c		the plan, once it is clear who links
 *	plan_notes.c		what is worth knowing of it
 *
 * Functions that return bool return false if there is a refusal, and then it
 * lies in the refusal that they were given.
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
	const struct lazycuda_inspection *inspection;	/* of what is no source */
	const char *section;	/* of the file, the only one that counts; NULL: all */
	const char *name;	/* fit for messages */
};

/* What a linker is going to be given. */
struct lk_taken {
	const struct lk_item *item;
	struct lk_group group;
	struct lk_choice choice;	/* of source: of no entry */
};

/* What is going to be compiled, and to what. */
struct lk_compilation {
	enum lazycuda_kind to;	/* UNKNOWN: nothing is */
	struct lk_arch arch;
};

/* A linker, and what it makes of the items. */
struct lk_side {
	struct lk_linker linker;
	bool lto;		/* LTO-IR is taken where there is some */
	struct lk_taken *taken;
	size_t count;
	size_t ltoir;		/* how many of them are LTO-IR */
	struct lk_compilation compilation;
	struct lk_refusal refusal;	/* code OK: takes everything */
};

struct lk_planning {
	struct lc_arena *arena;
	struct lazycuda_environment environment;
	struct lazycuda_request request;
	struct lk_arch target;
	struct lk_item *items;
	size_t count;
	/* What only nvJitLink does: whether it is needed, for which input or
	 * NO_INDEX, and why. */
	bool needs, lto;
	size_t needs_input;
	const char *needs_why;
	const char **notes;
	size_t note_count;
};

/* ---- plan.c ---- */

/* lazycuda_plan() in an arena that the caller frees; NULL if memory is out. */
struct lazycuda_plan *lk_plan(struct lc_arena *arena,
			      const struct lazycuda_environment *environment,
			      const struct lazycuda_request *request,
			      const struct lazycuda_input *const *inputs, size_t count);

/* Fills a refusal; false. */
bool lk_refuse(struct lk_refusal *refusal, enum lazycuda_code code, size_t input,
	       const char *have, const char *need, const char *message)
	__attribute__((cold));

void lk_note(struct lk_planning *planning, const char *note);

/* A version as text in the arena. */
const char *lk_version(struct lc_arena *arena, int version);

/* ---- plan_request.c ---- */

/* Takes environment and request over. */
bool lk_plan_request(struct lk_planning *planning, const struct lazycuda_environment *environment,
		     const struct lazycuda_request *request, struct lk_refusal *refusal);

/* ---- plan_inputs.c ---- */

/* Fills the items with inputs and the support modules that they need. */
bool lk_plan_inputs(struct lk_planning *planning, const struct lazycuda_input *const *inputs,
		    size_t count, struct lk_refusal *refusal);

/* The next group of entries of which one is to be linked, the first after
 * { 0, 0 }; false at the end. */
bool lk_next_group(const struct lk_item *item, struct lk_group *group);

/* Finds out whether nvJitLink is needed. */
void lk_plan_needs(struct lk_planning *planning);

/* ---- support.c ---- */

/* Bit n: support module n is linked.  The items are the inputs. */
uint64_t lk_support_needed(struct lk_planning *planning);

/* ---- plan_side.c ---- */

/* The linker of the environment, as the request has it judged. */
struct lk_linker lk_linker_of(const struct lk_planning *planning, enum lazycuda_backend backend);

void lk_plan_side(struct lk_planning *planning, enum lazycuda_backend backend,
		  struct lk_side *side);

/* ---- plan_compile.c ---- */

/* How source would be compiled for this linker. */
bool lk_plan_compilation(struct lk_planning *planning, const struct lk_linker *linker, bool lto,
			 const struct lk_item *item, struct lk_compilation *compilation,
			 struct lk_refusal *refusal);

/* The options for it. */
const char *const *lk_compile_options(struct lk_planning *planning,
				      const struct lk_compilation *compilation, size_t *count);

/* Whether a compile option is one that the plan sets itself. */
bool lk_compile_option_is_ours(const char *option);

/* ---- duplicates.c ---- */

bool lk_plan_duplicates(struct lk_planning *planning, const struct lk_side *side,
			struct lk_refusal *refusal);

/* ---- plan_result.c ---- */

/* What has to hold of the result, whoever links it. */
bool lk_plan_result(struct lk_planning *planning, const struct lk_side *side,
		    struct lk_refusal *refusal);

/* ---- plan_write.c ---- */

/* Fills a plan that nothing stands against. */
void lk_plan_write(struct lk_planning *planning, const struct lk_side *side,
		   const struct lk_rule *rule, struct lazycuda_plan *plan);

/* ---- plan_notes.c ---- */

void lk_plan_notes(struct lk_planning *planning, const struct lk_side *side,
		   struct lazycuda_plan *plan);

#endif
