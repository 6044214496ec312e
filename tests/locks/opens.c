/* SPDX-License-Identifier: MIT */
/*
 * opens.c - opens libraries and has them call the stubs: `opens WORD...`
 *
 *     open:FILE    dlopen
 *     deep:FILE    with RTLD_DEEPBIND
 *     space:FILE   with dlmopen, in a namespace of its own
 *     gone:FILE    opens and closes it
 *     call         user_call() of what was opened last: prints what it returns
 *     state        state of the cudart stub that the last one uses: prints it
 *     own          calls the stub of the program itself: prints what that returns
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include <lazycuda.h>

int cudaDeviceSynchronize(void);

static void *open_word(const char *word)
{
	const char *file = strchr(word, ':') + 1;
	void *handle;

	if (!strncmp(word, "space:", 6))
		handle = dlmopen(LM_ID_NEWLM, file, RTLD_NOW);
	else
		handle = dlopen(file, RTLD_NOW | (strncmp(word, "deep:", 5) ? 0 : RTLD_DEEPBIND));
	if (!handle)
		printf("%s\n", dlerror());
	else if (!strncmp(word, "gone:", 5))
		dlclose(handle);
	return handle;
}

int main(int argc, char **argv)
{
	void *handle = NULL;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "own")) {
			printf("%d\n", cudaDeviceSynchronize());
		} else if (!strcmp(argv[i], "call")) {
			printf("%d\n", ((int (*)(void))dlsym(handle, "user_call"))());
		} else if (!strcmp(argv[i], "state")) {
			const struct lazycuda_status *(*status)(const char *) =
				(const struct lazycuda_status *(*)(const char *))
				dlsym(handle, "lazycuda_get_status");
			printf("%d\n", (int)status("cudart")->state);
		} else {
			handle = open_word(argv[i]);
			if (!handle)
				return 1;
		}
		fflush(stdout);
	}
	return 0;
}
