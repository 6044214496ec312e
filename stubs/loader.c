/* SPDX-License-Identifier: MIT */
/* loader.c - when the real library is loaded, and what the slots lead to */
#include "loader.h"

#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "driver.h"
#include "errors.h"
#include "glibc.h"
#include "search.h"

enum phase { FIRST, NONE, FILLING, LOADED };

/* A status and all that it points to. */
struct published {
	struct lazycuda_status status;
	struct lc_arena arena;
	const struct published *older;	/* kept: somebody may be reading it */
};

static struct {
	_Atomic int phase;
	_Atomic int refusal;		/* in NONE: why */
	_Atomic unsigned long long loads;	/* in NONE: lc_process_loads() then */
	_Atomic(const struct published *) published;
	const uint8_t *_Atomic outcomes;	/* from FILLING on: an lc_refusal for each slot */
	const lc_function *functions;	/* likewise: what each slot is to lead to */
	pthread_t filler;		/* in FILLING: who fills */
	pthread_mutex_t lock;
	_Atomic bool fork_handled, exit_handled, exiting;
	_Atomic int driver, branch;	/* -1: not looked at */
} state = { .lock = PTHREAD_MUTEX_INITIALIZER, .driver = -1, .branch = -1 };

/* A tenth of a millisecond, for the few waits that have no event to wait for. */
static void nap(void)
{
	const struct timespec moment = { .tv_nsec = 100 * 1000 };

	nanosleep(&moment, NULL);
}

#define NAPS_A_SECOND 10000

/*
 * A child of fork() has one thread, and what another thread of the parent was
 * in the middle of is never finished there.  For our own state that is harmless:
 * what the lock guards is whole at every moment, and the child takes the lock
 * anew.  But a thread inside ld.so may hold a lock of ld.so's that glibc does
 * not free in the child, where the next search would hang.  So fork() waits
 * until no thread is there on our behalf, and searches wait for fork(): both
 * for a moment, since foreign constructors might be waiting for each other.
 */
static _Atomic int searching, forking;
static __thread int own_searches __attribute__((tls_model("initial-exec")));

static void before_fork(void)
{
	atomic_store(&forking, 1);
	for (int i = 0; i < NAPS_A_SECOND && atomic_load(&searching) > own_searches; i++)
		nap();
}

static void in_parent(void)
{
	atomic_store(&forking, 0);
}

static void in_child(void)
{
	state.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	if (state.phase == FILLING && !pthread_equal(state.filler, pthread_self()))
		state.phase = FIRST;
	atomic_store(&searching, own_searches);
	atomic_store(&forking, 0);
}

static void handle_fork(void)
{
	if (!atomic_load(&state.fork_handled) && !atomic_exchange(&state.fork_handled, true))
		pthread_atfork(before_fork, in_parent, in_child);
}

static void enter_search(void)
{
	handle_fork();
	for (int i = 0; ; i++) {
		atomic_fetch_add(&searching, 1);
		if (!atomic_load(&forking) || i == NAPS_A_SECOND)
			break;
		atomic_fetch_sub(&searching, 1);
		nap();
	}
	own_searches++;
}

static void leave_search(void)
{
	own_searches--;
	atomic_fetch_sub(&searching, 1);
}

void lc_lock(void)
{
	handle_fork();
	pthread_mutex_lock(&state.lock);
}

void lc_unlock(void)
{
	pthread_mutex_unlock(&state.lock);
}

bool lc_is_loaded(void)
{
	return atomic_load_explicit(&state.phase, memory_order_acquire) == LOADED;
}

/*
 * The real library is loaded after the caller's static constructors ran, so
 * its exit handlers run before the handlers that those registered, in which
 * nvcc's code unregisters its kernels.  This handler, registered right after
 * the library's own, runs just before them.
 */
static void at_exit(void)
{
	atomic_store(&state.exiting, true);
}

bool lc_is_exiting(void)
{
	return atomic_load(&state.exiting);
}

/* --- one search: everything up to publication, without the lock --- */

struct attempt {
	struct lc_arena arena;
	struct lc_search search;
	unsigned long long loads;
	struct lc_choice choice;
	void *handle;
	lc_version version;
	const struct lc_major *major;
	lc_function *functions;
	uint8_t *outcomes;
	struct published *published;
};

