/* SPDX-License-Identifier: MIT */
/* debugging.c - what ptxas does not compile for debugging, in nvJitLink and in nvrtc */
#include <string.h>

#include "planning.h"
#include "../tables/versions.h"

/* What ptxas is told by an option of nvJitLink. */
static const char *for_ptxas(const char *option)
{
	static const char prefix[] = "-Xptxas=";

	return option + (strncmp(option, prefix, sizeof(prefix) - 1) ? 0 : sizeof(prefix) - 1);
}

static bool is_debug(const char *option)
{
	return !strcmp(option, "-g");
}

static bool debugs(const char *option)
{
	return is_debug(for_ptxas(option));
}

static bool is_level(const char *option)
{
	return option[0] == '-' && option[1] == 'O' && option[2] >= '1' && option[2] <= '9';
}

static bool optimises(const char *option)
{
	return is_level(for_ptxas(option));
}

static const char *find_option(const struct lazycuda_request *request,
			       bool (*is_it)(const char *option))
{
	for (size_t i = 0; i < request->option_count; i++)
		if (is_it(request->options[i]))
			return request->options[i];
	return NULL;
}

/* Whether nvrtc is told to compile for debugging, and not to optimise all the same. */
static bool compiles_for_debugging(const struct lazycuda_request *request)
{
	bool debug = false;

	for (size_t i = 0; i < request->compile_option_count; i++) {
		const char *option = request->compile_options[i];

		option += strspn(option, "-");
		if (!strncmp(option, "dopt", 4))
			return false;
		debug |= !strcmp(option, "G") || !strcmp(option, "device-debug");
	}
	return debug;
}

/* What has PTX, or source, compiled for debugging; NULL if nothing has. */
static const char *why_debugging(struct lk_planning *planning, const struct lk_item *item,
				 const struct lazycuda_entry *ptx)
{
	const char *option = find_option(&planning->request, debugs);

	if (option)
		return lc_format(planning->arena, "option %s", lc_printable(planning->arena, option));
	if (ptx && ptx->flags & LAZYCUDA_ENTRY_DEBUG)
		return "its .target, which says debug";
	return !item->inspection && !lk_is_ir(item) && compiles_for_debugging(&planning->request) ?
	       "compile option -G" : NULL;
}

bool lk_check_debugging(struct lk_planning *planning, const struct lk_item *item,
			const struct lazycuda_entry *ptx)
{
	const char *level = find_option(&planning->request, optimises);
	const char *why = why_debugging(planning, item, ptx);

	return !why || !level ||
	       lk_refuse(planning, LAZYCUDA_CODE_BAD_OPTION, item, why, "-O0",
			 "what is compiled for debugging, by %s, is not optimised, by %s; leave one out",
			 why, level);
}

/* What ptxas compiles for debugging is not optimised, has 64-bit addresses, and debug information
 * where it says so: the same in nvJitLink 12.0 to 13.5. */
static bool check_one_debugged(struct lk_planning *planning, struct lk_side *side,
			       const struct lk_taken *taken)
{
	const struct lazycuda_entry *ptx = lk_taken_entry(taken);
	const enum lazycuda_kind kind = lk_taken_kind(side, taken);
	const enum lazycuda_output output = planning->request.output;
	const struct lk_item *item = taken->item;
	const char *why;

	if (kind != LAZYCUDA_KIND_PTX && (kind != LAZYCUDA_KIND_LTOIR ||
					  output == LAZYCUDA_OUTPUT_PTX || output == LAZYCUDA_OUTPUT_LTOIR))
		return true;
	if (ptx && ptx->kind != LAZYCUDA_KIND_PTX)
		ptx = NULL;
	if (!lk_check_debugging(planning, item, ptx))
		return false;
	why = why_debugging(planning, item, ptx);
	if (why && ptx && ptx->flags & LAZYCUDA_ENTRY_32_BIT)
		return lk_refuse(planning, LAZYCUDA_CODE_BAD_OPTION, item, why,
				 "PTX with .address_size 64", "nvJitLink compiles PTX with 32-bit addresses,"
				 " but not for debugging, by %s; leave that out, or pass PTX with"
				 " .address_size 64", why);
	if (ptx && ptx->flags & LAZYCUDA_ENTRY_NO_DEBUG_INFO)
		return lk_refuse(planning, LAZYCUDA_CODE_BAD_INPUT, item,
				 "PTX for debugging without debug information", "a .section .debug_info",
				 "its .target says debug and it has no debug information, so that nvJitLink"
				 " does not compile it; take the word out, or make it again with -G");
	return true;
}

bool lk_plan_debugging(struct lk_planning *planning, struct lk_side *side)
{
	if (side->linker.backend == LAZYCUDA_BACKEND_DRIVER)
		return true;
	for (size_t i = 0; i < side->count; i++)
		if (!check_one_debugged(planning, side, &side->taken[i]))
			return false;
	/* Others take both with cubins. */
	if (!find_option(&planning->request, is_debug) || !find_option(&planning->request, is_level) ||
	    (side->linker.version > 0 && side->linker.version < LC_CUDA(13, 5)))
		return true;
	return lk_refuse(planning, LAZYCUDA_CODE_BAD_OPTION, NULL, "-g and -O3", "-O0",
			 "nvJitLink 13.5 takes no -O3 with -g, whatever the inputs; leave one out");
}
