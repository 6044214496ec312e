/* SPDX-License-Identifier: MIT */
/* forks.c - the one lock, and fork() */
#include "forks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "stub.h"

#define OWN __thread __attribute__((tls_model("initial-exec")))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool handled;
static _Atomic int entered, forking;	/* threads */
static OWN int own_entered;
static OWN bool own_fork;

/*
 * What crtbegin.o would define: the stubs are linked without, so that loading
 * them runs no code, and not a page of code is read for it.
 */
extern void *__dso_handle LC_HIDDEN;
__attribute__((weak)) void *__dso_handle = &__dso_handle;

void lc_nap(void)
{
	const struct timespec moment = { .tv_nsec = 100 * 1000 };

	nanosleep(&moment, NULL);
}

static void before_fork(void)
{
	own_fork = true;
	atomic_fetch_add(&forking, 1);
	for (int i = 0; i < LC_NAPS_A_SECOND && atomic_load(&entered) > own_entered; i++)
		lc_nap();
}

static void in_parent(void)
{
	atomic_fetch_sub(&forking, 1);
	own_fork = false;
}

static void in_child(void)
{
	lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	atomic_store(&entered, own_entered);
	atomic_store(&forking, 0);
	own_fork = false;
	lc_forked();
}

static void handle_fork(void)
{
	if (!atomic_load(&handled) && !atomic_exchange(&handled, true))
		pthread_atfork(before_fork, in_parent, in_child);
}

/* One that is in already is waited for, and must not wait; nor does fork() for itself. */
static bool fork_is_near(void)
{
	return atomic_load(&forking) && !own_entered && !own_fork;
}

bool lc_try_enter(void)
{
	handle_fork();
	atomic_fetch_add(&entered, 1);
	if (fork_is_near()) {
		atomic_fetch_sub(&entered, 1);
		return false;
	}
	own_entered++;
	return true;
}

void lc_enter(void)
{
	for (int i = 0; i < LC_NAPS_A_SECOND; i++) {
		if (lc_try_enter())
			return;
		lc_nap();
	}
	atomic_fetch_add(&entered, 1);
	own_entered++;
}

void lc_leave(void)
{
	own_entered--;
	atomic_fetch_sub(&entered, 1);
}

void lc_lock(void)
{
	lc_enter();
	pthread_mutex_lock(&lock);
}

void lc_unlock(void)
{
	pthread_mutex_unlock(&lock);
	lc_leave();
}
