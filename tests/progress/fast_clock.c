/* SPDX-License-Identifier: MIT */
/* fast_clock.c - preloaded, lets a moment's work last a minute by the clock */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TIMES 100

int clock_gettime(clockid_t clock, struct timespec *time)
{
	int status = (int)syscall(SYS_clock_gettime, clock, time);

	if (clock == CLOCK_MONOTONIC) {
		time->tv_sec = TIMES * time->tv_sec + TIMES * time->tv_nsec / 1000000000;
		time->tv_nsec = TIMES * time->tv_nsec % 1000000000;
	}
	return status;
}
