/* SPDX-License-Identifier: MIT */
/* fork_handler.c - a handler of fork() makes the first call: `fork_handler before|parent|child` */
#include "asks.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int answer = -1;

static void call(void)
{
	answer = ask() / 100;
}

int main(int argc, char **argv)
{
	const char *when = argc > 1 ? argv[1] : "";
	int status = -1;
	pid_t child;

	pthread_atfork(strcmp(when, "before") ? NULL : call, strcmp(when, "parent") ? NULL : call,
		       strcmp(when, "child") ? NULL : call);
	child = fork();
	if (!child)
		_exit(answer);
	waitpid(child, &status, 0);
	printf("%d %d\n", answer, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	return 0;
}
