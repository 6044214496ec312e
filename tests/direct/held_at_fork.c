/* SPDX-License-Identifier: MIT */
/* held_at_fork.c - at each of two fork()s a thread makes a call while that goes on, having waited for
 * a second, which nanosleep() cuts short.  The first thread keeps the lock that it takes, so that the
 * second fork() waits for it in vain, and the second thread waits for the lock. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void **__cudaRegisterFatBinary(void *binary);

static __thread int calls;
static atomic_int naps, forks, inside, is_over;

int nanosleep(const struct timespec *time, struct timespec *rest)
{
	(void)time;
	(void)rest;
	naps++;
	return 0;
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	int (*next)(pthread_mutex_t *) =
		(int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_lock");
	int result = pthread_mutex_trylock(mutex);

	inside += calls;
	if (result)
		result = next(mutex);
	while (calls && !is_over)
		sched_yield();
	calls = 0;
	return result;
}

static void let_in(void)
{
	forks++;
	while (inside < forks)
		sched_yield();
}

/* Before the stub does, so that let_in() comes after what the stub does before a fork(). */
static void begin(void)
{
	pthread_atfork(let_in, NULL, NULL);
}

static __attribute__((section(".preinit_array"), used)) void (*const first)(void) = begin;

static void *call(void *number)
{
	while (forks < *(int *)number)
		sched_yield();
	calls = 1;
	__cudaRegisterFatBinary(number);
	inside += calls;
	return NULL;
}

int main(void)
{
	int numbers[] = { 1, 2 }, status;
	pthread_t threads[2];

	for (int i = 0; i < 2; i++) {
		pthread_create(&threads[i], NULL, call, &numbers[i]);
		if (!fork()) {
			naps = forks = 0;
			if (!fork())
				_exit(0);
			__cudaRegisterFatBinary(numbers);
			_exit(naps > 10);
		}
		wait(&status);
		printf("%d\n", status);
	}
	is_over = 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
