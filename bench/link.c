/* SPDX-License-Identifier: MIT */
/*
 * link.c - the cost of a link through lazycuda_link and through nvJitLink alone
 *
 *     link KIND FOLDER ARCH NVJITLINK ROUNDS [isolated]
 *     link KIND FOLDER ARCH NVJITLINK first [alone]
 *     link KIND FOLDER ARCH serve
 *
 * Links FOLDER/0 and FOLDER/1, which are of KIND (ptx, ltoir or cubin), ROUNDS times
 * through lazycuda_link_run(), and ROUNDS times by calling the library
 * NVJITLINK itself; or, `isolated`, in a process of its own and in this one, both
 * through lazycuda_link_run().  The two take turns to go first, since the first in a
 * round is a percent or two slower.  Prints the nanoseconds of each, one line per round.
 *
 * `first` links once, in a process that has loaded nothing yet.
 *
 * `serve` reads numbers of rounds: it prints the nanoseconds that so many links through
 * lazycuda_link_run() took.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lazycuda_link.h>

#include "clock.h"

static const struct kind {
	const char *name;
	int number;		/* nvJitLink's */
	const char *names[2];	/* of the two inputs */
} kinds[] = {
	{ "ptx", 2, { "kernel.ptx", "helper.ptx" } },
	{ "cubin", 1, { "kernel.cubin", "helper.cubin" } },
	{ "ltoir", 3, { "kernel.ltoir", "helper.ltoir" } },
};

static const struct kind *kind;
static char arch_option[32];
static const char *arch;
static struct { char *bytes; size_t length; } code[2];

static void must(int worked, const char *what)
{
	if (worked)
		return;
	fprintf(stderr, "link: %s\n", what);
	exit(1);
}

/* ---- the two ways ---- */

static void through_run(unsigned flags)
{
	const struct lazycuda_request request = {
		.size = sizeof(request), .arch = arch, .lto = kind->number == 3, .flags = flags,
	};
	struct lazycuda_link *link = lazycuda_link_new(&request, NULL);
	struct lazycuda_input inputs[2];
	const struct lazycuda_result *result;

	for (int i = 0; i < 2; i++) {
		inputs[i] = (struct lazycuda_input){
			.size = sizeof(*inputs), .name = kind->names[i],
			.bytes = code[i].bytes, .length = code[i].length,
		};
		lazycuda_link_add(link, &inputs[i]);
	}
	result = lazycuda_link_run(link);
	must(result->code == LAZYCUDA_CODE_OK, result->message);
	lazycuda_link_free(link);
}

static void through_handle(void)
{
	through_run(0);
}

static void through_child(void)
{
	through_run(LAZYCUDA_LINK_ISOLATED);
}

static struct {
	int (*create)(void **handle, unsigned count, const char **options);
	int (*add)(void *handle, int kind, const void *bytes, size_t length, const char *name);
	int (*complete)(void *handle);
	int (*size)(void *handle, size_t *size);
	int (*get)(void *handle, void *into);
	int (*destroy)(void **handle);
} alone;

static void *find(void *library, const char *name)
{
	void *function = dlsym(library, name);

	must(function != NULL, name);
	return function;
}

static void open_library(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);

	must(library != NULL, "the library cannot be loaded");
	*(void **)&alone.create = find(library, "nvJitLinkCreate");
	*(void **)&alone.add = find(library, "nvJitLinkAddData");
	*(void **)&alone.complete = find(library, "nvJitLinkComplete");
	*(void **)&alone.size = find(library, "nvJitLinkGetLinkedCubinSize");
	*(void **)&alone.get = find(library, "nvJitLinkGetLinkedCubin");
	*(void **)&alone.destroy = find(library, "nvJitLinkDestroy");
}

static void through_library(void)
{
	const char *options[] = { arch_option, "-lto" };
	void *handle, *cubin;
	size_t size;

	must(!alone.create(&handle, 1 + (kind->number == 3), options), "nvJitLinkCreate");
	for (int i = 0; i < 2; i++)
		must(!alone.add(handle, kind->number, code[i].bytes, code[i].length,
				kind->names[i]), "nvJitLinkAddData");
	must(!alone.complete(handle), "nvJitLinkComplete");
	must(!alone.size(handle, &size), "nvJitLinkGetLinkedCubinSize");
	cubin = malloc(size);
	must(!alone.get(handle, cubin), "nvJitLinkGetLinkedCubin");
	alone.destroy(&handle);
	free(cubin);
}

static double nanoseconds(void (*link)(void))
{
	double start = now(CLOCK_MONOTONIC);

	link();
	return now(CLOCK_MONOTONIC) - start;
}

static void read_code(const char *folder)
{
	for (int i = 0; i < 2; i++) {
		char path[4096];
		FILE *file;
		long length;

		must(snprintf(path, sizeof(path), "%s/%d", folder, i) < (int)sizeof(path),
		     "the folder's name is too long");
		file = fopen(path, "rb");
		must(file && !fseek(file, 0, SEEK_END) && (length = ftell(file)) > 0, path);
		rewind(file);
		code[i].length = (size_t)length;
		code[i].bytes = calloc(1, code[i].length + 1);	/* PTX is text */
		must(code[i].bytes && fread(code[i].bytes, code[i].length, 1, file) == 1, path);
		fclose(file);
	}
}

static void serve(void)
{
	long rounds;

	while (scanf("%ld", &rounds) == 1) {
		double time = 0;

		for (long i = 0; i < rounds; i++)
			time += nanoseconds(through_handle);
		printf("%.0f\n", time);
		fflush(stdout);
	}
}

static void take_turns(long rounds, void (*const ways[2])(void))
{
	double (*times)[2] = calloc((size_t)rounds, sizeof(*times));

	must(times != NULL, "no memory");
	for (long i = -3; i < rounds; i++)
		for (int k = 0; k < 2; k++) {
			int way = (i & 1) ^ k;
			double time = nanoseconds(ways[way]);

			if (i >= 0)
				times[i][way] = time;
		}
	for (long i = 0; i < rounds; i++)
		printf("%.0f %.0f\n", times[i][0], times[i][1]);
	free(times);
}

int main(int argc, char **argv)
{
	must(argc >= 5 && argc <= 7,
	     "usage: link KIND FOLDER ARCH (NVJITLINK (ROUNDS [isolated] | first [alone]) | serve)");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(argv[1], kinds[i].name))
			kind = &kinds[i];
	must(kind != NULL, "there is no such kind");
	arch = argv[3];
	snprintf(arch_option, sizeof(arch_option), "-arch=%s", arch);
	read_code(argv[2]);
	if (argc == 5) {
		serve();
		return 0;
	}
	if (!strcmp(argv[5], "first") && argc == 6) {
		through_handle();
		return 0;
	}
	open_library(argv[4]);
	if (!strcmp(argv[5], "first")) {
		through_library();
		return 0;
	}
	take_turns(atol(argv[5]), argc == 7 ?
		   (void (*[])(void)){ through_child, through_handle } :
		   (void (*[])(void)){ through_handle, through_library });
	return 0;
}
