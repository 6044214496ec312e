/* SPDX-License-Identifier: MIT */
/* constructor_calls.c - a constructor makes a call, which ld.so waits for, while another thread
 * makes the first one */
#include "asks.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void **__cudaRegisterFatBinary(void *binary);
void __cudaRegisterFatBinaryEnd(void **handle);

static void *first(void *unused)
{
	printf("first: %d\n", ask());
	return unused;
}

int main(int argc, char **argv)
{
	static int binary;
	pthread_t thread;
	char path[4096];

	(void)argc;
	__cudaRegisterFatBinaryEnd(__cudaRegisterFatBinary(&binary));
	pthread_create(&thread, NULL, first, NULL);
	usleep(250000);
	snprintf(path, sizeof(path), "%.*s/libconstructor.so", (int)(strrchr(argv[0], '/') - argv[0]),
		 argv[0]);
	if (!dlopen(path, RTLD_NOW))
		return fprintf(stderr, "%s\n", dlerror()), 2;
	pthread_join(thread, NULL);
	return 0;
}
