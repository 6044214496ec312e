/* SPDX-License-Identifier: MIT */
/*
 * storm.c - a million calls that fail, from four threads: `storm MODE [FILE]`
 *
 *     sealed    the threads may make no system call: the kernel kills who does
 *     ticks     prints how many ticks the coarse clock went meanwhile
 *     appear    meanwhile FILE, a real library, is loaded: prints what the thread
 *               that loaded it gets in the end
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../lib/seal.h"

int cudaDeviceSynchronize(void), nvrtcDestroyProgram(void **), nvJitLinkDestroy(void **);
int cudaGetDeviceCount(int *), cudaDriverGetVersion(int *), cuCtxSynchronize(void), nvmlShutdown(void);
int cudaGetLastError(void), cuGetErrorString(int, const char **);
const char *cudaGetErrorString(int), *nvmlErrorString(int);

enum { THREADS = 4, CALLS = 250000, CALLS_OF_ALL = 11 };

static int sealed;
static atomic_int ready, done, over;

static void call_all(void)
{
	const char *text;
	int count;

	cudaDeviceSynchronize();
	cudaGetErrorString(303);
	cudaGetLastError();
	cudaGetDeviceCount(&count);
	cudaDriverGetVersion(&count);
	nvrtcDestroyProgram(NULL);
	nvJitLinkDestroy(NULL);
	cuCtxSynchronize();
	cuGetErrorString(34, &text);
	nvmlShutdown();
	nvmlErrorString(12);
}

static void *storm(void *unused)
{
	call_all();
	ready++;
	while (ready < THREADS)
		;
	if (sealed && seal()) {
		puts("this kernel has no seccomp");
		exit(77);
	}
	for (int i = 0; i < CALLS / CALLS_OF_ALL && !over; i++)
		call_all();
	done++;
	if (sealed)	/* the end of a thread is more than one system call */
		syscall(SYS_exit, 0);
	return unused;
}

static long long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	struct timespec tick;
	long long start = now();
	pthread_t threads[THREADS];

	alarm(60);	/* a thread that was killed is never done */
	sealed = !strcmp(mode, "sealed");
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, storm, NULL);
	if (argc > 2) {
		while (ready < THREADS)
			;
		if (!dlopen(argv[2], RTLD_NOW)) {
			puts(dlerror());
			return 1;
		}
		while (cudaDeviceSynchronize() == 303)
			;
		over = 1;
		printf("%d\n", cudaDeviceSynchronize());
	}
	while (done < THREADS)
		;
	for (int i = 0; i < THREADS && !sealed; i++)
		pthread_join(threads[i], NULL);
	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	if (!strcmp(mode, "ticks"))
		printf("%lld\n", (now() - start) / tick.tv_nsec);
	fflush(stdout);
	_exit(0);
}
