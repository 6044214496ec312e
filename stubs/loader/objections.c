/* SPDX-License-Identifier: MIT */
/* objections.c - what a candidate is, and what speaks against it whatever else was found */
#include "objections.h"

#include "../base/constraint.h"
#include "../base/count.h"
#include "../base/cuda_version.h"

/* They compile and link: what they make is the driver's affair, and they run without one. */
static const char *const compilers[] = { "nvrtc", "nvJitLink", "nvvm", "nvfatbin" };

bool lc_is_guarded(const struct lc_circumstances *at)
{
	return at->settings.guard != LC_OFF;
}

bool lc_heeds_driver(const struct lc_circumstances *at)
{
	return lc_is_guarded(at) && !at->settings.forward;
}

uint32_t lc_cuda_of(const struct lc_voter *voter, const struct lc_candidate *candidate)
{
	if (voter->library->own_majors)
		return candidate->cuda;
	return candidate->major && candidate->major <= LC_MAX_CUDA ? 1u << candidate->major : 0;
}

bool lc_goes_with(const struct lc_voter *voter, const struct lc_candidate *candidate, int major)
{
	uint32_t cuda = lc_cuda_of(voter, candidate);

	return !major || !cuda || cuda >> major & 1;
}

int lc_told_major(const struct lc_voter *voter, const struct lc_candidate *candidate)
{
	return lc_only_cuda(lc_cuda_of(voter, candidate));
}

bool lc_is_unclear(const struct lc_voter *voter, const struct lc_candidate *candidate)
{
	return lc_cuda_of(voter, candidate) && !lc_told_major(voter, candidate);
}

bool lc_asks_driver(const struct lc_circumstances *at, const struct lc_voter *voter)
{
	return lc_heeds_driver(at) &&
	       (at->settings.guard == LC_STRICT ||
		!lc_is_among(voter->library->name, compilers, LC_COUNT(compilers)));
}

const char *lc_driver_objection(struct lc_arena *arena, const struct lc_circumstances *at,
				const struct lc_voter *voter, const struct lc_candidate *candidate)
{
	int major = LC_MAJOR(at->driver), minor = LC_MINOR(at->driver);
	uint32_t cuda = lc_cuda_of(voter, candidate);
	lc_version version = candidate->version;

	if (!at->driver || !cuda || !lc_asks_driver(at, voter))
		return NULL;
	if (voter->library->own_majors)
		version = LC_VERSION(__builtin_ctz(cuda), 0);	/* CUDA's minor is not known */
	else if (!version)
		version = LC_VERSION(candidate->major, LC_LAST_MINOR);	/* it may be the newest */
	switch (lc_driver_runs(lc_number_of_version(at->driver), at->branch,
			       lc_number_of_version(version))) {
	case LC_MAJOR_TOO_OLD:
		return lc_format(arena, "the installed driver supports CUDA %d.%d and cannot run CUDA %d",
				 major, minor, LC_MAJOR(version));
	case LC_BRANCH_TOO_OLD:
		return lc_format(arena, "the driver supports CUDA %d.%d, and display driver %d is older"
				 " than %d, which later CUDA %d needs",
				 major, minor, at->branch, lc_compatible_branch(major), major);
	case LC_BRANCH_UNKNOWN:
		if (at->settings.guard != LC_STRICT)
			return NULL;
		return lc_format(arena, "the driver supports CUDA %d.%d, %s; LAZYCUDA_GUARD=strict rejects"
				 " that", major, minor, at->branch ?
				 "and no list says which display driver runs a later one" :
				 "its display driver's version is unknown");
	case LC_DRIVER_RUNS:
		break;
	}
	return NULL;
}

/* The library to choose for. */
static const struct lc_library *own_library(const struct lc_circumstances *at)
{
	return at->voters[at->self].library;
}

/* Returns true if the driver's abilities can decide about this candidate: it was searched for, or is one of
 * several that the process has loaded. */
static bool driver_matters(const struct lc_circumstances *at, const struct lc_voter *voter,
			   const struct lc_candidate *candidate)
{
	size_t loaded = 0;

	if (candidate->unusable || !lc_asks_driver(at, voter))
		return false;
	for (size_t i = 0; i < voter->candidate_count; i++)
		loaded += !voter->candidates[i].unusable && voter->candidates[i].origin == LC_BY_PROCESS;
	return candidate->origin == LC_BY_SEARCH || (candidate->origin == LC_BY_PROCESS && loaded > 1);
}

