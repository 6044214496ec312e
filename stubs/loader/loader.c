/* SPDX-License-Identifier: MIT */
/* loader.c - when the real library is loaded, and what the slots lead to */
#include "loader.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "aside.h"
#include "attempt.h"
#include "dl.h"
#include "of_thread.h"
#include "peers.h"
#include "report.h"
#include "settings.h"
#include "specifics.h"
#include "stack.h"
#include "variables.h"
#include "../base/auxiliary.h"
#include "../base/glibc.h"
#include "../base/objects.h"

enum phase { FIRST, NONE, FILLING, UNWRITTEN, LOADED };

/* A status, in the arena of all that it points to. */
struct published {
	struct lazycuda_status status;
	bool nothing;			/* see lc_found_nothing() */
	struct lc_arena older;	/* never freed: another thread may be reading it */
};

static struct {
	_Atomic int phase;
	_Atomic int refusal;		/* in NONE: why */
	_Atomic(const struct published *) published;
	struct lc_arena arena;	/* what it lies in; leak checkers want the start of a block */
	const uint8_t *_Atomic outcomes;	/* from FILLING on: an lc_refusal for each slot */
	const lc_function *functions;	/* from FILLING on: the function for each slot */
	lc_function *endings;	/* those for the time when exit() shuts the library down; or NULL */
	struct lc_work filler;		/* in FILLING: the thread that fills */
	_Atomic int waiting;		/* threads that wait for it */
	_Atomic bool watched, exit_handled, over, ending;
} state;

bool lc_is_loaded(void)
{
	return atomic_load_explicit(&state.phase, memory_order_acquire) == LOADED;
}

lc_function lc_function_of(unsigned slot)
{
	if (atomic_load_explicit(&state.phase, memory_order_acquire) < FILLING)
		return NULL;
	return state.functions[slot];
}

const struct lc_work *lc_filler(void)
{
	return &state.filler;
}

bool lc_is_in_process(void)
{
	bool is;

	lc_enter();
	is = lc_process_has(&lc_library, lc_self.aside);
	lc_leave();
	return is;
}

bool lc_is_ending(void)
{
	return atomic_load(&state.ending);
}

/* --- missing, later present --- */

/*
 * glibc counts the objects that it loads, and reports the count under a lock of
 * its own.  Failing calls must not queue for that lock, even if there are thousands
 * of them.  So they ask a limited number of times in each tick of the coarse clock,
 * and among all stubs only one thread at a time asks; other calls use the last
 * answer.  A program that makes a few calls, loads the real library and calls again
 * is served at once.  During a storm of failing calls it may have to wait for the
 * next tick.
 */
#define LOOKS_A_TICK 32
#define A_SECOND 1000000000ull

static struct {
	_Atomic unsigned long long searched;	/* lc_process_loads() before the last search */
	_Atomic unsigned long long seen;	/* lc_process_loads() at the last look */
	_Atomic unsigned named;			/* named_now() before the last search */
	_Atomic bool broken;			/* that search found what dlopen() refused */
	_Atomic unsigned long long tick;	/* of the last look, or of the last search */
	_Atomic int count;			/* looks in that tick */
	_Atomic unsigned long long began;	/* when what the last search took was begun */
	_Atomic size_t users;			/* how many users of stubs it saw */
	_Atomic unsigned long long removed;	/* lc_process_loads() then */
	_Atomic bool rested;			/* a second went by without a look, or the program asks */
	_Atomic(_Atomic uint32_t *) looking;	/* in the first stub's record, once known */
} looks;

static _Atomic uint32_t *who_looks(void)
{
	_Atomic uint32_t *shared = atomic_load(&looks.looking);

	return shared ? shared : &lc_self.looking;
}

/* Returns the current tick, which lasts some milliseconds.  Costs no system call. */
static unsigned long long this_tick(void)
{
	struct timespec now;

	if (clock_gettime(CLOCK_MONOTONIC_COARSE, &now))
		return atomic_load(&looks.tick) + 1;	/* no clock: every call looks */
	return (unsigned long long)now.tv_sec * A_SECOND + (unsigned long long)now.tv_nsec;
}

