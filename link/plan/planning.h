/* SPDX-License-Identifier: MIT */
/*
 * planning.h - the state of a plan in the making, shared by the steps
 *
 *	plan.c			the steps in their order, for each of the installed linkers and compilers
 *	planning.c		what every step uses
 *	request.c		whether the request makes sense; its settings, as options
 *	inputs.c		whether the inputs make sense; what is to be linked
 *	side.c			what each linker would take, and what it objects to
 *	alone.c			source alone and Tile IR, which need no linker
 *	leave.c			what leaves link-time optimisation, for code outside it
 *	compile.c		how source and LLVM IR are compiled, and to what
 *	result.c		what has to hold of the result
 *	write_plan.c		writes the plan, once the linker is chosen
 *
 * A function that may refuse returns false if it has filled planning->refusal, or on
 * allocation failure, which marks the arena.
 */
#ifndef LINK_PLANNING_H
#define LINK_PLANNING_H

#include "choose.h"
#include "../tables/policy.h"

/* What a refusal of Tile IR says. */
#define LK_TILE_NEED "code of __global__ kernels"
#define LK_TILE_ADVICE "which no linker takes: tileiras, of the package nvidia-cuda-tileiras, makes an" \
	" image of it, with --tile-only (LAZYCUDA_LINK_TILE_ONLY)"

/* As an architecture: that of the GPU here. */
#define LK_NATIVE_ARCH "native"

#define LK_MAX_SUPPORT 64	/* modules: `needs` of an input has a bit for each */

/* One thing to link. */
struct lk_item {
	size_t input;		/* index; NO_INDEX: support module `support` */
	size_t support;
	struct lazycuda_input what;	/* as this version of the library knows it */
	const struct lazycuda_inspection *inspection;	/* NULL for source and LLVM IR */
	const char *section;	/* the only section of the file that counts; NULL: all do */
	const char *name;	/* fit for messages */
};

/* What a linker is going to be given. */
struct lk_taken {
	const struct lk_item *item;
	struct lk_group group;
	struct lk_choice choice;	/* for source and files of LLVM IR, its entry is NULL */
};

/* What source is going to be compiled to. */
struct lk_compilation {
	enum lazycuda_kind to;	/* UNKNOWN: nothing is compiled */
	struct lk_arch arch;
};

/* Which libnvvm is going to compile LLVM IR, and to what. */
struct lk_ir_compilation {
	bool any;		/* there is LLVM IR */
	enum lazycuda_kind to;	/* PTX; LTO-IR where that is taken */
	const char *no_lto;	/* why not to LTO-IR, though it would be taken; NULL */
	int version;
	int libdevice;		/* NONE: none goes with it */
	bool doubt;		/* it is not known whether the linker reads what it writes */
	struct lk_arch arch;
};

/* What may be linked as LTO-IR or as other code; the kinds in the order in which they leave
 * link-time optimisation, each as a whole. */
enum lk_leaver { LK_LEAVER_IR, LK_LEAVER_CONTAINER, LK_LEAVER_SOURCE, LK_LEAVERS };

/* A linker, and what it takes of the items. */
struct lk_side {
	struct lk_linker linker;
	bool lto;		/* LTO-IR is taken if there is some */
	struct lk_taken *taken;
	size_t count;
	size_t ltoir;		/* how many of these are LTO-IR */
	const char *leaves[LK_LEAVERS];	/* why a kind takes no part, or NULL */
	struct lk_compilation compilation;
	struct lk_ir_compilation ir;
	struct lk_refusal refusal;	/* code OK: the linker takes everything */
};

/* Names that stop a link. */
struct lk_symbol_errors {
	struct lazycuda_symbol_error **list;
	size_t count;
};

/* Whether a refusal says what would work: for the target, or for any of the same GPU. */
enum lk_remedy { LK_NO_REMEDY, LK_REMEDY_FOR_TARGET, LK_REMEDY_FOR_GPU };

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
	enum lk_remedy remedy;
	bool trial;		/* nobody reads what is said of entries that are refused */
	struct lk_refusal refusal;	/* of the step at hand; code OK: there is none */
	struct lc_strings notes;
	struct lk_symbol_errors symbol_errors;
};

/* ---- plan.c ---- */

