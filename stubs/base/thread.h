/* SPDX-License-Identifier: MIT */
/* thread.h - which thread this is */
#ifndef THREAD_H
#define THREAD_H

#include <errno.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "../entry/stub.h"

/* An address that no other living thread has: where glibc keeps what it knows of this one. */
static inline const void *lc_this_thread(void)
{
	const void *pointer;

#if defined(LC_X86_64)
	__asm__("movq %%fs:0, %0" : "=r"(pointer));
#elif defined(LC_AARCH64)
	__asm__("mrs %0, tpidr_el0" : "=r"(pointer));
#else
	pointer = &errno;
#endif
	return pointer;
}

/* The kernel's number of this thread. */
static inline pid_t lc_thread_id(void)
{
	return (pid_t)syscall(SYS_gettid);
}

/* Also of the one thread of a fork()'s child. */
static inline bool lc_is_main_thread(void)
{
	return lc_thread_id() == syscall(SYS_getpid);
}

#endif
