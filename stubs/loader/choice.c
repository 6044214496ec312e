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
	const struct lc_seat *own;	/* to choose for */
	struct lc_choice *choice;	/* its reasons: at first, why options must not be taken beside others */
};

/* ---- the best file for one stub ---- */

static int best_for(const struct choosing *c, const struct lc_seat *seat, int major);

static const struct lc_seat *seat_of(const struct choosing *c, const char *library)
{
	for (size_t s = 0; s < c->at->seat_count; s++)
		if (!strcmp(c->at->seats[s].library->name, library))
			return &c->at->seats[s];
	return NULL;
}

/* The version of the library that writes what this one reads, as far as it is known; 0: there is
 * none. */
static lc_version written_by(const struct choosing *c, const struct lc_seat *seat, int major)
{
	const struct lc_seat *other = strcmp(seat->library->name, reader) || !lc_is_guarded(c->at) ? NULL :
				      seat_of(c, writer);
	int i = other && !other->loaded ? best_for(c, other, major) : -1;

	return i >= 0 ? other->options[i].version : other ? other->loaded : 0;
}

/* "nvJitLink 12.4 would read what nvrtc 12.9 writes, and must not be older", where that is so of an
 * option for a major of CUDA; else NULL. */
static const char *older_text(const struct choosing *c, const struct lc_seat *seat, int major,
			      const struct lc_option *option)
{
	lc_version written = written_by(c, seat, major);

	if (!option->latest || option->latest >= written || LC_MAJOR(option->latest) != LC_MAJOR(written))
		return NULL;
	return lc_format(c->arena, "%s %d.%d would read what %s %d.%d writes, and must not be older",
			 seat->library->name, LC_MAJOR(option->latest), LC_MINOR(option->latest),
			 writer, LC_MAJOR(written), LC_MINOR(written));
}

/* "it would refuse cudaThis, which /that.so imports", or what an option lacks; else NULL. */
static const char *unsuited_text(const struct choosing *c, const struct lc_option *option)
{
	const char *others = "";

	if (!lc_is_guarded(c->at) || option->origin == LC_BY_OVERRIDE || !option->refuses)
		return option->lacks;
	if (option->refuses > 1)
		others = lc_format(c->arena, ", and %zu more", option->refuses - 1);
	return lc_format(c->arena, "it would refuse %s, which %s imports%s", option->refused,
			 lc_printable(c->arena, option->importer), others);
}

/* How many of three an option does for the callers: it refuses no import of theirs, it is complete,
 * and it reads what the others write.  For one that the user names this is not known. */
static int serves(const struct choosing *c, const struct lc_seat *seat, int major,
		  const struct lc_option *option)
{
	if (!lc_is_guarded(c->at) || option->origin == LC_BY_OVERRIDE)
		return 3;
	return !option->refuses + !option->lacks + !older_text(c, seat, major, option);
}

#define STANDING (8 + 4 + 3)	/* nothing speaks against it */

/* What speaks for an option wherever it lies, what counts most first: that the driver runs it, that
 * its CUDA is known, how well it serves. */
static int standing(const struct choosing *c, const struct lc_seat *seat, int major,
		    const struct lc_option *option)
{
	bool runs = !lc_driver_objection(c->arena, c->at, seat, option);

	return 8 * runs + 4 * !lc_is_unclear(seat, option) + serves(c, seat, major, option);
}

/* Returns true if an option may be taken for a major of CUDA, 0: for any. */
static bool may_take(const struct choosing *c, const struct lc_seat *seat, int major,
		     const struct lc_option *option)
{
	return lc_goes_with(seat, option, major) && !(seat == c->own && c->choice->reasons[option - seat->options]) &&
	       !lc_objection(c->arena, c->at, seat, option);
}

/* The nearest tier that has a file as good as this one of its major, though ld.so's order may come
 * to this one first. */
