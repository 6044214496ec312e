/* SPDX-License-Identifier: MIT */
/* errors.c - statuses and messages for calls that are not forwarded */
#include "errors.h"

#include <stdatomic.h>
#include <string.h>

#include "../base/arena.h"
#include "../base/glibc.h"
#include "../base/verdict.h"
#include "loader.h"
#include "of_thread.h"
#include "peers.h"

/* What a call is refused for here is what lazycuda.h calls its cause. */
_Static_assert((int)LC_NONE == LAZYCUDA_CAUSE_NOTHING &&
	       (int)LC_MISSING == LAZYCUDA_CAUSE_NO_LIBRARY &&
	       (int)LC_ABSENT == LAZYCUDA_CAUSE_SYMBOL_MISSING &&
	       (int)LC_REFUSED == LAZYCUDA_CAUSE_INTERFACE_REFUSED &&
	       (int)LC_DRIVER == LAZYCUDA_CAUSE_DRIVER_TOO_OLD &&
	       (int)LC_INCOHERENT == LAZYCUDA_CAUSE_INCOHERENT &&
	       (int)LC_EXCLUDED == LAZYCUDA_CAUSE_EXCLUDED && (int)LC_ENDING == LAZYCUDA_CAUSE_ENDING,
	       "enum lc_refusal and enum lazycuda_cause are cast into each other");

/* A reason is a constant of this stub, and so never far from lc_library. */
static int32_t note_reason(const char *reason)
{
	return reason ? (int32_t)((intptr_t)reason - (intptr_t)&lc_library) : 0;
}

static const char *noted_reason(int32_t note)
{
	return note ? (const char *)((intptr_t)&lc_library + note) : NULL;
}

static struct lc_of_threads threads;

static void note_refusal(union lc_of_thread *own, unsigned slot, enum lc_refusal why, int32_t status,
			 const char *reason)
{
	own->reason = note_reason(reason);
	own->status = status;
	own->slot = (uint16_t)slot;
	own->why = (uint8_t)why;
	own->past = false;
	if (status)
		own->pending = status;
}

/* Kept out of line, so that lc_refuse_with() saves no registers for it. */
static __attribute__((noinline)) int32_t refuse_apart(unsigned slot, enum lc_refusal why, int32_t status,
						      const char *reason)
{
	union lc_of_thread own = { .word = { 0 } };

	if (!status)
		own = lc_of_thread(&threads);
	note_refusal(&own, slot, why, status, reason);
	lc_set_of_thread(&threads, own);
	return status;
}

int32_t lc_refuse_with(unsigned slot, enum lc_refusal why, int32_t status, const char *reason)
{
	if (!lc_is_main_here())
		return refuse_apart(slot, why, status, reason);
	note_refusal(&threads.of_main, slot, why, status, reason);
	return status;
}

static int32_t status_in(const int32_t *errors, enum lc_refusal why)
{
	return errors[why < LC_REFUSALS ? why : LC_MISSING];
}

/* The major that callers of a slot were compiled for.  If majors share the slot, any will do: then
 * its function returns no status whose value differs between them. */
static int major_of_callers(unsigned slot)
{
	for (size_t i = 0; i < lc_library.export_count; i++)
		if (lc_library.exports[i].slot == slot)
			return lc_library.exports[i].major;
	return 0;
}

/* The table of errors for callers of a slot. */
static const int32_t *errors_for_callers(unsigned slot)
{
	const struct lc_errors *row = lc_library.older_errors;

	for (int major = major_of_callers(slot); row->major; row++)
		if (row->major == major)
			return row->errors;
	return lc_library.errors;
}

static inline int32_t status_of(unsigned slot, enum lc_refusal why)
{
	if (why >= LC_REFUSALS) {
		if (why == LC_ENDING && lc_library.ending)
			return lc_library.ending;
		why = LC_MISSING;
	}
	return (lc_library.older_errors ? errors_for_callers(slot) : lc_library.errors)[why];
}

int32_t lc_status_of(unsigned slot, enum lc_refusal why)
{
	return status_of(slot, why);
}

/* Returns true if callers of any major get this status for that reason. */
static bool is_status_of(int32_t value, enum lc_refusal why)
{
	const struct lc_errors *row = lc_library.older_errors;

	for (; row && row->major; row++)
		if (status_in(row->errors, why) == value)
			return true;
	return status_in(lc_library.errors, why) == value;
}

int32_t lc_refuse_because(unsigned slot, enum lc_refusal why, const char *reason)
{
	return lc_refuse_with(slot, why, status_of(slot, why), reason);
}

/* Kept out of line, so that lc_slow() saves no registers for it. */
__attribute__((noinline)) int32_t lc_refuse(unsigned slot, enum lc_refusal why)
{
	return lc_refuse_because(slot, why, NULL);
}

