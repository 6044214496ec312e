/* SPDX-License-Identifier: MIT */
/* loads.c - WHAT [STUB...]: load stubs, the three if none is named, between two markers
 * that a trace shows */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void mark(const char *text)
{
	if (write(2, text, strlen(text)) < 0)
		_exit(1);
}

static int threads(void)
{
	DIR *folder = opendir("/proc/self/task");
	int count = -2;	/* . and .. */

	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

/* KiB that this process has of the stubs, and no other has. */
static long private_memory(void)
{
	FILE *maps = fopen("/proc/self/smaps", "r");
	char line[4096];
	long kib = 0, part;
	int ours = 0;

	while (fgets(line, sizeof line, maps)) {
		if (strchr(line, '-') && strpbrk(line, "-:") == strchr(line, '-'))
			ours = strstr(line, "_stub.so") != NULL;
		else if (ours && (sscanf(line, "Private_Clean: %ld", &part) == 1 ||
				  sscanf(line, "Private_Dirty: %ld", &part) == 1))
			kib += part;
	}
	fclose(maps);
	return kib;
}

static char *three[] = { "libcudart_stub.so", "libnvrtc_stub.so", "libnvJitLink_stub.so", NULL };

/* The first of them. */
static void *load(char **names)
{
	void *first = NULL;

	for (names = *names ? names : three; *names; names++) {
		void *stub = dlopen(*names, RTLD_NOW);

		if (!stub) {
			fprintf(stderr, "%s\n", dlerror());
			_exit(1);
		}
		first = first ? first : stub;
	}
	return first;
}

#ifdef LINKED
int cudaDeviceSynchronize(void), nvrtcDestroyProgram(void *), nvJitLinkDestroy(void *);
int (*volatile used[])() = { (int (*)())cudaDeviceSynchronize, (int (*)())nvrtcDestroyProgram,
			     (int (*)())nvJitLinkDestroy };
#endif

int main(int argc, char **argv)
{
	if (argc < 2 || !strcmp(argv[1], "nothing"))
		return 0;
	if (!strcmp(argv[1], "threads"))
		printf("%d ", threads());
	if (!strcmp(argv[1], "memory")) {
		load(argv + 2);
		printf("%ld\n", private_memory());
		return 0;
	}
	if (strcmp(argv[1], "calls"))
		mark("begin");
	void *cudart = load(argv + 2);
	if (!strcmp(argv[1], "calls")) {
		int (*call)(void) = (int (*)(void))dlsym(cudart, "cudaDeviceSynchronize");
		mark("begin");
		call();
		mark("between");
		call();
	}
	mark("end");
	if (!strcmp(argv[1], "threads"))
		printf("%d\n", threads());
	return 0;
}
