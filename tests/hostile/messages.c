/* SPDX-License-Identifier: MIT */
/* messages.c - `messages STUB`: every message that a stub of the runtime has for
 * its users, but for paths by themselves */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

#include <lazycuda.h>

static void *stub;

static void *find(const char *name)
{
	return dlsym(stub, name);
}

int main(int argc, char **argv)
{
	const struct lazycuda_status *(*get_status)(const char *);
	const struct lazycuda_error *(*get_error)(const char *);
	const struct lazycuda_status *status;
	const char *(*text)(int);
	int (*call)(void *, size_t);
	int (*load)(const char *);
	void *memory;

	stub = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	if (!stub)
		return 3;
	*(void **)&load = find("lazycuda_load");
	*(void **)&get_status = find("lazycuda_get_status");
	*(void **)&get_error = find("lazycuda_get_error");
	*(void **)&text = find("cudaGetErrorString");
	*(void **)&call = dlvsym(stub, "cudaMalloc", "libcudart.so.12");
	load(NULL);
	status = get_status("cudart");
	puts(status->reason);
	for (size_t i = 0; i < status->candidate_count; i++)
		puts(status->candidates[i].reason);
	puts(text(call(&memory, 1)));
	puts(get_error("cudart")->message);
	return 0;
}
