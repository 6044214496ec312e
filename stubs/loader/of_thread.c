/* SPDX-License-Identifier: MIT */
/* of_thread.c - what a stub keeps of each thread */
#include "of_thread.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "forks.h"
#include "../base/count.h"
#include "../base/glibc.h"

_Atomic(const void *) lc_main_thread;

bool lc_is_ready(void)
{
	return atomic_load(&lc_main_thread) || environ;
}

__attribute__((section(".text.startup"))) void lc_begin_threads(void)
{
	atomic_store(&lc_main_thread, lc_is_main_thread() ? lc_this_thread() : &lc_main_thread);
}

/* ---- keys ---- */

/* Until glibc 2.34 they are in libpthread, which a process of one thread may not have. */
static union {
	void *address[3];
	struct {
		int (*create)(pthread_key_t *key, void (*destructor)(void *));
		void *(*get)(pthread_key_t key);
		int (*set)(pthread_key_t key, const void *value);
	};
} keys;

static _Atomic bool keys_found;

/* Where they are: RTLD_DEFAULT does not find a libpthread that came with a plugin. */
static bool find_keys_in(void *handle, void **address)
{
	static const char *const names[] = { "pthread_key_create", "pthread_getspecific",
					     "pthread_setspecific" };

	for (size_t i = 0; i < LC_COUNT(names); i++) {
		address[i] = dlvsym(handle, names[i], LC_GLIBC_FIRST);
		if (!address[i])
			return false;
	}
	return true;
}

void lc_find_keys(void)
{
	void *address[LC_COUNT(keys.address)], *handle;

	if (atomic_load(&keys_found))
		return;
	if (!find_keys_in(RTLD_DEFAULT, address)) {
		handle = dlopen("libpthread.so.0", RTLD_LAZY | RTLD_NOLOAD);
		if (!handle || !find_keys_in(handle, address))
			return;
	}
	lc_lock();
	if (!atomic_load(&keys_found))
		memcpy(keys.address, address, sizeof(address));
	atomic_store(&keys_found, true);
	lc_unlock();
}

/* A pair of keys as one number, which is not 0. */
#define PAIR(first, second) ((uint64_t)(first) << 32 | (second) | MADE)
#define MADE (1ull << 31)
#define FIRST_OF(pair) ((pthread_key_t)((pair) >> 32))
#define SECOND_OF(pair) ((pthread_key_t)((pair) & (MADE - 1)))
#define NO_PAIR 1	/* the process has used up its keys */

static uint64_t new_pair(void)
{
	pthread_key_t first, second;

	if (keys.create(&first, NULL) || keys.create(&second, NULL))
		return NO_PAIR;
	return PAIR(first, second);
}

/* The pair of these; NO_PAIR, or 0 as long as the functions are not known. */
static uint64_t pair_for(struct lc_of_threads *threads)
{
	if (atomic_load(&threads->pair) || !atomic_load(&keys_found))
		return atomic_load(&threads->pair);
	lc_lock();
	if (!atomic_load(&threads->pair))
		atomic_store(&threads->pair, new_pair());
	lc_unlock();
	return atomic_load(&threads->pair);
}

/* ---- what is kept ---- */

/* Returns where this thread's is, unless it is in a pair of keys: then NULL. */
static union lc_of_thread *kept_here(struct lc_of_threads *threads)
{
	if (!lc_is_ready())
		return &threads->early;
	if (!atomic_load(&lc_main_thread))
		lc_begin_threads();
	return lc_is_main_here() ? &threads->of_main : NULL;
}

union lc_of_thread lc_of_thread(struct lc_of_threads *threads)
{
	const union lc_of_thread *kept = kept_here(threads);
	const uint64_t pair = atomic_load(&threads->pair);
	union lc_of_thread own = { .word = { 0 } };

	if (kept)
		return *kept;
	if (pair & MADE) {
		own.word[0] = (uintptr_t)keys.get(FIRST_OF(pair));
		own.word[1] = (uintptr_t)keys.get(SECOND_OF(pair));
	}
	return own;
}

void lc_set_of_thread(struct lc_of_threads *threads, union lc_of_thread own)
{
	union lc_of_thread *kept = kept_here(threads);
	const uint64_t pair = kept ? NO_PAIR : pair_for(threads);

	if (kept)
		*kept = own;
	if ((pair & MADE) && !keys.set(FIRST_OF(pair), (void *)(uintptr_t)own.word[0]))
		keys.set(SECOND_OF(pair), (void *)(uintptr_t)own.word[1]);
}
