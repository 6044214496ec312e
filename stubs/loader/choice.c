/* SPDX-License-Identifier: MIT */
/* choice.c - chooses a library among those found */
#include "choice.h"

#include <string.h>

#include "../base/count.h"
#include "../base/cuda_version.h"

/* One reads the other's output, and must be the newer one: nvJitLink accepts PTX, cubins and LTO-IR of
 * an older nvrtc and rejects those of a newer one. */
static const char writer[] = "nvrtc", reader[] = "nvJitLink";

/* One choice while it is made. */
struct choosing {
	struct lc_arena *arena;
	const struct lc_circumstances *at;
	const struct lc_voter *own;	/* to choose for */
	struct lc_choice *choice;	/* its reasons: at first, why candidates must not go beside others */
};

/* ---- the best file for one stub ---- */

static int named_or_best(const struct choosing *c, const struct lc_voter *voter, int major);

static const struct lc_voter *voter_of(const struct choosing *c, const char *library)
{
	for (size_t s = 0; s < c->at->voter_count; s++)
		if (!strcmp(c->at->voters[s].library->name, library))
			return &c->at->voters[s];
	return NULL;
}

/* The version of the library that writes what this one reads, as far as it is known; 0: there is
 * none.  Where this one may be of any major, the other goes with the process's if it can. */
static lc_version written_by(const struct choosing *c, const struct lc_voter *voter, int major)
{
	const bool reads = !strcmp(voter->library->name, reader) && lc_is_guarded(c->at);
	const struct lc_voter *other = reads ? voter_of(c, writer) : NULL;
	int i;

	if (!other || other->loaded)
		return other ? other->loaded : 0;
	i = named_or_best(c, other, major ? major : c->choice->common);
	if (i < 0 && !major)
		i = named_or_best(c, other, 0);
	return i < 0 ? 0 : other->candidates[i].version;
}

/* "nvJitLink 12.4 would read what nvrtc 12.9 writes, and must not be older", where that is so of an
 * candidate for a major of CUDA; else NULL. */
static const char *older_text(const struct choosing *c, const struct lc_voter *voter, int major,
			      const struct lc_candidate *candidate)
{
	lc_version written = written_by(c, voter, major);

	if (!candidate->latest || candidate->latest >= written ||
	    LC_MAJOR(candidate->latest) != LC_MAJOR(written))
		return NULL;
	return lc_format(c->arena, "%s %d.%d would read what %s %d.%d writes, and must not be older",
			 voter->library->name, LC_MAJOR(candidate->latest), LC_MINOR(candidate->latest),
			 writer, LC_MAJOR(written), LC_MINOR(written));
}

/* "it would refuse cudaThis, which /that.so imports", or what a candidate lacks; else NULL. */
static const char *unsuited_text(const struct choosing *c, const struct lc_candidate *candidate)
{
	const char *others = "";

	if (!lc_is_guarded(c->at) || candidate->origin == LC_BY_OVERRIDE || !candidate->refuses)
		return candidate->lacks;
	if (candidate->refuses > 1)
		others = lc_format(c->arena, ", and %zu more", candidate->refuses - 1);
	return lc_format(c->arena, "it would refuse %s, which %s imports%s", candidate->refused,
			 lc_printable(c->arena, candidate->importer), others);
}

/* How many of three a candidate does for the callers: it refuses no import of theirs, it is complete,
 * and it reads what the others write.  For one that the user names this is not known. */
static int serves(const struct choosing *c, const struct lc_voter *voter, int major,
		  const struct lc_candidate *candidate)
{
	if (!lc_is_guarded(c->at) || candidate->origin == LC_BY_OVERRIDE)
		return 3;
	return !candidate->refuses + !candidate->lacks + !older_text(c, voter, major, candidate);
}

#define STANDING (8 + 4 + 3)	/* nothing speaks against it */

/* What speaks for a candidate wherever it lies, what counts most first: that the driver runs it, that
 * its CUDA is known, how well it serves. */
