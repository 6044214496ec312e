/* SPDX-License-Identifier: MIT */
/* forks.c - the stub's only lock, and fork() */
#include "forks.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../base/auxiliary.h"
#include "../base/count.h"
#include "../base/glibc.h"
#include "../base/thread.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int forking;	/* number of threads in fork() */
static _Atomic bool exiting;	/* the main thread has called exit() */

/*
 * The threads between lc_enter() and lc_leave(), and those in fork().  A thread looks for itself, and for
 * room, in a few elements where its address leads.  Nothing is allocated, and nothing outlives
 * the thread's stay.
 *
 * Once a fork() has waited for a thread in vain, no later one waits for it.
 */
static struct insider {
	_Atomic(const void *) thread;	/* NULL: free; BEING_WRITTEN: it is being written */
	uint32_t frame;		/* of the outermost lc_enter(), as by mark_of(); 0: above any frame */
	_Atomic uint16_t entered;	/* nesting depth */
	bool disabled : 1;	/* cancellation was disabled before it */
	bool forks : 1;		/* the element stays while this thread is in fork() */
	_Atomic bool given_up;	/* a fork() has waited for it in vain */
} insiders[64];

#define BEING_WRITTEN ((const void *)insiders)
#define TRIES 8

/* Those elements, of which `i` is below TRIES.  Stacks are multiples of pages apart. */
static struct insider *insider_at(const void *thread, size_t i)
{
	const uint64_t mixed = (uintptr_t)thread * 0x9e3779b97f4a7c15;

	return &insiders[((mixed >> 58) + i) % LC_COUNT(insiders)];
}

/* Returns this thread's element; NULL: it has none. */
static struct insider *find_self(void)
{
	const void *thread = lc_this_thread();

	for (size_t i = 0; i < TRIES; i++)
		if (atomic_load(&insider_at(thread, i)->thread) == thread)
			return insider_at(thread, i);
	return NULL;
}

/* Gives this thread an element, which stays as if it were in fork(): a signal's handler may come in and
 * go out before the caller goes on.  NULL: there is no room. */
static struct insider *add_self(void)
{
	const void *thread = lc_this_thread();

	for (size_t i = 0; i < TRIES; i++) {
		struct insider *at = insider_at(thread, i);
		const void *free = NULL;

		if (!atomic_compare_exchange_strong(&at->thread, &free, BEING_WRITTEN))
			continue;
		at->forks = true;
		atomic_store(&at->thread, thread);
		return at;
	}
	return NULL;
}

/* A signal's handler that comes before the last line adds itself elsewhere. */
static void remove_self(struct insider *self)
{
	atomic_store(&self->thread, BEING_WRITTEN);
	atomic_store(&self->entered, 0);
	atomic_store(&self->thread, NULL);
}

extern void *__dso_handle LC_HIDDEN;
#ifndef LC_EMBEDDED
/* crtbegin.o would define this.  The stubs are linked without it, as it has constructors. */
__attribute__((weak)) void *__dso_handle = &__dso_handle;
#endif

void lc_nap(void)
{
	const struct timespec moment = { .tv_nsec = 100 * 1000 };
	int cancellation = PTHREAD_CANCEL_ENABLE;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellation);
	nanosleep(&moment, NULL);
	pthread_setcancelstate(cancellation, &cancellation);
}

/* Returns true if another thread is inside that fork() waits for. */
static bool is_awaited(struct insider *insider)
{
	const void *thread = atomic_load(&insider->thread);

	return thread && thread != BEING_WRITTEN && thread != lc_this_thread() &&
	       atomic_load(&insider->entered) && !atomic_load(&insider->given_up);
}

static bool others_are_in(void)
{
	for (size_t i = 0; i < LC_COUNT(insiders); i++)
		if (is_awaited(&insiders[i]))
			return true;
	return false;
}

/* Waits a second at most until no other thread is inside; returns false if one still is. */
static bool await_insiders(void)
{
	for (int i = 0; i < LC_NAPS_A_SECOND; i++) {
		if (!others_are_in())
			return true;
		lc_nap();
	}
	return false;
}

static void give_up_on_others(void)
{
	for (size_t i = 0; i < LC_COUNT(insiders); i++)
		if (is_awaited(&insiders[i]))
			atomic_store(&insiders[i].given_up, true);
}

static _Atomic(const void *) awaiting;	/* the thread at whose end before_exit() is called */

/* The end of another thread than the main one is not that of the process. */
static void before_exit(void *unused)
{
	(void)unused;
	if (!lc_is_main_thread()) {
		atomic_store(&awaiting, NULL);
		return;
	}
	atomic_store(&exiting, true);
	await_insiders();
}

static int (*at_end_of_thread)(void (*function)(void *), void *data, void *object);

__attribute__((section(".text.startup"))) static void await_at_exit(void)
{
	at_end_of_thread(before_exit, NULL, &__dso_handle);
	atomic_store(&awaiting, lc_this_thread());
}

static void before_fork(void)
{
	struct insider *self = find_self();

	if (self)
		self->forks = true;
	else
		add_self();
	atomic_fetch_add(&forking, 1);
	if (!await_insiders())
		give_up_on_others();
}

static void end_fork(struct insider *self)
{
	if (self && atomic_load(&self->entered))
		self->forks = false;
	else if (self)
		remove_self(self);
}

static void in_parent(void)
{
	atomic_fetch_sub(&forking, 1);
	end_fork(find_self());
}

static void in_child(void)
{
	struct insider *self = find_self();

	lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	for (size_t i = 0; i < LC_COUNT(insiders); i++)
		if (&insiders[i] != self)
			atomic_store(&insiders[i].thread, NULL);
	atomic_store(&forking, 0);
	end_fork(self);
	if (at_end_of_thread && atomic_load(&awaiting) != lc_this_thread())
		await_at_exit();
	lc_forked();
}