/* A call through a slot that does not lead to a real function, or not yet. */
int32_t lc_slow(unsigned slot)
{
	enum lc_refusal refusal = lc_load_for(slot);

	return refusal == LC_NONE ? 0 : lc_refuse(slot, refusal);
}

int32_t lc_pending_status(void)
{
	return lc_of_thread(&threads).pending;
}

void lc_clear_pending(void)
{
	union lc_of_thread own = lc_of_thread(&threads);

	own.pending = 0;
	lc_set_of_thread(&threads, own);
}

int32_t lc_note_error(int32_t status)
{
	union lc_of_thread own = lc_of_thread(&threads);

	if (status && status == own.status && !own.past) {
		own.past = true;
		lc_set_of_thread(&threads, own);
	}
	return status;
}

const char *lc_status_name(int32_t value)
{
	size_t low = 0, high = lc_library.enumerator_count;
	const char *name = NULL;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (lc_library.enumerators[middle].value < value)
			low = middle + 1;
		else
			high = middle;
	}
	/* A value may have had several names: use the newest. */
	for (lc_version newest = 0; low < lc_library.enumerator_count &&
	     lc_library.enumerators[low].value == value; low++) {
		if (!name || lc_library.enumerators[low].to > newest) {
			name = lc_library.names + lc_library.enumerators[low].name;
			newest = lc_library.enumerators[low].to;
		}
	}
	return name;
}

/* The versions of the library that have a function, and how to come by one: "CUDA 12.8 and later
 * have it, ..."; a guess where the list does not tell. */
static const char *who_has(struct lc_arena *arena, unsigned slot)
{
	const lc_version loaded = (lc_version)atomic_load(&lc_self.loaded);
	const struct lc_slot *called = &lc_library.slots[slot];
	const struct lc_provider *having = &lc_library.providers[called->first];
	const char *word = lc_major_word(&lc_library), *which, *take, *number;
	lc_version nearest;
	bool later;

	if (!lc_has_majors(&lc_library))
		return "a newer driver does";
	if (called->first == LC_ANY_CALLER || !called->count || !loaded ||
	    (having->from <= loaded && loaded <= having->to))
		return lc_format(arena, "a newer or older %s does", word);
	later = loaded < having->from;
	nearest = later ? having->from : having->to;
	/* A list of majors alone has 0 and LC_LAST_MINOR as minors. */
	number = lc_called_number(lc_library.called, lc_library.called_count, nearest);
	which = number ? number : LC_MINOR(nearest) && LC_MINOR(nearest) < LC_LAST_MINOR ?
		lc_format(arena, "%d.%d", LC_MAJOR(nearest), LC_MINOR(nearest)) :
		lc_format(arena, "%d", LC_MAJOR(nearest));
	if (lc_library.own_majors && strchr(which, '.'))
		word = lc_library.name;
	take = lc_library.own_majors || LC_MAJOR(nearest) == LC_MAJOR(loaded) ?
	       lc_format(arena, "%s=/path/to/one", lc_library.variable) :
	       lc_format(arena, "LAZYCUDA_MAJOR=%d", LC_MAJOR(nearest));
	return lc_format(arena, "%s %s and %s do: if one is installed, %s takes it", word, which,
			 later ? "later" : "earlier", take);
}

static const char *message_for(struct lc_arena *arena, const struct lc_refused *call,
			       const struct lazycuda_status *status)
{
	const char *function = lc_library.names + lc_library.slots[call->slot].name;
	const char *path = lc_printable(arena, status->path ? status->path : "");

	switch ((enum lc_refusal)call->why) {
	case LC_ABSENT:
		return lc_format(arena, "%s: %s %s (%s) does not have this function; %s", function,
				 lc_library.name, status->version, path, who_has(arena, call->slot));
	case LC_REFUSED:
		if (call->reason)
			return lc_format(arena, "%s: refused on %s %s (%s): %s", function,
					 lc_library.name, status->version, path, call->reason);
		return lc_format(arena, "%s: refused, because its interface is another one in %s"
				 " %s (%s); the caller was compiled for another %smajor, and the call"
				 " would corrupt memory", function, lc_library.name, status->version,
				 path, lc_library.own_majors ? "" : "CUDA ");
	case LC_ENDING:
		return lc_format(arena, "%s: the process ends, and %s %s (%s) is shut down already;"
				 " it was loaded by the first call, after what uses it now; load it"
				 " earlier, with lazycuda_load()", function, lc_library.name,
				 status->version, path);
	default:
		if (status->state == LAZYCUDA_STATE_UNKNOWN)
			return lc_format(arena, "%s: the search for %s could not be finished: memory"
					 " or file descriptors ran out; a later call searches"
					 " again", function, lc_library.name);
		if (status->state == LAZYCUDA_STATE_USABLE && !lc_is_loaded())
			return lc_format(arena, "%s: %s (%s) is loaded, but mprotect() lets nobody"
					 " write where its functions are noted; the next call tries"
					 " again", function, lc_library.name, path);
		if (status->state == LAZYCUDA_STATE_USABLE)
			return lc_format(arena, "%s: was called before %s (%s) was in the process",
					 function, lc_library.name, path);
		return lc_format(arena, "%s: %s%s", function, call->reason ? call->reason : "",
				 status->reason);
	}
}

