/* SPDX-License-Identifier: MIT */
/* forks.c - the stub's only lock, and fork() */
#include "forks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

#include "../base/glibc.h"
#include "../entry/stub.h"

#define OWN __thread __attribute__((tls_model("initial-exec")))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool handled;
static _Atomic int forking;	/* number of threads in fork() */

/*
 * The number of threads between lc_enter() and lc_leave(), counted separately for
 * each epoch.  An epoch ends when a fork() has waited for its threads in vain.  No
 * later fork() waits for those threads, and if they do leave, the count of the
 * threads that entered later is unaffected.
 */
#define EPOCHS 32

static _Atomic unsigned epoch;
static _Atomic int entered[EPOCHS];

static OWN int own_entered;	/* nesting depth of lc_enter() */
static OWN unsigned own_epoch;	/* epoch of the outermost lc_enter() */
static OWN int own_cancellation;	/* cancellation state before it */
static OWN uintptr_t own_frame;	/* its stack frame; UINTPTR_MAX: above any frame */
static OWN bool own_fork;	/* this thread is in fork() */

/*
 * crtbegin.o would define this.  The stubs are linked without crtbegin.o, so that
 * loading a stub runs no code and reads no page of code.
 */
extern void *__dso_handle LC_HIDDEN;
__attribute__((weak)) void *__dso_handle = &__dso_handle;

void lc_nap(void)
{
	const struct timespec moment = { .tv_nsec = 100 * 1000 };
	int cancellation;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellation);
	nanosleep(&moment, NULL);
	pthread_setcancelstate(cancellation, &cancellation);
}

/* Returns true if another thread has entered in this epoch and not left. */
static bool others_are_in(void)
{
	unsigned now = atomic_load(&epoch);

	return atomic_load(&entered[now % EPOCHS]) > (own_entered && own_epoch == now);
}

static void before_fork(void)
{
	own_fork = true;
	atomic_fetch_add(&forking, 1);
	for (int i = 0; i < LC_NAPS_A_SECOND; i++) {
		if (!others_are_in())
			return;
		lc_nap();
	}
	atomic_fetch_add(&epoch, 1);
}

static void in_parent(void)
{
	atomic_fetch_sub(&forking, 1);
	own_fork = false;
}

static void in_child(void)
{
	lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	for (unsigned i = 0; i < EPOCHS; i++)
		atomic_store(&entered[i], 0);
	atomic_store(&entered[own_epoch % EPOCHS], own_entered != 0);
	atomic_store(&forking, 0);
	own_fork = false;
	lc_forked();
}

static void handle_fork(void)
{
	if (!atomic_load(&handled) && !atomic_exchange(&handled, true))
		pthread_atfork(before_fork, in_parent, in_child);
}

static void go_out(int times)
{
	int cancellation;

	own_entered -= times;
	if (own_entered)
		return;
	atomic_fetch_sub(&entered[own_epoch % EPOCHS], 1);
	pthread_setcancelstate(own_cancellation, &cancellation);
}

/* Disables cancellation, since a thread that is cancelled inside would never leave. */
static void come_in(uintptr_t frame)
{
	if (own_entered++)
		return;
	own_frame = frame;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &own_cancellation);
	own_epoch = atomic_load(&epoch);
	atomic_fetch_add(&entered[own_epoch % EPOCHS], 1);
}

/*
 * Returns true if this thread must leave and wait for a fork(): one is under way, or
 * has just ended the epoch in which this thread is counted.  A thread that was inside
 * before must not wait, because fork() waits for it; nor must the thread that forks.
 */
static bool is_in_the_way(void)
{
	return own_entered == 1 && !own_fork &&
	       (atomic_load(&forking) || atomic_load(&epoch) != own_epoch);
}

static bool try_enter(uintptr_t frame)
{
	handle_fork();
	come_in(frame);
	if (!is_in_the_way())
		return true;
	lc_leave();
	return false;
}

static void enter(uintptr_t frame)
{
	for (int i = 0; i < LC_NAPS_A_SECOND; i++) {
		if (try_enter(frame))
			return;
		lc_nap();
	}
	come_in(frame);
}

/*
 * Foreign code may unwind a thread past its lc_leave(), by an exception or longjmp().
 * This is detected when the thread enters again from the same or an older stack frame
 * (the stack grows down).  So no function may call lc_enter() twice without
 * lc_leave() in between, and the two callers of this function are not inlined, so
 * that their frames are equally far from those of their callers.  A signal handler on
 * a stack of its own may look like an unwound thread.  Then fork() does not wait for
 * the code that the handler interrupted, and that code can be cancelled; nothing else
 * changes.
 */
static void see_thrown_out(uintptr_t frame)
{
	if (own_entered && frame >= own_frame)
		go_out(own_entered);
}

__attribute__((noinline)) bool lc_try_enter(void)
{
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);

	see_thrown_out(frame);
	return try_enter(frame);
}

__attribute__((noinline)) void lc_enter(void)
{
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);

	see_thrown_out(frame);
	enter(frame);
}

void lc_leave(void)
{
	if (own_entered)
		go_out(1);
}

/* No see_thrown_out() here: the caller may be inside already, and nothing foreign is called
 * before lc_unlock(). */
void lc_lock(void)
{
	enter(UINTPTR_MAX);
	pthread_mutex_lock(&lock);
}

void lc_unlock(void)
{
	pthread_mutex_unlock(&lock);
	lc_leave();
}