/* Returns true if the display driver's branch decides about a candidate: the driver has its major,
 * and may be older. */
static bool branch_matters(const struct lc_circumstances *at, const struct lc_voter *voter,
			   const struct lc_candidate *candidate)
{
	return candidate->major == LC_MAJOR(at->driver) && !voter->library->own_majors &&
	       (!candidate->version || LC_MINOR(candidate->version) > LC_MINOR(at->driver));
}

bool lc_choice_needs_driver(const struct lc_circumstances *at, bool branch)
{
	for (size_t s = 0; s < at->voter_count && lc_is_coordinated(own_library(at)); s++) {
		const struct lc_voter *voter = &at->voters[s];

		for (size_t i = 0; i < voter->candidate_count; i++)
			if (driver_matters(at, voter, &voter->candidates[i]) &&
			    (!branch || branch_matters(at, voter, &voter->candidates[i])))
				return true;
	}
	return false;
}

/* "CUDA 12.9"; "CUDA 12.5 to 12.7" where the version is not known better; "CUDA 12" */
static const char *versions_text(struct lc_arena *arena, lc_version first, lc_version last)
{
	int major = LC_MAJOR(first);

	if (first == last)
		return lc_format(arena, "CUDA %d.%d", major, LC_MINOR(first));
	if (LC_MINOR(last) < LC_LAST_MINOR)
		return lc_format(arena, "CUDA %d.%d to %d.%d", major, LC_MINOR(first), major,
				 LC_MINOR(last));
	return LC_MINOR(first) ? lc_format(arena, "CUDA %d.%d or later", major, LC_MINOR(first)) :
				 lc_format(arena, "CUDA %d", major);
}

static bool allows_any(const char *constraint, lc_version first, lc_version last)
{
	if (!constraint)
		return true;
	for (int version = first; version <= last; version++)
		if (lc_constraint_holds(constraint, lc_number_of_version((lc_version)version), NULL))
			return true;
	return false;
}

/* The versions of CUDA that a candidate may be of; false if it goes with any. */
static bool versions_of(const struct lc_voter *voter, const struct lc_candidate *candidate,
			lc_version *first, lc_version *last)
{
	uint32_t cuda = lc_cuda_of(voter, candidate);

	if (!cuda)
		return false;
	*first = LC_VERSION(__builtin_ctz(cuda), 0);
	*last = LC_VERSION(31 - __builtin_clz(cuda), LC_LAST_MINOR);
	if (!voter->library->own_majors && candidate->version)
		*first = candidate->version;
	if (!voter->library->own_majors && candidate->latest)
		*last = candidate->latest;
	return true;
}

const char *lc_why_excluded(struct lc_arena *arena, const struct lc_circumstances *at,
			    const struct lc_voter *voter, const struct lc_candidate *candidate)
{
	const struct lc_settings *settings = &at->settings;
	lc_version first, last;
	bool users, programs;

	if (candidate->origin == LC_BY_OVERRIDE || !lc_is_coordinated(own_library(at)) ||
	    !versions_of(voter, candidate, &first, &last))
		return NULL;
	users = allows_any(settings->constraint, first, last);
	programs = allows_any(settings->program, first, last);
	if (users && programs)
		return NULL;
	return lc_format(arena, "%s%s excludes %s",
			 users ? "the program's constraint " : LC_CONSTRAINT_VARIABLE "=",
			 lc_printable(arena, users ? settings->program : settings->constraint),
			 versions_text(arena, first, last));
}

const char *lc_objection(struct lc_arena *arena, const struct lc_circumstances *at,
			 const struct lc_voter *voter, const struct lc_candidate *candidate)
{
	const char *why;

	if (candidate->unusable)
		return candidate->unusable;
	if (!lc_goes_with(voter, candidate, at->settings.major) && candidate->origin != LC_BY_OVERRIDE)
		return lc_format(arena, "LAZYCUDA_MAJOR=%d asks for another major",
				 at->settings.major);
	why = lc_why_excluded(arena, at, voter, candidate);
	if (why || candidate->origin != LC_BY_SEARCH || at->settings.guard != LC_STRICT)
		return why;
	why = lc_driver_objection(arena, at, voter, candidate);
	if (!why && lc_is_unclear(voter, candidate))
		why = lc_format(arena, "%s, and LAZYCUDA_GUARD=strict rejects that",
				candidate->cuda_reason);
	return why;
}