static int cached(_Atomic int *value, int (*look)(void))
{
	int known = atomic_load(value);

	if (known < 0) {
		known = look();
		atomic_store(value, known);
	}
	return known;
}

static const struct lc_major *major_of(int number)
{
	for (size_t i = 0; i < lc_library.major_count; i++)
		if (lc_library.majors[i].major == number)
			return &lc_library.majors[i];
	return NULL;
}

static lc_function find(const char *name, void *data)
{
	struct attempt *attempt = data;
	lc_function function;
	void *address = lc_has_majors(&lc_library) ?
		dlvsym(attempt->handle, name, attempt->major->soname) :
		dlsym(attempt->handle, name);

	memcpy(&function, &address, sizeof(function));
	return function;
}

/* What the library says, else what its exports prove, else the major's oldest.  One
 * without majors has to say it: NVIDIA's stand-ins for linking cannot. */
static lc_version version_of(struct attempt *attempt)
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

static struct lc_option *option_of(struct attempt *attempt)
{
	return &attempt->search.seats[attempt->search.at.self].options[attempt->choice.option];
}

static const struct lc_file *file_of(struct attempt *attempt)
{
	return &attempt->search.files[attempt->search.at.self][attempt->choice.option];
}

/* Loads what was chosen; else the option is marked unusable, with the reason. */
static bool open_choice(struct attempt *attempt)
{
	struct lc_option *option = option_of(attempt);
	const char *path = file_of(attempt)->path;
	int flags = RTLD_NOW | RTLD_LOCAL;

	if (option->origin == LC_BY_PROCESS)
		flags |= RTLD_NOLOAD;
	attempt->handle = dlopen(path, flags);
	if (!attempt->handle) {
		const char *error = dlerror();

		option->reason = lc_format(&attempt->arena, "cannot be loaded: %s",
			lc_printable(&attempt->arena, error ? error : "it has just been unloaded"));
		option->unusable = true;
		lc_trace("%s %s", path, option->reason);
		return false;
	}
	attempt->major = major_of(option->major);
	attempt->version = option->version = version_of(attempt);
	if (attempt->version)
		return true;
	option->reason = "is a stand-in for linking: its functions do nothing";
	option->unusable = true;
	lc_trace("%s %s", path, option->reason);
	dlclose(attempt->handle);
	attempt->handle = NULL;
	return false;
}

/*
 * Agrees on a major with the other stubs.  Returns false if another one was
 * agreed on since the search read it; then the choice is to be made again.
 */
static bool agree(struct attempt *attempt)
{
	struct lc_circumstances *at = &attempt->search.at;
	uint32_t agreed = 0;

	if (at->settings.guard == LC_OFF || at->process_major || at->without_majors)
		return true;
	if (atomic_compare_exchange_strong(&attempt->search.first->process_major, &agreed,
					   (uint32_t)option_of(attempt)->major) ||
	    (int)agreed == option_of(attempt)->major)
		return true;
	at->process_major = (int)agreed;
	return false;
}

/* Chooses and loads, until something is loaded or nothing is left. */
static void choose(struct attempt *attempt, bool process_only)
{
	struct lc_circumstances *at = &attempt->search.at;
	bool resorted = process_only;

	for (;;) {
		if (lc_choice_needs_driver(at))
			at->driver = cached(&state.driver, lc_driver_version);
		if (lc_choice_needs_branch(at))
			at->branch = cached(&state.branch, lc_driver_branch);
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
			dlclose(attempt->handle);
			attempt->handle = NULL;
		}
	}
}

/* Loads what the library would look for beside itself, and not find. */
static void open_companion(struct attempt *attempt)
{
	const char *path = file_of(attempt)->path, *slash = strrchr(path, '/');
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
	if (!access(name, R_OK) && dlopen(name, RTLD_LAZY | RTLD_LOCAL))
		lc_trace("%s: loaded beside it", name);
}

/* The function that a slot leads to in this version, or NULL and why. */
static lc_function resolve_slot(struct attempt *attempt, const struct lc_slot *slot, uint8_t *why)
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
static void adapt(struct attempt *attempt)
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

