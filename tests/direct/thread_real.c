/* SPDX-License-Identifier: MIT */
/* thread_real.c - a runtime whose constructor starts a thread; the "driver's version" is how many signals
 * that blocks */
#include <pthread.h>
#include <signal.h>

static int blocked;

static void *count(void *unused)
{
	sigset_t mask;

	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	for (int number = 1; number <= SIGRTMAX; number++)
		blocked += sigismember(&mask, number) == 1;
	return unused;
}

__attribute__((constructor)) static void start(void)
{
	pthread_t thread;

	if (!pthread_create(&thread, NULL, count, NULL))
		pthread_join(thread, NULL);
}

int cudaRuntimeGetVersion(int *version)
{
	*version = 12090;
	return 0;
}

int cudaDriverGetVersion(int *version)
{
	*version = blocked;
	return 0;
}
