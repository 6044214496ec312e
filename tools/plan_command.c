/* SPDX-License-Identifier: MIT */
/* plan_command.c - `lazycuda plan`: decides how device code would be linked, without linking it */
#include "commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../include/lazycuda.h"
#include "../stubs/base/cuda_version.h"
#include "json.h"
#include "plan_report.h"
#include "say.h"

static const char usage[] =
"usage: lazycuda plan [OPTION...] [--arch ARCH] FILE...\n"
"       lazycuda plan [OPTION...]\n"
"\n"
"Says which linker would take which part of which file, and why, or why none\n"
"would and what to do.  FILE is PTX, a cubin, LTO-IR, a fatbin, an object, a\n"
"static or shared library, LLVM IR or CUDA source.  Nothing is linked.\n"
"\n"
"Without a file: whether driver, cudart, nvrtc and nvJitLink may work together, for\n"
"LTO-IR with --lto and for PTX without.  cudart takes part if --cudart gives its\n"
"version, or if no version is given.\n"
"\n"
"Exit status: 0 it can be done, 1 it cannot, 2 wrong usage or a file that cannot\n"
"be read.  Versions that are not given are those installed:\n";

struct plan_arguments {
	struct link_arguments shared;
	int cudart;
};

static const struct option options[] = {
	{ "--cudart", "V", "the runtime's version, only without a file",
	  .read = link_arguments_version, .at = offsetof(struct plan_arguments, cudart),
	  .wants = LINK_VERSION_WANTS },
	{ .name = NULL },
};

static const struct command command = {
	.name = "plan", .usage = usage, .options = options, .shared = link_arguments_options, .end = "",
};

/* ---- without files: versions only ---- */

static const char *const outcomes[] = {
	[LAZYCUDA_OUTCOME_COMPATIBLE] = "compatible", [LAZYCUDA_OUTCOME_INCOMPATIBLE] = "incompatible",
	[LAZYCUDA_OUTCOME_INSUFFICIENT_METADATA] = "insufficient_metadata",
	[LAZYCUDA_OUTCOME_DRIVER_TOO_OLD] = "driver_too_old",
};

/* The runtime that a program would get here. */
static int installed_cudart(void)
{
	const struct lazycuda_status *status;

	if (lazycuda_load("cudart"))
		return LAZYCUDA_VERSION_NONE;
	status = lazycuda_get_status("cudart");
	return LC_CUDA(status->major, status->minor);
}

static int combine(const struct plan_arguments *plan)
{
	const struct link_arguments *arguments = &plan->shared;
	const struct lazycuda_environment *environment = &arguments->environment;
	const struct lazycuda_request *request = &arguments->request;
	const struct lazycuda_combination combination = {
		.size = sizeof(combination),
		.driver = environment->driver,
		.branch = environment->branch,
		.cudart = plan->cudart != NOT_GIVEN ? plan->cudart :
			  arguments->environment_given ? LAZYCUDA_VERSION_NONE : installed_cudart(),
		.nvrtc = environment->nvrtc,
		.nvjitlink = environment->nvjitlink,
		.carries = request->lto ? LAZYCUDA_KIND_LTOIR : LAZYCUDA_KIND_PTX,
		.policy = request->policy,
		.flags = request->flags & (LAZYCUDA_LINK_FORWARD_COMPATIBLE |
					   LAZYCUDA_LINK_LTO_ACROSS_MAJORS),
		.constraint = request->constraint,
	};
	char message[512];
	enum lazycuda_outcome outcome = lazycuda_combine(&combination, message, sizeof(message));

	if (arguments->json) {
		json_open(NULL, '{');
		json_text("outcome", outcomes[outcome]);
		json_text("message", message);
		plan_json_environment(arguments);
		plan_json_version("cudart", combination.cudart);
		json_close('}');
	} else {
		say_verdict(outcomes[outcome], outcome == LAZYCUDA_OUTCOME_COMPATIBLE);
		putchar('\n');
		say_message(stdout, message, 0);
	}
	return outcome != LAZYCUDA_OUTCOME_COMPATIBLE;
}

/* ---- with files ---- */

static bool inspect_all(struct link_arguments *arguments)
{
	if (!link_arguments_readable(arguments, &command))
		return false;
	for (size_t i = 0; i < arguments->input_count; i++) {
		struct lazycuda_input *input = &arguments->inputs[i];

		input->inspection = lazycuda_inspect_input(input, LAZYCUDA_INSPECT_PAYLOADS,
							   arguments->request.unpack_limit);
		if (!input->inspection) {
			complain("plan", "memory ran out");
			return false;
		}
	}
	return true;
}

static struct lazycuda_plan *make_plan(const struct link_arguments *arguments)
{
	size_t count = arguments->input_count;
	const struct lazycuda_input **inputs = calloc(count, sizeof(*inputs));
	struct lazycuda_plan *plan = NULL;

	for (size_t i = 0; inputs && i < count; i++)
		inputs[i] = &arguments->inputs[i];
	if (inputs)
		plan = arguments->environment_given ?
		       lazycuda_plan(&arguments->environment, &arguments->request, inputs, count) :
		       lazycuda_plan_here(&arguments->request, inputs, count);
	if (!plan)
		complain("plan", "memory ran out");
	free(inputs);
	return plan;
}

static int decide(struct link_arguments *arguments)
{
	struct lazycuda_plan *plan = inspect_all(arguments) ? make_plan(arguments) : NULL;
	int status = 2;

	if (plan) {
		if (arguments->json)
			plan_print_json(arguments, plan);
		else
			plan_print(arguments, plan);
		status = plan->code != LAZYCUDA_CODE_OK;
	}
	lazycuda_plan_free(plan);
	for (size_t i = 0; i < arguments->input_count; i++)
		lazycuda_inspection_free((struct lazycuda_inspection *)
					 arguments->inputs[i].inspection);
	return status;
}

/* ---- command line ---- */

/* Whether something was asked for that only code can answer. */
static bool is_about_files(const struct lazycuda_request *request)
{
	return request->arch || request->output != LAZYCUDA_OUTPUT_CUBIN || request->symbol_count ||
	       request->option_count || request->compile_option_count || request->setting_count;
}

static int answer(struct plan_arguments *plan)
{
	struct link_arguments *arguments = &plan->shared;

	if (!arguments->input_count && is_about_files(&arguments->request))
		return options_wrong(&command, "no file is given", "");
	if (!arguments->input_count)
		return combine(plan);
	if (plan->cudart != NOT_GIVEN)
		return options_wrong(&command, "--cudart is for a plan without files", "");
	return decide(arguments);
}

int plan_main(int argc, char **argv)
{
	struct plan_arguments arguments = { .cudart = NOT_GIVEN };
	int status = link_arguments_read(&arguments.shared, &command, argc, argv);

	if (status < 0)
		status = answer(&arguments);
	lc_arena_free(&arguments.shared.arena);
	return status;
}
