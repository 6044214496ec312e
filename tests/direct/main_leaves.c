/* SPDX-License-Identifier: MIT */
/* The main thread ends, and another one makes the first call. */
#include "asks.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static void *call(void *unused)
{
	usleep(100000);
	printf("%d %d\n", ask(), ask_second());
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, call, NULL);
	pthread_exit(NULL);
}