static enum lc_tier nearest(const struct choosing *c, const struct lc_seat *seat, int major,
			    const struct lc_option *taken)
{
	enum lc_tier tier = taken->tier;

	for (size_t i = 0; i < seat->option_count; i++) {
		const struct lc_option *option = &seat->options[i];

		if (option->tier < tier && option->major == taken->major &&
		    may_take(c, seat, major, option) &&
		    standing(c, seat, major, option) >= standing(c, seat, major, taken))
			tier = option->tier;
	}
	return tier;
}

/* Returns true if callers were compiled for this one of the library's majors. */
static bool is_callers(const struct lc_seat *seat, int major)
{
	return major < 32 && seat->callers >> major & 1;
}

/* Returns true if an option is better than one that comes before it. */
static bool is_better(const struct choosing *c, const struct lc_seat *seat, int major,
		      const struct lc_option *option, const struct lc_option *before)
{
	enum lc_order order = c->at->settings.order;
	int difference = standing(c, seat, major, option) - standing(c, seat, major, before);

	if (difference || option->major == before->major)
		return difference > 0;
	if (order == LC_OWN && is_callers(seat, option->major) != is_callers(seat, before->major))
		return is_callers(seat, option->major);
	if (order != LC_HIGHEST)
		difference = (int)nearest(c, seat, major, before) - (int)nearest(c, seat, major, option);
	return difference ? difference > 0 : option->major > before->major;
}

/* Returns true if an option that the process has loaded is passed over for a file that serves the
 * callers better: it is private, and ld.so would load that file for them. */
static bool yields(const struct choosing *c, const struct lc_seat *seat, const struct lc_option *option)
{
	for (size_t i = 0; option->private && i < seat->option_count; i++)
		if (seat->options[i].origin == LC_BY_SEARCH &&
		    serves(c, seat, 0, &seat->options[i]) > serves(c, seat, 0, option) &&
		    !lc_objection(c->arena, c->at, seat, &seat->options[i]))
			return true;
	return false;
}

/* The best option for a major of CUDA, 0: for any; or -1.  With `loaded`, of those that the process
 * has loaded. */
static int best(const struct choosing *c, const struct lc_seat *seat, int major, bool loaded)
{
	int found = -1;

	for (size_t i = 0; i < seat->option_count; i++) {
		const struct lc_option *option = &seat->options[i];

		if (!may_take(c, seat, major, option) ||
		    (loaded && (option->origin != LC_BY_PROCESS || yields(c, seat, option))))
			continue;
		if (found < 0 || is_better(c, seat, major, option, &seat->options[found]))
			found = (int)i;
	}
	return found;
}

/* The option that a variable names, or -1. */
static int named(const struct lc_seat *seat)
{
	return seat->option_count && seat->options[0].origin == LC_BY_OVERRIDE ? 0 : -1;
}

/* best() of a seat.  If the user names one, it is the only one. */
static int best_for(const struct choosing *c, const struct lc_seat *seat, int major)
{
	int i = named(seat);

	if (i < 0 || seat->options[i].unusable)
		return best(c, seat, major, false);
	return lc_goes_with(seat, &seat->options[i], major) ? i : -1;
}

/* ---- the major of CUDA for the process ---- */

/*
 * Returns the major of CUDA that a seat is bound to, whatever else was found for it: the
 * one its stub has loaded, the one the user names, or the best one that is in the
 * process.  Returns 0 if the seat is free, or if that is not known.
 */
static int bound(const struct choosing *c, const struct lc_seat *seat)
{
	int i = named(seat);

	if (seat->loaded && !seat->library->own_majors)
		return LC_MAJOR(seat->loaded);
	if (i < 0)
		i = best(c, seat, 0, true);
	return i < 0 || seat->options[i].unusable ? 0 : lc_told_major(seat, &seat->options[i]);
}

