/* SPDX-License-Identifier: MIT */
/* errors.c - what is said when a call is not forwarded */
#include "errors.h"

#include <stdatomic.h>

#include "arena.h"
#include "loader.h"

/* Initial-exec keeps this out of __tls_get_addr(), which allocates. */
static __thread struct {
	unsigned slot;
	uint8_t why;		/* enum lc_refusal */
	int32_t pending;	/* status not yet asked for */
	const char *reason;	/* a constant, or NULL */
} last __attribute__((tls_model("initial-exec")));

int32_t lc_refuse_because(unsigned slot, enum lc_refusal why, const char *reason)
{
	int32_t status = lc_library.errors[why];

	last.slot = slot;
	last.why = (uint8_t)why;
	last.pending = status;
	last.reason = reason;
	return status;
}

int32_t lc_refuse(unsigned slot, enum lc_refusal why)
{
	return lc_refuse_because(slot, why, NULL);
}

enum lc_refusal lc_last_refusal(void)
{
	return (enum lc_refusal)last.why;
}

int32_t lc_pending_status(void)
{
	return last.pending;
}

void lc_clear_pending(void)
{
	last.pending = 0;
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
	/* A value may have had several names: the newest is the one to say. */
	for (lc_version newest = 0; low < lc_library.enumerator_count &&
	     lc_library.enumerators[low].value == value; low++) {
		if (!name || lc_library.enumerators[low].to > newest) {
			name = lc_library.names + lc_library.enumerators[low].name;
			newest = lc_library.enumerators[low].to;
		}
	}
	return name;
}

static const char *message(struct lc_arena *arena, const char *function, enum lc_refusal why,
			   const char *reason, const struct lazycuda_status *status)
{
	const char *path = lc_printable(arena, status->path ? status->path : "");

	switch (why) {
	case LC_ABSENT:
		return lc_format(arena, "%s: %s %s (%s) does not have this function;"
				 " a newer %s does", function, lc_library.name, status->version,
				 path, !lc_has_majors(&lc_library) ? "driver" :
				 lc_library.own_majors ? "or older one" : "or older CUDA");
	case LC_REFUSED:
		if (reason)
			return lc_format(arena, "%s: refused on %s %s (%s): %s", function,
					 lc_library.name, status->version, path, reason);
		return lc_format(arena, "%s: the caller was compiled for another %smajor than"
				 " %s %s (%s), where this function has a different interface; calling"
				 " it would corrupt memory, so it was refused", function,
				 lc_library.own_majors ? "" : "CUDA ", lc_library.name,
				 status->version, path);
	default:
		if (status->state == LAZYCUDA_UNKNOWN)
			return lc_format(arena, "%s: the search for %s could not be finished: memory"
					 " or file descriptors ran out, or a disk failed; the next"
					 " call searches again", function, lc_library.name);
		if (status->state == LAZYCUDA_USABLE && !lc_is_loaded())
			return lc_format(arena, "%s: %s (%s) is loaded, but mprotect() lets nobody"
					 " write where its functions are noted; the next call tries"
					 " again", function, lc_library.name, path);
		if (status->state == LAZYCUDA_USABLE)
			return lc_format(arena, "%s: was called before %s (%s) was in the process",
					 function, lc_library.name, path);
		return lc_format(arena, "%s: %s", function, status->reason);
	}
}

/* Messages are made once each and kept: the caller may hold on to them. */
struct remembered {
	struct lazycuda_error error;
	unsigned slot;
	const char *reason;
	const struct lazycuda_status *status;
	const struct remembered *next;
	struct lc_arena arena;
};

static _Atomic(const struct remembered *) remembered;	/* the latest */

static const struct remembered *recall(const struct remembered *latest, unsigned slot,
				       enum lc_refusal why, const char *reason,
				       const struct lazycuda_status *status)
{
	for (const struct remembered *r = latest; r; r = r->next)
		if (r->slot == slot && r->reason == reason && r->status == status &&
		    r->error.cause == (enum lazycuda_cause)why)
			return r;
	return NULL;
}

static struct remembered *compose(unsigned slot, enum lc_refusal why, const char *reason,
				  const struct lazycuda_status *status)
{
	const char *function = lc_library.names + lc_library.slots[slot].name;
	struct lc_arena arena = { 0 };
	struct remembered *r = lc_alloc(&arena, sizeof(*r));

	if (!r)
		return NULL;
	r->slot = slot;
	r->reason = reason;
	r->status = status;
	r->error = (struct lazycuda_error){
		.size = sizeof(r->error),
		.cause = (enum lazycuda_cause)why,
		.status = lc_library.errors[why],
		.library = lc_library.name,
		.function = function,
		.message = message(&arena, function, why, reason, status),
	};
	if (arena.failed) {
		lc_arena_free(&arena);
		return NULL;
	}
	r->arena = arena;
	return r;
}

const struct lazycuda_error *lc_last_error(void)
{
	static const struct lazycuda_error nothing = {
		.size = sizeof(nothing), .library = "", .function = "", .message = "no call was refused",
	};
	static const struct lazycuda_error no_memory = {
		.size = sizeof(no_memory), .cause = LAZYCUDA_LIBRARY_MISSING, .library = "",
		.function = "", .message = "a call was refused, and there is no memory to say why",
	};
	const struct lazycuda_status *status = lc_status();
	enum lc_refusal why = lc_last_refusal();
	const struct remembered *latest = atomic_load(&remembered), *known;
	struct remembered *fresh;

	if (why == LC_NONE)
		return &nothing;
	known = recall(latest, last.slot, why, last.reason, status);
	if (known)
		return &known->error;
	fresh = compose(last.slot, why, last.reason, status);
	if (!fresh)
		return &no_memory;
	do {
		/* Another thread may have made the same one meanwhile. */
		known = recall(latest, last.slot, why, last.reason, status);
		if (known) {
			struct lc_arena arena = fresh->arena;

			lc_arena_free(&arena);
			return &known->error;
		}
		fresh->next = latest;
	} while (!atomic_compare_exchange_weak(&remembered, &latest, fresh));
	return &fresh->error;
}

const char *lc_refusal_text(int32_t value)
{
	const struct lazycuda_status *status = lc_status();
	enum lc_refusal why = lc_last_refusal();

	if (why != LC_NONE && lc_library.errors[why] == value)
		return lc_last_error()->message;
	/* Refused in another thread, which handed the status on. */
	if (status->cause != LAZYCUDA_NOTHING && lc_library.errors[status->cause] == value)
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
	if (!lc_refusal_text(value) && lc_reaches(slot))
		return ((const char *(*)(int32_t))lc_slot_table[slot])(value);
	return own_text(value, unknown);
}

const char *lc_text_instead(int32_t value)
{
	const struct lazycuda_status *status = lc_status();
	bool found = status->cause == LAZYCUDA_NOTHING;

	return own_text(value, found ? "unrecognized error code" : status->reason);
}