static int standing(const struct choosing *c, const struct lc_voter *voter, int major,
		    const struct lc_candidate *candidate)
{
	bool runs = !lc_driver_objection(c->arena, c->at, voter, candidate);

	return 8 * runs + 4 * !lc_is_unclear(voter, candidate) + serves(c, voter, major, candidate);
}

/* Returns true if a candidate may be taken for a major of CUDA, 0: for any. */
static bool may_take(const struct choosing *c, const struct lc_voter *voter, int major,
		     const struct lc_candidate *candidate)
{
	return lc_goes_with(voter, candidate, major) &&
	       !(voter == c->own && c->choice->reasons[candidate - voter->candidates]) &&
	       !lc_objection(c->arena, c->at, voter, candidate);
}

/* The nearest tier that has a file as good as this one of its major, though ld.so's order may come
 * to this one first. */
static enum lc_tier nearest_tier(const struct choosing *c, const struct lc_voter *voter, int major,
				 const struct lc_candidate *taken)
{
	enum lc_tier tier = taken->tier;

	for (size_t i = 0; i < voter->candidate_count; i++) {
		const struct lc_candidate *candidate = &voter->candidates[i];

		if (candidate->tier < tier && candidate->major == taken->major &&
		    may_take(c, voter, major, candidate) &&
		    standing(c, voter, major, candidate) >= standing(c, voter, major, taken))
			tier = candidate->tier;
	}
	return tier;
}

/* Returns true if callers were compiled for this one of the library's majors. */
static bool is_callers(const struct lc_voter *voter, int major)
{
	return major < 32 && voter->callers >> major & 1;
}

/* Returns true if a candidate is better than one that comes before it. */
static bool is_better(const struct choosing *c, const struct lc_voter *voter, int major,
		      const struct lc_candidate *candidate, const struct lc_candidate *before)
{
	enum lc_order order = c->at->settings.order;
	int difference = standing(c, voter, major, candidate) - standing(c, voter, major, before);

	if (difference || candidate->major == before->major)
		return difference > 0;
	if (order == LC_OWN && is_callers(voter, candidate->major) != is_callers(voter, before->major))
		return is_callers(voter, candidate->major);
	if (order != LC_HIGHEST)
		difference = (int)nearest_tier(c, voter, major, before) -
			     (int)nearest_tier(c, voter, major, candidate);
	return difference ? difference > 0 : candidate->major > before->major;
}

/* The candidate that a variable names, or -1. */
static int named_candidate(const struct lc_voter *voter)
{
	return voter->candidate_count && voter->candidates[0].origin == LC_BY_OVERRIDE ? 0 : -1;
}

/* The other one of those two of which one reads what the other writes; NULL: this is neither, or the
 * process has no stub of it. */
static const struct lc_voter *partner_of(const struct choosing *c, const struct lc_voter *voter)
{
	return !strcmp(voter->library->name, reader) ? voter_of(c, writer) :
	       !strcmp(voter->library->name, writer) ? voter_of(c, reader) : NULL;
}

/* Returns true if the reader is not older where a stub has one of them, and its partner the other. */
static bool are_partners(const struct lc_voter *voter, int major, int partners)
{
	return strcmp(voter->library->name, reader) ? major <= partners : major >= partners;
}

/* Returns true if the partner of a stub has none beside this major of it. */
static bool is_single(const struct choosing *c, const struct lc_voter *voter, int major)
{
	const struct lc_voter *partner = partner_of(c, voter);

	if (!partner || !lc_is_guarded(c->at) || named_candidate(partner) >= 0)
		return false;
	if (partner->loaded)
		return !are_partners(voter, major, LC_MAJOR(partner->loaded));
	for (size_t i = 0; i < partner->candidate_count; i++)
		if (are_partners(voter, major, partner->candidates[i].major) &&
		    !lc_objection(c->arena, c->at, partner, &partner->candidates[i]))
			return false;
	return true;
}

