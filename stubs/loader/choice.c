/* SPDX-License-Identifier: MIT */
/* choice.c - chooses a library among those found */
#include "choice.h"

#include <string.h>

#include "../base/cuda_version.h"

/*
 * Pairs of libraries of which one reads the other's output.  If their majors
 * differ, the reader must be the newer one: nvJitLink accepts PTX, cubins and
 * LTO-IR of an older nvrtc and rejects those of a newer one.
 */
static const struct { const char *writer, *reader; } pairs[] = {
	{ "nvrtc", "nvJitLink" },
};

/* Returns why the driver cannot run this option, or NULL if it can. */
static const char *driver_objection(struct lc_arena *arena, const struct lc_circumstances *at,
				    const struct lc_option *option)
{
	int major = LC_MAJOR(at->driver), minor = LC_MINOR(at->driver);
	int needed = lc_compatible_branch(major);

	if (at->settings.guard == LC_OFF || !at->driver || option->major < major)
		return NULL;
	if (option->major > major)
		return lc_format(arena, "the installed driver supports CUDA %d.%d and cannot run CUDA %d",
				 major, minor, option->major);
	if ((option->version && LC_MINOR(option->version) <= minor) || at->branch >= needed)
		return NULL;
	if (at->branch)
		return lc_format(arena, "the driver supports CUDA %d.%d, and display driver %d is older"
				 " than %d, which later CUDA %d needs",
				 major, minor, at->branch, needed, major);
	if (at->settings.guard == LC_STRICT)
		return lc_format(arena, "the driver supports CUDA %d.%d, its display driver's version is"
				 " unknown, and LAZYCUDA_GUARD=strict takes no chances", major, minor);
	return NULL;
}

static bool guarded(const struct lc_circumstances *at)
{
	return at->settings.guard != LC_OFF;
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
	if (!guarded(at) || !lc_is_coordinated(own_library(at)))
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

	if (!guarded(at) || !at->driver || !lc_is_coordinated(own_library(at)))
		return false;
	for (size_t s = 0; s < at->seat_count; s++) {
		for (size_t i = 0; i < at->seats[s].option_count; i++) {
			const struct lc_option *option = &at->seats[s].options[i];

			if (driver_matters(&at->seats[s], option) && option->major == major &&
			    (!option->version || LC_MINOR(option->version) > minor))
				return true;
		}
	}
	return false;
}

/*
 * Returns why an option may not be taken, whatever the other stubs do, or NULL.  Sets
 * *driver if the driver is the reason.
 */
static const char *objection(struct lc_arena *arena, const struct lc_circumstances *at,
			     const struct lc_option *option, bool *driver)
{
	const char *why;

	if (option->unusable)
		return option->unusable;
	if (at->settings.major && option->major != at->settings.major &&
	    option->origin != LC_BY_OVERRIDE)
		return lc_format(arena, "LAZYCUDA_MAJOR=%d asks for another major",
				 at->settings.major);
	why = option->origin == LC_BY_SEARCH ? driver_objection(arena, at, option) : NULL;
	if (why)
		*driver = true;
	return why;
}

/* The first allowed option of a major, or -1. */
static int best_of(struct lc_arena *arena, const struct lc_circumstances *at,
		   const struct lc_seat *seat, int major, bool *driver)
{
	int found = -1;

	/* No early exit: an objection to any of them has to set *driver. */
	for (size_t i = 0; i < seat->option_count; i++)
		if (seat->options[i].major == major &&
		    !objection(arena, at, &seat->options[i], driver) && found < 0)
			found = (int)i;
	return found;
}

/* Returns true if one option suits the callers better than another of a higher major:
 * it serves all their imports, and the higher one refuses some.  For an option that
 * the user names this is not known. */
static bool suits_better(const struct lc_circumstances *at, const struct lc_option *one,
			 const struct lc_option *higher)
{
	return guarded(at) && one->origin != LC_BY_OVERRIDE && !one->refuses && higher->refuses;
}

