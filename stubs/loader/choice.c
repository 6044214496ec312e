/* SPDX-License-Identifier: MIT */
/* choice.c - chooses a library among those found */
#include "choice.h"

#include <limits.h>
#include <string.h>

#include "../base/constraint.h"
#include "../base/count.h"
#include "../base/cuda_version.h"

/*
 * Pairs of libraries of which one reads the other's output.  If their majors
 * differ, the reader must be the newer one: nvJitLink accepts PTX, cubins and
 * LTO-IR of an older nvrtc and rejects those of a newer one.
 */
static const struct { const char *writer, *reader; } pairs[] = {
	{ "nvrtc", "nvJitLink" },
};

static bool guarded(const struct lc_circumstances *at)
{
	return at->settings.guard != LC_OFF;
}

static bool heeds_driver(const struct lc_circumstances *at)
{
	return guarded(at) && !at->settings.forward;
}

/* The majors of CUDA that an option may belong to, a bit for each; 0: it goes with any. */
static uint32_t cuda_of(const struct lc_seat *seat, const struct lc_option *option)
{
	if (seat->library->own_majors)
		return option->cuda;
	return option->major <= LC_MAX_CUDA ? 1u << option->major : 0;
}

/* Returns true if an option may belong to this major of CUDA; 0: to any. */
static bool fits(const struct lc_seat *seat, const struct lc_option *option, int major)
{
	uint32_t cuda = cuda_of(seat, option);

	return !major || !cuda || cuda >> major & 1;
}

/* The major of CUDA that an option belongs to; 0: it goes with any, or that is not known. */
static int told_major(const struct lc_seat *seat, const struct lc_option *option)
{
	return lc_only_cuda(cuda_of(seat, option));
}

/* Returns true if it is not known which major of CUDA an option belongs to. */
static bool is_unclear(const struct lc_seat *seat, const struct lc_option *option)
{
	return cuda_of(seat, option) && !told_major(seat, option);
}

/* Returns why the driver cannot run this option, or NULL if it can. */
static const char *driver_objection(struct lc_arena *arena, const struct lc_circumstances *at,
				    const struct lc_seat *seat, const struct lc_option *option)
{
	int major = LC_MAJOR(at->driver), minor = LC_MINOR(at->driver);
	uint32_t cuda = cuda_of(seat, option);
	lc_version version = option->version;

	if (!heeds_driver(at) || !at->driver || !cuda)
		return NULL;
	if (seat->library->own_majors)
		version = LC_VERSION(__builtin_ctz(cuda), 0);	/* CUDA's minor is not known */
	else if (!version)
		version = LC_VERSION(option->major, LC_LAST_MINOR);	/* it may be the newest */
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
		return at->branch ? lc_format(arena, "the driver supports CUDA %d.%d, it is not known"
				    " which display driver runs a later CUDA %d; LAZYCUDA_GUARD="
				    "strict takes no chances", major, minor, major) :
				    lc_format(arena, "the driver supports CUDA %d.%d, its display driver's"
				    " version is unknown; LAZYCUDA_GUARD=strict takes no chances",
				    major, minor);
	case LC_DRIVER_RUNS:
		break;
	}
	return NULL;
}

/* The library to choose for. */
static const struct lc_library *own_library(const struct lc_circumstances *at)
{
	return at->seats[at->self].library;
}

/*
 * Returns true if the driver's abilities can decide about this option.  A library that
 * the process has loaded is used whatever the driver is, but if several are loaded the
 * driver helps to choose among them.
 */
static bool driver_matters(const struct lc_seat *seat, const struct lc_option *option)
{
	if (option->unusable || option->origin == LC_BY_OVERRIDE)
		return false;
	for (size_t i = 0; i < seat->option_count; i++)
		if (&seat->options[i] != option && !seat->options[i].unusable &&
		    seat->options[i].origin == LC_BY_PROCESS)
			return true;
	return option->origin == LC_BY_SEARCH;
}

bool lc_choice_needs_driver(const struct lc_circumstances *at)
{
	if (!heeds_driver(at) || !lc_is_coordinated(own_library(at)))
		return false;
	for (size_t s = 0; s < at->seat_count; s++)
		for (size_t i = 0; i < at->seats[s].option_count; i++)
			if (driver_matters(&at->seats[s], &at->seats[s].options[i]))
				return true;
	return false;
}

