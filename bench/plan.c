/* SPDX-License-Identifier: MIT */
/*
 * plan.c - the cost of a plan
 *
 *	plan KIND [ROUNDS]	prints the nanoseconds of one lazycuda_plan() with 100 inputs
 *
 * KIND: fatbins (each with PTX, a cubin and two LTO-IR; the PTX and the cubin have
 * 20 symbols each), ptx (the same PTX alone), lto (the fatbins, with LTO), or
 * archive (one input of 100 such fatbins).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <lazycuda_link.h>

#define INPUTS 100
#define ENTRIES 4
#define SYMBOLS 20		/* of which half are defined */

static struct lazycuda_entry entries[INPUTS][ENTRIES];
static const struct lazycuda_entry *lists[INPUTS * ENTRIES];
static struct lazycuda_symbol symbols[INPUTS][SYMBOLS];
static char names[INPUTS][SYMBOLS][48];
static struct lazycuda_inspection inspections[INPUTS];
static struct lazycuda_input inputs[INPUTS];
static const struct lazycuda_input *list[INPUTS];
static const char *const functions[] = { "NRT_incref", "NRT_decref", "NRT_Allocate" };

static uint32_t hash(const char *name)
{
	uint32_t value = 2166136261u;

	for (; *name; name++)
		value = (value ^ (unsigned char)*name) * 16777619u;
	return value;
}

static void make_symbols(int input)
{
	for (int i = 0; i < SYMBOLS; i++) {
		/* The second half of an input's names is the first half of the next one's. */
		snprintf(names[input][i], sizeof(names[input][i]), "_Z20some_device_function%dPfi",
			 (input * SYMBOLS + i * 2) / 2);
		symbols[input][i] = (struct lazycuda_symbol){
			.name = names[input][i], .hash = hash(names[input][i]),
			.defined = i < SYMBOLS / 2,
		};
	}
}

static struct lazycuda_entry entry(enum lazycuda_kind kind, int arch, int input)
{
	const int code = kind != LAZYCUDA_KIND_LTOIR;

	return (struct lazycuda_entry){
		.kind = kind, .arch = arch, .toolkit = 12040, .isa = code && arch == 80 ? 84 : 0,
		.container = 1061, .ir = 2071, .level = 1, .abi = 7, .fatbin = 0,
		.flags = LAZYCUDA_ENTRY_RELOCATABLE, .symbols = code ? symbols[input] : NULL,
		.symbol_count = code ? SYMBOLS : 0,
	};
}

static void make_input(int input, int only_ptx)
{
	struct lazycuda_entry *mine = entries[input];

	make_symbols(input);
	mine[0] = entry(LAZYCUDA_KIND_PTX, 80, input);
	mine[1] = entry(LAZYCUDA_KIND_CUBIN, 86, input);
	mine[2] = entry(LAZYCUDA_KIND_LTOIR, 80, input);
	mine[3] = entry(LAZYCUDA_KIND_LTOIR, 90, input);
	for (int i = 0; i < ENTRIES; i++)
		lists[input * ENTRIES + i] = &mine[i];
	if (only_ptx)
		mine[0].fatbin = -1;
	inspections[input] = (struct lazycuda_inspection){
		.size = sizeof(inspections[input]),
		.kind = only_ptx ? LAZYCUDA_KIND_PTX : LAZYCUDA_KIND_FATBIN,
		.entries = &lists[input * ENTRIES], .entry_count = only_ptx ? 1 : ENTRIES,
	};
	inputs[input] = (struct lazycuda_input){
		.size = sizeof(inputs[input]), .name = "kernels", .flags = LAZYCUDA_INPUT_MAIN,
		.inspection = &inspections[input],
	};
	list[input] = &inputs[input];
}

/* Puts all entries into the first input. */
static void make_archive(void)
{
	for (int i = 0; i < INPUTS; i++)
		for (int k = 0; k < ENTRIES; k++) {
			entries[i][k].fatbin = i;
			entries[i][k].member = "kernels.o";
		}
	inspections[0].kind = LAZYCUDA_KIND_ARCHIVE;
	inspections[0].entry_count = INPUTS * ENTRIES;
}

/* CPU time of the thread: a plan waits for nothing, and other processes do not count. */
static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "fatbins";
	const int rounds = argc > 2 ? atoi(argv[2]) : 2000, archive = !strcmp(kind, "archive");
	const struct lazycuda_support support = {
		.size = sizeof(support), .name = "nrt", .enabled = 1, .functions = functions,
		.function_count = 3, .input = &inputs[0],
	};
	const struct lazycuda_support *const supports[] = { &support };
	const char *const options[] = { "-lineinfo", "-maxrregcount=64" };
	const struct lazycuda_environment environment = {
		.size = sizeof(environment), .driver = 12090, .nvjitlink = 12090, .nvrtc = 12090,
	};
	const struct lazycuda_request request = {
		.size = sizeof(request), .arch = "sm_90", .lto = !strcmp(kind, "lto"),
		.options = options, .option_count = 2, .support = supports, .support_count = 1,
	};
	double start = 0;

	for (int i = 0; i < INPUTS; i++)
		make_input(i, !strcmp(kind, "ptx"));
	if (archive)
		make_archive();
	for (int i = -rounds / 10; i < rounds; i++) {
		struct lazycuda_plan *plan;

		if (i == 0)
			start = now();
		plan = lazycuda_plan(&environment, &request, list, archive ? 1 : INPUTS);
		if (!plan || plan->code != LAZYCUDA_CODE_OK || plan->step_count != INPUTS) {
			fprintf(stderr, "%s\n", plan ? plan->message : "no memory");
			return 1;
		}
		lazycuda_plan_free(plan);
	}
	printf("%.0f\n", (now() - start) / rounds);
	return 0;
}
