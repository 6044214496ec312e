/* SPDX-License-Identifier: MIT */
/*
 * registrations.c - nvcc's static constructors, recorded and replayed
 *
 * Every object that nvcc compiles registers its device code from a static
 * constructor and unregisters it from an exit handler.  Loading CUDA for that
 * would load it into programs that never use it, so the calls are recorded, and
 * replayed in the same order once the real library is loaded.
 * __cudaRegisterFatBinary() returns a handle of the stub's own (modules.h), which
 * from then on stands for the library's handle.
 *
 * A call about a foreign handle goes to whoever created the handle: another copy
 * of this stub that knows it, else the real library that the process has.
 *
 * A module that the library knows is unregistered there when it goes, whatever
 * else is going on: a file may be unloaded while another thread makes the first
 * call.
 *
 * These functions take only addresses and integers, which the ABIs of all 64-bit
 * CPUs pass as words, so a recorded call is an array of words.
 */
#include <stdlib.h>
#include <string.h>

#include "../loader/errors.h"
#include "generated/libcudart_stub.h"
#include "../loader/loader.h"
#include "modules.h"
#include "../loader/peers.h"
#include "registrations.h"
#include "../base/count.h"
#include "../base/verdict.h"

/* One recorded call. */
struct lc_record {
	struct lc_record *next, *previous;	/* in the order of the calls */
	struct lc_record *sibling;		/* the module's next one */
	struct lc_module *module;
	uint16_t slot;
	uint8_t words;
	bool creates;			/* returns the module's handle */
	uintptr_t word[];
};

/* Under the loader's lock. */
static struct lc_record *oldest, *newest;

static struct lc_record *replayed;	/* the record that is being replayed */
static struct lc_work replayer;

/* Records that have not been replayed to the end. */
static _Atomic size_t pending;

#define MOST_WORDS 10

/* That some functions take fewer words makes no difference. */
static uintptr_t call(lc_function function, unsigned words, const uintptr_t *word)
{
	typedef uintptr_t w;
	uintptr_t a[MOST_WORDS] = { 0 };

	memcpy(a, word, words * sizeof(*word));
	return ((w (*)(w, w, w, w, w, w, w, w, w, w))function)(a[0], a[1], a[2], a[3], a[4], a[5], a[6],
							       a[7], a[8], a[9]);
}

static void unlink_record(struct lc_record *record)
{
	*(record->previous ? &record->previous->next : &oldest) = record->next;
	*(record->next ? &record->next->previous : &newest) = record->previous;
}

/* A record of a call; NULL on allocation failure.  The call is lost then, since a
 * static constructor cannot be told of it. */
static struct lc_record *new_record(struct lc_module *module, unsigned slot, bool creates,
				 unsigned words, const uintptr_t *word)
{
	struct lc_record *record = malloc(sizeof(*record) + words * sizeof(*word));

	if (!record)
		return NULL;
	*record = (struct lc_record){ .module = module, .slot = (uint16_t)slot,
				   .words = (uint8_t)words, .creates = creates };
	for (unsigned i = 0; i < words; i++)
		record->word[i] = word[i];
	return record;
}

static void append_record(struct lc_record *record)
{
	struct lc_module *module = record->module;

	lc_locked();
	if (module) {
		*(module->records ? &module->last->sibling : &module->records) = record;
		module->last = record;
	}
	record->previous = newest;
	*(newest ? &newest->next : &oldest) = record;
	newest = record;
}

/* Undoes take_oldest(), in a child of fork(), which has no other thread. */
static void put_back(struct lc_record *record)
{
	struct lc_module *module = record->module;

	if (module) {
		record->sibling = module->records;
		module->last = module->records ? module->last : record;
		module->records = record;
	}
	record->previous = NULL;
	record->next = oldest;
	*(oldest ? &oldest->previous : &newest) = record;
	oldest = record;
}

/* Returns true if a call about this module must be left to the thread that replays.  A
 * thread that cannot wait for that one goes ahead of it (loader.c), and must not overtake
 * the module's own registration. */
