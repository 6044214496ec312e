/* SPDX-License-Identifier: MIT */
/*
 * many.c - the first calls of many stubs, and what they cost by counts
 *
 *	many [FILE | FILE:FUNCTION | +FILE:FUNCTION]...
 *
 * Loads the files, then calls the functions in turn, each with room for results.  A file
 * with a `+` is loaded only then.  Everything that is counted happens in measured(),
 * between two calls of access() that no library makes.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct call {
	char *file, *name;
	void *library;
	int now;
} *calls;

static void load(struct call *call)
{
	call->library = dlopen(call->file, RTLD_NOW | RTLD_LOCAL);
	if (call->library)
		return;
	fprintf(stderr, "many: %s\n", dlerror());
	exit(1);
}

__attribute__((noinline)) static void measured(int count)
{
	static long room[64];

	access("/measured/begins", F_OK);
	for (struct call *call = calls; call < calls + count; call++) {
		int (*function)(void *, void *);

		if (call->now)
			load(call);
		if (!call->name)
			continue;
		*(void **)&function = dlsym(call->library, call->name);
		function(room, room + 32);
	}
	access("/measured/ends", F_OK);
}

int main(int argc, char **argv)
{
	calls = calloc((size_t)argc, sizeof(*calls));
	for (int i = 1; i < argc; i++) {
		struct call *call = &calls[i - 1];

		call->now = argv[i][0] == '+';
		call->file = argv[i] + call->now;
		call->name = strchr(call->file, ':');
		if (call->name)
			*call->name++ = 0;
		if (!call->now)
			load(call);
	}
	usleep(50 * 1000);	/* a folder that was made just before is looked at by each stub */
	measured(argc - 1);
	return 0;
}
