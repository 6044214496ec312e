/* SPDX-License-Identifier: MIT */
/* attempt.c - one search, up to all that is to be published */
#include "attempt.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "driver.h"
#include "found.h"
#include "glibc.h"
#include "loader.h"
#include "unknown.h"

/* The driver, looked at once; -1: not yet. */
static _Atomic int driver = -1, branch = -1;

/* What could not be looked at now is not taken for what is not there: -1. */
static int cached(struct lc_arena *arena, _Atomic int *value, int (*look)(struct lc_arena *))
{
	bool hindered = arena->hindered;
	int known = atomic_load(value);

	if (known >= 0)
		return known;
	arena->hindered = false;
	known = look(arena);
	if (!known && (arena->failed || arena->hindered))
		return -1;
	arena->hindered |= hindered;
	atomic_store(value, known);
	return known;
}

/* What the choice depends on.  False: no choice can be made now. */
static bool look_at_driver(struct lc_arena *arena, struct lc_circumstances *at)
{
	if (lc_choice_needs_driver(at))
		at->driver = cached(arena, &driver, lc_driver_version);
	if (at->driver >= 0 && lc_choice_needs_branch(at))
		at->branch = cached(arena, &branch, lc_driver_branch);
	return at->driver >= 0 && at->branch >= 0;
}

static void close_choice(struct lc_attempt *attempt)
{
	if (attempt->handle)
		dlclose(attempt->handle);
	attempt->handle = NULL;
}

static lc_function find(const char *name, void *data)
{
	struct lc_attempt *attempt = data;
	lc_function function;
	void *address = lc_has_nodes(&lc_library) ?
		dlvsym(attempt->handle, name, attempt->major->soname) :
		dlsym(attempt->handle, name);

	memcpy(&function, &address, sizeof(function));
	return function;
}

/* What the library says, else what its exports prove, else the major's oldest.  One
 * without majors has to say it: NVIDIA's stand-ins for linking cannot. */
static lc_version version_of(struct lc_attempt *attempt)
{
	int major = attempt->major->major;
	lc_version said = lc_specifics.version ? lc_specifics.version(find, attempt, major) : 0;

	if (!lc_has_majors(&lc_library) || (said && LC_MAJOR(said) == major))
		return said;
	for (size_t i = 0; i < lc_library.since_count; i++) {
		const struct lc_since *since = &lc_library.since[i];

		if (LC_MAJOR(since->version) == major &&
		    find(lc_library.names + since->name, attempt))
			return since->version;
	}
	return attempt->major->oldest;
}

/* Loads what was chosen; else the option is marked unusable, with the reason. */
static bool open_choice(struct lc_attempt *attempt)
{
	struct lc_option *option = lc_attempt_option(attempt);

	attempt->major = lc_listed_major(&lc_library, option->major);
	attempt->handle = lc_open_found(&attempt->arena, &attempt->search, attempt->choice.option);
	if (!attempt->handle)
		return false;
	attempt->version = option->version = version_of(attempt);
	if (attempt->version)
		return true;
	close_choice(attempt);
	lc_reject_found(&attempt->search, attempt->choice.option, lc_stand_in);
	return false;
}

/*
 * Agrees on a major with the other stubs.  Returns false if another one was
 * agreed on since the search read it; then the choice is to be made again.
 */
static bool agree(struct lc_attempt *attempt)
{
	struct lc_circumstances *at = &attempt->search.at;
	uint32_t agreed = 0;

	if (at->settings.guard == LC_OFF || at->process_major || at->without_majors || at->alone)
		return true;
	if (atomic_compare_exchange_strong(&attempt->search.first->process_major, &agreed,
					   (uint32_t)lc_attempt_option(attempt)->major) ||
	    (int)agreed == lc_attempt_option(attempt)->major)
		return true;
	at->process_major = (int)agreed;
	return false;
}

/* Chooses and loads, until something is loaded or nothing is left. */
static void choose(struct lc_attempt *attempt, bool process_only)
{
	struct lc_circumstances *at = &attempt->search.at;
	bool resorted = process_only;

	for (;;) {
		if (!look_at_driver(&attempt->arena, at)) {
			attempt->choice = (struct lc_choice){ .option = -1, .refusal = LC_MISSING };
			return;
		}
		attempt->choice = lc_choose(&attempt->arena, at);
		if (attempt->arena.failed)
			return;
		if (attempt->choice.option < 0) {
			if (resorted || lc_search_found(&attempt->search))
				return;
			resorted = true;
			lc_search_last_resort(&attempt->arena, &attempt->search);
			if (!lc_search_found(&attempt->search))
				return;
		} else if (open_choice(attempt)) {
			if (agree(attempt))
				return;
			close_choice(attempt);
		}
	}
}

