/* SPDX-License-Identifier: MIT */
/*
 * modules.c - handles for fat binaries that are registered before the library is loaded
 *
 * Modules lie in blocks that are never freed, each twice as large as the one before,
 * so a handful of comparisons tells whether an address is a handle.
 */
#include "modules.h"

#include <stdlib.h>

#include "../loader/loader.h"

#define BLOCKS 24
#define MODULES_IN(block) ((size_t)64 << (block))

static _Atomic(struct lc_module *) blocks[BLOCKS];

/* Under the loader's lock. */
static struct lc_module *unused_modules;
static size_t block_count, fresh;	/* fresh: how many of the last block were never used */

/* Returns NULL if all are used. */
static struct lc_module *take_module(void)
{
	struct lc_module *module = unused_modules;

	lc_locked();
	if (module)
		unused_modules = module->next;
	else if (fresh)
		module = &blocks[block_count - 1][--fresh];
	return module;
}

/* Adds a block, unless another thread has just done so. */
static bool add_block(size_t count)
{
	struct lc_module *block = count < BLOCKS ?
		calloc(MODULES_IN(count), sizeof(*block)) : NULL;
	bool added;

	if (!block)
		return false;
	lc_lock();
	added = count == block_count;
	if (added) {
		atomic_store_explicit(&blocks[block_count++], block, memory_order_release);
		fresh = MODULES_IN(count);
	}
	lc_unlock();
	if (!added)
		free(block);
	return true;
}

struct lc_module *lc_module_new(void)
{
	struct lc_module *module;
	size_t count;

	do {
		lc_lock();
		module = take_module();
		count = block_count;
		lc_unlock();
	} while (!module && add_block(count));
	if (!module)
		return NULL;
	module->records = module->last = NULL;
	module->gone = false;
	atomic_store(&module->replaying, NOT_REPLAYED);
	atomic_store(&module->real, 0);
	atomic_store(&module->used, true);
	return module;
}

void lc_module_free(struct lc_module *module)
{
	atomic_store(&module->used, false);
	lc_lock();
	module->next = unused_modules;
	unused_modules = module;
	lc_unlock();
}

/* The module at an address, in use or not; NULL if there is none. */
static struct lc_module *at(const void *handle)
{
	for (size_t i = 0; i < BLOCKS; i++) {
		struct lc_module *block = atomic_load_explicit(&blocks[i], memory_order_acquire);
		uintptr_t offset = (uintptr_t)handle - (uintptr_t)block;

		if (!block)
			return NULL;
		if (offset >= MODULES_IN(i) * sizeof(*block))
			continue;
		block += offset / sizeof(*block);
		return block == handle ? block : NULL;
	}
	return NULL;
}

struct lc_module *lc_module_of(const void *handle)
{
	struct lc_module *module = at(handle);

	return module && atomic_load(&module->used) ? module : NULL;
}

bool lc_module_is_gone(const void *handle)
{
	struct lc_module *module = at(handle);

	return module && !atomic_load(&module->used);
}
