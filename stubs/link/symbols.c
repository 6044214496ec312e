/* SPDX-License-Identifier: MIT */
/* symbols.c - the symbols of one entry, each name once */
#include "symbols.h"

#include <string.h>

#define FIRST_ROOM 32

uint32_t lc_symbol_hash(const char *name, size_t length)
{
	uint32_t hash = 2166136261u;	/* FNV-1a */

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)name[i]) * 16777619u;
	return hash;
}

/* The slot that holds the name, or the free one where it belongs. */
static uint32_t *find_slot(const struct lc_symbols *symbols, const char *name, size_t length,
			   uint32_t hash)
{
	for (size_t i = hash;; i++) {
		uint32_t *slot = &symbols->slots[i & (symbols->slot_count - 1)];
		const struct lazycuda_symbol *symbol;

		if (!*slot)
			return slot;
		symbol = &symbols->list[*slot - 1];
		if (symbol->hash == hash && !strncmp(symbol->name, name, length) &&
		    !symbol->name[length])
			return slot;
	}
}

struct lazycuda_symbol *lc_symbols_find(const struct lc_symbols *symbols, const char *name,
					size_t length)
{
	uint32_t *slot;

	if (!symbols->slot_count)
		return NULL;
	slot = find_slot(symbols, name, length, lc_symbol_hash(name, length));
	return *slot ? &symbols->list[*slot - 1] : NULL;
}

/* A larger array for the symbols, and slots of which they take at most half. */
static bool enlarge(struct lc_symbols *symbols, size_t room)
{
	struct lazycuda_symbol *list;
	size_t wanted = 2;
	uint32_t *slots;

	if (room >= UINT32_MAX / 2)
		return false;
	while (wanted < 2 * room)
		wanted *= 2;
	list = lc_alloc(symbols->arena, wanted / 2 * sizeof(*list));
	slots = lc_alloc(symbols->arena, wanted * sizeof(*slots));
	if (!list || !slots)
		return false;
	for (size_t i = 0; i < symbols->count; i++) {
		size_t at = symbols->list[i].hash;

		list[i] = symbols->list[i];
		while (slots[at & (wanted - 1)])
			at++;
		slots[at & (wanted - 1)] = (uint32_t)i + 1;
	}
	symbols->list = list;
	symbols->room = wanted / 2;
	symbols->slots = slots;
	symbols->slot_count = wanted;
	return true;
}

void lc_symbols_expect(struct lc_symbols *symbols, size_t count)
{
	if (count > symbols->room - symbols->count)
		enlarge(symbols, symbols->count + count);
}

static struct lazycuda_symbol *append(struct lc_symbols *symbols, const char *name, size_t length,
				      uint32_t hash)
{
	struct lazycuda_symbol *symbol;
	char *copy = lc_copy(symbols->arena, name, length);

	if (!copy)
		return NULL;
	symbol = &symbols->list[symbols->count++];
	symbol->name = copy;
	symbol->hash = hash;
	return symbol;
}

void lc_symbols_add(struct lc_symbols *symbols, const char *name, size_t length,
		    const struct lazycuda_symbol *like)
{
	uint32_t hash = lc_symbol_hash(name, length);
	struct lazycuda_symbol *symbol;
	uint32_t *slot;

	if (symbols->count == symbols->room &&
	    !enlarge(symbols, symbols->room ? 2 * symbols->room : FIRST_ROOM))
		return;
	slot = find_slot(symbols, name, length, hash);
	symbol = *slot ? &symbols->list[*slot - 1] : append(symbols, name, length, hash);
	if (!symbol)
		return;
	*slot = (uint32_t)(symbol - symbols->list) + 1;
	symbol->defined |= like->defined;
	symbol->weak |= like->weak;
	symbol->kernel |= like->kernel;
}
