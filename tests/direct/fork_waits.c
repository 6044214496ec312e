/* SPDX-License-Identifier: MIT */
/* fork_waits.c - fork() waits in a handler for a thread that makes its first call */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int cudaRuntimeGetVersion(int *version);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int held, forking;

static void before(void)
{
	forking = 1;
	pthread_mutex_lock(&lock);
}

static void after(void)
{
	pthread_mutex_unlock(&lock);
}

static void *call(void *answer)
{
	int version = 0;

	pthread_mutex_lock(&lock);
	held = 1;
	while (!forking)
		usleep(1000);
	*(int *)answer = cudaRuntimeGetVersion(&version);
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(void)
{
	int answer = -1, status = -1, version = 0;
	pthread_t thread;
	pid_t child;

	pthread_atfork(before, after, after);
	pthread_create(&thread, NULL, call, &answer);
	while (!held)
		usleep(1000);
	child = fork();
	if (!child)
		_exit(cudaRuntimeGetVersion(&version));
	waitpid(child, &status, 0);
	pthread_join(thread, NULL);
	printf("%d %d\n", answer, status);
	return 0;
}
