/* SPDX-License-Identifier: MIT */
/* driver.c - the installed NVIDIA driver */
#include "driver.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "forks.h"
#include "of_thread.h"
#include "open.h"
#include "../base/cuda_version.h"
#include "../base/glibc.h"
#include "../base/regular.h"
#include "../entry/note.h"

LC_DLOPEN_NOTE(
	LC_DLOPEN("\"libcuda.so.1\"", "driver", "what the installed driver can run") ","
	LC_DLOPEN("\"libnvidia-ml.so.1\"", "driver", "what the installed driver can run"))

lc_version lc_cuda_version(lc_finder *find, void *data, int major)
{
	int (*get)(int *) = (int (*)(int *))find("cuDriverGetVersion", data);
	int value = 0;

	(void)major;
	/* NVIDIA's link-time stub of libcuda returns 34 from every function. */
	return get && get(&value) == 0 ? lc_version_of_number(value) : 0;
}

typedef int (*nvml_getter)(char *, unsigned);

lc_version lc_nvml_version(lc_finder *find, void *data, int major)
{
	nvml_getter get = (nvml_getter)find("nvmlSystemGetNVMLVersion", data);
	char text[96] = "";	/* "12.535.104.05" */

	if (!get || get(text, sizeof(text)))
		return 0;
	major = atoi(text);
	return major > 0 && major < 100 ? LC_VERSION(major, 0) : 0;
}

/* Opens the file that the library's own stub would choose. */
static void open_real(struct lc_arena *arena, struct lc_cache *cache,
		      const struct lc_library *library, lc_version_look *version,
		      struct lc_found *found)
{
	struct lc_search search;

	*found = (struct lc_found){ .handle = NULL };
	if (lc_hidden_by(library))
		return;
	lc_search_real(arena, &search, cache, library);
	lc_open_found(arena, &search, NULL, version, found);
}

/* Returns the CUDA version that the driver supports, or 0 without a driver. */
static int look_at_version(struct lc_arena *arena, struct lc_cache *cache)
{
	struct lc_found found;

	/* Never closed: a runtime that is loaded next needs the driver library anyway. */
	open_real(arena, cache, lc_of_driver[LC_OF_DRIVER_CUDA], lc_cuda_version, &found);
	if (!found.handle) {
		lc_trace(lc_self.library, "there is no driver");
		return 0;
	}
	lc_trace(lc_self.library, "the driver supports CUDA %d.%d", LC_MAJOR(found.version),
		 LC_MINOR(found.version));
	return found.version;
}

static int branch_of_module(struct lc_arena *arena)
{
	struct stat st;
	const char *text = lc_read_regular(arena, "/sys/module/nvidia/version", 31, &st);

	return text ? atoi(text) : 0;
}

/* NVML's version is its major and the driver's version: "12.535.104.05". */
static int branch_of_nvml(struct lc_arena *arena, struct lc_cache *cache)
{
	struct lc_found found;
	nvml_getter get;
	char text[96] = "", *dot = NULL;

	open_real(arena, cache, lc_of_driver[LC_OF_DRIVER_NVML], lc_nvml_version, &found);
	if (!found.handle)
		return 0;
	get = (nvml_getter)lc_find_found("nvmlSystemGetNVMLVersion", &found);
	if (get && !get(text, sizeof(text)))
		dot = strchr(text, '.');
	lc_close_found(&found);
	return dot ? atoi(dot + 1) : 0;
}

/*
 * Returns the display driver's branch, 535 for 535.104.05, on which minor
 * version compatibility depends.  Asks the kernel module, then NVML; returns 0
 * if neither knows.
 */
static int look_at_branch(struct lc_arena *arena, struct lc_cache *cache)
{
	int branch = branch_of_module(arena);

	if (!branch)
		branch = branch_of_nvml(arena, cache);
	if (branch)
		lc_trace(lc_self.library, "the display driver is of branch %d", branch);
	else
		lc_trace(lc_self.library, "the display driver's branch is unknown");
	return branch;
}

