/* SPDX-License-Identifier: MIT */
/* Four threads make the first call at the same time. */
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4 };

int cudaRuntimeGetVersion(int *version);

static pthread_barrier_t all;

static void *ask(void *version)
{
	pthread_barrier_wait(&all);
	if (cudaRuntimeGetVersion(version))
		*(int *)version = -1;
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	int versions[THREADS];

	pthread_barrier_init(&all, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, ask, &versions[i]))
			return 2;
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		printf("%d\n", versions[i]);
	}
	return 0;
}