static bool is_to_be_recorded(const struct lc_module *module)
{
	lc_locked();
	return !lc_is_loaded() || (module && (module->records || module->replaying));
}

/* Records a call unless it can be made now.  Returns true if nothing is left to do:
 * the call is recorded, or lost if `record` is NULL. */
static bool record_call(struct lc_record *record, const struct lc_module *module)
{
	bool recorded;

	lc_lock();
	recorded = is_to_be_recorded(module);
	if (record && recorded) {
		append_record(record);
		atomic_fetch_add(&pending, 1);
	}
	lc_unlock();
	if (!recorded)
		free(record);
	return recorded;
}

bool lc_replay_pending(void)
{
	lc_locked();
	return oldest != NULL;
}

/* The oldest record of all is also the oldest of its module. */
static struct lc_record *take_oldest(void)
{
	struct lc_record *record = oldest;

	lc_locked();
	unlink_record(record);
	if (record->module)
		record->module->records = record->sibling;
	return record;
}

/* Unregisters the module with the library, if that knows it, and frees the module. */
static void unregister_real(struct lc_module *module)
{
	uintptr_t real = atomic_load(&module->real);
	lc_function function = lc_function_of(LC_SLOT___cudaUnregisterFatBinary);

	if (real && function && !lc_is_ending())
		call(function, 1, &real);
	lc_module_free(module);
}

static void begin_replay(struct lc_record *record)
{
	lc_locked();
	replayed = record;
	replayer = *lc_filler();
	if (!record->module)
		return;
	record->module->replayer = replayer;
	atomic_store(&record->module->replaying, REPLAYED);
}

/* Returns true if the module was unregistered meanwhile. */
static bool end_replay(const struct lc_record *record, uintptr_t result)
{
	struct lc_module *module = record->module;

	lc_locked();
	replayed = NULL;
	if (!module)
		return false;
	if (atomic_exchange(&module->replaying, NOT_REPLAYED) == AWAITED)
		lc_wake(&module->replaying);
	if (record->creates)
		atomic_store(&module->real, result);
	return module->gone;
}

void lc_replay_next(const lc_function *functions, const uint8_t *outcomes, uint64_t *held)
{
	struct lc_record *record;
	struct lc_module *module;
	uintptr_t result = 0;
	bool gone;

	lc_lock();
	if (!oldest) {
		lc_unlock();
		return;
	}
	record = take_oldest();
	module = record->module;
	begin_replay(record);
	lc_unlock();

	if (module && !record->creates)
		record->word[0] = atomic_load(&module->real);
	lc_release_signals(*held);
	if (functions[record->slot])
		result = call(functions[record->slot], record->words, record->word);
	else	/* only cudaGetLastError() can report it */
		lc_refuse(record->slot, (enum lc_refusal)outcomes[record->slot]);
	lc_hold_signals_again(held);

	lc_lock();
	gone = end_replay(record, result);
	lc_unlock();
	atomic_fetch_sub(&pending, 1);
	if (gone) {
		lc_release_signals(*held);
		unregister_real(module);
		lc_hold_signals_again(held);
	}
	free(record);
}

/* The thread that was replaying the record is not in this process.  The next thread
 * that replays makes the call again, unless its module was unregistered meanwhile.
 * If the library counted as loaded before the fork(), because another thread had
 * stopped waiting, no thread replays, and what was left is not registered here. */
void lc_replay_forked(void)
{
	struct lc_record *record = replayed;
	struct lc_module *module = record ? record->module : NULL;

	if (!record || lc_work_is_own(&replayer))
		return;
	replayed = NULL;
	if (module)
		atomic_store(&module->replaying, NOT_REPLAYED);
	if (!module || !module->gone) {
		put_back(record);
		return;
	}
	atomic_fetch_sub(&pending, 1);
	free(record);
	lc_module_free(module);
}

/* Makes a call in the library.  If the function is absent there, or has another
 * interface, the refusal is the thread's last error. */
