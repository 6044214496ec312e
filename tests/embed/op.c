/* SPDX-License-Identifier: MIT */
/*
 * op.c - an extension that has stubs inside, and a program: `op STEP...`
 *
 *	ask		what the runtime says of itself here; ask:FILE: in that extension, which stays open
 *	cycle:FILE	opens it, asks and closes it, 200 times, and says by how many KiB the process grew
 *	on		a thread's first call, which main() learns of without waiting for it, and then ends
 *	where		which file the stub here has taken
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lazycuda.h"

int cudaRuntimeGetVersion(int *version);
const char *cudaGetErrorString(int error);

__attribute__((visibility("default"))) int ask(void);
int ask(void)
{
	int version = 0, error = cudaRuntimeGetVersion(&version);

	return error ? -error : version;
}

#ifdef PROGRAM
static int ask_in(const char *file, int close)
{
	void *handle = dlopen(file, RTLD_NOW);
	int (*there)(void) = handle ? (int (*)(void))dlsym(handle, "ask") : NULL;
	int said = there ? there() : (puts(dlerror()), -1);

	if (handle && close)
		dlclose(handle);
	return said;
}

static long resident(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long size = 0, pages = 0;

	if (file && fscanf(file, "%ld %ld", &size, &pages) != 2)
		pages = 0;
	if (file)
		fclose(file);
	return pages * 4;
}

static int called;

static void *call_once(void *data)
{
	ask();
	__atomic_store_n(&called, 1, __ATOMIC_RELAXED);
	for (;;)
		pause();
	return data;
}

static void go_on(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, call_once, NULL);
	pthread_detach(thread);
	while (!__atomic_load_n(&called, __ATOMIC_RELAXED))
		usleep(1000);
}

int main(int count, char **step)
{
	for (int i = 1; i < count; i++) {
		if (!strcmp(step[i], "ask"))
			printf("%d\n", ask());
		else if (!strncmp(step[i], "ask:", 4))
			printf("%d\n", ask_in(step[i] + 4, 0));
		else if (!strcmp(step[i], "on"))
			go_on();
		else if (!strcmp(step[i], "where"))
			printf("%s\n", lazycuda_get_status("cudart")->path);
		else if (!strncmp(step[i], "cycle:", 6)) {
			long before;

			ask_in(step[i] + 6, 1);
			before = resident();
			for (int k = 0; k < 200; k++)
				ask_in(step[i] + 6, 1);
			printf("%ld\n", resident() - before);
		}
	}
	return 0;
}
#endif