static void resolve(struct attempt *attempt)
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

/* --- what is told --- */

static const char *version_text(struct lc_arena *arena, lc_version version, int major)
{
	if (version)
		return lc_format(arena, "%d.%d", LC_MAJOR(version), LC_MINOR(version));
	return major ? lc_format(arena, "%d", major) : NULL;
}

static void describe_candidates(struct attempt *attempt, struct lazycuda_status *status)
{
	const struct lc_seat *seat = &attempt->search.seats[attempt->search.at.self];
	struct lazycuda_candidate *list =
		lc_alloc(&attempt->arena, (seat->option_count + 1) * sizeof(*list));

	if (!list)
		return;
	for (size_t i = 0; i < seat->option_count; i++) {
		const struct lc_file *file = &attempt->search.files[attempt->search.at.self][i];

		list[i] = (struct lazycuda_candidate){
			.path = file->path,
			.version = version_text(&attempt->arena, seat->options[i].version,
						seat->options[i].major),
			.found_by = file->found_by,
			.reason = seat->options[i].reason,
			.taken = (int)i == attempt->choice.option,
		};
		lc_trace("%s %s: %s", list[i].taken ? "took" : "passed over", list[i].path,
			 list[i].reason);
	}
	status->candidates = list;
	status->candidate_count = seat->option_count;
}

/* "libcudart.so.13, libcudart.so.12 or libcudart.so.11.0" */
static const char *wanted(struct lc_arena *arena)
{
	const char *text = "";

	for (size_t i = 0; i < lc_library.major_count; i++)
		text = lc_format(arena, "%s%s%s", text,
				 i == 0 ? "" : i + 1 == lc_library.major_count ? " or " : ", ",
				 lc_library.majors[i].soname);
	return text;
}

/* Each candidate with why it was not taken, for a message. */
static const char *tried(struct attempt *attempt, const struct lazycuda_status *status)
{
	const char *text = "";

	for (size_t i = 0; i < status->candidate_count; i++)
		text = lc_format(&attempt->arena, "%s%s%s %s%s", text, i ? "; " : "",
				 lc_printable(&attempt->arena, status->candidates[i].path),
				 status->candidates[i].reason,
				 i + 1 == status->candidate_count ? ". " : "");
	return text;
}

static void describe_failure(struct attempt *attempt, struct lazycuda_status *status)
{
	const struct lc_search *search = &attempt->search;
	struct lc_arena *arena = &attempt->arena;
	bool named = lc_variable(lc_library.variable) != NULL;

	status->cause = (enum lazycuda_cause)attempt->choice.refusal;
	if (search->at.settings.wrong) {
		status->state = LAZYCUDA_BROKEN;
		status->reason = search->at.settings.wrong;
	} else if (named) {
		status->state = LAZYCUDA_BROKEN;
		status->reason = lc_format(arena, "%sCorrect %s or unset it.",
					   tried(attempt, status), lc_library.variable);
	} else if (attempt->choice.refusal == LC_DRIVER) {
		status->state = LAZYCUDA_REFUSED;
		status->reason = lc_format(arena, "the installed driver cannot run what was found: %s"
			"Update the driver, or install a CUDA library that it can run."
			" LAZYCUDA_GUARD=off ignores the driver.", tried(attempt, status));
	} else if (attempt->choice.refusal == LC_INCOHERENT) {
		status->state = LAZYCUDA_REFUSED;
		status->reason = lc_format(arena, "what was found does not go with the CUDA that this"
			" process uses: %s%s LAZYCUDA_MAJOR pins one major for all;"
			" LAZYCUDA_GUARD=off mixes them.", tried(attempt, status), lc_specifics.advice);
	} else {
		status->state = status->candidate_count ? LAZYCUDA_BROKEN : LAZYCUDA_MISSING;
		status->reason = lc_format(arena, "no usable %s was found. %s%s%s%s%s Or name a file:"
			" %s=/path/to/%s. LAZYCUDA_DEBUG=1 shows the search.",
			wanted(arena), tried(attempt, status),
			search->looked[0] ? "Looked in " : "", search->looked,
			search->looked[0] ? ". " : "", lc_specifics.advice,
			lc_library.variable, lc_library.majors[0].soname);
	}
}

