/* SPDX-License-Identifier: MIT */
/* attempt.c - one search, and what it came to */
#include "attempt.h"

#include <string.h>
#include <unistd.h>

#include "dl.h"
#include "driver.h"
#include "specifics.h"
#include "../base/glibc.h"

/* Loads the companion beside the library, where the library itself would not find it. */
static void open_companion(struct lc_attempt *attempt)
{
	const struct lc_library *library = lc_attempt_library(attempt);
	const char *path = lc_attempt_file(attempt)->path, *slash = strrchr(path, '/');
	const char *name, *why;

	if (!library->companion || !slash)
		return;
	name = lc_format(&attempt->arena, "%.*s/%s", (int)(slash - path), path,
			 lc_companion_name(&attempt->arena, library, attempt->found.version));
	/* It need not be there: the library may find one elsewhere. */
	if (lc_file_is_safe(&lc_cache_survey(attempt->search.cache)->folders, name, &why))
		attempt->companion = lc_dlopen(&attempt->arena, name, RTLD_LAZY | RTLD_LOCAL, &why);
	if (attempt->companion)
		lc_trace(library, "%s: loaded beside it", name);
}

/* Returns the library's function for a slot, or NULL and the refusal in *why. */
static lc_function resolve_slot(const struct lc_library *library, const struct lc_slot *slot,
				struct lc_found *found, lc_lasting *lasting, uint8_t *why)
{
	const struct lc_provider *c = library->providers + slot->first, *end = c + slot->count;
	const struct lc_provider *named = NULL;

	for (; c < end; c++) {
		const char *name = library->names + c->name;
		lc_function function = NULL;

		/* Without majors, the version only proves that the library is a real one. */
		if (!lc_has_majors(library) || (found->version >= c->from && found->version <= c->to))
			function = lc_find_hashed(name, c->hash, found);
		if (function) {
			*why = LC_NONE;
			return lasting ? lasting(name, function) : function;
		}
		if (c->name == slot->name)
			named = c;
	}
	/* The hash is known where an interface of that name provides the slot in some version. */
	*why = (named ? lc_find_hashed(library->names + slot->name, named->hash, found) :
		lc_find_found(library->names + slot->name, found)) ? LC_REFUSED : LC_ABSENT;
	return NULL;
}

/*
 * Puts adaptors into slots that the library left empty.  A row applies only if
 * the slot it needs has a function of the library: adaptors do not call adaptors.
 */
static void add_adaptors(struct lc_attempt *attempt)
{
	const struct lc_adaptor *row = attempt->search.self->specifics->adaptors;
	const struct lc_library *library = lc_attempt_library(attempt);
	bool *own = lc_alloc(&attempt->arena, library->slot_count);

	for (size_t i = 0; own && i < library->slot_count; i++)
		own[i] = attempt->functions[i] != NULL;
	for (; own && row && row->function; row++) {
		if (attempt->functions[row->slot] || !own[row->needs])
			continue;
		attempt->functions[row->slot] = row->function;
		attempt->outcomes[row->slot] = LC_NONE;
	}
}

/* Returns the major of callers that name none: that of the loaded objects that need this stub, if
 * all are of one, else the library's own. */
static int major_of_others(const struct lc_attempt *attempt)
{
	const struct lc_process *process = &attempt->search.cache->process;
	const char *library = lc_attempt_library(attempt)->name;
	uint32_t majors = 0;

	for (size_t i = 0; i < process->user_count; i++)
		if (process->users[i].needs && !strcmp(process->users[i].needs->name, library))
			majors |= process->users[i].majors;
	if (!majors || majors & (majors - 1))
		return attempt->found.major->major;
	return __builtin_ctz(majors);
}

/* Returns the row of a major in the rows of one name; NULL: it has none. */
static const struct lc_export *row_of(const struct lc_library *library, size_t first, int major)
{
	const struct lc_export *row = library->exports + first, *end = library->exports + library->export_count;

	for (uint32_t name = row->name; row < end && row->name == name; row++)
		if (row->major == major)
			return row;
	return NULL;
}

/* Fills the slots of callers that name no major like those of callers that do. */
static void serve_others(struct lc_attempt *attempt)
{
	const struct lc_library *library = lc_attempt_library(attempt);
	const int major = major_of_others(attempt), own = attempt->found.major->major;

	for (size_t i = 0; i < library->slot_count; i++) {
		const struct lc_slot *slot = &library->slots[i];
		const struct lc_export *row;

		if (slot->first != LC_ANY_CALLER)
			continue;
		row = row_of(library, slot->count, major);
		if (!row)
			row = row_of(library, slot->count, own);
		attempt->functions[i] = row ? attempt->functions[row->slot] : NULL;
		attempt->outcomes[i] = row ? attempt->outcomes[row->slot] :
			lc_find_found(library->names + slot->name, &attempt->found) ? LC_REFUSED : LC_ABSENT;
	}
}

static void resolve_slots(struct lc_attempt *attempt)
{
	const struct lc_library *library = lc_attempt_library(attempt);
	lc_lasting *lasting = attempt->found.shuts_down ? attempt->search.self->specifics->lasting : NULL;
	const size_t count = library->slot_count;

	attempt->functions = lc_alloc_unset(&attempt->arena, count * sizeof(*attempt->functions));
	attempt->outcomes = lc_alloc(&attempt->arena, count);
	if (attempt->found.shuts_down)
		attempt->endings = lc_alloc_unset(&attempt->arena, count * sizeof(*attempt->endings));
	if (attempt->arena.failed)
		return;
	for (size_t i = 0; i < count; i++)
		if (library->slots[i].first != LC_ANY_CALLER)
			attempt->functions[i] = resolve_slot(library, &library->slots[i], &attempt->found,
							     lasting, &attempt->outcomes[i]);
	add_adaptors(attempt);
	serve_others(attempt);
}

bool lc_attempt(struct lc_attempt *attempt, struct lc_peer *self, bool process_only)
{
	*attempt = (struct lc_attempt){ .found.choice = { .candidate = -1, .refusal = LC_MISSING } };
	lc_search_run(&attempt->arena, &attempt->search, self, process_only);
	if (!attempt->search.at.settings.wrong && !attempt->search.hidden)
		lc_open_found(&attempt->arena, &attempt->search, lc_look_at_driver,
			      self->specifics->version, &attempt->found);
	if (attempt->found.handle) {
		open_companion(attempt);
		resolve_slots(attempt);
	}
	if (!attempt->arena.failed && (attempt->found.handle || !attempt->arena.starved))
		return true;
	lc_attempt_drop(attempt);
	return false;
}

void lc_attempt_drop(struct lc_attempt *attempt)
{
	if (attempt->companion)
		dlclose(attempt->companion);
	lc_close_found(&attempt->found);
	if (attempt->search.cache)
		lc_cache_give(attempt->search.cache, false);
	lc_arena_free(&attempt->arena);
}