bool lc_choice_needs_branch(const struct lc_circumstances *at)
{
	int major = LC_MAJOR(at->driver), minor = LC_MINOR(at->driver);

	if (!heeds_driver(at) || !at->driver || !lc_is_coordinated(own_library(at)))
		return false;
	for (size_t s = 0; s < at->seat_count; s++) {
		for (size_t i = 0; i < at->seats[s].option_count; i++) {
			const struct lc_option *option = &at->seats[s].options[i];

			if (driver_matters(&at->seats[s], option) && option->major == major &&
			    !at->seats[s].library->own_majors &&
			    (!option->version || LC_MINOR(option->version) > minor))
				return true;
		}
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

/* The versions of CUDA that an option may be of; false if it goes with any. */
static bool versions_of(const struct lc_seat *seat, const struct lc_option *option,
			lc_version *first, lc_version *last)
{
	uint32_t cuda = cuda_of(seat, option);

	if (!cuda)
		return false;
	*first = LC_VERSION(__builtin_ctz(cuda), 0);
	*last = LC_VERSION(31 - __builtin_clz(cuda), LC_LAST_MINOR);
	if (!seat->library->own_majors && option->version)
		*first = option->version;
	if (!seat->library->own_majors && option->latest)
		*last = option->latest;
	return true;
}

const char *lc_why_excluded(struct lc_arena *arena, const struct lc_circumstances *at,
			    const struct lc_seat *seat, const struct lc_option *option)
{
	const struct lc_settings *settings = &at->settings;
	lc_version first, last;
	bool users, programs;

	if (option->origin == LC_BY_OVERRIDE || !lc_is_coordinated(own_library(at)) ||
	    !versions_of(seat, option, &first, &last))
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

/*
 * Returns why an option may not be taken, whatever the other stubs do, or NULL.  Sets
 * *driver, unless `driver` is NULL, if the driver is the reason.
 */
static const char *objection(struct lc_arena *arena, const struct lc_circumstances *at,
			     const struct lc_seat *seat, const struct lc_option *option,
			     bool *driver)
{
	const char *why;

	if (option->unusable)
		return option->unusable;
	if (!fits(seat, option, at->settings.major) && option->origin != LC_BY_OVERRIDE)
		return lc_format(arena, "LAZYCUDA_MAJOR=%d asks for another major",
				 at->settings.major);
	why = lc_why_excluded(arena, at, seat, option);
	if (why || option->origin != LC_BY_SEARCH)
		return why;
	why = driver_objection(arena, at, seat, option);
	if (why && driver)
		*driver = true;
	else if (!why && at->settings.guard == LC_STRICT && is_unclear(seat, option))
		why = lc_format(arena, "%s, and LAZYCUDA_GUARD=strict takes no chances", option->told);
	return why;
}

/* Returns true if one option suits the callers better than another that would come first:
 * it serves all their imports, and the other refuses some.  For an option that
 * the user names this is not known. */
static bool suits_better(const struct lc_circumstances *at, const struct lc_option *one,
			 const struct lc_option *first)
{
	return guarded(at) && one->origin != LC_BY_OVERRIDE && !one->refuses && first->refuses;
}

static int best_for(struct lc_arena *arena, const struct lc_circumstances *at,
		    const struct lc_seat *seat, int major);

/* The version of the library that writes what this one reads, as far as it is known; 0: there is
 * none.  *writer is set to its name. */
static lc_version written_by(struct lc_arena *arena, const struct lc_circumstances *at,
			     const struct lc_seat *seat, int major, const char **writer)
{
	for (size_t p = 0; p < LC_COUNT(pairs); p++) {
		if (!guarded(at) || strcmp(seat->library->name, pairs[p].reader))
			continue;
		*writer = pairs[p].writer;
		for (size_t s = 0; s < at->seat_count; s++) {
			const struct lc_seat *other = &at->seats[s];
			int i;

			if (strcmp(other->library->name, *writer))
				continue;
			i = other->loaded ? -1 : best_for(arena, at, other, major);
			return i < 0 ? other->loaded : other->options[i].version;
		}
	}
	return 0;
}

/* Returns true if an option is of the same major as what it reads, and surely older. */
static bool is_older(const struct lc_option *option, lc_version written)
{
	return option->latest && option->latest < written &&
	       LC_MAJOR(option->latest) == LC_MAJOR(written);
}

/* Returns true if an option is better than one of the same major that comes before it: it is known
 * to belong to its CUDA, or it has what the callers import and the other lacks, or it reads what is
 * written and the other is too old. */
static bool is_better(const struct lc_circumstances *at, const struct lc_seat *seat,
		      const struct lc_option *option, const struct lc_option *before,
		      lc_version written)
{
	if (is_unclear(seat, option) != is_unclear(seat, before))
		return is_unclear(seat, before);
	if (suits_better(at, before, option))
		return false;
	return suits_better(at, option, before) ||
	       (is_older(before, written) && !is_older(option, written));
}

/* "nvJitLink 12.4 would read what nvrtc 12.9 writes, and must not be older" */
static const char *older_text(struct lc_arena *arena, const struct lc_circumstances *at,
			      const struct lc_option *option, int common)
{
	const struct lc_seat *own = &at->seats[at->self];
	const char *writer;
	lc_version written = written_by(arena, at, own, common, &writer);

	if (!is_older(option, written))
		return NULL;
	return lc_format(arena, "%s %d.%d would read what %s %d.%d writes, and must not be older",
			 own->library->name, LC_MAJOR(option->latest), LC_MINOR(option->latest),
			 writer, LC_MAJOR(written), LC_MINOR(written));
}

/* The first allowed option of one of the library's majors, or -1, unless one that comes later is
 * better. */
static int best_of(struct lc_arena *arena, const struct lc_circumstances *at,
		   const struct lc_seat *seat, int own, int major, bool *driver)
{
	const char *writer;
	lc_version written = written_by(arena, at, seat, major, &writer);
	int found = -1;

	/* No early exit: an objection to any of them has to set *driver. */
	for (size_t i = 0; i < seat->option_count; i++) {
		const struct lc_option *option = &seat->options[i];

		if (option->major != own || !fits(seat, option, major) ||
		    objection(arena, at, seat, option, driver))
			continue;
		if (found < 0 || is_better(at, seat, option, &seat->options[found],
					   written))
			found = (int)i;
	}
	return found;
}

/* The highest major below a limit that a seat has options of; -1: none. */
static int next_major(const struct lc_seat *seat, int limit)
{
	int highest = -1;

	for (size_t i = 0; i < seat->option_count; i++)
		if (seat->options[i].major < limit && seat->options[i].major > highest)
			highest = seat->options[i].major;
	return highest;
}

/* The best allowed option for a major of CUDA, 0: for any; or -1.  It is of the library's
 * highest major, or of a lower one that suits the callers better. */
static int best(struct lc_arena *arena, const struct lc_circumstances *at,
		const struct lc_seat *seat, int major, bool *driver)
{
	int found = -1;

	for (int own = INT_MAX; (own = next_major(seat, own)) >= 0; ) {
		int i = best_of(arena, at, seat, own, major, driver);

		if (i >= 0 && (found < 0 || suits_better(at, &seat->options[i],
							 &seat->options[found])))
			found = i;
	}
	return found;
}

/* The first option of this origin, or -1. */
static int of_origin(const struct lc_seat *seat, enum lc_origin origin)
{
	for (size_t i = 0; i < seat->option_count; i++)
		if (seat->options[i].origin == origin)
			return (int)i;
	return -1;
}

/* Returns true if one option that the process has loaded is preferred to another; `common`
 * 0: there is no common major. */
static bool is_rather(struct lc_arena *arena, const struct lc_circumstances *at,
		      const struct lc_seat *seat, const struct lc_option *one,
		      const struct lc_option *other, int common)
{
	bool runs = !driver_objection(arena, at, seat, one);

	if (runs != !driver_objection(arena, at, seat, other))
		return runs;
	if (fits(seat, one, common) != fits(seat, other, common))
		return fits(seat, one, common);
	if (guarded(at) && !one->refuses != !other->refuses)
		return !one->refuses;
	return one->major > other->major;
}

/* Returns true if an option that the process has loaded is passed over for a file that suits the
 * callers better: it is private, and ld.so would load that file for them. */
static bool yields(struct lc_arena *arena, const struct lc_circumstances *at,
		   const struct lc_seat *seat, const struct lc_option *option)
{
	for (size_t i = 0; option->private && i < seat->option_count; i++)
		if (seat->options[i].origin == LC_BY_SEARCH &&
		    suits_better(at, &seat->options[i], option) &&
		    !objection(arena, at, seat, &seat->options[i], NULL))
			return true;
	return false;
}

/*
 * Returns the best option that the process has loaded, or -1.  Prefers one that the
 * driver runs, then one of the common major (0: there is none yet), then one that
 * refuses nothing, then the highest major.  `clashes` says for each option why it clashes
 * with other stubs, or is NULL for it; `clashes` itself is NULL if no option does.
 */
static int best_loaded(struct lc_arena *arena, const struct lc_circumstances *at,
		       const struct lc_seat *seat, int common, const char *const *clashes)
{
	int found = -1;

	for (size_t i = 0; i < seat->option_count; i++) {
		const struct lc_option *option = &seat->options[i];

		if (option->origin != LC_BY_PROCESS || (clashes && clashes[i]) ||
		    objection(arena, at, seat, option, NULL) || yields(arena, at, seat, option))
			continue;
		if (found < 0 || is_rather(arena, at, seat, option, &seat->options[found], common))
			found = (int)i;
	}
	return found;
}

/*
 * Returns the major of CUDA that a seat is bound to, whatever else was found for it: the
 * one its stub has loaded, the one the user names, or the best one that is in the
 * process.  Returns 0 if the seat is free, or if that is not known.
 */
static int bound(struct lc_arena *arena, const struct lc_circumstances *at,
		 const struct lc_seat *seat)
{
	int named = of_origin(seat, LC_BY_OVERRIDE);
	int loaded;

	if (seat->loaded && !seat->library->own_majors)
		return LC_MAJOR(seat->loaded);
	if (named >= 0)
		return seat->options[named].unusable ? 0 : told_major(seat, &seat->options[named]);
	loaded = best_loaded(arena, at, seat, 0, NULL);
	return loaded < 0 ? 0 : told_major(seat, &seat->options[loaded]);
}

/* What speaks against a common major. */
struct against {
	int major;
	const struct lc_option *refuser;	/* the first that would refuse an import, or NULL */
	const struct lc_option *unclear;	/* the first whose CUDA is not known, or NULL */
	const char *library;			/* of `unclear` */
	bool none;				/* no major is common */
};

/* The best option of a seat for a major of CUDA, or -1.  If the user names one, it is
 * the only one. */
static int best_for(struct lc_arena *arena, const struct lc_circumstances *at,
		    const struct lc_seat *seat, int major)
{
	int named = of_origin(seat, LC_BY_OVERRIDE);

	if (named < 0 || seat->options[named].unusable)
		return best(arena, at, seat, major, NULL);
	return fits(seat, &seat->options[named], major) ? named : -1;
}

/*
 * Returns true if some stub has an option of this major, and every stub that has any options has
 * one that may be of it.  Sets *against to what speaks against the major.
 */
static bool is_common(struct lc_arena *arena, const struct lc_circumstances *at, int major,
		      struct against *against)
{
	bool everybody = true, anybody = false;

	*against = (struct against){ .major = major };
	for (size_t s = 0; s < at->seat_count; s++) {
		const struct lc_seat *seat = &at->seats[s];
		const struct lc_option *option;
		int i;

		if (!seat->option_count || best_for(arena, at, seat, 0) < 0)
			continue;	/* it has no options to choose from */
		i = best_for(arena, at, seat, major);
		if (i < 0) {
			everybody = false;
			continue;
		}
		option = &seat->options[i];
		anybody |= told_major(seat, option) == major;
		if (!against->refuser && option->refuses)
			against->refuser = option;
		if (!against->unclear && is_unclear(seat, option)) {
			against->unclear = option;
			against->library = seat->library->name;
		}
	}
	return anybody && everybody;
}

/* Returns true if the driver runs libraries of a major, judging by the major alone. */
static bool runs(const struct lc_circumstances *at, int major)
{
	return !heeds_driver(at) || !at->driver || major <= LC_MAJOR(at->driver);
}

/* The majors of CUDA that usable options may belong to, and that the driver runs. */
static uint32_t offered(const struct lc_circumstances *at)
{
	uint32_t set = 0;

	for (size_t s = 0; s < at->seat_count; s++)
		for (size_t i = 0; i < at->seats[s].option_count; i++)
			if (!at->seats[s].options[i].unusable)
				set |= cuda_of(&at->seats[s], &at->seats[s].options[i]);
	for (int major = 1; major <= LC_MAX_CUDA; major++)
		if (!runs(at, major))
			set &= ~(1u << major);
	return set;
}

/* The highest major that some stub is bound to, preferably one that the driver runs; or 0. */
static int bound_major(struct lc_arena *arena, const struct lc_circumstances *at)
{
	int highest = 0;

	for (size_t s = 0; s < at->seat_count; s++) {
		int major = bound(arena, at, &at->seats[s]);

		if (major && (!highest || runs(at, major) > runs(at, highest) ||
			      (runs(at, major) == runs(at, highest) && major > highest)))
			highest = major;
	}
	return highest;
}

/* How well a major serves the stubs whose SONAMEs tell it, or the others: two points for each that
 * has an option known to be of this major, one if that would refuse an import. */
static int points_of(struct lc_arena *arena, const struct lc_circumstances *at, int major, bool others)
{
	int points = 0;

	for (size_t s = 0; s < at->seat_count; s++) {
		const struct lc_seat *seat = &at->seats[s];
		int i = seat->library->own_majors == others ? best_for(arena, at, seat, major) : -1;

		if (i >= 0 && told_major(seat, &seat->options[i]) == major)
			points += 2 - (seat->options[i].refuses > 0);
	}
	return points;
}

/*
 * The major if none is common to all stubs.  The order of the first calls must not decide it: it is
 * the one that serves most stubs whose SONAMEs tell it, and the highest of these; else the highest of
 * the others, which cannot be used beside another CUDA.  *passed: see common_major().
 */
static int major_of_most(struct lc_arena *arena, const struct lc_circumstances *at,
			 struct against *passed)
{
	const uint32_t set = offered(at);
	struct against against;
	int found = 0, most = 0;

	for (int others = 0; others < 2 && !found; others++)
		for (int major = LC_MAX_CUDA; major && most < INT_MAX; major--) {
			int points = set >> major & 1 ? points_of(arena, at, major, others) : 0;

			if (points > most) {
				most = others ? INT_MAX : points;
				found = major;
			}
		}
	for (int major = LC_MAX_CUDA; major > found && !passed->refuser; major--) {
		is_common(arena, at, major, &against);
		if (against.refuser)
			*passed = against;
	}
	return found;
}

/*
 * Returns the major for the process; 0: there is none.  In this order:
 *
 *	- the one that the stubs have agreed on
 *	- the highest that some stub is bound to, preferably one that the driver runs
 *	- the highest common one (see is_common()) that refuses no import and is clear for all stubs
 *	- the highest common one that refuses no import
 *	- the highest common one that is clear for all stubs
 *	- the highest common one
 *	- that of major_of_most()
 *
 * *passed says what spoke against the highest common one, if that was passed over.
 */
static int common_major(struct lc_arena *arena, const struct lc_circumstances *at,
			struct against *passed)
{
	struct against against, first = { .major = 0 };
	int found = 0, best_score = -1;
	uint32_t set;

	*passed = first;
	if (at->process_major)
		return at->process_major;
	found = bound_major(arena, at);
	if (found)
		return found;
	for (set = offered(at); set && best_score < 3; ) {
		int major = 31 - __builtin_clz(set), score;

		set &= ~(1u << major);
		if (!is_common(arena, at, major, &against))
			continue;
		score = 2 * !against.refuser + !against.unclear;
		if (best_score < 0)
			first = against;
		else if (score > best_score)
			*passed = first;
		if (score > best_score) {
			best_score = score;
			found = major;
		}
	}
	if (found)
		return found;
	passed->none = true;
	return major_of_most(arena, at, passed);
}

/* Returns the major that another stub has or is going to have; 0: none. */
static int major_of_seat(struct lc_arena *arena, const struct lc_circumstances *at,
			 const struct lc_seat *seat, int common)
{
	int major = bound(arena, at, seat);

	if (major)
		return major;
	if (best(arena, at, seat, common, NULL) >= 0)
		return common;
	int any = best(arena, at, seat, 0, NULL);
	return any >= 0 ? seat->options[any].major : 0;
}

/*
 * Returns NULL if an option goes with the libraries of the other stubs, although its
 * major may differ from theirs.  Otherwise returns why not.
 */
static const char *clash(struct lc_arena *arena, const struct lc_circumstances *at,
			 const struct lc_option *option, int common)
{
	const struct lc_seat *own = &at->seats[at->self];
	const char *self = own->library->name;

	if (fits(own, option, common) || !guarded(at))
		return NULL;
	if (at->settings.guard == LC_STRICT)
		return lc_format(arena, "the process uses CUDA %d, and LAZYCUDA_GUARD=strict"
				 " mixes no majors", common);
	/* It would open other libraries of its CUDA by names that are the same in every CUDA. */
	if (own->library->own_majors && option->origin == LC_BY_SEARCH)
		return lc_format(arena, "the process uses CUDA %d; %s", common, option->told);
	for (size_t p = 0; p < LC_COUNT(pairs); p++) {
		bool reads = !strcmp(self, pairs[p].reader);

		if (!reads && strcmp(self, pairs[p].writer))
			continue;
		for (size_t s = 0; s < at->seat_count; s++) {
			const char *other = at->seats[s].library->name;
			int major;

			if (s == at->self || strcmp(other, reads ? pairs[p].writer : pairs[p].reader))
				continue;
			major = major_of_seat(arena, at, &at->seats[s], common);
			if (!major || (reads ? option->major >= major : option->major <= major))
				continue;
			return lc_format(arena,
				"%s %d would read what %s %d writes, and must not be older",
				pairs[p].reader, reads ? option->major : major,
				pairs[p].writer, reads ? major : option->major);
		}
	}
	return NULL;
}

/* Sets why options that the process has loaded clash with the libraries of other stubs. */
static void find_clashes(struct lc_arena *arena, const struct lc_circumstances *at, int common,
			 const char **reasons)
{
	const struct lc_seat *seat = &at->seats[at->self];

	for (size_t i = 0; i < seat->option_count; i++)
		if (seat->options[i].origin == LC_BY_PROCESS &&
		    !objection(arena, at, seat, &seat->options[i], NULL))
			reasons[i] = clash(arena, at, &seat->options[i], common);
}

/* "it would refuse cudaThis, which /that.so imports" */
static const char *refusal_text(struct lc_arena *arena, const struct lc_option *option)
{
	const char *others = "";

	if (option->refuses > 1)
		others = lc_format(arena, ", and %zu more", option->refuses - 1);
	return lc_format(arena, "it would refuse %s, which %s imports%s", option->refused,
			 lc_printable(arena, option->importer), others);
}

/* Returns why an option without any objection to it was passed over for another option, or
 * for none if `taken` is -1. */
static const char *why_passed_over(struct lc_arena *arena, const struct lc_circumstances *at,
				   const struct lc_option *option, int taken, int common)
{
	const struct lc_seat *seat = &at->seats[at->self];
	const struct lc_option *other;
	const char *older;

	if (taken < 0)
		return "was not considered";
	other = &seat->options[taken];
	if (told_major(seat, option) && told_major(seat, other) && seat->library->own_majors &&
	    told_major(seat, option) != told_major(seat, other))
		return lc_format(arena, "CUDA %d was chosen; %s", told_major(seat, other),
				 option->told);
	if (suits_better(at, other, option) && (option->major > other->major ||
						(option->major == other->major && option < other)))
		return refusal_text(arena, option);
	older = option < other ? older_text(arena, at, option, common) : NULL;
	if (older)
		return older;
	if (option->major == other->major)
		return "another one of this major comes before it";
	return lc_format(arena, "%s %d was chosen", lc_major_word(own_library(at)), other->major);
}

/* Sets the reason of every option that was passed over, and has none. */
static void explain_rest(struct lc_arena *arena, const struct lc_circumstances *at,
			 const struct lc_choice *choice)
{
	const struct lc_seat *seat = &at->seats[at->self];

	for (size_t i = 0; i < seat->option_count; i++) {
		const struct lc_option *option = &seat->options[i];
		const char **reason = &choice->reasons[i];

		/* Why an option was not allowed matters more than why it was not chosen. */
		if (!*reason)
			*reason = objection(arena, at, seat, option, NULL);
		if (!*reason)
			*reason = driver_objection(arena, at, seat, option);
		if (!*reason)
			*reason = why_passed_over(arena, at, option, choice->option,
						  choice->common);
	}
}

static void take(struct lc_arena *arena, const struct lc_circumstances *at,
		 struct lc_choice *choice, int option, const char *reason)
{
	const struct lc_option *taken = &at->seats[at->self].options[option];
	const char *older = older_text(arena, at, taken, choice->common);

	if (taken->told)
		reason = lc_format(arena, "%s; %s", reason, taken->told);
	if (older)
		reason = lc_format(arena, "%s; %s", reason, older);
	choice->option = option;
	choice->refusal = LC_NONE;
	choice->reason = choice->reasons[option] = reason;
	explain_rest(arena, at, choice);
}

static void take_none(struct lc_arena *arena, const struct lc_circumstances *at,
		      struct lc_choice *choice, enum lc_refusal refusal, const char *reason)
{
	choice->refusal = refusal;
	choice->reason = reason;
	explain_rest(arena, at, choice);
}

/* Returns true if constraints exclude something that could be loaded. */
static bool any_excluded(struct lc_arena *arena, const struct lc_circumstances *at)
{
	const struct lc_seat *seat = &at->seats[at->self];

	for (size_t i = 0; i < seat->option_count; i++)
		if (!seat->options[i].unusable && lc_why_excluded(arena, at, seat, &seat->options[i]))
			return true;
	return false;
}

/* Chooses among the options of other majors when none of the common major is allowed. */
static void choose_mixed(struct lc_arena *arena, const struct lc_circumstances *at,
			 struct lc_choice *choice, int common, bool driver)
{
	const struct lc_seat *seat = &at->seats[at->self];
	const char *last = NULL;
	int found = -1;

	for (size_t i = 0; i < seat->option_count; i++) {
		const struct lc_option *option = &seat->options[i];

		if (objection(arena, at, seat, option, NULL))
			continue;
		choice->reasons[i] = clash(arena, at, option, common);
		if (choice->reasons[i])
			last = choice->reasons[i];
		else if (found < 0 || option->major > seat->options[found].major ||
			 (option->major < seat->options[found].major &&
			  suits_better(at, option, &seat->options[found])))
			found = (int)i;
	}
	if (found >= 0)
		take(arena, at, choice, found, common ? lc_format(arena,
		     "the process uses CUDA %d, for which there is none; this one can be"
		     " used beside it", common) : "the highest major found");
	else if (last)
		take_none(arena, at, choice, LC_INCOHERENT, last);
	else
		take_none(arena, at, choice, driver ? LC_DRIVER : any_excluded(arena, at) ?
			  LC_EXCLUDED : LC_MISSING, NULL);
}

/* Returns the option of the highest major that was passed over for this one because it
 * would refuse an import; or NULL. */
static const struct lc_option *best_refuser(struct lc_arena *arena,
					    const struct lc_circumstances *at,
					    const struct lc_seat *seat, int taken, int common)
{
	for (int own = INT_MAX; (own = next_major(seat, own)) >= 0; ) {
		int i = best_of(arena, at, seat, own, common, NULL);

		if (i == taken)
			return NULL;
		if (i >= 0 && suits_better(at, &seat->options[taken], &seat->options[i]))
			return &seat->options[i];
	}
	return NULL;
}

/* Returns the first option of its own major, before it, that was passed over for that; or NULL. */
static const struct lc_option *first_refuser(struct lc_arena *arena,
					     const struct lc_circumstances *at,
					     const struct lc_seat *seat, int taken)
{
	const struct lc_option *option = &seat->options[taken];

	for (int i = 0; i < taken; i++)
		if (seat->options[i].major == option->major &&
		    !objection(arena, at, seat, &seat->options[i], NULL) &&
		    suits_better(at, option, &seat->options[i]))
			return &seat->options[i];
	return NULL;
}

/* Takes the named option, else the first usable one: there are no majors to choose from. */
static void choose_first(const struct lc_seat *seat, struct lc_choice *choice, int named)
{
	static const char *const reasons[] = {
		[LC_BY_OVERRIDE] = "named by the environment",
		[LC_BY_PROCESS] = "already loaded in this process",
		[LC_BY_SEARCH] = "the first found",
	};
	int found = named;

	/* Options of equal origin are in the order in which they were found. */
	for (size_t i = 0; i < seat->option_count && named < 0; i++)
		if (!seat->options[i].unusable &&
		    (found < 0 || seat->options[i].origin < seat->options[found].origin))
			found = (int)i;
	for (size_t i = 0; i < seat->option_count; i++)
		choice->reasons[i] = seat->options[i].unusable ? seat->options[i].unusable :
				     "another one comes before it";
	if (found < 0)
		return;
	choice->option = found;
	choice->refusal = LC_NONE;
	choice->reason = choice->reasons[found] = reasons[seat->options[found].origin];
}

/* Why the best option of the common major is taken; `passed` is from common_major(), `refuser`
 * from best_refuser() or first_refuser(). */
static const char *why_best(struct lc_arena *arena, const struct lc_circumstances *at, int common,
			    const struct against *passed, const struct lc_option *refuser,
			    const struct lc_option *taken)
{
	if (passed->refuser)
		return lc_format(arena, "CUDA %d was passed over: %s", passed->major,
				 refusal_text(arena, passed->refuser));
	if (refuser && refuser->major == taken->major)
		return lc_format(arena, "another one of this major comes before it, and was passed over: %s",
				 refusal_text(arena, refuser));
	if (refuser)
		return lc_format(arena, "%s %d was passed over: %s", lc_major_word(own_library(at)),
				 refuser->major, refusal_text(arena, refuser));
	if (!guarded(at))
		return "the highest major found (LAZYCUDA_GUARD=off)";
	if (at->process_major)
		return lc_format(arena, "CUDA %d is in use in this process", common);
	if (passed->unclear)
		return lc_format(arena, "CUDA %d was passed over: of its %s %s", passed->major,
				 passed->library, passed->unclear->told);
	if (!common)
		return "the highest major found";
	if (passed->none)
		return "no major serves all stubs with a library, and this one serves most";
	return at->driver ?
	       "the highest major that all stubs with a library have, and that the driver runs" :
	       "the highest major that all stubs with a library have";
}

static void choose(struct lc_arena *arena, const struct lc_circumstances *at,
		   struct lc_choice *choice)
{
	const struct lc_seat *seat = &at->seats[at->self];
	int named = of_origin(seat, LC_BY_OVERRIDE);
	struct against passed = { .major = 0 };
	const struct lc_option *refuser = NULL;
	bool driver = false;
	int common, option;

	/* A bad LAZYCUDA_CUDART or the like is an error, never a reason to search. */
	if (named >= 0 && seat->options[named].unusable) {
		take_none(arena, at, choice, LC_MISSING, seat->options[named].unusable);
		return;
	}
	if (!lc_has_majors(seat->library)) {
		choose_first(seat, choice, named);
		return;
	}
	if (named >= 0) {
		take(arena, at, choice, named, "named by the environment");
		return;
	}
	common = choice->common = guarded(at) ? common_major(arena, at, &passed) : 0;

	/* A library that is in the process comes before any other file. */
	find_clashes(arena, at, common, choice->reasons);
	option = best_loaded(arena, at, seat, common, choice->reasons);
	if (option >= 0) {
		take(arena, at, choice, option, "already loaded in this process");
		return;
	}
	option = best(arena, at, seat, common, &driver);
	if (option < 0) {
		choose_mixed(arena, at, choice, common, driver);
		return;
	}
	if (!common || seat->library->own_majors)
		refuser = best_refuser(arena, at, seat, option, common);
	if (!refuser)
		refuser = first_refuser(arena, at, seat, option);
	take(arena, at, choice, option,
	     why_best(arena, at, common, &passed, refuser, &seat->options[option]));
}

struct lc_choice lc_choose(struct lc_arena *arena, const struct lc_circumstances *at)
{
	struct lc_choice choice = { .option = -1, .refusal = LC_MISSING };
	size_t count = at->seats[at->self].option_count;

	choice.reasons = lc_alloc(arena, count * sizeof(*choice.reasons));
	if (choice.reasons)
		choose(arena, at, &choice);
	return choice;
}