static uintptr_t make(unsigned slot, unsigned words, const uintptr_t *word)
{
	return lc_slow(slot) == 0 ? call(LC_REAL(slot), words, word) : 0;
}

/* A call about a module, or about none: recorded, or made with the library's own handle. */
static void pass(struct lc_module *module, unsigned slot, unsigned words, uintptr_t *word)
{
	if ((!lc_is_loaded() || atomic_load(&pending)) &&
	    record_call(new_record(module, slot, false, words, word), module))
		return;
	if (module)
		word[0] = atomic_load(&module->real);
	make(slot, words, word);
}

static void free_records(struct lc_record *record)
{
	while (record) {
		struct lc_record *sibling = record->sibling;

		atomic_fetch_sub(&pending, 1);
		free(record);
		record = sibling;
	}
}

static struct lc_record *take_records(struct lc_module *module)
{
	struct lc_record *records = module->records;

	lc_locked();
	for (struct lc_record *r = records; r; r = r->sibling)
		unlink_record(r);
	module->records = module->last = NULL;
	return records;
}

/* Returns true if another thread is replaying a call about the module. */
static bool is_being_replayed(const struct lc_module *module)
{
	lc_locked();
	return module->replaying && !lc_work_is_own(&module->replayer);
}

/*
 * The caller is about to unmap the module, and the library must not be reading it
 * then, so this function waits.  If the library is waiting for a lock that the caller
 * holds in dlclose(), unregistering the module is left to the thread that replays.
 * That thread, into which the library may have called back, does not wait for itself.
 */
static void unregister(struct lc_module *module)
{
	struct lc_record *records;
	bool later, ends = true;
	int waits = 0;

	lc_lock();
	records = take_records(module);
	while (ends && is_being_replayed(module)) {
		atomic_store(&module->replaying, AWAITED);
		lc_unlock();
		ends = lc_wait_for(&module->replayer, &module->replaying, AWAITED, &waits);
		lc_lock();
	}
	module->gone = later = module->replaying;
	lc_unlock();
	free_records(records);
	if (!later)
		unregister_real(module);
}

/* A call about a handle of this stub. */
static uintptr_t call_about(struct lc_module *module, unsigned slot, unsigned words,
			    uintptr_t *word)
{
	switch (slot) {
	case LC_SLOT___cudaUnregisterFatBinary:
		unregister(module);
		return 0;
	case LC_SLOT___cudaInitModule:
		if (!lc_load_reaches(slot))
			return 0;
		word[0] = atomic_load(&module->real);
		return call(LC_REAL(slot), words, word);
	default:
		pass(module, slot, words, word);
		return 0;
	}
}

/* The name and the major by which callers ask for a slot. */
static const struct lc_export *export_of(unsigned slot)
{
	const struct lc_export *row = lc_library.exports;

	while (row->slot != slot)
		row++;
	return row;
}

bool lc_registered(const struct lc_registration *call, uintptr_t *result)
{
	struct lc_module *module = lc_module_of((void *)call->word[0]);
	const struct lc_export *row = lc_find_export(&lc_library, call->name, call->major);

	if (!module || !row)
		return false;
	*result = call_about(module, row->slot, call->words, call->word);
	return true;
}

/*
 * A call about a handle that this stub never gave out.  Only another copy of the
 * stub, or a real library that is in the process, can have done so, and only they
 * may dereference it.
 */
static uintptr_t call_elsewhere(unsigned slot, unsigned words, uintptr_t *word)
{
	const struct lc_export *row = export_of(slot);
	struct lc_registration registration = { .name = lc_library.names + row->name,
						.major = row->major, .words = words, .word = word };
	uintptr_t result = 0;

	if (lc_peers_registered(&lc_self, &registration, &result))
		return result;
	if (lc_is_ending() || !(lc_is_loaded() || lc_is_in_process()))
		return 0;
	return make(slot, words, word);
}

