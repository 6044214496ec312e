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
struct lc_item {
	size_t input;		/* index; NO_INDEX: support module `support` */
	size_t support;
	struct lazycuda_input what;	/* as this version of the library knows it */
	const struct lazycuda_inspection *inspection;	/* of what is no source */
	const char *section;	/* of the file, the only one that counts; NULL: all */
	const char *name;	/* fit for messages */
};

/* What a linker is going to be given. */
struct lc_taken {
	const struct lc_item *item;
	struct lc_group group;
	struct lc_choice choice;	/* of source: of no entry */
};

/* What is going to be compiled, and to what. */
struct lc_compilation {
	enum lazycuda_kind to;	/* UNKNOWN: nothing is */
	struct lc_arch arch;
};

/* A linker, and what it makes of the items. */
struct lc_side {
	struct lc_linker linker;
	bool lto;		/* LTO-IR is taken where there is some */
	struct lc_taken *taken;
	size_t count;
	size_t ltoir;		/* how many of them are LTO-IR */
	struct lc_compilation compilation;
	struct lc_refusal refusal;	/* code OK: takes everything */
};

struct lc_planning {
	struct lc_arena *arena;
	struct lazycuda_environment environment;
	struct lazycuda_request request;
	struct lc_arch target;
	struct lc_item *items;
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
struct lazycuda_plan *lc_plan(struct lc_arena *arena,
			      const struct lazycuda_environment *environment,
			      const struct lazycuda_request *request,
			      const struct lazycuda_input *const *inputs, size_t count);

/* Fills a refusal; false. */
bool lc_refuse(struct lc_refusal *refusal, enum lazycuda_code code, size_t input,
	       const char *have, const char *need, const char *message)
	__attribute__((cold));

void lc_note(struct lc_planning *planning, const char *note);

/* A version as text in the arena. */
const char *lc_version(struct lc_arena *arena, int version);

/* ---- plan_request.c ---- */

/* Takes environment and request over. */
bool lc_plan_request(struct lc_planning *planning, const struct lazycuda_environment *environment,
		     const struct lazycuda_request *request, struct lc_refusal *refusal);

/* ---- plan_inputs.c ---- */

/* Fills the items with inputs and the support modules that they need. */
bool lc_plan_inputs(struct lc_planning *planning, const struct lazycuda_input *const *inputs,
		    size_t count, struct lc_refusal *refusal);

/* The next group of entries of which one is to be linked, the first after
 * { 0, 0 }; false at the end. */
bool lc_next_group(const struct lc_item *item, struct lc_group *group);

/* Finds out whether nvJitLink is needed. */
void lc_plan_needs(struct lc_planning *planning);

/* ---- support.c ---- */

/* Bit n: support module n is linked.  The items are the inputs. */
uint64_t lc_support_needed(struct lc_planning *planning);

/* ---- plan_side.c ---- */

/* The linker of the environment, as the request has it judged. */
struct lc_linker lc_linker_of(const struct lc_planning *planning, enum lazycuda_backend backend);

void lc_plan_side(struct lc_planning *planning, enum lazycuda_backend backend,
		  struct lc_side *side);

/* ---- plan_compile.c ---- */

/* How source would be compiled for this linker. */
bool lc_plan_compilation(struct lc_planning *planning, const struct lc_linker *linker, bool lto,
			 const struct lc_item *item, struct lc_compilation *compilation,
			 struct lc_refusal *refusal);

/* The options for it. */
const char *const *lc_compile_options(struct lc_planning *planning,
				      const struct lc_compilation *compilation, size_t *count);

/* Whether a compile option is one that the plan sets itself. */
bool lc_compile_option_is_ours(const char *option);

/* ---- duplicates.c ---- */

bool lc_plan_duplicates(struct lc_planning *planning, const struct lc_side *side,
			struct lc_refusal *refusal);

/* ---- plan_result.c ---- */

/* What has to hold of the result, whoever links it. */
bool lc_plan_result(struct lc_planning *planning, const struct lc_side *side,
		    struct lc_refusal *refusal);

/* ---- plan_write.c ---- */

/* Fills a plan that nothing stands against. */
void lc_plan_write(struct lc_planning *planning, const struct lc_side *side,
		   const struct lc_rule *rule, struct lazycuda_plan *plan);

/* ---- plan_notes.c ---- */

void lc_plan_notes(struct lc_planning *planning, const struct lc_side *side,
		   struct lazycuda_plan *plan);

#endif