/* lazycuda_plan() in an arena that the caller frees; NULL on allocation failure. */
struct lazycuda_plan *lk_plan(struct lc_arena *arena,
			      const struct lazycuda_environment *environment,
			      const struct lazycuda_request *request,
			      const struct lazycuda_input *const *inputs, size_t count);

/* The architecture behind "from-inputs:", "native" if there is none; NULL if the text is another. */
const char *lk_arch_from_inputs(const char *arch);

/* A plan that is refused before any planning; NULL on allocation failure. */
struct lazycuda_plan *lk_plan_refused(struct lc_arena *arena, enum lazycuda_code code,
				      const char *message);

/* ---- planning.c ---- */

#define LK_NO_REFUSAL ((struct lk_refusal){ .input = LAZYCUDA_NO_INDEX })

/* Fills planning->refusal, and returns false.  What is about an item begins with its name. */
bool lk_refuse(struct lk_planning *planning, enum lazycuda_code code, const struct lk_item *item,
	       const char *have, const char *need, const char *format, ...)
	__attribute__((cold, format(printf, 6, 7)));

void lk_note(struct lk_planning *planning, const char *format, ...)
	__attribute__((cold, format(printf, 2, 3)));

/* Adds a note to a plan that is written. */
void lk_plan_note(struct lc_arena *arena, struct lazycuda_plan *plan, const char *note);

/* Adds a copy. */
void lk_add_symbol_error(struct lc_arena *arena, struct lk_symbol_errors *errors,
			 const struct lazycuda_symbol_error *error);

/* Returns true if a list has `count` texts, none of them NULL. */
bool lk_texts_are_there(const char *const *texts, size_t count);

/* Moves on to the next group of entries of which one is to be linked; that of zeros comes
 * before the first.  False at the end. */
bool lk_next_group(const struct lk_item *item, struct lk_group *group);

/* Returns true if any entry of a group is LTO-IR. */
bool lk_group_has_ltoir(const struct lk_group *group);

/* The linker of the environment, with the request's target, flags and policy. */
struct lk_linker lk_linker_of(const struct lk_planning *planning, enum lazycuda_backend backend);

/* As a flag of an input: a library that the programs have been compiled with. */
#define LK_INPUT_COMPILED_IN 0x80000000u

/* What an item is: LLVM IR, as bitcode or as text, and no library; a library of LLVM IR, of which
 * nothing but libnvvm takes anything; source. */
bool lk_is_ir(const struct lk_item *item);
bool lk_is_ir_library(const struct lk_item *item);
bool lk_is_source(const struct lk_item *item);

/* Whether it is Tile IR with kernels. */
bool lk_is_tile(const struct lazycuda_entry *entry);

/* Adds to what a side takes; false on allocation failure. */
bool lk_take(struct lk_planning *planning, struct lk_side *side, const struct lk_taken *what);

/* Whether libnvvm compiles what is taken: such an input, or bitcode in an offload binary. */
bool lk_is_ir_taken(const struct lk_taken *taken);

/* What shows the names of what is taken; NULL for source. */
const struct lazycuda_entry *lk_taken_entry(const struct lk_taken *taken);

/* The kind of what is taken, once it is compiled. */
enum lazycuda_kind lk_taken_kind(const struct lk_side *side, const struct lk_taken *taken);

/* ---- request.c ---- */

/* Copies environment and request, and checks them. */
bool lk_plan_request(struct lk_planning *planning, const struct lazycuda_environment *environment,
		     const struct lazycuda_request *request);

/* Fills `options` with the settings in the words of a tool, and returns how many there are;
 * at most as many as lk_most_setting_words(). */
size_t lk_write_settings(struct lk_planning *planning, enum lk_tool tool, const char **options);
size_t lk_most_setting_words(const struct lk_planning *planning);

/* Whether the nvrtc of the environment has all settings of the request. */
bool lk_compiler_has_settings(struct lk_planning *planning, const struct lk_item *item);

/* ---- inputs.c ---- */

/* What a plan would refuse of an input before it looks at the content; code OK: nothing. */
enum lazycuda_code lk_input_refusal(struct lc_arena *arena, const struct lazycuda_request *request,
				    const struct lazycuda_input *input);

/* Fills the items with the inputs and the support modules that these need. */
bool lk_plan_inputs(struct lk_planning *planning, const struct lazycuda_input *const *inputs,
		    size_t count);

