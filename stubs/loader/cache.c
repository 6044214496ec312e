/* SPDX-License-Identifier: MIT */
/* cache.c - what one search found out, for the searches after it */
#include "cache.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../base/glibc.h"
#include "generated/libcuda_stub.real.h"
#include "generated/libnvidia-ml_stub.real.h"
#include "settings.h"

const struct lc_library *const lc_of_driver[LC_OF_DRIVER] = {
	[LC_OF_DRIVER_CUDA] = &lc_real_cuda,
	[LC_OF_DRIVER_NVML] = &lc_real_nvml,
};

const char lc_leading[LC_LEADING][16] = {
	"LAZYCUDA_PATH", "CUDA_PATH", "CUDA_HOME",
};

static bool is_same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* Returns true if the variables are as they were. */
static bool same_variables(const struct lc_cache *cache)
{
	for (size_t i = 0; i < LC_LEADING; i++)
		if (!is_same(cache->variables[i], lc_variable(lc_leading[i])))
			return false;
	return true;
}

/* Returns true if all files and folders that were looked at are as they were. */
static bool files_hold(const struct lc_cache *cache)
{
	bool nothing = !cache->survey.left_out_count;
	struct stat st;

	for (size_t k = 0; k < cache->sought_count; k++) {
		const struct lc_sought *sought = cache->sought[k];

		nothing &= !sought->count;
		for (size_t i = 0; i < sought->count; i++)
			if (stat(sought->candidates[i].file->path, &st) ||
			    !lc_same_file(lc_identity(&st), sought->candidates[i].file->identity))
				return false;
	}
	return !cache->surveyed || lc_folders_hold(&cache->survey.folders, nothing, cache->taken);
}

/* Returns true if everything is as it was, except that ld.so may have loaded real libraries, which
 * are added. */
static bool is_valid(struct lc_cache *cache, bool callers)
{
	struct lc_loads loads = lc_process_loads();

	if (cache->spent || cache->user != geteuid() ||
	    loads.removed != cache->loads.removed ||
	    (callers && !cache->callers) || !same_variables(cache) || !files_hold(cache))
		return false;
	if (loads.added == cache->loads.added)
		return true;
	cache->loads = loads;
	return lc_process_update(&cache->arena, cache->libraries, cache->library_count,
				 &cache->process);
}

/* The driver's libraries are looked for whether they have a stub here or not. */
static void list_libraries(struct lc_cache *cache)
{
	struct lc_stub *more;

	for (size_t i = 0; i < cache->peers.count + LC_OF_DRIVER; i++) {
		more = lc_grow(&cache->arena, &cache->libraries, &cache->library_count, sizeof(*more));
		if (!more)
			return;
		if (i < cache->peers.count)
			*more = cache->peers.stubs[i];
		else
			*more = (struct lc_stub){ .path = "",
				.soname = lc_of_driver[i - cache->peers.count]->stub,
				.library = lc_of_driver[i - cache->peers.count] };
	}
}

/* Frees one, and returns the one before it, or NULL. */
static struct lc_cache *drop_cache(struct lc_cache *cache)
{
	struct lc_cache *older = cache->older;

	lc_arena_free(&cache->arena);
	free(cache);
	return older;
}

static unsigned long long now_in_ns(void)
{
	struct timespec now = { 0 };

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (unsigned long long)now.tv_sec * 1000000000 + (unsigned long long)now.tv_nsec;
}

static struct lc_cache *new_cache(struct lc_cache *older, bool callers)
{
	struct lc_cache *cache = malloc(sizeof(*cache));
	struct lc_loads now;

	if (!cache)
		return NULL;
	*cache = (struct lc_cache){ .older = older,
				    .began = now_in_ns(), .loads = lc_process_loads(),
				    .user = geteuid() };
	for (size_t i = 0; i < LC_LEADING; i++) {
		const char *value = lc_variable(lc_leading[i]);

		cache->variables[i] = value ? lc_text(&cache->arena, value) : NULL;
	}
	lc_peers_read(&cache->arena, &cache->peers);
	list_libraries(cache);
	if (!cache->arena.failed) {
		cache->callers = callers;
		lc_process_read(&cache->arena, cache->libraries, cache->library_count,
				cache->callers, &cache->process);
	}
	if (cache->arena.failed) {
		drop_cache(cache);
		return NULL;
	}
	/* An object that came or went meanwhile may have been seen by only one of the two walks. */
	now = lc_process_loads();
	cache->spent = now.added != cache->loads.added || now.removed != cache->loads.removed;
	return cache;
}

