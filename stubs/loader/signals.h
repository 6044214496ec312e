/* SPDX-License-Identifier: MIT */
/*
 * signals.h - signals wait while a thread loads a library
 *
 * A handler that came in the middle might call the stub, leave by longjmp() or fork(), where
 * malloc() or dlopen() is half done.  What the thread itself causes, such as SIGSEGV, does not
 * wait, nor do the two that libc keeps for itself, nor those by which a collector of garbage stops
 * threads: it may serve malloc(), and hold its lock until they have stopped; nor what ends a process
 * that is stuck in a constructor or on a network's disk, if the program has no handler for it.
 */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LC_SIGNAL(number) (1ull << ((number) - 1))
#define LC_NOT_HELD UINT64_MAX	/* the kernel leaves SIGKILL out of any mask */

/* The signal as a mask, if the program has no handler for it. */
static inline uint64_t lc_if_uncaught(int number)
{
	uint64_t action[8] = { 0 };	/* the kernel's: the handler, then 24 bytes more */

	syscall(SYS_rt_sigaction, number, NULL, action, sizeof(uint64_t));
	return action[0] == (uintptr_t)SIG_DFL ? LC_SIGNAL(number) : 0;
}

/* Returns what lc_release_signals() takes. */
static inline uint64_t lc_hold_signals(void)
{
	const uint64_t held = ~(LC_SIGNAL(SIGSEGV) | LC_SIGNAL(SIGBUS) | LC_SIGNAL(SIGFPE) |
				LC_SIGNAL(SIGILL) | LC_SIGNAL(SIGTRAP) | LC_SIGNAL(SIGSYS) |
				LC_SIGNAL(SIGABRT) | LC_SIGNAL(32) | LC_SIGNAL(33) |
				LC_SIGNAL(SIGPWR) | LC_SIGNAL(SIGXCPU) |
				lc_if_uncaught(SIGINT) | lc_if_uncaught(SIGTERM));
	uint64_t before = LC_NOT_HELD;

	syscall(SYS_rt_sigprocmask, SIG_BLOCK, &held, &before, sizeof(before));
	return before;
}

static inline void lc_release_signals(uint64_t before)
{
	if (before != LC_NOT_HELD)
		syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
}

#endif
