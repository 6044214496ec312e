/* SPDX-License-Identifier: MIT */
/* fork_handler.c - a handler of fork() makes the first call: `fork_handler before|parent|child`; or
 * it waits for a thread that makes it: `fork_handler waits` */
#include "asks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int answer = -1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int held, forking;

static void call(void)
{
	answer = ask() / 100;
}

static void wait_for_thread(void)
{
	forking = 1;
	pthread_mutex_lock(&lock);
}

static void go_on(void)
{
	pthread_mutex_unlock(&lock);
}

static void *call_with_lock(void *unused)
{
	pthread_mutex_lock(&lock);
	held = 1;
	while (!forking)
		usleep(1000);
	call();
	pthread_mutex_unlock(&lock);
	return unused;
}

int main(int argc, char **argv)
{
	const char *when = argc > 1 ? argv[1] : "";
	int status = -1;
	pthread_t thread;
	pid_t child;

	if (!strcmp(when, "waits")) {
		pthread_atfork(wait_for_thread, go_on, go_on);
		pthread_create(&thread, NULL, call_with_lock, NULL);
		while (!held)
			usleep(1000);
	} else {
		pthread_atfork(strcmp(when, "before") ? NULL : call,
			       strcmp(when, "parent") ? NULL : call,
			       strcmp(when, "child") ? NULL : call);
	}
	child = fork();
	if (!child)
		_exit(ask() == 12090 ? answer : 1);
	waitpid(child, &status, 0);
	printf("%d %d\n", answer, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	return 0;
}