static void describe(struct attempt *attempt)
{
	struct lc_arena *arena = &attempt->arena;
	struct published *published = lc_alloc(arena, sizeof(*published));
	struct lazycuda_status *status = published ? &published->status : NULL;

	if (!status)
		return;
	attempt->published = published;
	status->size = sizeof(*status);
	status->library = lc_library.name;
	describe_candidates(attempt, status);
	if (!attempt->handle) {
		describe_failure(attempt, status);
		lc_trace("%s", status->reason);
		return;
	}
	status->state = LAZYCUDA_USABLE;
	status->major = LC_MAJOR(attempt->version);
	status->minor = LC_MINOR(attempt->version);
	status->version = version_text(arena, attempt->version, 0);
	status->path = file_of(attempt)->path;
	status->found_by = file_of(attempt)->found_by;
	status->reason = attempt->choice.reason;
	lc_trace("using %s, CUDA %s: %s", status->path, status->version, status->reason);
}

/* --- publication, with the lock --- */

/* The end of the part of this object that ld.so made read-only. */
static uintptr_t relro_end(void)
{
	extern const char __ehdr_start[] LC_HIDDEN;	/* the linker's: our own image */
	const char *base = __ehdr_start;
	const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)base;
	const ElfW(Phdr) *phdrs = (const ElfW(Phdr) *)(base + header->e_phoff);

	for (size_t i = 0; i < header->e_phnum; i++)
		if (phdrs[i].p_type == PT_GNU_RELRO)
			return (uintptr_t)base + phdrs[i].p_vaddr + phdrs[i].p_memsz;
	return 0;
}

/*
 * Writes the slots.  They lie in RELRO, whose pages become writable for the
 * moment.  With pages larger than the linker thought of, the last page of RELRO
 * is shared with other data and stays writable, as ld.so had left it.
 */
static bool fill_slots(const lc_function *functions)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t start = (uintptr_t)lc_slot_table;
	uintptr_t end = start + lc_library.slot_count * sizeof(lc_function);

	start &= ~(page - 1);
	end = (end + page - 1) & ~(page - 1);
	if (mprotect((void *)start, end - start, PROT_READ | PROT_WRITE))
		return false;
	for (size_t i = 0; i < lc_library.slot_count; i++)
		if (functions[i])
			__atomic_store_n(&lc_slot_table[i], functions[i], __ATOMIC_RELEASE);
	if (end > relro_end())
		end = relro_end() & ~(page - 1);
	if (end > start)
		mprotect((void *)start, end - start, PROT_READ);
	return true;
}

static void publish_status(struct attempt *attempt)
{
	attempt->published->arena = attempt->arena;
	attempt->published->older = atomic_load(&state.published);
	atomic_store(&state.published, attempt->published);
}

/* With the lock held: slots to real functions, once everything else is there. */
static void finish_filling(void)
{
	if (state.phase != FILLING)
		return;
	if (fill_slots(state.functions))
		atomic_store_explicit(&state.phase, LOADED, memory_order_release);
	else
		atomic_store(&state.phase, FIRST);	/* no memory; the next call tries again */
}

static void publish_loaded(struct attempt *attempt)
{
	if (!atomic_exchange(&state.exit_handled, true))
		atexit(at_exit);
	lc_lock();
	if (state.phase == FILLING || state.phase == LOADED) {
		lc_unlock();	/* another thread was first */
		dlclose(attempt->handle);
		lc_arena_free(&attempt->arena);
		return;
	}
	state.filler = pthread_self();
	state.functions = attempt->functions;
	atomic_store(&state.outcomes, attempt->outcomes);
	publish_status(attempt);
	atomic_store(&state.phase, FILLING);
	atomic_store(&lc_self.loaded, attempt->version);
	while (lc_specifics.replay_pending && lc_specifics.replay_pending()) {
		lc_unlock();
		lc_specifics.replay_next(state.functions, state.outcomes);
		lc_lock();
	}
	finish_filling();
	lc_unlock();
}

