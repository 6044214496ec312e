/* SPDX-License-Identifier: MIT */
/*
 * growth.c - files, inspected and planned for, for whoever counts what that takes
 *
 *     growth FILE...	prints of each how many entries there are, how many steps a link
 *			of it has, what is wrong with it, and how much memory in KiB was
 *			needed for it beside what was needed before
 */
#include <stdio.h>

#include "../../include/lazycuda_link.h"

/* Less than the usual, so that what is unpacked does not hide all the rest. */
#define UNPACK_LIMIT (8 << 20)

/* The most that there was.  ru_maxrss would begin with what the process had that started this one. */
static long memory(void)
{
	FILE *status = fopen("/proc/self/status", "r");
	char line[256];
	long most = 0;

	while (status && fgets(line, sizeof(line), status) && !sscanf(line, "VmHWM: %ld", &most))
		;
	if (status)
		fclose(status);
	return most;
}

/* Every name that is declared is looked for. */
static size_t plan(const struct lazycuda_inspection *inspection)
{
	static const char *const functions[] = { "n00000000" };
	const struct lazycuda_environment environment = {
		.size = sizeof(environment), .driver = 13000, .nvjitlink = 13000,
	};
	const struct lazycuda_input input = {
		.size = sizeof(input), .inspection = inspection, .flags = LAZYCUDA_INPUT_MAIN,
	};
	const struct lazycuda_support support = {
		.size = sizeof(support), .enabled = 1, .functions = functions,
		.function_count = 1, .input = &input,
	};
	const struct lazycuda_support *const supports[] = { &support };
	const struct lazycuda_request request = {
		.size = sizeof(request), .arch = "sm_80", .support = supports,
		.support_count = 1,
	};
	const struct lazycuda_input *const inputs[] = { &input };
	struct lazycuda_plan *plan = lazycuda_plan(&environment, &request, inputs, 1);
	size_t steps = plan ? plan->step_count : 0;

	lazycuda_plan_free(plan);
	return steps;
}

/* What is counted: in a function of its own, which nobody inlines. */
__attribute__((noinline)) void measured(const char *path);

void measured(const char *path)
{
	const struct lazycuda_input input = { .size = sizeof(input), .path = path };
	long before = memory();
	struct lazycuda_inspection *inspection =
		lazycuda_inspect_input(&input, LAZYCUDA_INSPECT_PAYLOADS, UNPACK_LIMIT);

	if (!inspection) {
		puts("memory ran out");
		return;
	}
	printf("%zu %zu ", inspection->entry_count, plan(inspection));
	printf("%ld %s\n", memory() - before, inspection->error ? inspection->error : "-");
	lazycuda_inspection_free(inspection);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		measured(argv[i]);
	return 0;
}
