/* SPDX-License-Identifier: MIT */
/* peers.c - how the stubs of a process find each other */
#include "peers.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "aside.h"
#include "forks.h"
#include "../base/glibc.h"
#include "../base/objects.h"

_Static_assert(sizeof(void *) != 8 || offsetof(struct lc_peer, self) + 8 == LC_RECORD_BYTES,
	       "records in other people's binaries are like this");

static struct lc_peer *peer_of(const struct lc_stub *stub)
{
	/* Waits until another thread has relocated the record. */
	void *handle = dlopen(stub->path, RTLD_LAZY | RTLD_NOLOAD);
	struct lc_peer *peer;

	if (!handle)
		return NULL;
	peer = stub->record ? stub->record : lc_ask_loader(handle, LC_PEER_SYMBOL, NULL);
	/* Stubs are never unloaded, so the record stays valid.  Who reads a field that comes behind
	 * `self` has to look at the size. */
	dlclose(handle);
	return peer && peer->size >= LC_RECORD_BYTES && peer->self == peer ? peer : NULL;
}

static void add_peer(struct lc_arena *arena, struct lc_peers *peers, struct lc_peer *peer,
		     const struct lc_stub *stub)
{
	size_t count = peers->count;
	struct lc_peer **slot = lc_grow(arena, &peers->list, &count, sizeof(*slot));
	struct lc_stub *copy = lc_grow(arena, &peers->stubs, &peers->count, sizeof(*copy));

	if (!slot || !copy) {
		peers->count = 0;
		return;
	}
	*slot = peer;
	*copy = *stub;
	copy->library = peer->library;
	copy->aside = peer->aside;
	copy->callers = (int)peer->callers;
}

/* Tells the stubs which of them keeps what is known. */
static void name_keeper(const struct lc_peers *peers)
{
	struct lc_peer *keeper = NULL;

	for (size_t i = 0; i < peers->count; i++) {
		struct lc_peer *peer = peers->list[i];

		if (peer->cache_size != lc_self.cache_size || strcmp(peer->sources, lc_self.sources))
			continue;
		if (!keeper)
			keeper = peer;
		atomic_store(&peer->keeper, keeper);
	}
}

void lc_peers_read(struct lc_arena *arena, struct lc_peers *peers)
{
	const struct lc_stub this = { .path = "", .soname = lc_self.library->stub,
				      .library = lc_self.library };
	struct lc_stub *stubs;
	size_t count = lc_process_stubs(arena, &stubs);
	bool self = false;

	*peers = (struct lc_peers){ .count = 0 };
	for (size_t i = 0; i < count && !arena->failed; i++) {
		struct lc_peer *peer = peer_of(&stubs[i]);

		self |= peer == &lc_self;
		if (peer)
			add_peer(arena, peers, peer, &stubs[i]);
	}
	if (!self && !arena->failed)
		add_peer(arena, peers, &lc_self, &this);
	peers->first = peers->count ? peers->list[0] : NULL;
	name_keeper(peers);
}

void lc_peers_list(struct lc_arena *arena, struct lc_peers *peers)
{
	lc_enter();
	lc_peers_read(arena, peers);
	lc_leave();
}

void lc_peers_settings(const struct lc_peers *peers, struct lc_settings *settings)
{
	struct lc_peer *peer = peers->first;
	const struct lc_demand *demand = peer ? atomic_load(&peer->demand) : NULL;
	uint32_t order = peer ? atomic_load(&peer->order) : 0;

	settings->everywhere = peer && atomic_load(&peer->everywhere);
	settings->program = demand && *demand->constraint ? demand->constraint : NULL;
	if (settings->ordered || !order)
		return;
	settings->ordered = true;
	settings->order = (enum lc_order)(order - 1);
}

bool lc_peers_order(const struct lc_peers *peers, enum lc_order order)
{
	if (peers->first)
		atomic_store(&peers->first->order, order + 1);
	return peers->first;
}

static struct lc_demand *find_demand(struct lc_demand *first, const char *constraint)
{
	struct lc_demand *demand = first;

	while (demand && strcmp(demand->constraint, constraint)) {
		demand = atomic_load(&demand->next);
		if (demand == first)
			return NULL;
	}
	return demand;
}

/* Adds one behind the first of the ring, or as the first. */
static struct lc_demand *add_demand(struct lc_peer *peer, const char *constraint)
{
	struct lc_demand *demand = malloc(sizeof(*demand) + strlen(constraint) + 1);
	struct lc_demand *first = NULL, *next;

	if (!demand)
		return NULL;
	strcpy(demand->constraint, constraint);
	atomic_store(&demand->next, demand);
	if (atomic_compare_exchange_strong(&peer->demand, &first, demand))
		return demand;
	next = atomic_load(&first->next);
	do
		atomic_store(&demand->next, next);
	while (!atomic_compare_exchange_weak(&first->next, &next, demand));
	return demand;
}

bool lc_peers_constrain(const struct lc_peers *peers, const char *constraint)
{
	struct lc_peer *peer = peers->first;
	struct lc_demand *demand;

	if (!peer)
		return false;
	demand = find_demand(atomic_load(&peer->demand), constraint);
	if (!demand)
		demand = add_demand(peer, constraint);
	if (demand)
		atomic_store(&peer->demand, demand);
	return demand;
}

bool lc_is_copy(const struct lc_peer *peer, const struct lc_peer *of)
{
	return peer != of && !strcmp(peer->library->name, of->library->name);
}

bool lc_peers_have_copy(const struct lc_peers *peers, const struct lc_peer *of)
{
	for (size_t i = 0; i < peers->count; i++)
		if (lc_is_copy(peers->list[i], of))
			return true;
	return false;
}

bool lc_peers_copy_is_loaded(const struct lc_peer *of)
{
	struct lc_arena arena = { 0 };
	struct lc_peers peers;
	bool loaded = false;

	lc_peers_list(&arena, &peers);
	for (size_t i = 0; i < peers.count; i++)
		loaded |= lc_is_copy(peers.list[i], of) && atomic_load(&peers.list[i]->loaded);
	lc_arena_free(&arena);
	return loaded;
}

void lc_peers_load_copies(const struct lc_peer *of)
{
	struct lc_arena arena = { 0 };
	struct lc_peers peers;

	lc_peers_list(&arena, &peers);
	for (size_t i = 0; i < peers.count; i++)
		if (lc_is_copy(peers.list[i], of))
			peers.list[i]->load();
	lc_arena_free(&arena);
}

bool lc_peers_registered(const struct lc_peer *of, const struct lc_registration *call, uintptr_t *result)
{
	struct lc_arena arena = { 0 };
	struct lc_peers peers;
	bool made = false;

	lc_peers_list(&arena, &peers);
	for (size_t i = 0; i < peers.count && !made; i++) {
		struct lc_peer *peer = peers.list[i];

		made = lc_is_copy(peer, of) && peer->registered(call, result);
	}
	lc_arena_free(&arena);
	return made;
}
