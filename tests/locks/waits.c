/* SPDX-License-Identifier: MIT */
/*
 * waits.c - a library whose constructor has another thread call NAME, and waits
 *
 * Prints what the call returned, or "not yet" after two seconds.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

int NAME(void *);

static atomic_int answer, done;

static void *call(void *unused)
{
	answer = NAME(NULL);
	done = 1;
	return unused;
}

static void wait_two_seconds(void)
{
	const struct timespec moment = { .tv_nsec = 1000 * 1000 };

	for (int i = 0; !done && i < 2000; i++)
		nanosleep(&moment, NULL);
}

/* The program does not end under the thread's feet. */
static __attribute__((destructor)) void end(void)
{
	wait_two_seconds();
}

static __attribute__((constructor)) void begin(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, call, NULL);
	pthread_detach(thread);
	wait_two_seconds();
	if (done)
		printf("%d\n", answer);
	else
		puts("not yet");
	fflush(stdout);
}
