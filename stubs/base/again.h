/* SPDX-License-Identifier: MIT */
/*
 * again.h - system calls that a signal interrupted are made again
 *
 * A program's timer may interrupt open(), stat() and read() on a slow file system.  What else is
 * wrong with a file that always says EINTR, no program can tell: after some times that counts.
 */
#ifndef AGAIN_H
#define AGAIN_H

#include <errno.h>

#define LC_AGAIN_TIMES 100

/* `failed` is an expression about `done`, what the call returned. */
#define LC_AGAIN_IF(call, failed) __extension__({ \
	__typeof__(call) done; \
	int times = 0; \
	do \
		done = call; \
	while ((failed) && errno == EINTR && ++times < LC_AGAIN_TIMES); \
	done; \
})
#define LC_AGAIN(call) LC_AGAIN_IF(call, done < 0)

#endif
