/* SPDX-License-Identifier: MIT */
/* known.c - what one search found out, for the searches after it */
#include "known.h"

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
static bool same_variables(const struct lc_known *known)
{
	for (size_t i = 0; i < LC_LEADING; i++)
		if (!is_same(known->variables[i], lc_variable(lc_leading[i])))
			return false;
	return true;
}

/* Returns true if all files and folders that were looked at are as they were. */
static bool files_hold(const struct lc_known *known)
{
	bool nothing = !known->survey.left_out_count;
	struct stat st;

	for (size_t k = 0; k < known->sought_count; k++) {
		const struct lc_sought *sought = known->sought[k];

		nothing &= !sought->count;
		for (size_t i = 0; i < sought->count; i++)
			if (stat(sought->files[i].path, &st) ||
			    !lc_same_file(lc_identity(&st), sought->files[i].identity))
				return false;
	}
	return !known->surveyed || lc_folders_hold(&known->survey.folders, nothing, known->taken);
}

/* Returns true if everything is as it was, except that ld.so may have loaded real libraries, which
 * are added. */
static bool is_valid(struct lc_known *known, bool callers)
{
	struct lc_loads loads = lc_process_loads();

	if (known->spent || known->user != geteuid() ||
	    loads.removed != known->loads.removed ||
	    (callers && !known->callers) || !same_variables(known) || !files_hold(known))
		return false;
	if (loads.added == known->loads.added)
		return true;
	known->loads = loads;
	return lc_process_update(&known->arena, known->libraries, known->library_count,
				 &known->process);
}

/* The driver's libraries are looked for whether they have a stub here or not. */
static void list_libraries(struct lc_known *known)
{
	struct lc_stub *more;

	for (size_t i = 0; i < known->peers.count + LC_OF_DRIVER; i++) {
		more = lc_grow(&known->arena, &known->libraries, &known->library_count, sizeof(*more));
		if (!more)
			return;
		if (i < known->peers.count)
			*more = known->peers.stubs[i];
		else
			*more = (struct lc_stub){ "", lc_of_driver[i - known->peers.count]->stub, NULL,
						  lc_of_driver[i - known->peers.count], NULL };
	}
}

/* Frees one, and returns the one before it, or NULL. */
static struct lc_known *drop_known(struct lc_known *known)
{
	struct lc_known *older = known->older;

	lc_arena_free(&known->arena);
	free(known);
	return older;
}

static unsigned long long now_in_ns(void)
{
	struct timespec now = { 0 };

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (unsigned long long)now.tv_sec * 1000000000 + (unsigned long long)now.tv_nsec;
}

static struct lc_known *begin_known(struct lc_known *older, bool callers)
{
	struct lc_known *known = malloc(sizeof(*known));
	struct lc_loads now;

	if (!known)
		return NULL;
	*known = (struct lc_known){ .older = older,
				    .began = now_in_ns(), .loads = lc_process_loads(),
				    .user = geteuid() };
	for (size_t i = 0; i < LC_LEADING; i++) {
		const char *value = lc_variable(lc_leading[i]);

		known->variables[i] = value ? lc_text(&known->arena, value) : NULL;
	}
	lc_peers_read(&known->arena, &known->peers);
	list_libraries(known);
	if (!known->arena.failed) {
		known->callers = callers;
		lc_process_read(&known->arena, known->libraries, known->library_count,
				known->callers, &known->process);
	}
	if (known->arena.failed) {
		drop_known(known);
		return NULL;
	}
	/* An object that came or went meanwhile may have been seen by only one of the two walks. */
	now = lc_process_loads();
	known->spent = now.added != known->loads.added || now.removed != known->loads.removed;
	return known;
}

static struct lc_known *begin_after(struct lc_known *older, bool callers)
{
	struct lc_known *known;

	if (older && !older->used)
		older = drop_known(older);
	if (older)
		older->spent = true;
	known = begin_known(older, callers);
	if (!known && older)
		lc_known_give(older, true);
	return known;
}

struct lc_known *lc_known_take(bool callers)
{
	struct lc_peer *keeper = atomic_load(&lc_self.keeper);
	struct lc_known *known = keeper ? atomic_exchange(&keeper->known, NULL) : NULL;

	if (known)
		known->taken++;
	return known && is_valid(known, callers) && !known->arena.failed ? known :
									   begin_after(known, callers);
}

/* Appends one to the chain of the other's older ones, so that the one that a search may use comes
 * first.  Returns the first. */
static struct lc_known *chain_known(struct lc_known *known, struct lc_known *other)
{
	struct lc_known *first = known->spent && other && !other->spent ? other : known;
	struct lc_known *last;

	for (last = first; last->older; last = last->older)
		;
	last->older = first == known ? other : known;
	return first;
}

void lc_known_give(struct lc_known *known, bool used)
{
	struct lc_peer *keeper = atomic_load(&lc_self.keeper);
	struct lc_known *none;

	lc_survey_end(&known->survey);
	known->used |= used;
	/* Another thread may have set a variable while places were listed. */
	known->spent |= !same_variables(known);
	known->spent |= known->arena.failed || known->arena.starved || known->survey.folders.young;
	if (known->spent && !known->used)
		known = drop_known(known);
	if (!known)
		return;
	/* Another thread may have given one meanwhile, or a search within this one. */
	do {
		known = chain_known(known, atomic_exchange(&keeper->known, NULL));
		none = NULL;
	} while (!atomic_compare_exchange_strong(&keeper->known, &none, known));
}

void lc_known_forked(void)
{
	struct lc_peer *keeper = atomic_load(&lc_self.keeper);
	struct lc_known *known = keeper ? atomic_exchange(&keeper->known, NULL) : NULL;

	if (!known)
		return;
	known->spent = true;
	atomic_store(&keeper->known, known);
}

struct lc_survey *lc_known_survey(struct lc_known *known)
{
	if (!known->surveyed)
		lc_survey_begin(&known->arena, &known->process, &known->survey);
	known->surveyed = true;
	return &known->survey;
}

struct lc_sought *lc_known_sought(const struct lc_known *known, const struct lc_library *library)
{
	for (size_t i = 0; i < known->sought_count; i++)
		if (!strcmp(known->sought[i]->library->name, library->name))
			return known->sought[i];
	return NULL;
}

bool lc_known_changed(unsigned long long began)
{
	struct lc_peer *keeper = atomic_load(&lc_self.keeper);
	struct lc_known *known = keeper ? atomic_exchange(&keeper->known, NULL) : NULL;
	bool changed;

	if (!known)
		return false;
	known->taken++;
	changed = known->began != began || known->spent || !files_hold(known);
	lc_known_give(known, known->used);
	return changed;
}

bool lc_known_outgrown(size_t users, unsigned long long removed, bool *unsure)
{
	struct lc_peer *keeper = atomic_load(&lc_self.keeper);
	struct lc_known *known = keeper ? atomic_exchange(&keeper->known, NULL) : NULL;
	struct lc_arena arena = { .failed = false };
	struct lc_process now = { .users = NULL };
	bool outgrown = false, others;

	*unsure = !known;
	if (!known)
		return false;
	others = lc_process_loads().removed != removed;
	lc_process_update(&arena, known->libraries, known->library_count, &now);
	for (size_t i = others || now.user_count < users ? 0 : users; i < now.user_count && !outgrown; i++)
		outgrown = lc_leads_to_its_library(&arena, &known->survey, &now.users[i]);
	*unsure = arena.failed;
	lc_arena_free(&arena);
	lc_known_give(known, known->used);
	return outgrown;
}