/* Cached for the life of the process; -1: not known yet.  A hidden driver is not cached
 * as absent, because it may not be hidden later. */
static _Atomic int driver = -1, branch = -1;

/* Returns -1, and caches nothing, if a shortage of memory or file descriptors may be why
 * nothing was found. */
static int look_once(struct lc_arena *arena, struct lc_cache *cache, _Atomic int *value,
		     int (*look)(struct lc_arena *arena, struct lc_cache *cache))
{
	bool starved = arena->starved;
	int found = atomic_load(value);

	if (found >= 0)
		return found;
	arena->starved = false;
	found = look(arena, cache);
	if (!found && (arena->failed || arena->starved))
		return -1;
	arena->starved |= starved;
	atomic_store(value, found);
	return found;
}

/* NVML that is hidden now may not be hidden later. */
static int branch_now(struct lc_arena *arena, struct lc_cache *cache)
{
	if (atomic_load(&branch) < 0 && lc_hidden_by(lc_of_driver[LC_OF_DRIVER_NVML]))
		return branch_of_module(arena);
	return look_once(arena, cache, &branch, look_at_branch);
}

static int version_now(struct lc_arena *arena, struct lc_cache *cache)
{
	const char *hidden = lc_hidden_by(lc_of_driver[LC_OF_DRIVER_CUDA]);

	if (!hidden)
		return look_once(arena, cache, &driver, look_at_version);
	lc_trace(lc_self.library, "the driver is hidden by %s=none", hidden);
	return 0;
}

/* Returns true if the choice can be made: *value is known, or has been set to 0 as if there
 * were none.  The choice lasts as long as the process, and a shortage usually passes: so the
 * first few calls without a value return false, and with LAZYCUDA_GUARD=strict all of them.
 * Otherwise a lasting shortage must not block the choice. */
static bool go_on_without(int *value, enum lc_guard guard)
{
	static _Atomic int unfinished;

	if (*value >= 0)
		return true;
	if (guard == LC_STRICT || atomic_fetch_add(&unfinished, 1) < LC_TRIES_A_SECOND)
		return false;
	lc_trace(lc_self.library, "the driver could not be looked at: the choice is made without");
	*value = 0;
	return true;
}

bool lc_look_at_driver(struct lc_arena *arena, struct lc_search *search)
{
	struct lc_circumstances *at = &search->at;
	int version = lc_choice_needs_driver(at, false) ? version_now(arena, search->cache) : at->driver;

	if (!go_on_without(&version, at->settings.guard))
		return false;
	at->driver = (lc_version)version;
	if (at->driver && lc_choice_needs_driver(at, true))
		at->branch = branch_now(arena, search->cache);
	return go_on_without(&at->branch, at->settings.guard);
}

/* Looks outside of a search; *of_branch, unless NULL, is set if there is a driver. */
static int look_now(int *of_branch)
{
	struct lc_arena arena = { .failed = false };
	struct lc_cache *cache;
	int version = -1;

	lc_enter();
	cache = lc_cache_take(false);
	if (cache)
		version = version_now(&arena, cache);
	if (version > 0 && of_branch)
		*of_branch = branch_now(&arena, cache);
	if (cache)
		lc_cache_give(cache, false);
	lc_leave();
	lc_arena_free(&arena);
	return version;
}

bool lc_has_driver(void)
{
	int version = atomic_load(&driver);

	/* The common case is fast: failing calls ask again and again. */
	if (version >= 0)
		return version && !lc_hidden_by(lc_of_driver[LC_OF_DRIVER_CUDA]);
	if (!lc_is_ready() || !lc_may_try())
		return true;
	version = look_now(NULL);
	if (version < 0)
		lc_try_failed();
	return version != 0;
}

struct lazycuda_driver lc_driver(void)
{
	struct lazycuda_driver found = { .size = sizeof(found) };
	int version, of_branch = 0;

	if (!lc_is_ready())
		return found;
	version = look_now(&of_branch);
	found.version = version > 0 ? lc_number_of_version((lc_version)version) : 0;
	found.branch = of_branch > 0 ? of_branch : 0;
	return found;
}
