/* SPDX-License-Identifier: MIT */
/*
 * race.c - sixteen threads make the first call: `race LIBRARY...`
 *
 * Each is released by one barrier and calls a few functions of all three
 * stubs.  Prints the distinct answers.  With files among the arguments another
 * thread loads and unloads them all the while.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include <lazycuda.h>

int cudaDeviceSynchronize(void), cudaFree(void *), cudaGetLastError(void);
int nvrtcDestroyProgram(void **), nvJitLinkDestroy(void **);
const char *cudaGetErrorString(int);

enum { THREADS = 16, CALLS = 5 };

static pthread_barrier_t barrier;
static int answers[THREADS][CALLS];
static atomic_int done;

static void *call(void *data)
{
	int *mine = data;

	pthread_barrier_wait(&barrier);
	/* Not all begin with the same one. */
	for (int i = 0; i < CALLS; i++) {
		int which = (int)(i + (mine - answers[0]) / CALLS) % CALLS;
		switch (which) {
		case 0: mine[0] = cudaDeviceSynchronize(); break;
		case 1: mine[1] = cudaFree(NULL); break;
		case 2: mine[2] = nvrtcDestroyProgram(NULL); break;
		case 3: mine[3] = nvJitLinkDestroy(NULL); break;
		case 4: mine[4] = lazycuda_get_status("cudart")->state > LAZYCUDA_STATE_BROKEN; break;
		}
	}
	lazycuda_get_error("nvrtc");
	cudaGetErrorString(303);
	cudaGetLastError();
	return NULL;
}

static void *load_and_unload(void *files)
{
	pthread_barrier_wait(&barrier);
	while (!done)
		for (char **file = files; *file; file++) {
			void *handle = dlopen(*file, RTLD_NOW);
			if (handle)
				dlclose(handle);
			/* ld.so's lock is not fair: on a busy machine a thread that takes it
			   again at once keeps the others waiting for half a minute. */
			usleep(1);
		}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS], loader;

	pthread_barrier_init(&barrier, NULL, THREADS + (argc > 1));
	if (argc > 1)
		pthread_create(&loader, NULL, load_and_unload, argv + 1);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, call, answers[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	done = 1;
	if (argc > 1)
		pthread_join(loader, NULL);
	for (int i = 0; i < CALLS; i++) {
		printf("%d", answers[0][i]);
		for (int j = 1; j < THREADS; j++)
			if (answers[j][i] != answers[0][i])
				printf(" and %d", answers[j][i]);
		puts("");
	}
	return 0;
}