/* Each message is composed once and kept, because callers may keep the pointer. */
struct remembered {
	struct lazycuda_error error;
	struct lc_refused call;
	const struct lazycuda_status *status;
	const struct remembered *next;
	struct lc_arena arena;
};

static _Atomic(const struct remembered *) remembered;	/* the latest */

static const struct remembered *recall(const struct remembered *latest,
				       const struct lc_refused *call,
				       const struct lazycuda_status *status)
{
	for (const struct remembered *r = latest; r; r = r->next)
		if (r->call.slot == call->slot && r->call.reason == call->reason &&
		    r->call.why == call->why && r->call.status == call->status &&
		    r->status == status)
			return r;
	return NULL;
}

static struct remembered *compose_error(const struct lc_refused *call,
					const struct lazycuda_status *status)
{
	struct lc_arena arena = { 0 };
	struct remembered *r = lc_alloc(&arena, sizeof(*r));

	if (!r)
		return NULL;
	r->call = *call;
	r->status = status;
	r->error = (struct lazycuda_error){
		.size = sizeof(r->error),
		.cause = (enum lazycuda_cause)call->why,
		.status = call->status,
		.library = lc_library.name,
		.function = lc_library.names + lc_library.slots[call->slot].name,
		.message = message_for(&arena, call, status),
	};
	if (arena.failed) {
		lc_arena_free(&arena);
		return NULL;
	}
	r->arena = arena;
	return r;
}

const struct lazycuda_error *lc_error_of(const struct lc_refused *call)
{
	static const struct lazycuda_error no_memory = {
		.size = sizeof(no_memory), .cause = LAZYCUDA_CAUSE_NO_LIBRARY, .library = "",
		.function = "", .message = "a call was refused, and there is no memory to say why",
	};
	static const struct lazycuda_error too_early = {
		.size = sizeof(too_early), .cause = LAZYCUDA_CAUSE_NO_LIBRARY, .library = "",
		.function = "", .message = "a call was refused, which was made before the process was"
			" set up: by the resolver of an IFUNC, while the program was loaded",
	};
	const struct lazycuda_status *status = lc_status();
	const struct remembered *latest = atomic_load(&remembered), *known;
	struct remembered *fresh;

	if (!lc_is_ready())
		return &too_early;
	known = recall(latest, call, status);
	if (known)
		return &known->error;
	fresh = compose_error(call, status);
	if (!fresh)
		return &no_memory;
	do {
		/* Another thread may have composed the same message meanwhile. */
		known = recall(latest, call, status);
		if (known) {
			struct lc_arena arena = fresh->arena;

			lc_arena_free(&arena);
			return &known->error;
		}
		fresh->next = latest;
	} while (!atomic_compare_exchange_weak(&remembered, &latest, fresh));
	return &fresh->error;
}

const struct lazycuda_error *lc_last_error(void)
{
	static const struct lazycuda_error nothing = {
		.size = sizeof(nothing), .library = "", .function = "", .message = "no call was refused",
	};
	const union lc_of_thread own = lc_of_thread(&threads);
	const struct lc_refused last = { noted_reason(own.reason), own.status, own.slot, own.why };

	return last.why == LC_NONE ? &nothing : lc_error_of(&last);
}

const char *lc_refusal_text(int32_t value)
{
	const struct lazycuda_status *status = lc_status();
	const union lc_of_thread own = lc_of_thread(&threads);

	/* A refused call may return 0, which is no error and has no message. */
	if (value && own.why != LC_NONE && own.status == value && !own.past)
		return lc_last_error()->message;
	/* The call was refused in another thread, which passed the status on. */
	if (status->cause != LAZYCUDA_CAUSE_NOTHING &&
	    is_status_of(value, (enum lc_refusal)status->cause))
		return status->reason;
	return NULL;
}

static const char *own_text(int32_t value, const char *unknown)
{
	const char *text = lc_refusal_text(value);

	if (!text)
		text = lc_status_name(value);
	return text ? text : unknown;
}

const char *lc_error_text(int32_t value, unsigned slot, const char *unknown)
{
	if (!lc_refusal_text(value) && lc_load_reaches(slot))
		return ((const char *(*)(int32_t))LC_REAL(slot))(value);
	return own_text(value, unknown);
}

const char *lc_text_instead(int32_t value)
{
	const struct lazycuda_status *status = lc_status();
	bool found = status->cause == LAZYCUDA_CAUSE_NOTHING;

	return own_text(value, found ? "unrecognized error code" : status->reason);
}