/* Kept out of line, so that the failing path saves no registers for it. */
static __attribute__((noinline)) void look_in(unsigned long long tick)
{
	_Atomic uint32_t *busy = who_looks();
	unsigned long long loads;

	if (atomic_load(busy) || atomic_exchange(busy, 1))
		return;
	if (lc_try_enter()) {
		if (tick > atomic_load(&looks.tick)) {
			if (tick - atomic_load(&looks.tick) >= A_SECOND)
				atomic_store(&looks.rested, true);
			atomic_store(&looks.tick, tick);
			atomic_store(&looks.count, 0);
		}
		atomic_fetch_add(&looks.count, 1);
		loads = lc_process_loads().added;
		if (loads > atomic_load(&looks.seen))
			atomic_store(&looks.seen, loads);
		lc_leave();
	}
	atomic_store(busy, 0);
}

static inline __attribute__((always_inline)) void look_if_due(void)
{
	unsigned long long tick = this_tick();

	if (__builtin_expect(tick > atomic_load(&looks.tick) ||
			     atomic_load(&looks.count) < LOOKS_A_TICK, 0))
		look_in(tick);
}

/* Returns a hash of the path that the environment names, to detect a change; 0: none. */
static unsigned named_now(void)
{
	const char *path = lc_variable(lc_library.variable);
	unsigned hash = 0;

	for (; path && *path; path++)
		hash = (hash ^ (unsigned char)*path) * 16777619 + 1;
	return hash;
}

/* Returns true if the process is known to have loaded anything since the last search. */
static bool loaded_something(void)
{
	return atomic_load(&looks.seen) > atomic_load(&looks.searched);
}

/* Returns true if another search may find the library that was missing.  Inline, as ensure_loaded() is. */
static inline __attribute__((always_inline)) bool is_worth_a_try(bool asked)
{
	if (asked) {
		atomic_store(&looks.rested, true);
		return true;
	}
	look_if_due();
	return __builtin_expect(loaded_something() || atomic_load(&looks.rested), 0) &&
	       lc_may_try();
}

/* --- signals wait while a thread loads a library --- */

/*
 * A handler that came in the middle might call the stub, leave by longjmp() or fork(), where
 * malloc() or dlopen() is half done.  These signals do not wait: what the thread itself causes,
 * such as SIGSEGV; the two that libc keeps for itself; and those by which a garbage collector stops
 * threads, since it may serve malloc() and hold its lock until they have stopped.
 */
#define SIGNAL(number) (1ull << ((number) - 1))
#define HELD (~(SIGNAL(SIGSEGV) | SIGNAL(SIGBUS) | SIGNAL(SIGFPE) | SIGNAL(SIGILL) | SIGNAL(SIGTRAP) | \
		SIGNAL(SIGSYS) | SIGNAL(SIGABRT) | SIGNAL(32) | SIGNAL(33) | SIGNAL(SIGPWR) | \
		SIGNAL(SIGXCPU)))
#define NOT_HELD UINT64_MAX	/* the kernel leaves SIGKILL out of any mask */

/* Returns what lc_release_signals() takes. */
static uint64_t hold_signals(void)
{
	const uint64_t held = HELD;
	uint64_t before = NOT_HELD;

	syscall(SYS_rt_sigprocmask, SIG_BLOCK, &held, &before, sizeof(before));
	return before;
}

void lc_release_signals(uint64_t before)
{
	if (before != NOT_HELD)
		syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
}

/* Whatever was caught before: foreign code may have set handlers. */
void lc_hold_signals_again(uint64_t *before)
{
	const uint64_t now = hold_signals();

	if (*before == NOT_HELD)
		*before = now;
}

/* The signals that the program has handlers for; all, if the kernel does not tell. */
static uint64_t caught_signals(void)
{
	char buffer[LC_OWN_PATH], text[4096];
	const int fd = LC_AGAIN(open(lc_own_file(buffer, "status"), O_RDONLY | O_CLOEXEC));
	const ssize_t size = fd < 0 ? 0 : LC_AGAIN(read(fd, text, sizeof(text) - 1));
	const char *digit = size > 0 ? (text[size] = 0, strstr(text, "\nSigCgt:\t")) : NULL;
	uint64_t caught = 0;

	if (fd >= 0)
		close(fd);
	if (!digit)
		return UINT64_MAX;
	for (digit += strlen("\nSigCgt:\t"); *digit && *digit != '\n'; digit++)
		caught = caught << 4 | (uint64_t)(*digit <= '9' ? *digit - '0' : *digit - 'a' + 10);
	return caught;
}

