/* SPDX-License-Identifier: MIT */
/*
 * registrations.c - nvcc's static constructors, recorded and replayed
 *
 * Every object that nvcc compiles registers its device code from a static
 * constructor and unregisters it from an exit handler.  Loading CUDA for that
 * would load it into programs that never use it, so the calls are recorded, and
 * made in the same order once the real library is there.  What
 * __cudaRegisterFatBinary() returns is a handle of ours, which stands for the
 * library's from then on.
 *
 * All of these functions take addresses and integers alone, which the ABIs of
 * all 64-bit CPUs pass as words; so a recorded call is an array of words.
 */
#include <stdlib.h>

#include "errors.h"
#include "generated/libcudart_stub.h"
#include "loader.h"
#include "registrations.h"

#define MAX_WORDS 10

/* One fat binary.  Its address is the handle that the caller has. */
struct module {
	struct module *next, *previous;
	uintptr_t real;		/* the library's handle, once it has one */
	struct record *records, *last;	/* recorded calls about it, oldest first */
	unsigned unregister;	/* slot of __cudaUnregisterFatBinary */
	bool replaying;		/* its registration is being made right now */
	bool gone;		/* unregistered meanwhile */
};

/* One recorded call. */
struct record {
	struct record *next, *previous;	/* in the order of the calls */
	struct record *sibling;		/* the module's next one */
	struct module *module;
	uint16_t slot;
	uint8_t words;
	bool creates;			/* returns the module's handle */
	uintptr_t word[];
};

/* Under the loader's lock. */
static struct record *oldest, *newest;
static struct module *modules;

static uintptr_t call(lc_function function, unsigned words, const uintptr_t *w)
{
	typedef uintptr_t word;

	switch (words) {
	case 1:
		return ((word (*)(word))function)(w[0]);
	case 4:
		return ((word (*)(word, word, word, word))function)(w[0], w[1], w[2], w[3]);
	case 5:
		return ((word (*)(word, word, word, word, word))function)
			(w[0], w[1], w[2], w[3], w[4]);
	case 6:
		return ((word (*)(word, word, word, word, word, word))function)
			(w[0], w[1], w[2], w[3], w[4], w[5]);
	case 7:
		return ((word (*)(word, word, word, word, word, word, word))function)
			(w[0], w[1], w[2], w[3], w[4], w[5], w[6]);
	case 8:
		return ((word (*)(word, word, word, word, word, word, word, word))function)
			(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7]);
	default:
		return ((word (*)(word, word, word, word, word, word, word, word, word, word))
			function)(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9]);
	}
}

static void unlink_record(struct record *record)
{
	*(record->previous ? &record->previous->next : &oldest) = record->next;
	*(record->next ? &record->next->previous : &newest) = record->previous;
}

/* A call to record; NULL if there is no memory for it.  It is lost then, as the
 * static constructor has no way to hear of it. */
static struct record *new_record(struct module *module, unsigned slot, bool creates,
				 unsigned words, const uintptr_t *word)
{
	struct record *record = malloc(sizeof(*record) + words * sizeof(*word));

	if (!record)
		return NULL;
	*record = (struct record){ .module = module, .slot = (uint16_t)slot,
				   .words = (uint8_t)words, .creates = creates };
	for (unsigned i = 0; i < words; i++)
		record->word[i] = word[i];
	return record;
}

/* With the lock held. */
static void append(struct record *record)
{
	struct module *module = record->module;

	if (module) {
		*(module->records ? &module->last->sibling : &module->records) = record;
		module->last = record;
	}
	record->previous = newest;
	*(newest ? &newest->next : &oldest) = record;
	newest = record;
}

static void link_module(struct module *module)
{
	module->next = modules;
	if (modules)
		modules->previous = module;
	modules = module;
}

static void unlink_module(struct module *module)
{
	*(module->previous ? &module->previous->next : &modules) = module->next;
	if (module->next)
		module->next->previous = module->previous;
}

/*
 * Records a call unless the library is there by now, and links the module that
 * it creates, if any.  Whether nothing is left to do.
 */
static bool record_call(struct record *record, struct module *created)
{
	bool loaded;

	lc_lock();
	loaded = lc_is_loaded();
	if (created)
		link_module(created);
	if (record && !loaded)
		append(record);
	lc_unlock();
	if (loaded)
		free(record);
	return !loaded;
}

bool lc_replay_pending(void)
{
	return oldest != NULL;
}

/* The oldest record of all is the oldest of its module. */
static struct record *take_oldest(void)
{
	struct record *record = oldest;

	unlink_record(record);
	if (record->module)
		record->module->records = record->sibling;
	return record;
}

void lc_replay_next(const lc_function *functions, const uint8_t *outcomes)
{
	struct record *record;
	struct module *module;
	uintptr_t result = 0;
	bool gone = false;

	lc_lock();
	if (!oldest) {
		lc_unlock();
		return;
	}
	record = take_oldest();
	module = record->module;
	if (module)
		module->replaying = true;
	lc_unlock();

	if (module && !record->creates)
		record->word[0] = module->real;
	if (functions[record->slot])
		result = call(functions[record->slot], record->words, record->word);
	else	/* for cudaGetLastError() to tell: nobody else would */
		lc_refuse(record->slot, (enum lc_refusal)outcomes[record->slot]);

	lc_lock();
	if (module) {
		module->replaying = false;
		if (record->creates)
			module->real = result;
		gone = module->gone;
	}
	lc_unlock();
	if (gone) {
		if (module->real && functions[module->unregister])
			call(functions[module->unregister], 1, &module->real);
		free(module);
	}
	free(record);
}