/* Returns true if a candidate that the process has loaded is passed over for a file that serves the
 * callers better: it is private, or its partner would be left without one, and ld.so would load that
 * file for them. */
static bool is_superseded(const struct choosing *c, const struct lc_voter *voter,
			  const struct lc_candidate *candidate)
{
	const bool single = is_single(c, voter, candidate->major);

	for (size_t i = 0; (candidate->private || single) && i < voter->candidate_count; i++) {
		const struct lc_candidate *file = &voter->candidates[i];

		if (file->origin == LC_BY_SEARCH && !lc_objection(c->arena, c->at, voter, file) &&
		    ((single && !is_single(c, voter, file->major)) ||
		     (candidate->private && serves(c, voter, 0, file) > serves(c, voter, 0, candidate))))
			return true;
	}
	return false;
}

/* The best candidate for a major of CUDA, 0: for any; or -1.  With `loaded`, of those that the process
 * has loaded. */
static int best_candidate(const struct choosing *c, const struct lc_voter *voter, int major, bool loaded)
{
	int found = -1;

	for (size_t i = 0; i < voter->candidate_count; i++) {
		const struct lc_candidate *candidate = &voter->candidates[i];

		if (!may_take(c, voter, major, candidate) ||
		    (candidate->origin == LC_BY_PROCESS ? is_superseded(c, voter, candidate) : loaded))
			continue;
		if (found < 0 || is_better(c, voter, major, candidate, &voter->candidates[found]))
			found = (int)i;
	}
	return found;
}

/* best_candidate() of a voter.  If the user names one, it is the only one. */
static int named_or_best(const struct choosing *c, const struct lc_voter *voter, int major)
{
	int i = named_candidate(voter);

	if (i < 0 || voter->candidates[i].unusable)
		return best_candidate(c, voter, major, false);
	return lc_goes_with(voter, &voter->candidates[i], major) ? i : -1;
}

/* ---- the major of CUDA for the process ---- */

/*
 * Returns the major of CUDA that a voter is bound to, whatever else was found for it: the
 * one its stub has loaded, the one the user names, or the best one that is in the
 * process.  Returns 0 if the voter is free, or if that is not known.
 */
static int bound_to(const struct choosing *c, const struct lc_voter *voter)
{
	int i = named_candidate(voter);

	if (voter->loaded && !voter->library->own_majors)
		return LC_MAJOR(voter->loaded);
	if (i < 0)
		i = best_candidate(c, voter, 0, true);
	return i < 0 || voter->candidates[i].unusable ? 0 : lc_told_major(voter, &voter->candidates[i]);
}

/* The highest major that some stub is bound to, preferably one that the driver runs; or 0. */
static int highest_bound(const struct choosing *c)
{
	int found = 0;

	for (size_t s = 0; s < c->at->voter_count; s++) {
		int major = bound_to(c, &c->at->voters[s]);
		bool runs = !lc_heeds_driver(c->at) || !c->at->driver || major <= LC_MAJOR(c->at->driver);
		bool ran = !lc_heeds_driver(c->at) || !c->at->driver || found <= LC_MAJOR(c->at->driver);

		if (major && (!found || runs > ran || (runs == ran && major > found)))
			found = major;
	}
	return found;
}

/*
 * What speaks for a major, what counts most first: of two majors the one comes first that is
 * higher in the first of these in which they differ; if they are equal, the higher major.  Which
 * stub is called first, and in which order they were loaded, has no part in it.
 */
enum merit {
	EVERYBODY,	/* 1: every stub that has a file at all has one that may be of it */
	DRIVER,		/* 1: the driver runs all of these */
	TELLING,	/* stubs whose SONAME tells the major: for each 1, and how well it serves() it; */
	OTHERS,		/* the others */
	CLEAR,		/* 0, less 1 for each stub whose file may be of another major */
	OWN,		/* with LAZYCUDA_ORDER=own: stubs whose callers were compiled for it */
	NEAR,		/* for each tier: stubs that have a file there, and in no nearer one */
	MERITS = NEAR + LC_TIERS
};

