/* SPDX-License-Identifier: MIT */
/*
 * last_error.c - cudaGetLastError and cudaPeekAtLastError: `last_error MODE`
 *
 *     missing    no library: as the real ones behave, but for the stub's errors
 *     present    a fake library of 11.8: the stub's refusals and the runtime's
 *                own errors, one after the other
 *     texts      the same library: whose text an error gets that both have
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct location { int type, id; };

int cudaDeviceSynchronize(void), cudaSetDevice(int);
int cudaMemAdvise(void *, size_t, int, struct location);
int cudaGetLastError(void), cudaPeekAtLastError(void), cudaGetDeviceCount(int *);

const char *cudaGetErrorString(int);

/* What CUDA 11 cannot express: a NUMA node of the host. */
static const struct location node = { 3, 0 };

#define IS(expression, value) do { \
	int got_ = (expression); \
	if (got_ != (value)) { \
		printf("line %d: %s is %d, not %d\n", __LINE__, #expression, got_, value); \
		exit(1); \
	} \
} while (0)

static void *another_thread(void *status)
{
	IS(cudaPeekAtLastError(), 0);
	IS(cudaGetLastError(), 0);
	if (status)
		cudaMemAdvise(NULL, 0, 0, node);
	return NULL;
}

static void in_another_thread(int fails)
{
	pthread_t thread;

	pthread_create(&thread, NULL, another_thread, fails ? &thread : NULL);
	pthread_join(thread, NULL);
}

static void missing(void)
{
	int count = 7;

	IS(cudaPeekAtLastError(), 0);	/* nothing has failed yet */
	IS(cudaGetLastError(), 0);
	IS(cudaGetDeviceCount(&count), 35);
	IS(count, 0);
	in_another_thread(0);
	IS(cudaPeekAtLastError(), 35);	/* looking does not clear it */
	IS(cudaGetLastError(), 35);	/* getting does */
	IS(cudaGetLastError(), 0);
	in_another_thread(1);
	IS(cudaPeekAtLastError(), 0);	/* another thread's is not ours */
}

static void present(void)
{
	IS(cudaGetLastError(), 0);
	/* Refused: compiled for 13, runs on 11. */
	IS(cudaMemAdvise(NULL, 0, 0, node), 801);
	IS(cudaPeekAtLastError(), 801);
	in_another_thread(0);
	IS(cudaGetLastError(), 801);
	IS(cudaGetLastError(), 0);
	/* The runtime's own. */
	IS(cudaSetDevice(3), 101);
	IS(cudaPeekAtLastError(), 101);
	IS(cudaGetLastError(), 101);
	IS(cudaGetLastError(), 0);
	/* Both: the stub refused since, so the stub's comes first. */
	IS(cudaSetDevice(3), 101);
	IS(cudaMemAdvise(NULL, 0, 0, node), 801);
	IS(cudaGetLastError(), 801);
	IS(cudaGetLastError(), 101);
	IS(cudaGetLastError(), 0);
	/* What succeeds clears nothing, as with the real one. */
	IS(cudaMemAdvise(NULL, 0, 0, node), 801);
	cudaDeviceSynchronize();
	IS(cudaPeekAtLastError(), 801);
	in_another_thread(1);
	IS(cudaGetLastError(), 801);
}

/* Whether the text of 801 is that of the stub's refusal. */
static int is_ours(void)
{
	return strstr(cudaGetErrorString(801), "cudaMemAdvise") != NULL;
}

static void texts(void)
{
	IS(cudaMemAdvise(NULL, 0, 0, node), 801);
	IS(is_ours(), 1);
	IS(cudaGetLastError(), 801);
	IS(is_ours(), 1);
	/* Another error of the runtime is not this one, and no error is none. */
	IS(cudaSetDevice(1), 101);
	IS(is_ours(), 1);
	IS(cudaSetDevice(0), 0);
	IS(is_ours(), 1);
	/* The runtime's own, for whatever reason. */
	IS(cudaSetDevice(801), 801);
	IS(is_ours(), 0);
	IS(cudaGetLastError(), 801);
	IS(is_ours(), 0);
	/* And the stub's again. */
	IS(cudaMemAdvise(NULL, 0, 0, node), 801);
	IS(is_ours(), 1);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "present"))
		present();
	else if (argc > 1 && !strcmp(argv[1], "texts"))
		texts();
	else
		missing();
	puts("ok");
	return 0;
}