/* A call about a module: recorded, or made with the library's own handle. */
static void pass(uintptr_t handle, unsigned slot, unsigned words, uintptr_t *word)
{
	struct module *module = (struct module *)handle;

	if (!lc_is_loaded() && record_call(new_record(module, slot, false, words, word), NULL))
		return;
	if (module)
		word[0] = module->real;
	/* Absent in this library, or another interface: the thread's last error. */
	if (lc_slow(slot) == 0)
		call(lc_slot_table[slot], words, word);
}

#define W(argument) ((uintptr_t)(argument))
/* A handle is NULL only if its registration failed for want of memory. */
#define PASS(handle, slot, ...) do { \
	uintptr_t words_[] = { W(handle), __VA_ARGS__ }; \
	if (handle) \
		pass(W(handle), slot, sizeof(words_) / sizeof(*words_), words_); \
} while (0)

void *lc_hook___cudaRegisterFatBinary(void *binary, unsigned slot)
{
	struct module *module = calloc(1, sizeof(*module));
	struct record *record = NULL;
	uintptr_t word = W(binary);

	if (!module)
		return NULL;
	module->unregister = LC_SLOT___cudaUnregisterFatBinary;
	if (!lc_is_loaded()) {
		record = new_record(module, slot, true, 1, &word);
		if (!record) {
			free(module);
			return NULL;
		}
	}
	if (record_call(record, module))
		return module;
	module->real = call(lc_slot_table[slot], 1, &word);
	return module;
}

static void free_records(struct record *record)
{
	while (record) {
		struct record *sibling = record->sibling;

		free(record);
		record = sibling;
	}
}

void lc_hook___cudaUnregisterFatBinary(void *handle, unsigned slot)
{
	struct module *module = handle;
	struct record *records;
	bool replaying;

	if (!module)
		return;
	lc_lock();
	unlink_module(module);
	records = module->records;
	for (struct record *r = records; r; r = r->sibling)
		unlink_record(r);
	module->records = NULL;
	module->gone = replaying = module->replaying;
	lc_unlock();
	free_records(records);
	if (replaying)	/* lc_replay_next() sees to the rest */
		return;
	if (module->real && !lc_is_exiting() && lc_is_loaded())
		call(lc_slot_table[slot], 1, &module->real);
	free(module);
}

void lc_hook___cudaRegisterFatBinaryEnd(void *handle, unsigned slot)
{
	uintptr_t word = W(handle);

	if (handle)
		pass(word, slot, 1, &word);
}

void lc_hook___cudaRegisterFunction(void *handle, void *host, void *device, void *name,
				    int32_t thread_limit, void *tid, void *bid, void *block,
				    void *grid, void *warp_size, unsigned slot)
{
	PASS(handle, slot, W(host), W(device), W(name), W(thread_limit), W(tid), W(bid), W(block),
	     W(grid), W(warp_size));
}

void lc_hook___cudaRegisterVar(void *handle, void *host, void *device, void *name, int32_t ext,
			       uint64_t size, int32_t constant, int32_t global, unsigned slot)
{
	PASS(handle, slot, W(host), W(device), W(name), W(ext), W(size), W(constant), W(global));
}

void lc_hook___cudaRegisterManagedVar(void *handle, void *host, void *device, void *name,
				      int32_t ext, uint64_t size, int32_t constant, int32_t global,
				      unsigned slot)
{
	PASS(handle, slot, W(host), W(device), W(name), W(ext), W(size), W(constant), W(global));
}

void lc_hook___cudaRegisterTexture(void *handle, void *host, void *device, void *name, int32_t dim,
				   int32_t norm, int32_t ext, unsigned slot)
{
	PASS(handle, slot, W(host), W(device), W(name), W(dim), W(norm), W(ext));
}

void lc_hook___cudaRegisterSurface(void *handle, void *host, void *device, void *name, int32_t dim,
				   int32_t ext, unsigned slot)
{
	PASS(handle, slot, W(host), W(device), W(name), W(dim), W(ext));
}

void lc_hook___cudaRegisterHostVar(void *handle, void *a2, void *a3, uint64_t a4, unsigned slot)
{
	PASS(handle, slot, W(a2), W(a3), W(a4));
}

/* No header says what its arguments are; a handle of ours would be translated. */
void lc_hook___cudaRegisterUnifiedTable(void *a1, void *a2, void *a3, void *a4, void *a5,
					unsigned slot)
{
	uintptr_t words[] = { W(a1), W(a2), W(a3), W(a4), W(a5) };
	struct module *module;

	lc_lock();
	for (module = modules; module && module != a1; module = module->next)
		;
	lc_unlock();
	pass(W(module), slot, 5, words);
}

void *lc_real_handle(void *handle)
{
	struct module *module = handle;

	return module ? (void *)module->real : NULL;
}