struct judged_major {
	int major;
	int merits[MERITS];
	const char *unsuited;	/* why it does not serve a stub, or NULL */
	const char *unclear;	/* of which library it is not known, and why; or NULL */
	bool known;		/* some file is known to be of the major */
};

/* Adds what one stub's best file of a major says of the major. */
static void add_merits(const struct choosing *c, const struct lc_voter *voter,
		       const struct lc_candidate *candidate, struct judged_major *judged)
{
	const int major = judged->major;
	const char *unsuited = unsuited_text(c, candidate);

	judged->known |= lc_told_major(voter, candidate) == major;
	judged->merits[DRIVER] &= !lc_driver_objection(c->arena, c->at, voter, candidate);
	judged->merits[voter->library->own_majors ? OTHERS : TELLING] +=
		1 + serves(c, voter, major, candidate);
	judged->merits[CLEAR] -= lc_is_unclear(voter, candidate);
	if (c->at->settings.order == LC_OWN && !voter->library->own_majors)
		judged->merits[OWN] += is_callers(voter, major);
	if (c->at->settings.order != LC_HIGHEST)
		judged->merits[NEAR + nearest_tier(c, voter, major, candidate)]++;
	if (unsuited && (candidate->refuses || !judged->unsuited))
		judged->unsuited = unsuited;
	if (!judged->unclear && lc_is_unclear(voter, candidate))
		judged->unclear = lc_format(c->arena, "of its %s %s", voter->library->name,
					    candidate->cuda_reason);
}

static struct judged_major judge_major(const struct choosing *c, int major)
{
	struct judged_major judged = { .major = major, .merits = { [EVERYBODY] = 1, [DRIVER] = 1 } };

	for (size_t s = 0; s < c->at->voter_count; s++) {
		const struct lc_voter *voter = &c->at->voters[s];
		int i = named_or_best(c, voter, major);

		if (i >= 0)
			add_merits(c, voter, &voter->candidates[i], &judged);
		else if (named_or_best(c, voter, 0) >= 0)
			judged.merits[EVERYBODY] = 0;
	}
	return judged;
}

/* The first merit in which two majors differ; MERITS: none. */
static enum merit first_difference(const struct judged_major *one, const struct judged_major *other)
{
	enum merit merit = 0;

	while (merit < MERITS && one->merits[merit] == other->merits[merit])
		merit++;
	return merit;
}

/* Why a major comes before a higher one; NULL: the driver runs it, or it alone is for all. */
static const char *why_before(const struct choosing *c, const struct judged_major *found,
			      const struct judged_major *higher)
{
	enum merit merit = first_difference(found, higher);
	const char *why = merit == CLEAR ? higher->unclear : merit > DRIVER ? higher->unsuited : NULL;

	if (merit >= NEAR && merit < MERITS)
		return lc_format(c->arena, "CUDA %d lies nearer to the callers than CUDA %d",
				 found->major, higher->major);
	if (merit == OWN)
		return lc_format(c->arena, "LAZYCUDA_ORDER=own, and callers were compiled for CUDA %d",
				 found->major);
	return why ? lc_format(c->arena, "CUDA %d was passed over: %s", higher->major, why) : NULL;
}

/* The majors of CUDA that usable candidates may belong to. */
static uint32_t offered_majors(const struct lc_circumstances *at)
{
	uint32_t set = 0;

	for (size_t s = 0; s < at->voter_count; s++)
		for (size_t i = 0; i < at->voters[s].candidate_count; i++)
			if (!at->voters[s].candidates[i].unusable)
				set |= lc_cuda_of(&at->voters[s], &at->voters[s].candidates[i]);
	return set;
}

