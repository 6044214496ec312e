/* SPDX-License-Identifier: MIT */
/* race.c - sixteen threads make the first calls of the driver's stubs; prints the
 * distinct answers */
#include <pthread.h>
#include <stdio.h>

int cuCtxSynchronize(void), nvmlShutdown(void);
int cuGetErrorString(int, const char **);
const char *nvmlErrorString(int);

enum { THREADS = 16, CALLS = 2 };

static pthread_barrier_t barrier;
static int answers[THREADS][CALLS];

static void *call(void *data)
{
	int *mine = data, first = (int)((mine - answers[0]) / CALLS) % CALLS;
	const char *text;

	pthread_barrier_wait(&barrier);
	/* Not all begin with the same one. */
	for (int i = 0; i < CALLS; i++) {
		int which = (first + i) % CALLS;

		mine[which] = which ? nvmlShutdown() : cuCtxSynchronize();
	}
	cuGetErrorString(34, &text);
	nvmlErrorString(12);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, call, answers[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < CALLS; i++) {
		printf("%d", answers[0][i]);
		for (int j = 1; j < THREADS; j++)
			if (answers[j][i] != answers[0][i])
				printf(" and %d", answers[j][i]);
		puts("");
	}
	return 0;
}