static void publish_none(struct attempt *attempt, bool retry)
{
	lc_lock();
	if (state.phase == FILLING || state.phase == LOADED || (retry && state.phase == NONE)) {
		/* A retry that found nothing has nothing new to say. */
		atomic_store(&state.loads, attempt->loads);
		lc_unlock();
		lc_arena_free(&attempt->arena);
		return;
	}
	atomic_store(&state.refusal, (int)attempt->choice.refusal);
	atomic_store(&state.loads, attempt->loads);
	publish_status(attempt);
	atomic_store_explicit(&state.phase, NONE, memory_order_release);
	lc_unlock();
}

/* Returns why the library is not to be had for this call, or LC_NONE. */
static enum lc_refusal attempt_load(bool retry)
{
	struct attempt attempt = { .version = 0 };
	enum lc_refusal refusal;

	enter_search();
	attempt.loads = lc_process_loads();
	lc_search_run(&attempt.arena, &attempt.search, retry);
	if (attempt.search.at.settings.wrong)
		attempt.choice = (struct lc_choice){ .option = -1, .refusal = LC_MISSING };
	else
		choose(&attempt, retry);
	if (attempt.handle) {
		open_companion(&attempt);
		resolve(&attempt);
	}
	leave_search();
	describe(&attempt);
	refusal = attempt.handle ? LC_NONE : attempt.choice.refusal;
	if (attempt.arena.failed) {
		/* Nothing is remembered: the next call tries again. */
		if (attempt.handle)
			dlclose(attempt.handle);
		lc_arena_free(&attempt.arena);
		return LC_MISSING;
	}
	if (attempt.handle)
		publish_loaded(&attempt);
	else
		publish_none(&attempt, retry);
	return refusal;
}

/*
 * Another thread is replaying recorded calls.  They take microseconds; but they
 * are foreign code, which might wait for a lock that this thread's caller holds
 * (ld.so's, in a constructor).  So the wait ends after a second, and this
 * thread goes ahead with what is there.
 */
static void wait_for_filler(void)
{
	for (int i = 0; i < NAPS_A_SECOND && atomic_load(&state.phase) == FILLING; i++) {
		if (pthread_equal(state.filler, pthread_self()))
			break;	/* called back from a replayed call */
		nap();
	}
	lc_lock();
	finish_filling();
	lc_unlock();
}

/* Whether the process has loaded anything since the last search. */
static bool loaded_something(void)
{
	unsigned long long loads;

	enter_search();
	loads = lc_process_loads();
	leave_search();
	return loads != atomic_load(&state.loads);
}

/* LC_NONE once the library is loaded. */
static enum lc_refusal ensure(void)
{
	for (;;) {
		enum lc_refusal refusal;

		switch (atomic_load_explicit(&state.phase, memory_order_acquire)) {
		case LOADED:
			return LC_NONE;
		case FILLING:
			wait_for_filler();
			continue;
		case NONE:
			if (!loaded_something())
				return (enum lc_refusal)atomic_load(&state.refusal);
			refusal = attempt_load(true);
			break;
		default:
			refusal = attempt_load(false);
		}
		if (refusal != LC_NONE && atomic_load(&state.phase) != LOADED)
			return refusal;
	}
}

int32_t lc_slow(unsigned slot)
{
	enum lc_refusal refusal = ensure();

	if (refusal == LC_NONE)
		refusal = (enum lc_refusal)atomic_load(&state.outcomes)[slot];
	return refusal == LC_NONE ? 0 : lc_refuse(slot, refusal);
}

bool lc_load(void)
{
	return ensure() == LC_NONE;
}

bool lc_reaches(unsigned slot)
{
	return lc_load() && atomic_load(&state.outcomes)[slot] == LC_NONE;
}

const struct lazycuda_status *lc_status(void)
{
	const struct published *published = atomic_load(&state.published);

	return published ? &published->status : &lc_specifics.unknown;
}

struct lazycuda_driver lc_driver(void)
{
	struct lazycuda_driver driver = { .size = sizeof(driver) };

	driver.version = cached(&state.driver, lc_driver_version);
	if (driver.version)
		driver.branch = cached(&state.branch, lc_driver_branch);
	return driver;
}
