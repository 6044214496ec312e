/* SPDX-License-Identifier: MIT */
/*
 * ifunc.c - a function that is one of two, as whether there is a GPU tells
 *
 * Its resolver is called by ld.so, in the program while libc is not set up yet.  -DUSER
 * makes the program for a resolver that lies in a library.
 */
#include <stdio.h>
#include <string.h>

#include "../../include/lazycuda.h"

extern int cudaGetDeviceCount(int *);
extern int cudaDeviceSynchronize(void);
extern int cudaGetLastError(void);
extern const char *cudaGetErrorString(int);

struct said {
	int count, status, last, load, driver;
	char text[256], message[256], state[256];
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

static void copy(char *to, const char *text)
{
	for (size_t i = 0; i < sizeof(said.text) - 1 && text[i]; i++)
		to[i] = text[i];
}

/* clang takes a name in an attribute for no use. */
__attribute__((used)) static int (*resolve(void))(void)
{
	said.count = 4711;
	said.status = cudaGetDeviceCount(&said.count);
	copy(said.text, cudaGetErrorString(said.status));
	copy(said.message, lazycuda_get_error("cudart")->message);
	said.last = cudaGetLastError();
	copy(said.state, lazycuda_get_status("cudart")->reason);
	said.load = lazycuda_load(NULL);
	said.driver = lazycuda_get_driver().version;
	return said.status ? without : with;
}

int pick(void) __attribute__((ifunc("resolve")));
#endif

#ifndef LIBRARY
int main(void)
{
	int picked = pick(), count = 4711, status;

	printf("%d %d %d %d %d %d\n%s\n%s\n%s\n", picked, said.status, said.count, said.last, said.load,
	       said.driver, said.text, said.message, said.state);
	printf("%d\n%s\n", cudaGetLastError(), lazycuda_get_error("cudart")->message);
	status = cudaGetDeviceCount(&count);
	printf("%d %d\n", status, cudaDeviceSynchronize());
	return 0;
}
#endif
