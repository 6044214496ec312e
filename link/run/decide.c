/* SPDX-License-Identifier: MIT */
/* decide.c - which plan a link has, here or for what is given */
#include "../../stubs/base/glibc.h"
#include "../../stubs/base/guard.h"
#include "../../stubs/base/printable.h"
#include "environment.h"
#include "handle.h"
#include "tools.h"
#include "../plan/planning.h"
#include "../tables/sized.h"

/* The plan says which library is missing; the stub knows where it looked and why it found none. */
static const char *why_missing(struct lc_arena *arena, enum lazycuda_code code)
{
	switch (code) {
	case LAZYCUDA_CODE_NVRTC_REQUIRED:
		return lk_why_missing(arena, LK_NVRTC);
	case LAZYCUDA_CODE_NVJITLINK_REQUIRED:
	case LAZYCUDA_CODE_NO_BACKEND:
		return lk_why_missing(arena, LK_NVJITLINK);
	case LAZYCUDA_CODE_NVVM_REQUIRED:
		return lk_why_no_nvvm(arena, LAZYCUDA_VERSION_NONE);
	default:
		return NULL;
	}
}

/* Adds to the message of a plan for what is here why a library is missing. */
static struct lazycuda_plan *say_why(struct lc_arena *arena, struct lazycuda_plan *plan)
{
	const char *why = plan ? why_missing(arena, plan->code) : NULL;

	if (why)
		plan->message = lc_format(arena, "%s; %s", plan->message, why);
	return arena->failed ? NULL : plan;
}

/* ---- for what is here ---- */

/* Gives a request without a policy that of LAZYCUDA_GUARD, and the flag that
 * LAZYCUDA_FORWARD_COMPATIBLE stands for.  Returns NULL, or what is wrong with a variable. */
static const char *take_variables(struct lc_arena *arena, struct lazycuda_request *request)
{
	const char *value = secure_getenv(LC_GUARD_VARIABLE);
	enum lc_guard guard = LC_BEST_EFFORT;
	bool forward = false;

	if (value && *value && !lc_guard_read(value, &guard))
		return lc_format(arena, LC_GUARD_VARIABLE "=%s is not a guard: use " LC_GUARDS,
				 lc_printable(arena, value));
	if (request->policy == LAZYCUDA_POLICY_BEST_EFFORT)
		request->policy = (enum lazycuda_policy)guard;
	value = secure_getenv(LC_FORWARD_VARIABLE);
	if (value && *value && !lc_switch_read(value, &forward))
		return lc_format(arena, LC_FORWARD_VARIABLE "=%s is not a switch: use " LC_SWITCHES,
				 lc_printable(arena, value));
	if (forward)
		request->flags |= LAZYCUDA_LINK_FORWARD_COMPATIBLE;
	return NULL;
}

/* Gives a request that names no architecture that of the GPU here.  Returns NULL, or why not. */
static const char *take_native(struct lc_arena *arena, struct lazycuda_request *request)
{
	const char *from = lk_arch_from_inputs(request->arch), *arch = from ? from : request->arch, *why;

	if (arch && strcmp(arch, LK_NATIVE_ARCH))
		return NULL;
	arch = lk_native_arch(arena, request->device, &why);
	request->arch = arch && from ? lc_format(arena, LK_FROM_INPUTS ":%s", arch) : arch;
	return arch ? NULL : lc_format(arena, "no architecture is given, and %s; give one,"
						" such as sm_90", why);
}

/* Returns true if another plan is made where the driver has no device, as on a login node, in a CI
 * image or in a container, and it has none.  Whoever asks starts the driver; so it is asked only then,
 * and not for an isolated link, where link_pieces() plans again if it failed for that. */
static bool lacks_device(struct lc_arena *arena, const struct lazycuda_plan *plan,
			 const struct lazycuda_environment *environment,
			 const struct lazycuda_request *request,
			 const struct lazycuda_input *const *inputs, size_t count)
{
	struct lazycuda_environment without = *environment;

	if (environment->driver == LAZYCUDA_VERSION_NONE || environment->no_device ||
	    request->flags & LAZYCUDA_LINK_ISOLATED)
		return false;
	without.no_device = 1;
	if (plan->backend != LAZYCUDA_BACKEND_DRIVER) {
		plan = lk_plan(arena, &without, request, inputs, count);
		if (!plan || plan->backend != LAZYCUDA_BACKEND_NVJITLINK)
			return false;
	}
	return !lk_has_device();
}