/* Loads what the library would look for beside itself, and not find. */
static void open_companion(struct lc_attempt *attempt)
{
	const char *path = lc_attempt_file(attempt)->path, *slash = strrchr(path, '/');
	const char *pattern = lc_library.companion;
	const char *name = "";

	if (!pattern || !slash)
		return;
	for (; *pattern; pattern++) {
		if (pattern[0] == '%' && (pattern[1] == 'M' || pattern[1] == 'm'))
			name = lc_format(&attempt->arena, "%s%d", name,
					 *++pattern == 'M' ? LC_MAJOR(attempt->version) :
							     LC_MINOR(attempt->version));
		else
			name = lc_format(&attempt->arena, "%s%c", name, *pattern);
	}
	name = lc_format(&attempt->arena, "%.*s/%s", (int)(slash - path), path, name);
	/* No harm if it is not there: the library may find it elsewhere. */
	if (!access(name, R_OK))
		attempt->companion = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
	if (attempt->companion)
		lc_trace("%s: loaded beside it", name);
}

/* The function that a slot leads to in this version, or NULL and why. */
static lc_function resolve_slot(struct lc_attempt *attempt, const struct lc_slot *slot,
				uint8_t *why)
{
	lc_version version = attempt->version;

	*why = LC_NONE;
	for (unsigned i = 0; i < slot->count; i++) {
		const struct lc_candidate *c = &lc_library.candidates[slot->first + i];
		lc_function function = NULL;

		/* Without majors a version proves no more than that it is there. */
		if (!lc_has_majors(&lc_library) || (version >= c->from && version <= c->to))
			function = find(lc_library.names + c->name, attempt);
		if (function)
			return function;
	}
	*why = find(lc_library.names + slot->name, attempt) ? LC_REFUSED : LC_ABSENT;
	return NULL;
}

/*
 * Puts adaptors into slots that the library left empty.  A row holds if what
 * it needs is a function of the library itself: adaptors do not call adaptors.
 */
static void adapt(struct lc_attempt *attempt)
{
	const struct lc_adaptor *row = lc_specifics.adaptors;
	bool *own = lc_alloc(&attempt->arena, lc_library.slot_count);

	for (size_t i = 0; own && i < lc_library.slot_count; i++)
		own[i] = attempt->functions[i] != NULL;
	for (; own && row && row->function; row++) {
		if (attempt->functions[row->slot] || !own[row->needs])
			continue;
		attempt->functions[row->slot] = row->function;
		attempt->outcomes[row->slot] = LC_NONE;
	}
}

static void resolve(struct lc_attempt *attempt)
{
	size_t count = lc_library.slot_count;

	attempt->functions = lc_alloc(&attempt->arena, count * sizeof(*attempt->functions));
	attempt->outcomes = lc_alloc(&attempt->arena, count);
	for (size_t i = 0; i < count && !attempt->arena.failed; i++)
		attempt->functions[i] = resolve_slot(attempt, &lc_library.slots[i],
						     &attempt->outcomes[i]);
	if (!attempt->arena.failed)
		adapt(attempt);
}

bool lc_attempt(struct lc_attempt *attempt, bool process_only)
{
	*attempt = (struct lc_attempt){ .version = 0 };
	lc_search_run(&attempt->arena, &attempt->search, process_only);
	if (attempt->search.at.settings.wrong)
		attempt->choice = (struct lc_choice){ .option = -1, .refusal = LC_MISSING };
	else
		choose(attempt, process_only);
	if (attempt->handle) {
		open_companion(attempt);
		resolve(attempt);
	}
	lc_report(attempt);
	if (!attempt->arena.failed && (attempt->handle || !attempt->arena.hindered))
		return true;
	lc_attempt_drop(attempt);
	return false;
}

void lc_attempt_drop(struct lc_attempt *attempt)
{
	if (attempt->companion)
		dlclose(attempt->companion);
	close_choice(attempt);
	lc_arena_free(&attempt->arena);
}

struct lazycuda_driver lc_driver(void)
{
	struct lazycuda_driver found = { .size = sizeof(found) };
	struct lc_arena arena = { .failed = false };
	int version, of_branch = 0;

	lc_enter();
	version = cached(&arena, &driver, lc_driver_version);
	if (version > 0)
		of_branch = cached(&arena, &branch, lc_driver_branch);
	lc_leave();
	lc_arena_free(&arena);
	found.version = version > 0 ? version : 0;
	found.branch = of_branch > 0 ? of_branch : 0;
	return found;
}
