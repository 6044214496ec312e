/* SPDX-License-Identifier: MIT */
/*
 * ifunc.c - a function that is one of two, as whether there is a GPU tells
 *
 * Its resolver is called by ld.so, in the program while libc is not set up yet.  -DUSER
 * makes the program for a resolver that lies in a library.
 */
#include <stdio.h>

#include "../../include/lazycuda.h"

extern int cudaGetDeviceCount(int *);
extern int cudaDeviceSynchronize(void);
extern int cudaGetLastError(void);

struct said {
	int count, status, last, load;
	char message[256];
};

extern int pick(void);
extern struct said said;

#ifndef USER
struct said said;

static int with(void)
{
	return 1;
}

static int without(void)
{
	return 2;
}

/* clang takes a name in an attribute for no use. */
__attribute__((used)) static int (*resolve(void))(void)
{
	const char *text;

	said.count = 4711;
	said.status = cudaGetDeviceCount(&said.count);
	text = lazycuda_get_error("cudart")->message;
	for (size_t i = 0; i < sizeof(said.message) - 1 && text[i]; i++)
		said.message[i] = text[i];
	said.last = cudaGetLastError();
	said.load = lazycuda_load(NULL);
	return said.status ? without : with;
}

int pick(void) __attribute__((ifunc("resolve")));
#endif

#ifndef LIBRARY
int main(void)
{
	int picked = pick(), count = 4711, status;

	printf("%d %d %d %d %d\n%s\n", picked, said.status, said.count, said.last, said.load,
	       said.message);
	printf("%d %s\n", cudaGetLastError(), lazycuda_get_error("cudart")->message);
	status = cudaGetDeviceCount(&count);
	printf("%d %d\n", status, cudaDeviceSynchronize());
	return 0;
}
#endif