/*
 * Lets those signals through that no handler waits for.  They end a process that is stuck in a
 * constructor or on a network's disk; and threads that a constructor starts keep this mask for life.
 * Returns what lc_release_signals() takes then.
 */
static uint64_t hold_caught_signals(uint64_t before)
{
	uint64_t held;

	if (before == NOT_HELD)
		return before;
	held = before | (HELD & caught_signals());
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &held, NULL, sizeof(held));
	return held == before ? NOT_HELD : before;
}

/* --- publication, with the lock --- */

/* Returns the end of this object's RELRO segment. */
static uintptr_t relro_end(void)
{
	extern const char __ehdr_start[] LC_HIDDEN;	/* by the linker: this object's image */
	const char *base = __ehdr_start;
	const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)base;
	const ElfW(Phdr) *phdrs = (const ElfW(Phdr) *)(base + header->e_phoff);

	for (size_t i = 0; i < header->e_phnum; i++)
		if (phdrs[i].p_type == PT_GNU_RELRO)
			return (uintptr_t)base + phdrs[i].p_vaddr + phdrs[i].p_memsz;
	return 0;
}

/*
 * Writes the slots.  They are in RELRO, whose pages are made writable for a moment.
 * If pages are larger than the linker assumed, the last page of RELRO is shared
 * with other data and stays writable, as ld.so left it.
 */
