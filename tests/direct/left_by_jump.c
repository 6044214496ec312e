/* SPDX-License-Identifier: MIT */
/* left_by_jump.c - a signal handler leaves a first call by longjmp(); then a thread and main() call */
#include "asks.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

static sigjmp_buf before;

static void leave(int signal)
{
	(void)signal;
	siglongjmp(before, 1);
}

static void *call(void *who)
{
	printf("%s %d\n", (const char *)who, ask());
	fflush(stdout);
	return NULL;
}

int main(void)
{
	const struct itimerval soon = { .it_value = { .tv_usec = 100000 } };
	pthread_t thread;

	signal(SIGALRM, leave);
	setitimer(ITIMER_REAL, &soon, NULL);
	if (!sigsetjmp(before, 1))
		ask();
	signal(SIGALRM, SIG_DFL);
	alarm(3);
	pthread_create(&thread, NULL, call, "a thread");
	pthread_join(thread, NULL);
	call("main");
	return 0;
}