static struct lc_cache *new_cache_after(struct lc_cache *older, bool callers)
{
	struct lc_cache *cache;

	if (older && !older->used)
		older = drop_cache(older);
	if (older)
		older->spent = true;
	cache = new_cache(older, callers);
	if (!cache && older)
		lc_cache_give(older, true);
	return cache;
}

struct lc_cache *lc_cache_take(bool callers)
{
	struct lc_peer *keeper = atomic_load(&lc_self.keeper);
	struct lc_cache *cache = keeper ? atomic_exchange(&keeper->cache, NULL) : NULL;

	if (cache)
		cache->taken++;
	return cache && is_valid(cache, callers) && !cache->arena.failed ? cache :
									   new_cache_after(cache, callers);
}

/* Appends one to the chain of the other's older ones, so that the one that a search may use comes
 * first.  Returns the first. */
static struct lc_cache *chain_caches(struct lc_cache *cache, struct lc_cache *other)
{
	struct lc_cache *first = cache->spent && other && !other->spent ? other : cache;
	struct lc_cache *last;

	for (last = first; last->older; last = last->older)
		;
	last->older = first == cache ? other : cache;
	return first;
}

void lc_cache_give(struct lc_cache *cache, bool used)
{
	struct lc_peer *keeper = atomic_load(&lc_self.keeper);
	struct lc_cache *none;

	lc_survey_end(&cache->survey);
	cache->used |= used;
	/* Another thread may have set a variable while places were listed. */
	cache->spent |= !same_variables(cache);
	cache->spent |= cache->arena.failed || cache->arena.starved || cache->survey.folders.young;
	if (cache->spent && !cache->used)
		cache = drop_cache(cache);
	if (!cache)
		return;
	/* Another thread may have given one meanwhile, or a search within this one. */
	do {
		cache = chain_caches(cache, atomic_exchange(&keeper->cache, NULL));
		none = NULL;
	} while (!atomic_compare_exchange_strong(&keeper->cache, &none, cache));
}

void lc_cache_forked(void)
{
	struct lc_peer *keeper = atomic_load(&lc_self.keeper);
	struct lc_cache *cache = keeper ? atomic_exchange(&keeper->cache, NULL) : NULL;

	if (!cache)
		return;
	cache->spent = true;
	atomic_store(&keeper->cache, cache);
}

struct lc_survey *lc_cache_survey(struct lc_cache *cache)
{
	if (!cache->surveyed)
		lc_survey_begin(&cache->arena, &cache->process, &cache->survey);
	cache->surveyed = true;
	return &cache->survey;
}

bool lc_cache_changed(unsigned long long began)
{
	struct lc_peer *keeper = atomic_load(&lc_self.keeper);
	struct lc_cache *cache = keeper ? atomic_exchange(&keeper->cache, NULL) : NULL;
	bool changed;

	if (!cache)
		return false;
	cache->taken++;
	changed = cache->began != began || cache->spent || !files_hold(cache);
	lc_cache_give(cache, cache->used);
	return changed;
}

bool lc_cache_has_new_users(size_t users, unsigned long long removed, bool *unsure)
{
	struct lc_peer *keeper = atomic_load(&lc_self.keeper);
	struct lc_cache *cache = keeper ? atomic_exchange(&keeper->cache, NULL) : NULL;
	struct lc_arena arena = { .failed = false };
	struct lc_process now = { .users = NULL };
	bool found = false, others;

	*unsure = !cache;
	if (!cache)
		return false;
	others = lc_process_loads().removed != removed;
	lc_process_update(&arena, cache->libraries, cache->library_count, &now);
	for (size_t i = others || now.user_count < users ? 0 : users; i < now.user_count && !found; i++)
		found = lc_leads_to_its_library(&arena, &cache->survey, &now.users[i]);
	*unsure = arena.failed;
	lc_arena_free(&arena);
	lc_cache_give(cache, cache->used);
	return found;
}