/* The first word is the handle. */
static uintptr_t about(unsigned slot, unsigned words, uintptr_t *word)
{
	void *const handle = (void *)word[0];
	struct lc_module *module = lc_module_of(handle);

	/* A handle is NULL only after an allocation failure in its registration. */
	if (!handle || lc_module_is_gone(handle))
		return 0;
	return module ? call_about(module, slot, words, word) : call_elsewhere(slot, words, word);
}

#define W(argument) ((uintptr_t)(argument))
#define PASS(slot, ...) __extension__({ \
	uintptr_t words_[] = { __VA_ARGS__ }; \
	about(slot, LC_COUNT(words_), words_); \
})

/*
 * If another copy of this stub has loaded the library already, kernels are launched
 * through that copy, and registrations made here have to reach the library, too.
 * A copy that loads the library later makes this stub load it as well (loader.c).
 */
static void follow_copies(void)
{
	static _Atomic bool looked;

	if (!lc_is_loaded() && !atomic_exchange(&looked, true) && lc_peers_copy_is_loaded(&lc_self))
		lc_load();
}

void *lc_hook___cudaRegisterFatBinary(void *binary, unsigned slot)
{
	struct lc_module *module = lc_module_new();
	struct lc_record *record = NULL;
	uintptr_t word = W(binary);

	if (!module)
		return NULL;
	follow_copies();
	if (!lc_is_loaded()) {
		record = new_record(module, slot, true, 1, &word);
		if (!record) {
			lc_module_free(module);
			return NULL;
		}
		if (record_call(record, module))
			return module;
	}
	atomic_store(&module->real, call(LC_REAL(slot), 1, &word));
	return module;
}

void lc_hook___cudaUnregisterFatBinary(void *handle, unsigned slot)
{
	PASS(slot, W(handle));
}

int8_t lc_hook___cudaInitModule(void *handle, unsigned slot)
{
	return (int8_t)PASS(slot, W(handle));
}

void lc_hook___cudaRegisterFatBinaryEnd(void *handle, unsigned slot)
{
	PASS(slot, W(handle));
}

void lc_hook___cudaRegisterFunction(void *handle, void *host, void *device, void *name,
				    int32_t thread_limit, void *tid, void *bid, void *block,
				    void *grid, void *warp_size, unsigned slot)
{
	PASS(slot, W(handle), W(host), W(device), W(name), W(thread_limit), W(tid), W(bid), W(block),
	     W(grid), W(warp_size));
}

void lc_hook___cudaRegisterVar(void *handle, void *host, void *device, void *name, int32_t ext,
			       uint64_t size, int32_t constant, int32_t global, unsigned slot)
{
	PASS(slot, W(handle), W(host), W(device), W(name), W(ext), W(size), W(constant), W(global));
}

void lc_hook___cudaRegisterManagedVar(void *handle, void *host, void *device, void *name,
				      int32_t ext, uint64_t size, int32_t constant, int32_t global,
				      unsigned slot)
{
	PASS(slot, W(handle), W(host), W(device), W(name), W(ext), W(size), W(constant), W(global));
}

void lc_hook___cudaRegisterTexture(void *handle, void *host, void *device, void *name, int32_t dim,
				   int32_t norm, int32_t ext, unsigned slot)
{
	PASS(slot, W(handle), W(host), W(device), W(name), W(dim), W(norm), W(ext));
}

void lc_hook___cudaRegisterSurface(void *handle, void *host, void *device, void *name, int32_t dim,
				   int32_t ext, unsigned slot)
{
	PASS(slot, W(handle), W(host), W(device), W(name), W(dim), W(ext));
}

void lc_hook___cudaRegisterHostVar(void *handle, void *a2, void *a3, uint64_t a4, unsigned slot)
{
	PASS(slot, W(handle), W(a2), W(a3), W(a4));
}

/* No header says what the arguments are.  If the first is a handle of this stub,
 * it is translated. */
void lc_hook___cudaRegisterUnifiedTable(void *a1, void *a2, void *a3, void *a4, void *a5,
					unsigned slot)
{
	uintptr_t words[] = { W(a1), W(a2), W(a3), W(a4), W(a5) };

	pass(lc_module_of(a1), slot, 5, words);
}