/* The first major by its merits; 0: there is none.  Sets *why unless it is simply the highest. */
static int first_major(const struct choosing *c, const char **why)
{
	struct judged_major found = { .major = 0 }, higher = found, judged;
	const uint32_t set = offered_majors(c->at);

	for (int major = LC_MAX_CUDA; major; major--) {
		enum merit merit;

		if (!(set >> major & 1) || !(judged = judge_major(c, major)).known)
			continue;
		merit = first_difference(&judged, &found);
		if (!found.major || (merit < MERITS && judged.merits[merit] > found.merits[merit]))
			found = judged;
		/* *why says how it differs from the highest one that could be for all. */
		if (judged.merits[EVERYBODY] > higher.merits[EVERYBODY] || !higher.major)
			higher = judged;
	}
	if (higher.major > found.major)
		*why = why_before(c, &found, &higher);
	if (found.major && !*why && !found.merits[EVERYBODY])
		*why = "no major serves all stubs with a library, and this one serves most";
	return found.major;
}

/* ---- beside libraries of other majors ---- */

/* Returns the major that another stub has or is going to have; 0: none. */
static int major_of_voter(const struct choosing *c, const struct lc_voter *voter)
{
	int major = bound_to(c, voter), i;

	if (major)
		return major;
	if (best_candidate(c, voter, c->choice->common, false) >= 0)
		return c->choice->common;
	i = best_candidate(c, voter, 0, false);
	return i < 0 ? 0 : voter->candidates[i].major;
}

/*
 * Returns NULL if a candidate goes with the libraries of the other stubs, although its
 * major may differ from theirs.  Otherwise returns why not.
 */
static const char *why_clashing(const struct choosing *c, const struct lc_candidate *candidate)
{
	const int common = c->choice->common;
	const struct lc_voter *partner = partner_of(c, c->own);
	const bool reads = !strcmp(c->own->library->name, reader);
	int major;

	if (lc_goes_with(c->own, candidate, common) || !lc_is_guarded(c->at))
		return NULL;
	if (c->at->settings.guard == LC_STRICT)
		return lc_format(c->arena, "the process uses CUDA %d, and LAZYCUDA_GUARD=strict"
				 " mixes no majors", common);
	/* It would open other libraries of its CUDA by names that are the same in every CUDA. */
	if (c->own->library->own_majors && candidate->origin == LC_BY_SEARCH)
		return lc_format(c->arena, "the process uses CUDA %d; %s", common,
				 candidate->cuda_reason);
	major = partner ? major_of_voter(c, partner) : 0;
	if (!major || are_partners(c->own, candidate->major, major))
		return NULL;
	return lc_format(c->arena, "%s %d would read what %s %d writes, and must not be older", reader,
			 reads ? candidate->major : major, writer, reads ? major : candidate->major);
}

/* Bars candidates of this origin that clash with the libraries of other stubs.  Returns the last
 * reason, or NULL. */
static const char *bar_clashes(const struct choosing *c, enum lc_origin origin)
{
	const char *last = NULL;

	for (size_t i = 0; i < c->own->candidate_count; i++) {
		const struct lc_candidate *candidate = &c->own->candidates[i];

		if (candidate->origin != origin || lc_objection(c->arena, c->at, c->own, candidate))
			continue;
		c->choice->reasons[i] = why_clashing(c, candidate);
		if (c->choice->reasons[i])
			last = c->choice->reasons[i];
	}
	return last;
}

/* ---- the choice ---- */

/* The candidate without any objection that is passed over first: of the highest major, if that is
 * higher than that of the one that is taken, or one that comes before that; NULL: none. */
static const struct lc_candidate *first_passed(const struct choosing *c, const struct lc_candidate *taken)
{
	const struct lc_candidate *found = taken;

	for (size_t i = 0; i < c->own->candidate_count; i++) {
		const struct lc_candidate *candidate = &c->own->candidates[i];

		if ((candidate->major > found->major ||
		     (candidate->major == found->major && candidate < found)) &&
		    may_take(c, c->own, c->choice->common, candidate))
			found = candidate;
	}
	return found == taken ? NULL : found;
}

