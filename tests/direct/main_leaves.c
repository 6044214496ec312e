/* SPDX-License-Identifier: MIT */
/* The main thread ends, and another one makes the first call. */
#include <pthread.h>
#include <unistd.h>

#include "versions.h"

static void *call(void *unused)
{
	usleep(100000);
	print_versions();
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, call, NULL);
	pthread_exit(NULL);
}
