/* SPDX-License-Identifier: MIT */
/*
 * plan.c - the cost of a plan
 *
 *	plan KIND [ROUNDS [INPUTS]]	prints the nanoseconds of one lazycuda_plan() with
 *					INPUTS inputs, 100 unless told
 *
 * KIND: fatbins (each with PTX, a cubin and two LTO-IR; the PTX and the cubin have
 * 20 symbols each), ptx (the same PTX alone), lto (the fatbins, with LTO), or
 * archive (one input of as many such fatbins).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lazycuda_link.h>

#include "clock.h"

#define ENTRIES 4
#define SYMBOLS 20		/* of which half are defined */

/* All that belongs to one input. */
struct subject {
	struct lazycuda_entry entries[ENTRIES];
	struct lazycuda_symbol symbols[SYMBOLS];
	char names[SYMBOLS][48];
	struct lazycuda_inspection inspection;
	struct lazycuda_input input;
};

static struct subject *subjects;
static const struct lazycuda_entry **lists;	/* ENTRIES for each input */
static const struct lazycuda_input **list;
static int inputs;
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
	char (*names)[48] = subjects[input].names;

	for (int i = 0; i < SYMBOLS; i++) {
		/* The second half of an input's names is the first half of the next one's. */
		snprintf(names[i], sizeof(names[i]), "_Z20some_device_function%dPfi",
			 (input * SYMBOLS + i * 2) / 2);
		subjects[input].symbols[i] = (struct lazycuda_symbol){
			.name = names[i], .hash = hash(names[i]),
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
		.flags = LAZYCUDA_ENTRY_RELOCATABLE, .symbols = code ? subjects[input].symbols : NULL,
		.symbol_count = code ? SYMBOLS : 0,
	};
}

static void make_input(int input, int only_ptx)
{
	struct subject *subject = &subjects[input];
	struct lazycuda_entry *mine = subject->entries;

	make_symbols(input);
	mine[0] = entry(LAZYCUDA_KIND_PTX, 80, input);
	mine[1] = entry(LAZYCUDA_KIND_CUBIN, 86, input);
	mine[2] = entry(LAZYCUDA_KIND_LTOIR, 80, input);
	mine[3] = entry(LAZYCUDA_KIND_LTOIR, 90, input);
	for (int i = 0; i < ENTRIES; i++)
		lists[input * ENTRIES + i] = &mine[i];
	if (only_ptx)
		mine[0].fatbin = -1;
	subject->inspection = (struct lazycuda_inspection){
		.size = sizeof(subject->inspection),
		.kind = only_ptx ? LAZYCUDA_KIND_PTX : LAZYCUDA_KIND_FATBIN,
		.entries = &lists[input * ENTRIES], .entry_count = only_ptx ? 1 : ENTRIES,
	};
	subject->input = (struct lazycuda_input){
		.size = sizeof(subject->input), .name = "kernels", .flags = LAZYCUDA_INPUT_MAIN,
		.inspection = &subject->inspection,
	};
	list[input] = &subject->input;
}

/* Puts all entries into the first input. */
static void make_archive(void)
{
	for (int i = 0; i < inputs; i++)
		for (int k = 0; k < ENTRIES; k++) {
			subjects[i].entries[k].fatbin = i;
			subjects[i].entries[k].member = "kernels.o";
		}
	subjects[0].inspection.kind = LAZYCUDA_KIND_ARCHIVE;
	subjects[0].inspection.entry_count = (size_t)inputs * ENTRIES;
}

/* A plan waits for nothing, and other processes do not count. */
#define CPU_TIME CLOCK_THREAD_CPUTIME_ID

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "fatbins";
	const int rounds = argc > 2 ? atoi(argv[2]) : 2000, archive = !strcmp(kind, "archive");
	struct lazycuda_support support = {
		.size = sizeof(support), .name = "nrt", .enabled = 1, .functions = functions,
		.function_count = 3,
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

	inputs = argc > 3 ? atoi(argv[3]) : 100;
	subjects = calloc((size_t)inputs, sizeof(*subjects));
	lists = calloc((size_t)inputs * ENTRIES, sizeof(*lists));
	list = calloc((size_t)inputs, sizeof(*list));
	if (!subjects || !lists || !list)
		return 1;
	support.input = &subjects[0].input;
	for (int i = 0; i < inputs; i++)
		make_input(i, !strcmp(kind, "ptx"));
	if (archive)
		make_archive();
	for (int i = -rounds / 10; i < rounds; i++) {
		struct lazycuda_plan *plan;

		if (i == 0)
			start = now(CPU_TIME);
		plan = lazycuda_plan(&environment, &request, list, archive ? 1 : (size_t)inputs);
		if (!plan || plan->code != LAZYCUDA_CODE_OK || plan->step_count != (size_t)inputs) {
			fprintf(stderr, "%s\n", plan ? plan->message : "no memory");
			return 1;
		}
		lazycuda_plan_free(plan);
	}
	printf("%.0f\n", (now(CPU_TIME) - start) / rounds);
	return 0;
}