/* The same, but 0 stands for the highest major, or a lower one that suits the callers better. */
static int best(struct lc_arena *arena, const struct lc_circumstances *at,
		const struct lc_seat *seat, int major, bool *driver)
{
	int found = -1;

	if (major)
		return best_of(arena, at, seat, major, driver);
	for (size_t k = 0; k < own_library(at)->known_major_count; k++) {
		int i = best_of(arena, at, seat, own_library(at)->known_majors[k], driver);

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

static const char *clash(struct lc_arena *arena, const struct lc_circumstances *at,
			 const struct lc_option *option, int common);

/* Returns true if one option that the process has loaded is preferred to another; `common`
 * 0: there is no common major. */
static bool is_rather(struct lc_arena *arena, const struct lc_circumstances *at,
		      const struct lc_option *one, const struct lc_option *other, int common)
{
	bool runs = !driver_objection(arena, at, one);

	if (runs != !driver_objection(arena, at, other))
		return runs;
	if ((one->major == common) != (other->major == common))
		return one->major == common;
	if (guarded(at) && !one->refuses != !other->refuses)
		return !one->refuses;
	return one->major > other->major;
}

/*
 * Returns the best option that the process has loaded, or -1.  Prefers one that the
 * driver runs, then one of the common major (0: there is none yet), then one that
 * refuses nothing, then the highest major.  `reasons` is NULL, or gets why an option
 * clashes with other stubs.
 */
static int best_loaded(struct lc_arena *arena, const struct lc_circumstances *at,
		       const struct lc_seat *seat, int common, const char **reasons)
{
	int found = -1;
	bool driver;

	for (size_t i = 0; i < seat->option_count; i++) {
		const struct lc_option *option = &seat->options[i];
		const char *why;

		if (option->origin != LC_BY_PROCESS || objection(arena, at, option, &driver))
			continue;
		why = clash(arena, at, option, common);
		if (why && reasons)
			reasons[i] = why;
		if (!why && (found < 0 ||
			     is_rather(arena, at, option, &seat->options[found], common)))
			found = (int)i;
	}
	return found;
}

/*
 * Returns the major that a seat is bound to, whatever else was found for it: the
 * one its stub has loaded, the one the user names, or the best one that is in the
 * process.  Returns 0 if the seat is free.
 */
static int bound(struct lc_arena *arena, const struct lc_circumstances *at,
		 const struct lc_seat *seat)
{
	int named = of_origin(seat, LC_BY_OVERRIDE);
	int loaded;

	if (seat->loaded)
		return LC_MAJOR(seat->loaded);
	if (named >= 0)
		return seat->options[named].unusable ? 0 : seat->options[named].major;
	loaded = best_loaded(arena, at, seat, 0, NULL);
	return loaded < 0 ? 0 : seat->options[loaded].major;
}

/*
 * Returns true if there is at least one stub with an option, and every such stub
 * has one of this major.  *refuser is the first of these that would refuse an
 * import, or NULL.
 */
static bool is_common(struct lc_arena *arena, const struct lc_circumstances *at, int major,
		      const struct lc_option **refuser)
{
	bool everybody = true, anybody = false, driver;

	*refuser = NULL;
	for (size_t s = 0; s < at->seat_count; s++) {
		const struct lc_seat *seat = &at->seats[s];
		int i;

		if (best(arena, at, seat, 0, &driver) < 0)
			continue;	/* without options it has no say */
		i = best(arena, at, seat, major, &driver);
		if (i < 0) {
			everybody = false;
			continue;
		}
		anybody = true;
		if (!*refuser && seat->options[i].refuses)
			*refuser = &seat->options[i];
	}
	return anybody && everybody;
}

/* Returns true if the driver runs libraries of a major, judging by the major alone. */
static bool runs(const struct lc_circumstances *at, int major)
{
	return !at->driver || major <= LC_MAJOR(at->driver);
}

/*
 * Returns the major for the process; 0: there is none.  In this order:
 *
 *	- the one that the stubs have agreed on
 *	- the highest that some stub is bound to, preferably one that the driver runs
 *	- the highest that is common (see above) and refuses no import
 *	- the highest that is common
 *
 * *passed is the option because of which a higher major was passed over, or NULL.
 */
static int common_major(struct lc_arena *arena, const struct lc_circumstances *at,
			const struct lc_option **passed)
{
	const struct lc_option *refuser;
	int highest = 0;

	*passed = NULL;
	if (at->process_major)
		return at->process_major;
	for (size_t s = 0; s < at->seat_count; s++) {
		int major = bound(arena, at, &at->seats[s]);

		if (major && (!highest || runs(at, major) > runs(at, highest) ||
			      (runs(at, major) == runs(at, highest) && major > highest)))
			highest = major;
	}
	if (highest)
		return highest;
	for (size_t k = 0; k < own_library(at)->known_major_count; k++) {
		int major = own_library(at)->known_majors[k];

		if (!is_common(arena, at, major, &refuser))
			continue;
		if (!refuser)
			return major;
		if (!highest) {
			highest = major;
			*passed = refuser;
		}
	}
	*passed = NULL;
	return highest;
}

/* Returns the major that another stub has or is going to have; 0: none. */
static int major_of(struct lc_arena *arena, const struct lc_circumstances *at,
		    const struct lc_seat *seat, int common)
{
	int major = bound(arena, at, seat);
	bool driver;

	if (major)
		return major;
	if (best(arena, at, seat, common, &driver) >= 0)
		return common;
	int any = best(arena, at, seat, 0, &driver);
	return any >= 0 ? seat->options[any].major : 0;
}

/*
 * Returns NULL if an option goes with the libraries of the other stubs, although its
 * major may differ from theirs.  Otherwise returns why not.
 */
static const char *clash(struct lc_arena *arena, const struct lc_circumstances *at,
			 const struct lc_option *option, int common)
{
	const char *self = own_library(at)->name;

	if (!common || option->major == common || !guarded(at))
		return NULL;
	if (at->settings.guard == LC_STRICT)
		return lc_format(arena, "the process uses CUDA %d, and LAZYCUDA_GUARD=strict"
				 " mixes no majors", common);
	for (size_t p = 0; p < sizeof(pairs) / sizeof(*pairs); p++) {
		bool reads = !strcmp(self, pairs[p].reader);

		if (!reads && strcmp(self, pairs[p].writer))
			continue;
		for (size_t s = 0; s < at->seat_count; s++) {
			const char *other = at->seats[s].library->name;
			int major;

			if (s == at->self || strcmp(other, reads ? pairs[p].writer : pairs[p].reader))
				continue;
			major = major_of(arena, at, &at->seats[s], common);
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

/* "it would refuse cudaThis, which /that.so imports" */
static const char *refusal_text(struct lc_arena *arena, const struct lc_option *option)
{
	const char *others = "";

	if (option->refuses > 1)
		others = lc_format(arena, ", and %zu more", option->refuses - 1);
	return lc_format(arena, "it would refuse %s, which %s imports%s", option->refused,
			 lc_printable(arena, option->importer), others);
}

/* Returns why an option that nothing speaks against was passed over for another, or, if
 * `taken` is -1, for none. */
static const char *why_passed_over(struct lc_arena *arena, const struct lc_circumstances *at,
				   const struct lc_option *option, int taken)
{
	const struct lc_option *other;

	if (taken < 0)
		return "was not considered";
	other = &at->seats[at->self].options[taken];
	if (option->major == other->major)
		return "another one of this major comes before it";
	if (suits_better(at, other, option) && option->major > other->major)
		return refusal_text(arena, option);
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
		bool ignored;

		/* Why an option was not allowed matters more than why it was not chosen. */
		if (!*reason)
			*reason = objection(arena, at, option, &ignored);
		if (!*reason)
			*reason = driver_objection(arena, at, option);
		if (!*reason)
			*reason = why_passed_over(arena, at, option, choice->option);
	}
}

static void take(struct lc_arena *arena, const struct lc_circumstances *at,
		 struct lc_choice *choice, int option, const char *reason)
{
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

/* Chooses among the options of other majors when none of the common major is allowed. */
static void choose_mixed(struct lc_arena *arena, const struct lc_circumstances *at,
			 struct lc_choice *choice, int common, bool driver)
{
	const struct lc_seat *seat = &at->seats[at->self];
	const char *last = NULL;
	int found = -1;

	for (size_t i = 0; i < seat->option_count; i++) {
		const struct lc_option *option = &seat->options[i];
		bool ignored;

		if (objection(arena, at, option, &ignored))
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
		take_none(arena, at, choice, driver ? LC_DRIVER : LC_MISSING, NULL);
}

/* Returns the option of the highest major that was passed over for this one because it
 * would refuse an import; or NULL. */
static const struct lc_option *best_refuser(struct lc_arena *arena,
					    const struct lc_circumstances *at,
					    const struct lc_seat *seat, int taken)
{
	bool driver;

	for (size_t k = 0; k < own_library(at)->known_major_count; k++) {
		int i = best(arena, at, seat, own_library(at)->known_majors[k], &driver);

		if (i == taken)
			return NULL;
		if (i >= 0 && suits_better(at, &seat->options[taken], &seat->options[i]))
			return &seat->options[i];
	}
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

/* Why the best option of the common major is taken; `passed` as in common_major(). */
static const char *why_best(struct lc_arena *arena, const struct lc_circumstances *at, int common,
			    const struct lc_option *passed)
{
	if (passed)
		return lc_format(arena, "%s %d was passed over: %s", lc_major_word(own_library(at)),
				 passed->major, refusal_text(arena, passed));
	if (!guarded(at))
		return "the highest major found (LAZYCUDA_GUARD=off)";
	if (at->process_major)
		return lc_format(arena, "CUDA %d is in use in this process", common);
	if (!common || own_library(at)->own_majors)
		return "the highest major found";
	return at->driver ?
	       "the highest major that was found for every stub that found any, and that the driver runs" :
	       "the highest major that was found for every stub that found any";
}

static void choose(struct lc_arena *arena, const struct lc_circumstances *at,
		   struct lc_choice *choice)
{
	const struct lc_seat *seat = &at->seats[at->self];
	int named = of_origin(seat, LC_BY_OVERRIDE);
	const struct lc_option *passed = NULL;
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
	common = guarded(at) ? common_major(arena, at, &passed) : 0;

	/* A library that is in the process comes before any other file. */
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
	if (!common)
		passed = best_refuser(arena, at, seat, option);
	take(arena, at, choice, option, why_best(arena, at, common, passed));
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
