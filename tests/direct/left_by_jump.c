/* SPDX-License-Identifier: MIT */
/* left_by_jump.c - a signal handler leaves a first call by longjmp(); then a thread and main() call */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

int curandGetVersion(int *version);

static sigjmp_buf before;

static void leave(int signal)
{
	(void)signal;
	siglongjmp(before, 1);
}

static void *call(void *who)
{
	int version = 0, status = curandGetVersion(&version);

	printf("%s %d\n", (const char *)who, status ? status : version);
	fflush(stdout);
	return NULL;
}

int main(void)
{
	const struct itimerval soon = { .it_value = { .tv_usec = 100000 } };
	pthread_t thread;
	int version = 0;

	signal(SIGALRM, leave);
	setitimer(ITIMER_REAL, &soon, NULL);
	if (!sigsetjmp(before, 1))
		curandGetVersion(&version);
	signal(SIGALRM, SIG_DFL);
	alarm(3);
	pthread_create(&thread, NULL, call, "a thread");
	pthread_join(thread, NULL);
	call("main");
	return 0;
}
