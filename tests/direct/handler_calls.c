/* SPDX-License-Identifier: MIT */
/* handler_calls.c - in each of 60 processes a signal comes a little later, during or after a first
 * call, and its handler calls, too, or has a child of fork() do so */
#include "asks.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static bool forks;
static volatile int in_handler = -1;

static int call(void)
{
	return ask() != 12090;
}

static void handle(int signal)
{
	int status = 1;

	(void)signal;
	if (!forks)
		status = call();
	else if (!fork())
		_exit(call());
	else
		wait(&status);
	in_handler = status;
}

static void first_call(long microseconds)
{
	const struct itimerval soon = { .it_value = { .tv_usec = microseconds } };
	int status;

	signal(SIGALRM, handle);
	if (setitimer(ITIMER_REAL, &soon, NULL))
		_exit(2);
	status = call();
	while (in_handler < 0)
		;
	_exit(status || in_handler);
}

int main(int argc, char **argv)
{
	int good = 0, status;

	forks = argc > 1 && !strcmp(argv[1], "forks");
	for (int i = 0; i < 60; i++) {
		if (!fork())
			first_call(50 + 20 * i);
		wait(&status);
		good += status == 0;
	}
	printf("%d\n", good);
	return 0;
}
