/* SPDX-License-Identifier: MIT */
/* loads.c - WHAT [STUB...]: load stubs, the three if none is named, between two markers
 * that a trace shows */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void mark(const char *text)
{
	if (write(2, text, strlen(text)) < 0)
		_exit(1);
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

static void load(char **names)
{
	for (names = *names ? names : three; *names; names++)
		if (!dlopen(*names, RTLD_NOW)) {
			fprintf(stderr, "%s\n", dlerror());
			_exit(1);
		}
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
	if (!strcmp(argv[1], "memory")) {
		load(argv + 2);
		printf("%ld\n", private_memory());
		return 0;
	}
	mark("begin");
	load(argv + 2);
	mark("end");
	return 0;
}
