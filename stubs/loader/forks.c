/* SPDX-License-Identifier: MIT */
/* forks.c - the stub's only lock, and fork() */
#include "forks.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "hooks.h"
#include "of_thread.h"
#include "../base/auxiliary.h"
#include "../base/glibc.h"

LC_THREAD struct lc_of_thread lc_of_thread = { .ready = true };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int forking;	/* number of threads in fork() */
static _Atomic bool exiting;	/* the main thread has called exit() */

/*
 * The number of threads between lc_enter() and lc_leave(), counted separately for
 * each epoch.  An epoch ends when a fork() has waited for its threads in vain.  No
 * later fork() waits for those threads, and if they do leave, the count of the
 * threads that entered later is unaffected.
 */
#define EPOCHS 32

static _Atomic unsigned epoch;
static _Atomic int entered[EPOCHS];

/* The low bits of the epoch, which a thread records.  EPOCHS divides their range. */
static uint8_t this_epoch(void)
{
	return (uint8_t)atomic_load(&epoch);
}

/* crtbegin.o would define this.  The stubs are linked without it, as it has constructors. */
extern void *__dso_handle LC_HIDDEN;
__attribute__((weak)) void *__dso_handle = &__dso_handle;

void lc_nap(void)
{
	const struct timespec moment = { .tv_nsec = 100 * 1000 };
	int cancellation = PTHREAD_CANCEL_ENABLE;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellation);
	nanosleep(&moment, NULL);
	pthread_setcancelstate(cancellation, &cancellation);
}

/* Returns true if another thread has entered in this epoch and not left. */
static bool others_are_in(void)
{
	const uint8_t now = this_epoch();

	return atomic_load(&entered[now % EPOCHS]) >
	       (lc_of_thread.entered && lc_of_thread.epoch == now);
}

/* Waits a second at most until no other thread is inside; returns false if one still is. */
static bool await_entered(void)
{
	for (int i = 0; i < LC_NAPS_A_SECOND; i++) {
		if (!others_are_in())
			return true;
		lc_nap();
	}
	return false;
}

static bool is_main_thread(void)
{
	return syscall(SYS_gettid) == syscall(SYS_getpid);
}

/* The end of another thread than the main one is not that of the process. */
static void before_exit(void *unused)
{
	(void)unused;
	if (!is_main_thread())
		return;
	atomic_store(&exiting, true);
	await_entered();
}

static int (*at_end_of_thread)(void (*function)(void *), void *data, void *object);

__attribute__((section(".text.startup"))) static void await_at_exit(void)
{
	at_end_of_thread(before_exit, NULL, &__dso_handle);
	lc_of_thread.awaits = true;
}

static void before_fork(void)
{
	lc_of_thread.forks = true;
	atomic_fetch_add(&forking, 1);
	if (!await_entered())
		atomic_fetch_add(&epoch, 1);
}

static void in_parent(void)
{
	atomic_fetch_sub(&forking, 1);
	lc_of_thread.forks = false;
}

static void in_child(void)
{
	lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	for (unsigned i = 0; i < EPOCHS; i++)
		atomic_store(&entered[i], 0);
	atomic_store(&entered[lc_of_thread.epoch % EPOCHS], lc_of_thread.entered != 0);
	atomic_store(&forking, 0);
	lc_of_thread.forks = false;
	if (at_end_of_thread && !lc_of_thread.awaits)
		await_at_exit();
	lc_forked();
}

__attribute__((section(".text.startup"))) void lc_handle_forks(void)
{
	pthread_atfork(before_fork, in_parent, in_child);
}

void lc_enter_for_load(void)
{
	lc_enter();
	if (!atomic_load(&exiting) || is_main_thread())
		return;
	lc_leave();
	for (int i = 0; i < LC_NAPS_A_SECOND / 10; i++)
		lc_nap();
	lc_enter();
}

static const char name[] LC_AT_START = "__cxa_thread_atexit_impl";
static const char node[] LC_AT_START = "GLIBC_2.18";