void lc_enter_for_load(void)
{
	lc_enter();
	if (!atomic_load(&exiting) || lc_is_main_thread())
		return;
	lc_leave();
	for (int i = 0; i < LC_NAPS_A_SECOND / 10; i++)
		lc_nap();
	lc_enter();
}

static const char exit_function[] LC_AT_START = "__cxa_thread_atexit_impl";
static const char exit_node[] LC_AT_START = "GLIBC_2.18";

__attribute__((section(".text.startup"))) static void handle_exit(void)
{
	void *address = NULL;

	/* Not what may interpose dlsym() and has not begun yet. */
	if (!lc_is_in_static_program())
		address = dlvsym(RTLD_DEFAULT, exit_function, exit_node);
	if (!address)
		return;		/* glibc 2.17 */
	memcpy(&at_end_of_thread, &address, sizeof(address));
	await_at_exit();
}

#ifdef LC_EMBEDDED
/* Other stubs have this one's record, and exit() its handlers: an extension that is closed stays, and is
 * there when it is opened again, as a stub of its own is by -z nodelete. */
static void stay_loaded(void)
{
	struct link_map *map;
	Dl_info info;

	if (dladdr1(&lock, &info, (void **)&map, RTLD_DL_LINKMAP) && *map->l_name)
		dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}
#else
static void stay_loaded(void) { }
#endif

__attribute__((section(".text.startup"))) void lc_handle_forks(void)
{
	static bool handled;

	if (handled)
		return;		/* another stub of this object came first */
	handled = true;
	stay_loaded();
	pthread_atfork(before_fork, in_parent, in_child);
	handle_exit();
}

static void go_out(struct insider *self, unsigned times)
{
	const unsigned left = atomic_load(&self->entered) - times;
	const bool disabled = self->disabled;
	int cancellation;

	if (left || self->forks)
		atomic_store(&self->entered, (uint16_t)left);
	else
		remove_self(self);
	if (!left && !disabled)
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
	struct insider *self = find_self();
	const uint32_t left = self ? self->frame : 0;

	if (self)
		self->frame = (mark_of(stack) & ~1u) + 2;
	return left;
}

void lc_move_back(uint32_t left)
{
	struct insider *self = find_self();

	if (self)
		self->frame = left;
}

/* Returns true if a frame is in no call that the outermost mark stands for. */
static bool is_outside(uint32_t frame, uint32_t outermost)
{
	return outermost & 1 ? (int32_t)(frame - outermost) >= 0 :
			       (frame ^ outermost) >= LC_STACK_BYTES >> 3;
}

/*
 * Disables cancellation, since a thread that is cancelled inside would never leave.  glibc 2.31
 * sets no old state in a process without libpthread.  Returns NULL if there is no room: then fork()
 * does not wait for this thread.
 */
static struct insider *come_in(uint32_t frame)
{
	struct insider *self = find_self();
	const bool forks = self;
	int cancellation = PTHREAD_CANCEL_ENABLE;

	if (self && atomic_load(&self->entered)) {
		atomic_fetch_add(&self->entered, 1);
		return self;
	}
	if (!self)
		self = add_self();
	if (!self)
		return NULL;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellation);
	self->disabled = cancellation == PTHREAD_CANCEL_DISABLE;
	self->frame = frame;
	atomic_store(&self->given_up, false);
	atomic_store(&self->entered, 1);
	self->forks = forks;
	return self;
}

/*
 * Returns true if this thread must leave and wait for a fork(): one is under way, or
 * has just given up on this thread.  A thread that was inside before must not wait,
 * because fork() waits for it; nor must the thread that forks.
 */
static bool must_yield_to_fork(struct insider *self)
{
	return atomic_load(&self->entered) == 1 && !self->forks &&
	       (atomic_load(&forking) || atomic_load(&self->given_up));
}

static bool try_enter(uint32_t frame)
{
	struct insider *self = come_in(frame);

	if (self && !must_yield_to_fork(self))
		return true;
	if (self)
		go_out(self, 1);
	return false;
}

static void enter_from(uint32_t frame)
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
static void detect_unwind(uint32_t frame)
{
	struct insider *self = find_self();
	const unsigned times = self ? atomic_load(&self->entered) : 0;

	if (times && self->frame && is_outside(frame, self->frame))
		go_out(self, times);
}

__attribute__((noinline)) bool lc_try_enter(void)
{
	const uint32_t frame = mark_of(__builtin_frame_address(0));

	detect_unwind(frame);
	return try_enter(frame);
}

__attribute__((noinline)) void lc_enter(void)
{
	const uint32_t frame = mark_of(__builtin_frame_address(0));

	detect_unwind(frame);
	enter_from(frame);
}

void lc_leave(void)
{
	struct insider *self = find_self();

	if (self && atomic_load(&self->entered))
		go_out(self, 1);
}

#ifdef LC_CHECKS_THE_LOCK
static _Atomic pthread_t lock_owner;

static void set_owner(pthread_t thread)
{
	atomic_store(&lock_owner, thread);
}

void lc_locked(void)
{
	if (!pthread_equal(atomic_load(&lock_owner), pthread_self()))
		__builtin_trap();
}
#else
static void set_owner(pthread_t thread)
{
	(void)thread;
}
#endif

/* No detect_unwind() here: the caller may be inside already, and nothing foreign is called
 * before lc_unlock(). */
void lc_lock(void)
{
	enter_from(0);
	pthread_mutex_lock(&lock);
	set_owner(pthread_self());
}

void lc_unlock(void)
{
	set_owner(0);
	pthread_mutex_unlock(&lock);
	lc_leave();
}