/* Plans, and fills in the environment and the request with what is here.  Compilers are loaded
 * only if the inputs do not go to nvJitLink as they are, and other installed versions are
 * opened only if the stub's nvJitLink does not fit the link.  NULL on allocation failure. */
static struct lazycuda_plan *choose_here(struct lc_arena *arena,
				       struct lazycuda_environment *environment,
				       struct lazycuda_request *request,
				       const struct lazycuda_input *const *inputs, size_t count)
{
	const char *wrong = take_variables(arena, request);
	const int no_device = environment->no_device;
	struct lazycuda_request first;
	struct lazycuda_plan *plan;

	if (wrong)
		return lk_plan_refused(arena, LAZYCUDA_CODE_BAD_REQUEST, wrong);
	wrong = take_native(arena, request);
	if (wrong)
		return lk_plan_refused(arena, LAZYCUDA_CODE_BAD_ARCH, wrong);
	*environment = lk_linkers();
	environment->no_device = no_device;
	first = *request;
	first.others = NULL;
	/* Who has what cannot take part left out does not mean what could be compiled. */
	plan = request->flags & LAZYCUDA_LINK_IGNORE_NON_LTO ? NULL :
	       lk_plan(arena, environment, &first, inputs, count);
	if (plan && plan->backend == LAZYCUDA_BACKEND_NVJITLINK)
		return plan;
	environment->nvrtc = lk_loaded_version(LK_NVRTC);
	first.others = lk_installed_nvvms();
	plan = lk_plan(arena, environment, &first, inputs, count);
	if (!plan || plan->backend == LAZYCUDA_BACKEND_NVJITLINK)
		return plan;
	request->others = lazycuda_get_others();
	if (!request->others)
		return NULL;
	if (request->others->nvjitlink_count || request->others->nvrtc_count)
		plan = lk_plan(arena, environment, request, inputs, count);
	if (!plan || plan->backend == LAZYCUDA_BACKEND_NVJITLINK ||
	    !lacks_device(arena, plan, environment, request, inputs, count))
		return plan;
	environment->no_device = 1;
	return lk_plan(arena, environment, request, inputs, count);
}

static struct lazycuda_plan *plan_here(struct lc_arena *arena,
				       struct lazycuda_environment *environment,
				       struct lazycuda_request *request,
				       const struct lazycuda_input *const *inputs, size_t count)
{
	return say_why(arena, choose_here(arena, environment, request, inputs, count));
}

struct lazycuda_plan *lazycuda_plan_here(const struct lazycuda_request *request,
					 const struct lazycuda_input *const *inputs,
					 size_t input_count)
{
	struct lc_arena *arena = lc_arena_new();
	struct lazycuda_environment environment = { .size = sizeof(environment) };
	struct lazycuda_plan *plan = NULL;
	struct lazycuda_request asked;

	if (!arena)
		return NULL;
	if (lk_sized_copy(&asked, sizeof(asked), request))
		plan = plan_here(arena, &environment, &asked, inputs, input_count);
	else
		plan = lk_plan(arena, &environment, request, inputs, input_count);
	if (!plan)
		lc_arena_free(arena);
	return plan;
}

/* ---- a link's ---- */

static bool plan(struct lazycuda_link *link)
{
	const struct lazycuda_input *const *inputs =
		(const struct lazycuda_input *const *)link->inputs;

	link->plan = link->is_here ?
		     plan_here(link->arena, &link->environment, &link->request, inputs,
			       link->count) :
		     lk_plan(link->arena, &link->environment, &link->request, inputs, link->count);
	return link->plan || lk_stop_without_memory(link);
}

bool lk_decide(struct lazycuda_link *link)
{
	if (!plan(link))
		return false;
	link->result.plan = link->plan;
	link->result.message = link->plan->message;
	link->result.symbol_errors = link->plan->symbol_errors;
	link->result.symbol_error_count = link->plan->symbol_error_count;
	lk_tell_notes(link, link->plan);
	return link->plan->backend != LAZYCUDA_BACKEND_NONE ||
	       lk_stop(link, link->plan->code, link->plan->input, "%s", link->plan->message);
}