/* Why a candidate does not serve the callers as one that is taken; NULL: it does. */
static const char *why_worse(const struct choosing *c, const struct lc_candidate *candidate,
			     const struct lc_candidate *taken)
{
	const int major = c->choice->common;
	const char *older = older_text(c, c->own, major, candidate);

	if (serves(c, c->own, major, candidate) >= serves(c, c->own, major, taken))
		return NULL;
	return older && !older_text(c, c->own, major, taken) ? older : unsuited_text(c, candidate);
}

/* Returns why a candidate without any objection to it was passed over. */
static const char *why_passed_over(const struct choosing *c, const struct lc_candidate *candidate)
{
	const struct lc_candidate *taken = &c->own->candidates[c->choice->candidate];
	int cuda, other = lc_told_major(c->own, candidate);
	const char *why;

	if (c->choice->candidate < 0)
		return "was not considered";
	cuda = lc_told_major(c->own, taken);
	if (c->own->library->own_majors && cuda && other && other != cuda)
		return lc_format(c->arena, "CUDA %d was chosen; %s", cuda, candidate->cuda_reason);
	why = candidate->major > taken->major || (candidate->major == taken->major && candidate < taken) ?
	      why_worse(c, candidate, taken) : NULL;
	if (why)
		return why;
	if (candidate->major == taken->major)
		return taken->major ? "another one of this major comes before it" :
				      "another one comes before it";
	return lc_format(c->arena, "%s %d was chosen", lc_major_word(c->own->library), taken->major);
}

/* Ends the choice: takes a candidate for this reason, or none if it is -1. */
static void take_candidate(const struct choosing *c, int candidate, enum lc_refusal refusal,
			   const char *reason)
{
	const struct lc_voter *own = c->own;

	c->choice->candidate = candidate;
	c->choice->refusal = refusal;
	c->choice->reason = reason;
	if (candidate >= 0) {
		const struct lc_candidate *taken = &own->candidates[candidate];
		const char *const more[] = {
			taken->cuda_reason, older_text(c, own, c->choice->common, taken),
			taken->origin == LC_BY_SEARCH ? lc_driver_objection(c->arena, c->at, own, taken) : NULL,
		};

		c->choice->objected = more[2];
		for (size_t i = 0; i < LC_COUNT(more); i++)
			if (more[i])
				c->choice->reason = lc_format(c->arena, "%s; %s", c->choice->reason, more[i]);
		c->choice->reasons[candidate] = c->choice->reason;
	}
	for (size_t i = 0; i < own->candidate_count; i++) {
		const char **why = &c->choice->reasons[i];

		/* Why a candidate was not allowed matters more than why it was not chosen. */
		if (!*why)
			*why = lc_objection(c->arena, c->at, own, &own->candidates[i]);
		if (!*why)
			*why = lc_driver_objection(c->arena, c->at, own, &own->candidates[i]);
		if (!*why)
			*why = why_passed_over(c, &own->candidates[i]);
	}
}

/* What prevents that anything is taken: the driver, with a strict guard, or a constraint. */
static enum lc_refusal refusal_of(const struct choosing *c)
{
	enum lc_refusal refusal = LC_MISSING;

	for (size_t i = 0; i < c->own->candidate_count; i++) {
		const struct lc_candidate *candidate = &c->own->candidates[i];

		if (candidate->unusable)
			continue;
		if (lc_why_excluded(c->arena, c->at, c->own, candidate))
			refusal = LC_EXCLUDED;
		else if (lc_goes_with(c->own, candidate, c->at->settings.major) &&
			 lc_driver_objection(c->arena, c->at, c->own, candidate))
			return LC_DRIVER;
	}
	return refusal;
}

/* Chooses among the candidates of other majors when none of the common major is allowed. */
static void choose_mixed(const struct choosing *c)
{
	const char *clashes = bar_clashes(c, LC_BY_SEARCH);
	int found = best_candidate(c, c->own, 0, false);

	if (found >= 0)
		take_candidate(c, found, LC_NONE,
			       lc_format(c->arena, "the process uses CUDA %d, for which there is none;"
					 " this one can be used beside it", c->choice->common));
	else
		take_candidate(c, -1, clashes ? LC_INCOHERENT : refusal_of(c), clashes);
}