/* The highest major that some stub is bound to, preferably one that the driver runs; or 0. */
static int bound_major(const struct choosing *c)
{
	int found = 0;

	for (size_t s = 0; s < c->at->seat_count; s++) {
		int major = bound(c, &c->at->seats[s]);
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
static void weigh(const struct choosing *c, const struct lc_seat *seat,
		  const struct lc_option *option, struct judged_major *judged)
{
	const int major = judged->major;
	const char *unsuited = unsuited_text(c, option);

	judged->known |= lc_told_major(seat, option) == major;
	judged->merits[DRIVER] &= !lc_driver_objection(c->arena, c->at, seat, option);
	judged->merits[seat->library->own_majors ? OTHERS : TELLING] += 1 + serves(c, seat, major, option);
	judged->merits[CLEAR] -= lc_is_unclear(seat, option);
	if (c->at->settings.order == LC_OWN && !seat->library->own_majors)
		judged->merits[OWN] += is_callers(seat, major);
	if (c->at->settings.order != LC_HIGHEST)
		judged->merits[NEAR + nearest(c, seat, major, option)]++;
	if (unsuited && (option->refuses || !judged->unsuited))
		judged->unsuited = unsuited;
	if (!judged->unclear && lc_is_unclear(seat, option))
		judged->unclear = lc_format(c->arena, "of its %s %s", seat->library->name, option->told);
}

static struct judged_major judge_major(const struct choosing *c, int major)
{
	struct judged_major judged = { .major = major, .merits = { [EVERYBODY] = 1, [DRIVER] = 1 } };

	for (size_t s = 0; s < c->at->seat_count; s++) {
		const struct lc_seat *seat = &c->at->seats[s];
		int i = best_for(c, seat, major);

		if (i >= 0)
			weigh(c, seat, &seat->options[i], &judged);
		else if (best_for(c, seat, 0) >= 0)
			judged.merits[EVERYBODY] = 0;
	}
	return judged;
}

/* The first merit in which two majors differ; MERITS: none. */
static enum merit difference(const struct judged_major *one, const struct judged_major *other)
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
	enum merit merit = difference(found, higher);
	const char *why = merit == CLEAR ? higher->unclear : merit > DRIVER ? higher->unsuited : NULL;

	if (merit >= NEAR && merit < MERITS)
		return lc_format(c->arena, "CUDA %d lies nearer to the callers than CUDA %d",
				 found->major, higher->major);
	if (merit == OWN)
		return lc_format(c->arena, "LAZYCUDA_ORDER=own, and callers were compiled for CUDA %d",
				 found->major);
	return why ? lc_format(c->arena, "CUDA %d was passed over: %s", higher->major, why) : NULL;
}

/* The majors of CUDA that usable options may belong to. */
static uint32_t offered(const struct lc_circumstances *at)
{
	uint32_t set = 0;

	for (size_t s = 0; s < at->seat_count; s++)
		for (size_t i = 0; i < at->seats[s].option_count; i++)
			if (!at->seats[s].options[i].unusable)
				set |= lc_cuda_of(&at->seats[s], &at->seats[s].options[i]);
	return set;
}

/* The first major by its merits; 0: there is none.  Sets *why unless it is simply the highest. */
static int first_major(const struct choosing *c, const char **why)
{
	struct judged_major found = { .major = 0 }, higher = found, judged;
	const uint32_t set = offered(c->at);

	for (int major = LC_MAX_CUDA; major; major--) {
		enum merit merit;

		if (!(set >> major & 1) || !(judged = judge_major(c, major)).known)
			continue;
		merit = difference(&judged, &found);
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
static int major_of_seat(const struct choosing *c, const struct lc_seat *seat)
{
	int major = bound(c, seat), i;

	if (major)
		return major;
	if (best(c, seat, c->choice->common, false) >= 0)
		return c->choice->common;
	i = best(c, seat, 0, false);
	return i < 0 ? 0 : seat->options[i].major;
}

/*
 * Returns NULL if an option goes with the libraries of the other stubs, although its
 * major may differ from theirs.  Otherwise returns why not.
 */
static const char *clash(const struct choosing *c, const struct lc_option *option)
{
	const char *self = c->own->library->name;
	const int common = c->choice->common;
	const struct lc_seat *other;
	bool reads;
	int major;

	if (lc_goes_with(c->own, option, common) || !lc_is_guarded(c->at))
		return NULL;
	if (c->at->settings.guard == LC_STRICT)
		return lc_format(c->arena, "the process uses CUDA %d, and LAZYCUDA_GUARD=strict"
				 " mixes no majors", common);
	/* It would open other libraries of its CUDA by names that are the same in every CUDA. */
	if (c->own->library->own_majors && option->origin == LC_BY_SEARCH)
		return lc_format(c->arena, "the process uses CUDA %d; %s", common, option->told);
	reads = !strcmp(self, reader);
	other = reads ? seat_of(c, writer) : strcmp(self, writer) ? NULL : seat_of(c, reader);
	major = other ? major_of_seat(c, other) : 0;
	if (!major || (reads ? option->major >= major : option->major <= major))
		return NULL;
	return lc_format(c->arena, "%s %d would read what %s %d writes, and must not be older", reader,
			 reads ? option->major : major, writer, reads ? major : option->major);
}

/* Bars options of this origin that clash with the libraries of other stubs.  Returns the last
 * reason, or NULL. */
static const char *bar_clashes(const struct choosing *c, enum lc_origin origin)
{
	const char *last = NULL;

	for (size_t i = 0; i < c->own->option_count; i++) {
		const struct lc_option *option = &c->own->options[i];

		if (option->origin != origin || lc_objection(c->arena, c->at, c->own, option))
			continue;
		c->choice->reasons[i] = clash(c, option);
		if (c->choice->reasons[i])
			last = c->choice->reasons[i];
	}
	return last;
}

/* ---- the choice ---- */

/* The option without any objection that is passed over first: of the highest major, if that is
 * higher than that of the one that is taken, or one that comes before that; NULL: none. */
static const struct lc_option *first_passed(const struct choosing *c, const struct lc_option *taken)
{
	const struct lc_option *found = taken;

	for (size_t i = 0; i < c->own->option_count; i++) {
		const struct lc_option *option = &c->own->options[i];

		if ((option->major > found->major || (option->major == found->major && option < found)) &&
		    may_take(c, c->own, c->choice->common, option))
			found = option;
	}
	return found == taken ? NULL : found;
}

/* Why an option does not serve the callers as one that is taken; NULL: it does. */
static const char *why_worse(const struct choosing *c, const struct lc_option *option,
			     const struct lc_option *taken)
{
	const int major = c->choice->common;
	const char *older = older_text(c, c->own, major, option);

	if (serves(c, c->own, major, option) >= serves(c, c->own, major, taken))
		return NULL;
	return older && !older_text(c, c->own, major, taken) ? older : unsuited_text(c, option);
}

/* Returns why an option without any objection to it was passed over. */
static const char *why_passed_over(const struct choosing *c, const struct lc_option *option)
{
	const struct lc_option *taken = &c->own->options[c->choice->option];
	int cuda, other = lc_told_major(c->own, option);
	const char *why;

	if (c->choice->option < 0)
		return "was not considered";
	cuda = lc_told_major(c->own, taken);
	if (c->own->library->own_majors && cuda && other && other != cuda)
		return lc_format(c->arena, "CUDA %d was chosen; %s", cuda, option->told);
	why = option->major > taken->major || (option->major == taken->major && option < taken) ?
	      why_worse(c, option, taken) : NULL;
	if (why)
		return why;
	if (option->major == taken->major)
		return taken->major ? "another one of this major comes before it" :
				      "another one comes before it";
	return lc_format(c->arena, "%s %d was chosen", lc_major_word(c->own->library), taken->major);
}

/* Ends the choice: takes an option for this reason, or none if it is -1. */
static void take_option(const struct choosing *c, int option, enum lc_refusal refusal, const char *reason)
{
	const struct lc_seat *own = c->own;

	c->choice->option = option;
	c->choice->refusal = refusal;
	c->choice->reason = reason;
	if (option >= 0) {
		const struct lc_option *taken = &own->options[option];
		const char *const more[] = {
			taken->told, older_text(c, own, c->choice->common, taken),
			taken->origin == LC_BY_SEARCH ? lc_driver_objection(c->arena, c->at, own, taken) : NULL,
		};

		c->choice->objected = more[2];
		for (size_t i = 0; i < LC_COUNT(more); i++)
			if (more[i])
				c->choice->reason = lc_format(c->arena, "%s; %s", c->choice->reason, more[i]);
		c->choice->reasons[option] = c->choice->reason;
	}
	for (size_t i = 0; i < own->option_count; i++) {
		const char **why = &c->choice->reasons[i];

		/* Why an option was not allowed matters more than why it was not chosen. */
		if (!*why)
			*why = lc_objection(c->arena, c->at, own, &own->options[i]);
		if (!*why)
			*why = lc_driver_objection(c->arena, c->at, own, &own->options[i]);
		if (!*why)
			*why = why_passed_over(c, &own->options[i]);
	}
}

/* What prevents that anything is taken: the driver, with a strict guard, or a constraint. */
static enum lc_refusal refusal_of(const struct choosing *c)
{
	enum lc_refusal refusal = LC_MISSING;

	for (size_t i = 0; i < c->own->option_count; i++) {
		const struct lc_option *option = &c->own->options[i];

		if (option->unusable)
			continue;
		if (lc_why_excluded(c->arena, c->at, c->own, option))
			refusal = LC_EXCLUDED;
		else if (lc_goes_with(c->own, option, c->at->settings.major) &&
			 lc_driver_objection(c->arena, c->at, c->own, option))
			return LC_DRIVER;
	}
	return refusal;
}

/* Chooses among the options of other majors when none of the common major is allowed. */
static void choose_mixed(const struct choosing *c)
{
	const char *clashes = bar_clashes(c, LC_BY_SEARCH);
	int found = best(c, c->own, 0, false);

	if (found >= 0)
		take_option(c, found, LC_NONE, lc_format(c->arena, "the process uses CUDA %d, for which there is"
			    " none; this one can be used beside it", c->choice->common));
	else
		take_option(c, -1, clashes ? LC_INCOHERENT : refusal_of(c), clashes);
}

/* Why the best option of the common major is taken; `why`: see first_major(). */
static const char *why_best(const struct choosing *c, int option, const char *why)
{
	const struct lc_option *taken = &c->own->options[option];
	const struct lc_option *passed = why ? NULL : first_passed(c, taken);
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
	       "the highest major that all stubs with a library have, and that the driver runs" :
	       "the highest major that all stubs with a library have";
}

static void choose(const struct choosing *c)
{
	const char *why = NULL;
	int option = named(c->own);

	/* A bad LAZYCUDA_CUDART or the like is an error, never a reason to search. */
	if (option >= 0 && c->own->options[option].unusable) {
		take_option(c, -1, LC_MISSING, c->own->options[option].unusable);
		return;
	}
	if (option >= 0) {
		take_option(c, option, LC_NONE, "named by the environment");
		return;
	}
	if (lc_is_guarded(c->at) && !(c->choice->common = c->at->process_major) &&
	    !(c->choice->common = bound_major(c)))
		c->choice->common = first_major(c, &why);

	/* A library that is in the process comes before any other file. */
	bar_clashes(c, LC_BY_PROCESS);
	option = best(c, c->own, c->choice->common, true);
	if (option < 0)
		option = best(c, c->own, 0, true);
	if (option >= 0) {
		take_option(c, option, LC_NONE, "already loaded in this process");
		return;
	}
	option = best(c, c->own, c->choice->common, false);
	if (option < 0)
		choose_mixed(c);
	else
		take_option(c, option, LC_NONE, why_best(c, option, why));
}

/* Returns false if memory ran out. */
static bool begin_choosing(struct choosing *c, struct lc_arena *arena, const struct lc_circumstances *at,
			   struct lc_choice *choice)
{
	*choice = (struct lc_choice){ .option = -1, .refusal = LC_MISSING };
	*c = (struct choosing){ arena, at, &at->seats[at->self], choice };
	choice->reasons = lc_alloc(arena, c->own->option_count * sizeof(*choice->reasons));
	return choice->reasons;
}

struct lc_choice lc_choose(struct lc_arena *arena, const struct lc_circumstances *at)
{
	struct lc_choice choice;
	struct choosing choosing;

	if (begin_choosing(&choosing, arena, at, &choice))
		choose(&choosing);
	return choice;
}

/* ---- whether farther places matter ---- */

/* Returns true if a file that is named or in the process is taken, whatever lies in folders. */
static bool stands_alone(const struct choosing *c, const struct lc_option *taken, int common)
{
	if (taken->private)
		return false;
	/* Its own major is the process's: then no file of another stub has a say in it. */
	return taken->origin == LC_BY_OVERRIDE || !lc_is_coordinated(c->own->library) || !lc_is_guarded(c->at) ||
	       (lc_told_major(c->own, taken) == common && !lc_choice_needs_driver(c->at, false));
}

/* Returns true if files of other majors that lie farther are none that the order prefers.  `fixed`: the
 * process's major is, whatever is found. */
static bool order_ends(const struct choosing *c, const struct lc_option *taken, int common, bool fixed)
{
	const enum lc_order order = c->at->settings.order;

	if (order == LC_NEAR || (fixed && !c->own->library->own_majors))
		return true;
	for (size_t s = 0; order == LC_OWN && s < c->at->seat_count; s++) {
		const struct lc_seat *seat = &c->at->seats[s];
		const int major = seat == c->own ? taken->major : common;

		if ((seat == c->own || !seat->library->own_majors) && seat->callers != 1u << major)
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
static bool is_seat_served(const struct choosing *c, const struct lc_seat *seat, int common)
{
	int i = seat->loaded ? -1 : best_for(c, seat, common);

	return seat->loaded || (i >= 0 && standing(c, seat, common, &seat->options[i]) == STANDING);
}

bool lc_choice_stands(struct lc_arena *arena, const struct lc_circumstances *at,
		      const struct lc_choice *choice, enum lc_tier end)
{
	const int common = choice->common;
	const struct lc_option *taken;
	struct lc_choice none;
	struct judged_major judged;
	struct choosing c;
	bool fixed, alone;

	if (choice->option < 0 || !begin_choosing(&c, arena, at, &none))
		return false;
	taken = &c.own->options[choice->option];
	if (taken->origin != LC_BY_SEARCH)
		return end || stands_alone(&c, taken, common);
	if (!lc_has_majors(c.own->library))
		return true;	/* of the driver's libraries the first file is taken */
	fixed = at->settings.major || (common && (at->process_major || bound_major(&c)));
	alone = fixed || !common;
	if (!order_ends(&c, taken, common, fixed))
		return false;
	for (size_t s = 0; s < at->seat_count; s++)
		if ((!alone || &at->seats[s] == c.own || !strcmp(c.own->library->name, reader)) &&
		    !is_seat_served(&c, &at->seats[s], common))
			return false;
	judged = judge_major(&c, common);
	for (int major = LC_MAX_CUDA; major && !alone; major--) {
		struct judged_major other = { .major = 0 };

		if (offered(at) >> major & 1)
			other = judge_major(&c, major);
		if (is_nearer(&other, &judged, end))
			return false;
	}
	return !arena->failed;
}