/* Finds out whether nvJitLink is needed. */
void lk_plan_needs(struct lk_planning *planning);

/* Whether the driver here need not load the result. */
bool lk_is_for_elsewhere(const struct lk_planning *planning);

/* Whether any enabled module has functions. */
bool lk_has_support_functions(const struct lazycuda_request *request);

/* Bit n is set if module n defines a function that the entry declares. */
uint64_t lk_support_declared(struct lc_arena *arena, const struct lazycuda_request *request,
			     const struct lazycuda_entry *entry);

/* ---- side.c ---- */

void lk_plan_side(struct lk_planning *planning, enum lazycuda_backend backend,
		  struct lk_side *side);

/* Refuses an item that is to be compiled for debugging and optimised; of PTX with its entry. */
bool lk_check_debugging(struct lk_planning *planning, const struct lk_item *item,
			const struct lazycuda_entry *ptx);

/* ---- alone.c ---- */

/* What needs no linker, if there is a refusal, which is then taken back; else NULL. */
const struct lk_side *lk_plan_alone(struct lk_planning *planning, struct lk_side *alone);

/* ---- leave.c ---- */

/* Looks for code that cannot stay LTO-IR, since code outside may call it.  Returns whether the items
 * have to be taken again, with the new reason in `leaves`. */
bool lk_find_leavers(struct lk_planning *planning, struct lk_side *side);

/* ---- compile.c ---- */

/* Decides how source would be compiled for this linker. */
bool lk_plan_compilation(struct lk_planning *planning, const struct lk_linker *linker, bool lto,
			 const struct lk_item *item, struct lk_compilation *compilation);

/* The options for a compilation. */
const char *const *lk_compile_options(struct lk_planning *planning,
				      const struct lk_compilation *compilation, size_t *count);

/* Changes a copy of a plan that compiles source or LLVM IR to LTO-IR to compile it to PTX; false on
 * allocation failure. */
bool lk_compile_to_ptx(struct lc_arena *arena, struct lazycuda_plan *plan);

/* From this target on libnvvm compiles with a newer LLVM, which has opaque pointers. */
#define LK_NEWER_LLVM_SINCE 100

/* The data layout in the specification of NVVM IR, which every libnvvm takes. */
#define LK_NVVM_LAYOUT "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-" \
	"f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"

/* Refuses libraries beside which no program is compiled by libnvvm. */
bool lk_check_ir_libraries(struct lk_planning *planning, const struct lk_ir_compilation *compilation);

/*
 * nvJitLink drops kernels and variables of libnvvm's LTO-IR that the list @llvm.used does not have,
 * and reports success; of PTX it keeps them.  Returns NULL if the list of an input of LLVM IR is
 * known to have them all; else why not.  Of bitcode no list is read.
 */
const char *lk_ir_unlisted(struct lk_planning *planning, const struct lk_item *item);

/* Decides which libnvvm of the request would compile all LLVM IR for this linker: with `lto` one
 * whose LTO-IR the linker takes, if there is one and no reason not to, `no_lto`. */
bool lk_plan_ir(struct lk_planning *planning, const struct lk_linker *linker, bool lto,
		const char *no_lto, const struct lk_item *item,
		struct lk_ir_compilation *compilation);

const char *const *lk_ir_options(struct lk_planning *planning,
				 const struct lk_ir_compilation *compilation, size_t *count);

/* "compiled by libnvvm 12.9 to PTX for compute_90, with libdevice" */
const char *lk_ir_reason(struct lk_planning *planning,
			 const struct lk_ir_compilation *compilation);

void lk_note_ir(struct lk_planning *planning, const struct lk_ir_compilation *compilation);

/* ---- result.c ---- */

/* Checks what has to hold of the result, whichever linker makes it. */
bool lk_plan_result(struct lk_planning *planning, const struct lk_side *side);

/* Whether they are plainly the same file or the same bytes. */
bool lk_is_given_twice(const struct lazycuda_input *one, const struct lazycuda_input *other);

/* ---- write_plan.c ---- */

/* Whether the linker gets an option that begins so. */
bool lk_asks_for(const struct lazycuda_request *request, const char *option);

/* Fills a plan to which there is no objection. */
void lk_plan_write(struct lk_planning *planning, const struct lk_side *side,
		   const struct lk_rule *rule, struct lazycuda_plan *plan);

#endif