/* Why the best candidate of the common major is taken; `why`: see first_major(). */
static const char *why_best(const struct choosing *c, int candidate, const char *why)
{
	const struct lc_candidate *taken = &c->own->candidates[candidate];
	const struct lc_candidate *passed = why ? NULL : first_passed(c, taken);
	const char *worse = passed ? why_worse(c, passed, taken) : NULL;

	if (why)
		return why;
	if (worse && passed->major == taken->major)
		return lc_format(c->arena, "another one of this major comes before it, and was passed"
				 " over: %s", worse);
	if (worse)
		return lc_format(c->arena, "%s %d was passed over: %s", lc_major_word(c->own->library),
				 passed->major, worse);
	if (c->at->process_major && lc_is_guarded(c->at))
		return lc_format(c->arena, "CUDA %d is in use in this process", c->choice->common);
	if (passed && passed->major > taken->major)
		return lc_format(c->arena, "%s %d lies nearer to the callers than %d",
				 lc_major_word(c->own->library), taken->major, passed->major);
	if (!lc_has_majors(c->own->library))
		return "the first found";
	if (!lc_is_guarded(c->at))
		return "the highest major found (LAZYCUDA_GUARD=off)";
	if (!c->choice->common)
		return "the highest major found";
	return c->at->driver && lc_asks_driver(c->at, c->own) &&
	       !lc_driver_objection(c->arena, c->at, c->own, taken) ?
	       "the highest CUDA major that serves all stubs here, and that the driver runs" :
	       "the highest CUDA major that serves all stubs here";
}

static void make_choice(const struct choosing *c)
{
	const char *why = NULL;
	int candidate = named_candidate(c->own);

	/* A bad LAZYCUDA_CUDART or the like is an error, never a reason to search. */
	if (candidate >= 0 && c->own->candidates[candidate].unusable) {
		take_candidate(c, -1, LC_MISSING, c->own->candidates[candidate].unusable);
		return;
	}
	if (candidate >= 0) {
		take_candidate(c, candidate, LC_NONE, "named by the environment");
		return;
	}
	if (lc_is_guarded(c->at) && !(c->choice->common = c->at->process_major) &&
	    !(c->choice->common = highest_bound(c)))
		c->choice->common = first_major(c, &why);

	/* A library that is in the process comes before any other file. */
	bar_clashes(c, LC_BY_PROCESS);
	candidate = best_candidate(c, c->own, c->choice->common, true);
	if (candidate < 0)
		candidate = best_candidate(c, c->own, 0, true);
	if (candidate >= 0) {
		take_candidate(c, candidate, LC_NONE, "already loaded in this process");
		return;
	}
	candidate = best_candidate(c, c->own, c->choice->common, false);
	if (candidate < 0)
		choose_mixed(c);
	else
		take_candidate(c, candidate, LC_NONE, why_best(c, candidate, why));
}

/* Returns false if memory ran out. */
static bool begin_choosing(struct choosing *c, struct lc_arena *arena, const struct lc_circumstances *at,
			   struct lc_choice *choice)
{
	*choice = (struct lc_choice){ .candidate = -1, .refusal = LC_MISSING };
	*c = (struct choosing){ arena, at, &at->voters[at->self], choice };
	choice->reasons = lc_alloc(arena, c->own->candidate_count * sizeof(*choice->reasons));
	return choice->reasons;
}

struct lc_choice lc_choose(struct lc_arena *arena, const struct lc_circumstances *at)
{
	struct lc_choice choice;
	struct choosing choosing;

	if (begin_choosing(&choosing, arena, at, &choice))
		make_choice(&choosing);
	return choice;
}

/* ---- whether farther places matter ---- */

