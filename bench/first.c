/* SPDX-License-Identifier: MIT */
/*
 * first.c - the cost of a first call, step by step, and the least that it can cost
 *
 *	first stub [FILE...]		loads the files and makes the first call.  Prints
 *					microseconds before the dlopen() of the library, in
 *					it, and after it
 *	first library LIBRARY [FILE...]	loads the files, then the library, and calls.
 *					Prints microseconds in dlopen() and after it
 *	first names LIBRARY NAME...	microseconds to look up these names in the library
 *	first walk FILE...		loads the files; microseconds to walk the program
 *					headers of everything that is loaded
 *
 * Linked to a stub.  The stub calls the dlopen() below, which tells the steps
 * apart.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

extern int cudaRuntimeGetVersion(int *version);

static double before, after;	/* times around the first dlopen() that loaded libcudart */

/* In microseconds: nothing here waits, and other processes do not count. */
#define NOW (now(CLOCK_PROCESS_CPUTIME_ID) / 1e3)

void *dlopen(const char *file, int mode)
{
	static void *(*real)(const char *, int);
	double start;
	void *handle;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "dlopen");
	start = NOW;
	handle = real(file, mode);
	if (handle && file && strstr(file, "libcudart.so") && !after) {
		before = start;
		after = NOW;
	}
	return handle;
}

static void *open_library(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (library)
		return library;
	fprintf(stderr, "first: %s\n", dlerror());
	exit(1);
}

static void open_files(char **files)
{
	for (; *files; files++)
		open_library(*files);
}

static void through_stub(char **files)
{
	double start;
	int version;

	open_files(files);
	start = NOW;
	cudaRuntimeGetVersion(&version);
	if (!after)
		before = after = NOW;		/* no library: all the time was the search */
	printf("%.1f %.1f %.1f\n", before - start, after - before, NOW - after);
}

static void of_library(const char *path, char **files)
{
	int (*function)(int *), version;

	open_files(files);
	*(void **)&function = dlsym(open_library(path), "cudaRuntimeGetVersion");
	function(&version);
	printf("%.1f %.1f\n", after - before, NOW - after);
}

static void of_names(const char *path, char **names)
{
	void *library = open_library(path);
	double start = NOW;

	for (; *names; names++)
		dlsym(library, *names);
	printf("%.1f\n", NOW - start);
}

static int look_at(struct dl_phdr_info *info, size_t size, void *tags)
{
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Dyn) *entry = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);

		for (; info->dlpi_phdr[i].p_type == PT_DYNAMIC && entry->d_tag; entry++)
			*(long *)tags += entry->d_tag;
	}
	return 0;
}

static void of_walk(char **files)
{
	double start;
	long tags = 0;

	open_files(files);
	start = NOW;
	dl_iterate_phdr(look_at, &tags);
	printf("%.1f\n", NOW - start);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "stub"))
		through_stub(argv + 2);
	else if (!strcmp(what, "library") && argc > 2)
		of_library(argv[2], argv + 3);
	else if (!strcmp(what, "names") && argc > 2)
		of_names(argv[2], argv + 3);
	else if (!strcmp(what, "walk"))
		of_walk(argv + 2);
	else
		return 2;
	return 0;
}