static bool fill_slots(const lc_function *functions)
{
	uintptr_t page = lc_auxval(AT_PAGESZ);
	uintptr_t start = (uintptr_t)lc_slot_table;
	uintptr_t end = start + lc_library.slot_count * sizeof(lc_function);

	lc_locked();
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

/*
 * Other threads may be inside the library, which is about to run its destructors.  Most calls are
 * short, so a millisecond lets them return; later ones are not forwarded.  Where several stubs
 * end, only the first waits: a thread that is longer in its library would meet it destroyed.
 */
static void await_others(void)
{
	struct stat st;

	/* A folder has a link for itself, one for its name, and one for each folder in it. */
	if (stat("/proc/self/task", &st) || st.st_nlink <= 3)
		return;
	for (int i = 0; i < LC_NAPS_A_SECOND / 1000; i++)
		lc_nap();
}

/*
 * The real library is loaded after the caller's static constructors ran, so its
 * exit handlers run before the handlers that those constructors registered: the
 * destructors of static objects, which call the library after it was destroyed.
 * This handler is registered right after the library's own, and so runs just before them.
 */
static void at_exit(void)
{
	lc_enter();
	lc_lock();
	atomic_store(&state.ending, true);
	if (state.phase == LOADED)
		fill_slots(state.endings);
	lc_unlock();
	lc_leave();
	if (atomic_exchange(who_looks(), LC_LOOKS_END) != LC_LOOKS_END)
		await_others();
	if (lc_specifics.await_lasting)
		lc_specifics.await_lasting();
}

/* Registered before the library is opened.  If exit() gets here before the library is published,
 * another thread was opening it, and its handlers may have run already. */
static void after_exit(void)
{
	atomic_store(&state.over, true);
}

/* Stands in for every function that gives something back. */
static uint64_t release_nothing(void)
{
	return (uint32_t)lc_library.released;
}

/* Notes, before the slots are filled, what they will lead to at the end: a slow function where
 * one is now, or release_nothing(). */
static void note_endings(void)
{
	lc_locked();
	if (!state.endings)
		return;
	for (size_t i = 0; i < lc_library.slot_count; i++)
		state.endings[i] = state.functions[i] ? lc_slot_table[i] : NULL;
	for (size_t i = 0; i < lc_library.release_count; i++)
		if (state.functions[lc_library.releases[i]])
			state.endings[lc_library.releases[i]] = (lc_function)release_nothing;
}

static void publish_status(const struct lc_attempt *attempt, struct published *published)
{
	lc_locked();
	published->older = state.arena;
	state.arena = attempt->arena;
	atomic_store(&state.published, published);
}

/* Points the slots to the real functions, after everything else is ready.  If mprotect()
 * fails, the next call tries again. */
static void finish_filling(void)
{
	const lc_function *functions = lc_is_ending() ? state.endings : state.functions;

	lc_locked();
	if (state.phase != FILLING)
		return;
	atomic_store(&state.phase, fill_slots(functions) ? LOADED : UNWRITTEN);
	if (atomic_load(&state.waiting))
		lc_wake(&state.phase);
}

/* Drops the lock while recorded calls are replayed. */
static void replay_and_fill(uint64_t *held)
{
	lc_locked();
	lc_work_begin(&state.filler, __builtin_frame_address(0));
	atomic_store(&state.phase, FILLING);
	while (lc_specifics.replay_pending && lc_specifics.replay_pending()) {
		lc_unlock();
		lc_specifics.replay_next(state.functions, state.outcomes, held);
		lc_lock();
	}
	finish_filling();
}

/* Keeps the library, whoever calls dlclose() for it too often: ld.so keeps what it has loaded for a
 * program itself. */
static void keep_loaded(struct lc_attempt *attempt)
{
	const char *said;

	lc_dlopen(&attempt->arena, lc_attempt_file(attempt)->path,
		  RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE, &said);
}

static void publish_loaded(struct lc_attempt *attempt, struct published *published, uint64_t *held)
{
	keep_loaded(attempt);
	if (attempt->endings && !atomic_exchange(&state.exit_handled, true))
		atexit(at_exit);
	if (attempt->endings && atomic_load(&state.over))
		atomic_store(&state.ending, true);
	lc_share_variables(&attempt->found);
	lc_lock();
	if (state.phase >= FILLING) {
		lc_unlock();	/* another thread was first */
		lc_attempt_drop(attempt);
		return;
	}
	state.functions = attempt->functions;
	state.endings = attempt->endings;
	note_endings();
	atomic_store(&state.outcomes, attempt->outcomes);
	publish_status(attempt, published);
	atomic_store(&lc_self.loaded, attempt->found.version);
	replay_and_fill(held);
	lc_unlock();
}

/* Returns false if nothing was published. */
static bool publish_none(struct lc_attempt *attempt, struct published *published, bool retry)
{
	lc_lock();
	if (state.phase >= FILLING || (retry && state.phase == NONE)) {
		lc_unlock();	/* a retry that found nothing has no news */
		lc_attempt_drop(attempt);
		return false;
	}
	atomic_store(&state.refusal, (int)attempt->found.choice.refusal);
	publish_status(attempt, published);
	atomic_store_explicit(&state.phase, NONE, memory_order_release);
	lc_unlock();
	return true;
}

void lc_forked(void)
{
	if (state.phase == FILLING && !lc_work_is_own(&state.filler))
		state.phase = UNWRITTEN;
	if (lc_specifics.replay_forked)
		lc_specifics.replay_forked();
	atomic_store(who_looks(), 0);
	lc_cache_forked();
}

/*
 * A new search is worthwhile if the library has been loaded since the last
 * one, if the program has named a file meanwhile, or if dlopen() refused a file: what
 * that lacked may be there now.  This check does not take the lock that dlopen() holds
 * while it runs constructors: a constructor may be waiting for this very call.
 */
static bool worth_a_search(unsigned named)
{
	return (named && named != atomic_load(&looks.named)) || atomic_load(&looks.broken) ||
	       lc_process_has(&lc_library, lc_self.aside);
}

/* Returns true if the library may have been installed since the last search, or lie where an object
 * leads that has come since.  Sets *unsure, if that cannot be told now. */
static bool may_be_elsewhere(bool *unsure)
{
	return (atomic_exchange(&looks.rested, false) && lc_cache_changed(atomic_load(&looks.began))) ||
	       lc_cache_has_new_users(atomic_load(&looks.users), atomic_load(&looks.removed), unsure);
}

/* Records that a search is done, which began when the process was as in `before`.  What it loaded
 * and unloaded itself is no reason for another one. */
static void note_search(const struct lc_attempt *attempt, const struct lc_cache *cache,
			struct lc_loads before, unsigned named)
{
	struct lc_loads now = lc_process_loads();
	bool same = now.added - now.removed == before.added - before.removed;

	atomic_store(&looks.broken, attempt->found.broken);
	atomic_store(&looks.named, named);
	atomic_store(&looks.began, cache->began);
	atomic_store(&looks.users, cache->process.user_count);
	atomic_store(&looks.removed, now.removed);
	atomic_store(&looks.tick, this_tick());
	atomic_store(&looks.searched, same ? now.added : before.added);
}

/* Searches.  Returns what is to be published of a library that was found; or NULL, with *refusal,
 * and that is published.  Sets *copies if copies of this stub have to load it, too. */
static struct published *search_once(struct lc_attempt *attempt, bool retry,
				     enum lc_refusal *refusal, bool *copies)
{
	struct lc_loads loads = lc_process_loads();
	unsigned named = named_now();
	struct published *published;
	struct lc_cache *cache;
	bool unsure = false, elsewhere = retry && may_be_elsewhere(&unsure);

	*refusal = LC_MISSING;
	if (retry && !elsewhere && !worth_a_search(named)) {
		if (!unsure)
			atomic_store(&looks.searched, loads.added);
		*refusal = (enum lc_refusal)atomic_load(&state.refusal);
		return NULL;
	}
	/* On failure nothing is published: a later call tries again. */
	if (!lc_attempt(attempt, &lc_self, retry && !elsewhere && !atomic_load(&looks.broken))) {
		lc_try_failed();
		return NULL;
	}
	atomic_store(&looks.looking, &attempt->search.cache->peers.first->looking);
	published = lc_alloc(&attempt->arena, sizeof(*published));
	if (published)
		lc_report(attempt, &published->status);
	if (attempt->arena.failed) {
		lc_attempt_drop(attempt);
		lc_try_failed();
		return NULL;
	}
	published->nothing = attempt->search.at.settings.guard != LC_STRICT &&
			     !attempt->search.at.settings.wrong &&
			     !lc_search_found_any(&attempt->search, false);
	cache = attempt->search.cache;
	attempt->search.cache = NULL;
	note_search(attempt, cache, loads, named);
	if (retry && attempt->found.broken)
		lc_try_failed();
	if (!attempt->found.handle) {
		*refusal = attempt->found.choice.refusal;
		lc_cache_give(cache, publish_none(attempt, published, retry));
		return NULL;
	}
	*copies = lc_specifics.replay_pending && lc_peers_have_copy(&cache->peers, &lc_self);
	lc_cache_give(cache, true);
	return published;
}

/* Searches and publishes the result.  Returns why the library is not available to
 * this call, or LC_NONE. */
static enum lc_refusal search_and_publish(bool retry, uint64_t *held)
{
	struct published *published;
	struct lc_attempt attempt;
	enum lc_refusal refusal;
	bool copies;

	if (!LC_THREAD_SANITIZED)
		lc_hide_accesses();
	published = search_once(&attempt, retry, &refusal, &copies);
	if (!LC_THREAD_SANITIZED)
		lc_show_accesses();
	if (!published)
		return refusal;
	publish_loaded(&attempt, published, held);
	if (!copies)
		return LC_NONE;
	lc_release_signals(*held);
	lc_peers_load_copies(&lc_self);
	lc_hold_signals_again(held);
	return LC_NONE;
}

static void fill_again(void *held)
{
	lc_lock();
	if (state.phase == UNWRITTEN)
		replay_and_fill(held);
	lc_unlock();
}

/* The library is loaded, but the slots have not been written. */
static enum lc_refusal write_again(void)
{
	uint64_t held;

	lc_enter();
	held = hold_signals();
	lc_call_with_stack(fill_again, &held);
	lc_leave();
	lc_release_signals(held);
	return LC_MISSING;
}

struct searching {
	bool retry;
	uint64_t held;
	enum lc_refusal refusal;
};

/* dlerror() forgets here what a search asked for in vain. */
static void search_there(void *data)
{
	struct searching *searching = data;

	if (!lc_hidden_by(&lc_library))
		searching->held = hold_caught_signals(searching->held);
	lc_find_keys();
	searching->refusal = search_and_publish(searching->retry, &searching->held);
	dlerror();
}

static enum lc_refusal attempt_load(bool retry)
{
	struct searching searching = { .retry = retry };

	lc_enter_for_load();
	searching.held = hold_signals();
	if (!atomic_exchange(&state.watched, true))
		atexit(after_exit);
	lc_call_with_stack(search_there, &searching);
	lc_leave();
	lc_release_signals(searching.held);
	return searching.refusal;
}

/*
 * Waits for another thread that is replaying recorded calls, however long they take: a kernel
 * that is not registered yet cannot be launched.  They are foreign code.  If they wait for this
 * thread, it fills the slots itself.
 */
static void wait_for_filler(void)
{
	int waits = 0;

	atomic_fetch_add(&state.waiting, 1);
	/* This thread does not wait for itself, if it is called back from a replayed call. */
	while (atomic_load(&state.phase) == FILLING && !lc_work_is_own(&state.filler))
		if (!lc_wait_for(&state.filler, &state.phase, FILLING, &waits))
			break;
	atomic_fetch_sub(&state.waiting, 1);
	lc_enter();	/* a replayed call may have unwound this thread out of replay_and_fill() */
	lc_lock();
	finish_filling();
	lc_unlock();
	lc_leave();
}

/* Returns true if a thread has loaded the library.  The search of another thread, begun before,
 * may have found nothing because the first had published its result. */
static bool is_coming(void)
{
	int phase = atomic_load(&state.phase);

	return phase == FILLING || phase == LOADED;
}

/* Takes the next step of the load, if there is one.  Returns why the library is not available, or
 * LC_NONE. */
static enum lc_refusal do_next(bool asked)
{
	switch (atomic_load_explicit(&state.phase, memory_order_acquire)) {
	case LOADED:
		return LC_NONE;
	case FILLING:
		wait_for_filler();
		return LC_NONE;
	case UNWRITTEN:
		return write_again();
	case NONE:
		return attempt_load(true);
	default:
		return lc_is_ready() && (asked || lc_may_try()) ? attempt_load(false) : LC_MISSING;
	}
}

/* Returns true if there is nothing to do now, and in *refusal LC_NONE or why the library is not
 * available.  Inline, so that a failing call takes a dozen instructions fewer where `asked` is false. */
static inline __attribute__((always_inline)) bool is_settled(bool asked, enum lc_refusal *refusal)
{
	int phase = atomic_load_explicit(&state.phase, memory_order_acquire);

	*refusal = LC_NONE;
	if (phase == NONE) {
		if (is_worth_a_try(asked))
			return false;
		*refusal = (enum lc_refusal)atomic_load(&state.refusal);
		return true;
	}
	return phase == LOADED;
}

/* Leaves errno as it was, which the library's functions do. */
static __attribute__((noinline)) enum lc_refusal go_on(bool asked)
{
	const int error = errno;
	enum lc_refusal refusal;

	do
		refusal = do_next(asked);
	while ((refusal == LC_NONE || is_coming()) && !is_settled(asked, &refusal));
	errno = error;
	return refusal;
}

/* Returns LC_NONE once the library is loaded, else why not.  With `asked`, tries now, whatever
 * the limits. */
static inline __attribute__((always_inline)) enum lc_refusal ensure_loaded(bool asked)
{
	enum lc_refusal refusal;

	return is_settled(asked, &refusal) ? refusal : go_on(asked);
}

/* Why a slot of the library that is loaded leads to no function. */
static enum lc_refusal outcome_of(unsigned slot)
{
	return lc_is_ending() ? LC_ENDING : (enum lc_refusal)atomic_load(&state.outcomes)[slot];
}

static __attribute__((noinline)) enum lc_refusal load_first(unsigned slot)
{
	enum lc_refusal refusal = ensure_loaded(false);

	return refusal == LC_NONE ? outcome_of(slot) : refusal;
}

enum lc_refusal lc_load_for(unsigned slot)
{
	return lc_is_loaded() ? outcome_of(slot) : load_first(slot);
}

bool lc_load(void)
{
	return ensure_loaded(true) == LC_NONE && !lc_is_ending();
}

bool lc_found_nothing(void)
{
	const struct published *published = atomic_load(&state.published);

	return published && published->nothing;
}

const struct lazycuda_status *lc_status(void)
{
	const struct published *published = atomic_load(&state.published);

	return published ? &published->status : lc_specifics.unknown;
}

#ifdef LC_EMBEDDED
/* Before the constructors of nvcc in the same object, which register kernels. */
#define LC_AT_LOAD __attribute__((constructor(101)))
#else
#define LC_AT_LOAD __attribute__((constructor))
#endif

static const char eager_variable[] LC_AT_START = LC_EAGER_VARIABLE;

/*
 * The only code that runs when a stub is loaded.  Few pages of code are read for it: the
 * compiler puts it beside lc_handle_forks().
 *
 * With LAZYCUDA_EAGER=1 the library is loaded here.  This is before the constructors of what
 * needs the stub, and so where ld.so would have loaded the library that the stub stands for.
 */
LC_AT_LOAD static void at_load(void)
{
	lc_begin_threads();
	lc_handle_forks();
	if (secure_getenv(eager_variable) && lc_is_eager())
		lc_load();
}