/* Returns true if a file that is named or in the process is taken, whatever lies in folders. */
static bool stands_alone(const struct choosing *c, const struct lc_candidate *taken, int common)
{
	if (taken->private)
		return false;
	/* Its own major is the process's: then no file of another stub has a say in it. */
	return taken->origin == LC_BY_OVERRIDE || !lc_is_coordinated(c->own->library) || !lc_is_guarded(c->at) ||
	       (lc_told_major(c->own, taken) == common && !lc_choice_needs_driver(c->at, false));
}

/* Returns true if nothing that lies farther supersedes what the process has, for want of a partner. */
static bool is_decided(const struct choosing *c)
{
	for (size_t s = 0; s < c->at->voter_count; s++) {
		const struct lc_voter *voter = &c->at->voters[s];
		int i = voter->loaded ? -1 : best_candidate(c, voter, 0, true);

		if (i >= 0 && is_single(c, voter, voter->candidates[i].major))
			return false;
	}
	return true;
}

/* Returns true if files of other majors that lie farther are none that the order prefers.  `fixed`: the
 * process's major is, whatever is found. */
static bool order_ends(const struct choosing *c, const struct lc_candidate *taken, int common, bool fixed)
{
	const enum lc_order order = c->at->settings.order;

	if (order == LC_NEAR || (fixed && !c->own->library->own_majors))
		return true;
	for (size_t s = 0; order == LC_OWN && s < c->at->voter_count; s++) {
		const struct lc_voter *voter = &c->at->voters[s];
		const int major = voter == c->own ? taken->major : common;

		if ((voter == c->own || !voter->library->own_majors) && voter->callers != 1u << major)
			return false;
	}
	return order == LC_OWN;
}

/* Returns true if a major has more stubs with a near file than another, in the nearest tier in which
 * they differ, of those that were looked at. */
static bool is_nearer(const struct judged_major *one, const struct judged_major *other, enum lc_tier end)
{
	enum merit merit = NEAR;

	while (merit < NEAR + end && one->merits[merit] == other->merits[merit])
		merit++;
	return merit < NEAR + end && one->merits[merit] > other->merits[merit];
}

/* Returns true if nothing speaks against the file that a stub would take. */
static bool is_voter_served(const struct choosing *c, const struct lc_voter *voter, int common)
{
	int i = voter->loaded ? -1 : named_or_best(c, voter, common);

	return voter->loaded || (i >= 0 && standing(c, voter, common, &voter->candidates[i]) == STANDING);
}

bool lc_choice_stands(struct lc_arena *arena, const struct lc_circumstances *at,
		      const struct lc_choice *choice, enum lc_tier end)
{
	const int common = choice->common;
	const struct lc_candidate *taken;
	struct lc_choice none;
	struct judged_major judged;
	struct choosing c;
	bool fixed, alone;

	if (choice->candidate < 0 || !begin_choosing(&c, arena, at, &none))
		return false;
	taken = &c.own->candidates[choice->candidate];
	if (taken->origin != LC_BY_OVERRIDE && !is_decided(&c))
		return false;
	if (taken->origin != LC_BY_SEARCH)
		return end || stands_alone(&c, taken, common);
	if (!lc_has_majors(c.own->library))
		return true;	/* of the driver's libraries the first file is taken */
	fixed = at->settings.major || (common && (at->process_major || highest_bound(&c)));
	alone = fixed || !common;
	if (!order_ends(&c, taken, common, fixed))
		return false;
	for (size_t s = 0; s < at->voter_count; s++)
		if ((!alone || &at->voters[s] == c.own || !strcmp(c.own->library->name, reader)) &&
		    !is_voter_served(&c, &at->voters[s], common))
			return false;
	judged = judge_major(&c, common);
	for (int major = LC_MAX_CUDA; major && !alone; major--) {
		struct judged_major other = { .major = 0 };

		if (offered_majors(at) >> major & 1)
			other = judge_major(&c, major);
		if (is_nearer(&other, &judged, end))
			return false;
	}
	return !arena->failed;
}
