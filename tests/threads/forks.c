/* SPDX-License-Identifier: MIT */
/*
 * forks.c - fork before, after and during the first call: `forks MODE`
 *
 * Prints what parent and child got.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int cudaDeviceSynchronize(void);

static void *call(void *answer)
{
	*(int *)answer = cudaDeviceSynchronize();
	return NULL;
}

/* Forks; the child's answer comes back through a pipe, -1 if it hangs or dies. */
static int in_child(void)
{
	int ends[2], answer = -1, status;

	if (pipe(ends))
		return -1;
	pid_t child = fork();
	if (child == 0) {
		alarm(20);
		answer = cudaDeviceSynchronize();
		_exit(write(ends[1], &answer, sizeof answer) < 0);
	}
	close(ends[1]);
	waitpid(child, &status, 0);
	if (read(ends[0], &answer, sizeof answer) != sizeof answer || status)
		answer = -1;
	close(ends[0]);
	return answer;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	int parent = 0, child = 0;

	if (!strcmp(mode, "before")) {
		child = in_child();
		parent = cudaDeviceSynchronize();
	} else if (!strcmp(mode, "after")) {
		parent = cudaDeviceSynchronize();
		child = in_child();
	} else {	/* during: another thread is in its first call */
		pthread_t thread;
		pthread_create(&thread, NULL, call, &parent);
		usleep((useconds_t)atoi(mode));
		child = in_child();
		pthread_join(thread, NULL);
	}
	printf("%d %d\n", parent, child);
	return 0;
}
