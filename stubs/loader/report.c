/* SPDX-License-Identifier: MIT */
/* report.c - the result of a search, in words */
#include "report.h"

#include "left_out.h"
#include "../base/library_name.h"
#include "specifics.h"
#include "unknown.h"

/* "12.9"; "12" if the minor is not known; for majors that are not CUDA's, the SONAME's number. */
static const char *version_text(struct lc_attempt *attempt, lc_version version, int major)
{
	const struct lc_peer *self = attempt->search.self;
	const struct lc_library *library = self->library;
	const struct lc_major *listed = lc_listed_major(library, version ? LC_MAJOR(version) : major);
	struct lc_arena *arena = &attempt->arena;
	struct lc_ending ending;

	if (library->own_majors && listed && lc_read_name(listed->soname, &ending) && ending.numbers)
		return ending.numbers;
	if (version && !self->specifics->version && !library->since_count)
		return lc_format(arena, "%d", LC_MAJOR(version));
	if (version)
		return lc_format(arena, "%d.%d", LC_MAJOR(version), LC_MINOR(version));
	return major ? lc_format(arena, "%d", major) : NULL;
}

static void describe_candidates(struct lc_attempt *attempt, struct lazycuda_status *status)
{
	const struct lc_voter *voter = attempt->search.own;
	const char **reasons = attempt->found.choice.reasons;
	struct lazycuda_candidate *list =
		lc_alloc(&attempt->arena, (voter->candidate_count + 1) * sizeof(*list));

	if (!list)
		return;
	for (size_t i = 0; i < voter->candidate_count; i++) {
		const struct lc_candidate *candidate = &voter->candidates[i];

		list[i] = (struct lazycuda_candidate){
			.path = candidate->file->path,
			.version = version_text(attempt, candidate->version, candidate->major),
			.found_by = candidate->file->found_by,
			/* A wrong variable prevented the choice, if nothing else did. */
			.reason = reasons ? reasons[i] : candidate->unusable ? candidate->unusable :
				  attempt->search.at.settings.wrong,
			.taken = (int)i == attempt->found.choice.candidate,
		};
		lc_trace(voter->library, "%s %s: %s", list[i].taken ? "took" : "passed over",
			 list[i].path, list[i].reason);
	}
	status->candidates = list;
	status->candidate_count = voter->candidate_count;
}

/* Returns true if a candidate is a stub under the name of the real library that nobody named. */
static bool is_mere_stub(const struct lc_candidate *candidate)
{
	return candidate->file->stub && candidate->origin != LC_BY_OVERRIDE;
}

/* Each candidate and why it was not taken, for a message: " /x.so.12: is damaged." */
static const char *tried_text(struct lc_attempt *attempt, const struct lazycuda_status *status)
{
	struct lc_arena *arena = &attempt->arena;
	const char **texts = lc_alloc(arena, status->candidate_count * sizeof(*texts));
	size_t count = 0;

	if (!texts)
		return "";
	for (size_t i = 0; i < status->candidate_count; i++)
		if (!is_mere_stub(&attempt->search.own->candidates[i]))
			texts[count++] = lc_format(arena, "%s: %s",
						   lc_printable(arena, status->candidates[i].path),
						   status->candidates[i].reason);
	return count ? lc_format(arena, " %s.", lc_join(arena, texts, count, "; ")) : "";
}

/* " Looked in /usr/lib64, /usr/lib." */
static const char *looked_text(struct lc_attempt *attempt)
{
	const struct lc_places *places = attempt->search.looked;
	struct lc_arena *arena = &attempt->arena;
	const char **paths = lc_alloc(arena, (places ? places->count : 0) * sizeof(*paths));
	size_t count = 0;

	if (!paths || !places || !places->count)
		return "";
	/* One that may be a site-packages is a place twice. */
	for (size_t i = 0; i < places->count; i++)
		places->list[i].folder->told = false;
	for (size_t i = 0; i < places->count; i++) {
		if (!places->list[i].folder->told)
			paths[count++] = lc_printable(arena, places->list[i].path);
		places->list[i].folder->told = true;
	}
	return lc_format(arena, " Looked in %s.", lc_join(arena, paths, count, ", "));
}

/* " Left out /srv/lib: anybody may write to /srv.", of so many folders from one on. */
static const char *left_out_text(struct lc_attempt *attempt, const struct lazycuda_status *status,
				 size_t from, size_t count)
{
	struct lc_arena *arena = &attempt->arena;
	const char **texts = lc_alloc(arena, count * sizeof(*texts));

	if (!texts || !count)
		return "";
	for (size_t i = 0; i < count; i++)
		texts[i] = lc_format(arena, "%s: %s",
				     lc_printable(arena, status->left_out[from + i].path),
				     status->left_out[from + i].reason);
	return lc_format(arena, " Left out %s.", lc_join(arena, texts, count, "; "));
}

/*
 * What happened, then what to do, then what was looked at: whoever cuts the text keeps what counts.
 * Where a variable names the library, its file is what happened.
 */
