/* SPDX-License-Identifier: MIT */
/* naps.c - counts how often exit() of a process with two threads and two libraries sleeps */
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

int cudaRuntimeGetVersion(int *version);
int nvrtcVersion(int *major, int *minor);

static int naps;

int nanosleep(const struct timespec *time, struct timespec *rest)
{
	(void)time;
	(void)rest;
	naps++;
	return 0;
}

static void *stay(void *unused)
{
	pause();
	return unused;
}

__attribute__((destructor)) static void end(void)
{
	printf("%s\n", naps > 10 ? "waits twice" : "waits once at most");
}

int main(void)
{
	pthread_t thread;
	int number;

	pthread_create(&thread, NULL, stay, NULL);
	cudaRuntimeGetVersion(&number);
	nvrtcVersion(&number, &number);
	naps = 0;
	return 0;
}
