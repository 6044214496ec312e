/* SPDX-License-Identifier: MIT */
/* result.c - what has to hold of the result, whichever linker makes it */
#include "planning.h"
#include "../tables/versions.h"

/* ---- what the user demands ---- */

static bool check_constraint(struct lk_planning *planning, const char *library, int version,
			     struct lk_refusal *refusal)
{
	const struct lazycuda_request *request = &planning->request;
	struct lc_arena *arena = planning->arena;
	const char *constraint, *have;
	bool unknown = version <= 0;

	if (!request->constraint ||
	    (!unknown && lc_constraint_holds(request->constraint, version, NULL)))
		return true;
	constraint = lc_printable(arena, request->constraint);
	have = lc_format(arena, "%s %s", library, lk_version(arena, version));
	if (request->policy == LAZYCUDA_POLICY_OFF ||
	    (unknown && request->policy == LAZYCUDA_POLICY_BEST_EFFORT)) {
		lk_note(planning, lc_format(arena, "%s, and the constraint %s, are let pass by the"
					    " policy", have, constraint));
		return true;
	}
	return lk_refuse(refusal, unknown ? LAZYCUDA_CODE_INSUFFICIENT_METADATA :
					    LAZYCUDA_CODE_CONSTRAINT,
			 LAZYCUDA_NO_INDEX, have,
			 lc_format(arena, "%s %s", library, constraint),
			 lc_format(arena, unknown ? "%s: whether it satisfies %s is not known, and"
				   " the policy is strict" : "%s is here, and the constraint %s"
				   " forbids it; install another, or relax the constraint", have,
				   constraint));
}

/* ---- what the driver here can load ---- */

/* Refuses the link or, if the policy is off, lets it pass with a note. */
static bool too_old(struct lk_planning *planning, struct lk_refusal *refusal, const char *have,
		    const char *need, const char *message)
{
	if (planning->request.policy != LAZYCUDA_POLICY_OFF)
		return lk_refuse(refusal, LAZYCUDA_CODE_DRIVER_TOO_OLD, LAZYCUDA_NO_INDEX, have,
				 need,
				 lc_format(planning->arena, "%s; take %s, or say that the result is"
					   " for another machine", message, need));
	lk_note(planning, message);
	return true;
}

static const char *driver_for(struct lc_arena *arena, int version)
{
	return lc_format(arena, "a driver for CUDA %s or later", lk_version(arena, version));
}

/* The driver cannot run code for a GPU that it does not know. */
static bool check_gpu(struct lk_planning *planning, struct lk_refusal *refusal)
{
	const struct lk_arch gpu = { planning->target.sm, 0, false };
	int driver = planning->environment.driver, since;
	struct lc_arena *arena = planning->arena;
	char arch[LK_ARCH_TEXT];

	if (lk_arch_supported(&gpu, LK_DRIVER, driver))
		return true;
	since = lk_arch_since(&gpu, LK_DRIVER);
	lk_arch_text(&gpu, arch);
	return too_old(planning, refusal,
		       lc_format(arena, "the driver (CUDA %s)", lk_version(arena, driver)),
		       since ? driver_for(arena, since) : "a newer driver",
		       lc_format(arena, "the driver here, for CUDA %s, does not know %s",
				 lk_version(arena, driver), arch));
}

/* No driver reads PTX of a newer ISA than its own. */
static bool check_ptx(struct lk_planning *planning, int nvjitlink, struct lk_refusal *refusal)
{
	int driver = planning->environment.driver;
	int isa = lk_isa_of_cuda(nvjitlink);
	struct lc_arena *arena = planning->arena;

	if (isa <= lk_isa_of_cuda(driver))
		return true;
	return too_old(planning, refusal, lc_format(arena, "PTX %d.%d", isa / 10, isa % 10),
		       driver_for(arena, lk_cuda_of_isa(isa)),
		       lc_format(arena, "nvJitLink %s writes PTX %d.%d, which the driver here, for"
				 " CUDA %s, does not read", lk_version(arena, nvjitlink), isa / 10,
				 isa % 10, lk_version(arena, driver)));
}

/* Cubins of a later toolkit of the driver's major need a display driver of that
 * major's first branch or later.  Cubins of a later major get here only if the
 * policy is off, or from nvrtc. */
static bool check_driver(struct lk_planning *planning, const struct lk_side *side,
			 struct lk_refusal *refusal)
{
	int driver = planning->environment.driver, branch = planning->environment.branch;
	int version = side->linker.version, needed = lc_compatible_branch(LC_CUDA_MAJOR(version));
	struct lc_arena *arena = planning->arena;
	char maker[LK_LINKER_TEXT];

	lk_linker_text(&side->linker, maker);
	switch (lc_driver_runs(driver, branch, version)) {
	case LC_MAJOR_TOO_OLD:
		return too_old(planning, refusal, lc_format(arena, "a driver for CUDA %s",
							    lk_version(arena, driver)),
			       driver_for(arena, LC_CUDA(LC_CUDA_MAJOR(version), 0)),
			       lc_format(arena, "a driver for CUDA %s need not load what %s makes",
					 lk_version(arena, driver), maker));
	case LC_BRANCH_TOO_OLD:
		return too_old(planning, refusal, lc_format(arena, "display driver %d", branch),
			       lc_format(arena, "display driver %d or later", needed),
			       lc_format(arena, "display driver %d does not load what %s makes",
					 branch, maker));
	case LC_BRANCH_UNKNOWN:
	case LC_DRIVER_RUNS:
		break;
	}
	return true;
}

static bool check_loadable(struct lk_planning *planning, const struct lk_side *side,
			   struct lk_refusal *refusal)
{
	const unsigned elsewhere = LAZYCUDA_LINK_OFFLINE | LAZYCUDA_LINK_FORWARD_COMPATIBLE;
	int version = side->linker.version;

	if (side->linker.backend == LAZYCUDA_BACKEND_DRIVER || version < 0 ||
	    planning->environment.driver <= 0 || planning->request.flags & elsewhere)
		return true;
	switch (planning->request.output) {
	case LAZYCUDA_OUTPUT_CUBIN:
		return check_gpu(planning, refusal) && check_driver(planning, side, refusal);
	case LAZYCUDA_OUTPUT_PTX:
		return check_ptx(planning, version, refusal);
	default:
		return true;
	}
}

bool lk_plan_result(struct lk_planning *planning, const struct lk_side *side,
		    struct lk_refusal *refusal)
{
	if (side->linker.backend == LAZYCUDA_BACKEND_NVJITLINK &&
	    !check_constraint(planning, "nvJitLink", planning->environment.nvjitlink, refusal))
		return false;
	if (side->compilation.to != LAZYCUDA_KIND_UNKNOWN &&
	    !check_constraint(planning, "nvrtc", planning->environment.nvrtc, refusal))
		return false;
	if (side->linker.backend == LAZYCUDA_BACKEND_TILEIRAS &&
	    !check_constraint(planning, "tileiras", side->linker.version, refusal))
		return false;
	if (side->ir.any &&
	    !check_constraint(planning, "libnvvm", side->ir.version, refusal))
		return false;
	return check_loadable(planning, side, refusal) &&
	       lk_plan_duplicates(planning, side, refusal);
}