static void describe_failure(struct lc_attempt *attempt, struct lazycuda_status *status,
			     struct lc_left_out left)
{
	const struct lc_search *search = &attempt->search;
	const struct lc_library *library = lc_attempt_library(attempt);
	const char *advice = search->self->specifics->advice;
	struct lc_arena *arena = &attempt->arena;
	bool named = lc_variable(library->variable) != NULL;

	status->cause = (enum lazycuda_cause)attempt->found.choice.refusal;
	if (search->at.settings.wrong) {
		status->state = LAZYCUDA_STATE_BROKEN;
		status->reason = search->at.settings.wrong;
	} else if (search->hidden) {
		status->state = LAZYCUDA_STATE_HIDDEN;
		status->reason = lc_format(arena, "%s is hidden by %s=none, and was not looked for;"
			" unset it to use what is installed", library->name, search->hidden);
	} else if (named) {
		const char *why = tried_text(attempt, status);

		status->state = LAZYCUDA_STATE_BROKEN;
		status->reason = lc_format(arena, "%s%sCorrect %s or unset it.", why + (*why != 0),
					   *why ? " " : "", library->variable);
	} else if (attempt->found.choice.refusal == LC_DRIVER) {
		status->state = LAZYCUDA_STATE_REFUSED;
		status->reason = lc_format(arena, "the installed driver cannot run what was found."
			" Update the driver, or install a CUDA library that it can run."
			" LAZYCUDA_FORWARD_COMPATIBLE=1 says that a forward-compatibility package"
			" makes up for the driver; LAZYCUDA_GUARD=best_effort uses it nevertheless.%s",
			tried_text(attempt, status));
	} else if (attempt->found.choice.refusal == LC_INCOHERENT) {
		status->state = LAZYCUDA_STATE_REFUSED;
		status->reason = lc_format(arena, "what was found does not go with the CUDA that this"
			" process uses. %s LAZYCUDA_MAJOR pins one major for all;"
			" LAZYCUDA_GUARD=off mixes them.%s", advice, tried_text(attempt, status));
	} else if (attempt->found.choice.refusal == LC_EXCLUDED) {
		status->state = LAZYCUDA_STATE_REFUSED;
		status->reason = lc_format(arena, "no %s that was found satisfies the constraint on"
			" its version. Install one that does, or relax the constraint.%s",
			library->name, tried_text(attempt, status));
	} else if (attempt->found.broken) {
		status->state = LAZYCUDA_STATE_BROKEN;
		status->reason = lc_format(arena, "no usable %s was found. The file below lacks a"
			" library: load that first, or take the folder that hides it off LD_LIBRARY_PATH."
			" It is tried again as soon"
			" as anything was loaded. Or name another file: %s=/path/to/%s.%s",
			lc_wanted(arena, library), library->variable, library->majors[0].soname,
			tried_text(attempt, status));
	} else {
		const char *candidates = tried_text(attempt, status);

		status->state = *candidates ? LAZYCUDA_STATE_BROKEN : LAZYCUDA_STATE_MISSING;
		status->reason = lc_format(arena, "no usable %s was found.%s %s Or name folders:"
			" LAZYCUDA_PATH=/path/to, or a file: %s=/path/to/%s. LAZYCUDA_DEBUG=1 shows the"
			" search.%s%s%s", lc_wanted(arena, library),
			left_out_text(attempt, status, 0, left.by_hand), advice,
			library->variable, library->majors[0].soname, candidates,
			left_out_text(attempt, status, left.by_hand, left.searched), looked_text(attempt));
	}
}

/* The places of whole tiers, or of the last in part. */
static const char *not_asked_text(const struct lc_search *search)
{
	switch (lc_tier_after(search->kinds)) {
	case LC_OF_CALLER:	return "all";
	case LC_OF_PROCESS:	return "the process's and the machine's";
	case LC_OF_MACHINE:	return "the machine's";
	default:		return NULL;
	}
}

void lc_report(struct lc_attempt *attempt, struct lazycuda_status *status)
{
	const struct lc_library *library = lc_attempt_library(attempt);
	struct lc_left_out left;
	const char *unbound;

	status->size = sizeof(*status);
	status->library = library->name;
	status->not_asked = not_asked_text(&attempt->search);
	describe_candidates(attempt, status);
	left = lc_list_left_out(attempt, status);
	if (!attempt->found.handle) {
		describe_failure(attempt, status, left);
		lc_trace(library, "%s", status->reason);
		return;
	}
	unbound = attempt->search.own->candidates[attempt->found.choice.candidate].unbound;
	status->state = LAZYCUDA_STATE_USABLE;
	status->major = LC_MAJOR(attempt->found.version);
	status->minor = LC_MINOR(attempt->found.version);
	status->version = version_text(attempt, attempt->found.version, 0);
	status->path = lc_attempt_file(attempt)->path;
	status->found_by = lc_attempt_file(attempt)->found_by;
	status->reason = attempt->found.choice.reason;
	if (unbound)
		status->reason = lc_format(&attempt->arena, "%s; it is bound lazily, as otherwise it %s",
					   status->reason, unbound);
	lc_trace(library, "using %s, %s %s: %s", status->path, lc_major_word(library), status->version,
		 status->reason);
	if (status->not_asked)
		lc_trace(library, "places not looked at: %s", status->not_asked);
}