__attribute__((section(".text.startup"))) void lc_handle_exit(void)
{
	void *address = NULL;

	/* Not what may interpose dlsym() and has not begun yet. */
	if (!lc_is_in_static_program())
		address = dlvsym(RTLD_DEFAULT, name, node);
	if (!address)
		return;		/* glibc 2.17 */
	memcpy(&at_end_of_thread, &address, sizeof(address));
	await_at_exit();
}

static void go_out(int times)
{
	int cancellation;

	lc_of_thread.entered = (uint16_t)(lc_of_thread.entered - times);
	if (lc_of_thread.entered)
		return;
	atomic_fetch_sub(&entered[lc_of_thread.epoch % EPOCHS], 1);
	if (!lc_of_thread.disabled)
		pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &cancellation);
}

/* A number whose differences tell the order of stack frames up to 16 GiB apart; never 0. */
static uint32_t mark_of(const void *frame)
{
	return (uint32_t)((uintptr_t)frame >> 3) | 1;
}

/* Instead of a frame's mark, that of the stack in which the thread goes on; an even number. */
uint32_t lc_move_in(const void *stack)
{
	const uint32_t left = lc_of_thread.frame;

	lc_of_thread.frame = (mark_of(stack) & ~1u) + 2;
	return left;
}

void lc_move_back(uint32_t left)
{
	lc_of_thread.frame = left;
}

/* Returns true if a frame is in no call that the outermost mark stands for. */
static bool is_outside(uint32_t frame, uint32_t outermost)
{
	return outermost & 1 ? (int32_t)(frame - outermost) >= 0 :
			       (frame ^ outermost) >= LC_STACK_BYTES >> 3;
}

/* Disables cancellation, since a thread that is cancelled inside would never leave.  glibc 2.31
 * sets no old state in a process without libpthread. */
static void come_in(uint32_t frame)
{
	int cancellation = PTHREAD_CANCEL_ENABLE;

	if (lc_of_thread.entered++)
		return;
	lc_of_thread.frame = frame;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellation);
	lc_of_thread.disabled = cancellation == PTHREAD_CANCEL_DISABLE;
	lc_of_thread.epoch = this_epoch();
	atomic_fetch_add(&entered[lc_of_thread.epoch % EPOCHS], 1);
}

/*
 * Returns true if this thread must leave and wait for a fork(): one is under way, or
 * has just ended the epoch in which this thread is counted.  A thread that was inside
 * before must not wait, because fork() waits for it; nor must the thread that forks.
 */
static bool is_in_the_way(void)
{
	return lc_of_thread.entered == 1 && !lc_of_thread.forks &&
	       (atomic_load(&forking) || this_epoch() != lc_of_thread.epoch);
}

static bool try_enter(uint32_t frame)
{
	come_in(frame);
	if (!is_in_the_way())
		return true;
	lc_leave();
	return false;
}

static void enter(uint32_t frame)
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
static void see_thrown_out(uint32_t frame)
{
	const uint32_t outermost = lc_of_thread.frame;

	if (lc_of_thread.entered && outermost && is_outside(frame, outermost))
		go_out(lc_of_thread.entered);
}

__attribute__((noinline)) bool lc_try_enter(void)
{
	const uint32_t frame = mark_of(__builtin_frame_address(0));

	see_thrown_out(frame);
	return try_enter(frame);
}

__attribute__((noinline)) void lc_enter(void)
{
	const uint32_t frame = mark_of(__builtin_frame_address(0));

	see_thrown_out(frame);
	enter(frame);
}

void lc_leave(void)
{
	if (lc_of_thread.entered)
		go_out(1);
}

#ifdef LC_CHECKS_THE_LOCK
static _Atomic pthread_t owner;

static void set_owner(pthread_t thread)
{
	atomic_store(&owner, thread);
}

void lc_locked(void)
{
	if (!pthread_equal(atomic_load(&owner), pthread_self()))
		__builtin_trap();
}
#else
static void set_owner(pthread_t thread)
{
	(void)thread;
}
#endif

/* No see_thrown_out() here: the caller may be inside already, and nothing foreign is called
 * before lc_unlock(). */
void lc_lock(void)
{
	enter(0);
	pthread_mutex_lock(&lock);
	set_owner(pthread_self());
}

void lc_unlock(void)
{
	set_owner(0);
	pthread_mutex_unlock(&lock);
	lc_leave();
}
