/* SPDX-License-Identifier: MIT */
/* attempt.c - one search, and everything that is published of it */
#include "attempt.h"

#include <string.h>
#include <unistd.h>

#include "dl.h"
#include "driver.h"
#include "specifics.h"
#include "../base/glibc.h"
#include "../base/verdict.h"

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
	if (lc_file_is_safe(&lc_known_survey(attempt->search.known)->folders, name, &why))
		attempt->companion = lc_dlopen(&attempt->arena, name, RTLD_LAZY | RTLD_LOCAL, &why);
	if (attempt->companion)
		lc_trace(library, "%s: loaded beside it", name);
}

/* Returns the library's function for a slot, or NULL and the refusal in *why. */
static lc_function resolve_slot(struct lc_attempt *attempt, const struct lc_slot *slot,
				uint8_t *why)
{
	const struct lc_specifics *specifics = attempt->search.self->specifics;
	const struct lc_library *library = lc_attempt_library(attempt);
	lc_version version = attempt->found.version;

	*why = LC_NONE;
	for (unsigned i = 0; i < slot->count; i++) {
		const struct lc_candidate *c = &library->candidates[slot->first + i];
		lc_function function = NULL;

		/* Without majors, the version only proves that the library is a real one. */
		if (!lc_has_majors(library) || (version >= c->from && version <= c->to))
			function = lc_find_found(library->names + c->name, &attempt->found);
		if (function && specifics->lasting && attempt->found.shuts_down)
			return specifics->lasting(library->names + c->name, function);
		if (function)
			return function;
	}
	*why = lc_find_found(library->names + slot->name, &attempt->found) ?
		LC_REFUSED : LC_ABSENT;
	return NULL;
}

/*
 * Puts adaptors into slots that the library left empty.  A row applies only if
 * the slot it needs has a function of the library: adaptors do not call adaptors.
 */
static void adapt(struct lc_attempt *attempt)
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
	const struct lc_process *process = &attempt->search.known->process;
	const char *library = lc_attempt_library(attempt)->name;
	uint32_t majors = 0;

	for (size_t i = 0; i < process->user_count; i++)
		if (process->users[i].needs && !strcmp(process->users[i].needs->name, library))
			majors |= process->users[i].majors;
	if (!majors || majors & (majors - 1))
		return attempt->found.major->major;
	return __builtin_ctz(majors);
}

/* Fills the slots of callers that name no major like those of callers that do. */
static void serve_others(struct lc_attempt *attempt)
{
	const struct lc_library *library = lc_attempt_library(attempt);
	const int major = major_of_others(attempt), own = attempt->found.major->major;

	for (size_t i = 0; i < library->slot_count; i++) {
		const char *name = library->names + library->slots[i].name;
		const struct lc_export *row;

		if (library->slots[i].first != LC_ANY_CALLER)
			continue;
		row = lc_find_export(library, name, major);
		if (!row)
			row = lc_find_export(library, name, own);
		if (!row)
			continue;
		attempt->functions[i] = attempt->functions[row->slot];
		attempt->outcomes[i] = attempt->outcomes[row->slot];
	}
}

static void resolve(struct lc_attempt *attempt)
{
	const struct lc_library *library = lc_attempt_library(attempt);
	size_t count = library->slot_count;

	attempt->functions = lc_alloc(&attempt->arena, count * sizeof(*attempt->functions));
	attempt->outcomes = lc_alloc(&attempt->arena, count);
	if (attempt->found.shuts_down)
		attempt->endings = lc_alloc(&attempt->arena, count * sizeof(*attempt->endings));
	for (size_t i = 0; i < count && !attempt->arena.failed; i++)
		attempt->functions[i] = resolve_slot(attempt, &library->slots[i],
						     &attempt->outcomes[i]);
	if (attempt->arena.failed)
		return;
	adapt(attempt);
	serve_others(attempt);
}

bool lc_attempt(struct lc_attempt *attempt, struct lc_peer *self, bool process_only)
{
	*attempt = (struct lc_attempt){ .found.choice = { .option = -1, .refusal = LC_MISSING } };
	lc_search_run(&attempt->arena, &attempt->search, self, process_only);
	if (!attempt->search.at.settings.wrong && !attempt->search.hidden)
		lc_open_found(&attempt->arena, &attempt->search, lc_look_at_driver,
			      self->specifics->version, &attempt->found);
	if (attempt->found.handle) {
		open_companion(attempt);
		resolve(attempt);
	}
	if (!attempt->arena.failed)
		lc_report(attempt);
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
	if (attempt->search.known)
		lc_known_give(attempt->search.known, false);
	lc_arena_free(&attempt->arena);
}
