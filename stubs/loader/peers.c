/* SPDX-License-Identifier: MIT */
/* peers.c - how the stubs of a process find each other */
#include "peers.h"

#include <link.h>
#include <string.h>

#include "forks.h"
#include "../base/glibc.h"

static struct lc_peer *peer_at(const char *path)
{
	void *handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	struct lc_peer *peer;

	if (!handle)
		return NULL;
	peer = dlsym(handle, LC_PEER_SYMBOL);
	/* Stubs are never unloaded, so the record stays valid. */
	dlclose(handle);
	return peer && peer->size >= LC_PEER_FIRST ? peer : NULL;
}

void lc_peers_read(struct lc_arena *arena, struct lc_peers *peers)
{
	struct lc_stub *stubs;
	size_t count = lc_process_stubs(arena, &stubs);
	bool self = false;

	peers->count = 0;
	for (size_t i = 0; i < count && peers->count < LC_MAX_PEERS - 1; i++) {
		struct lc_peer *peer = peer_at(stubs[i].path);

		if (!peer)
			continue;
		self |= peer == &lc_self;
		stubs[i].library = peer->library;
		peers->stubs[peers->count] = stubs[i];
		peers->peers[peers->count++] = peer;
	}
	if (!self) {
		/* There are too many stubs, or memory ran out. */
		peers->stubs[peers->count] = (struct lc_stub){ "", lc_library.stub, &lc_library };
		peers->peers[peers->count++] = &lc_self;
	}
}

void lc_peers_list(struct lc_peers *peers)
{
	struct lc_arena arena = { 0 };

	lc_enter();
	lc_peers_read(&arena, peers);
	lc_leave();
	lc_arena_free(&arena);	/* it only held the stubs' paths */
}

static bool is_copy(const struct lc_peer *peer)
{
	return peer != &lc_self && !strcmp(peer->library->name, lc_library.name);
}

bool lc_peers_copy_is_loaded(void)
{
	struct lc_peers peers;

	lc_peers_list(&peers);
	for (size_t i = 0; i < peers.count; i++)
		if (is_copy(peers.peers[i]) && atomic_load(&peers.peers[i]->loaded))
			return true;
	return false;
}

void lc_peers_load_copies(void)
{
	struct lc_peers peers;

	lc_peers_list(&peers);
	for (size_t i = 0; i < peers.count; i++)
		if (is_copy(peers.peers[i]))
			peers.peers[i]->load();
}

bool lc_peers_registered(const struct lc_registration *call, uintptr_t *result)
{
	struct lc_peers peers;

	lc_peers_list(&peers);
	for (size_t i = 0; i < peers.count; i++) {
		struct lc_peer *peer = peers.peers[i];

		if (is_copy(peer) && LC_PEER_HAS(peer, registered) &&
		    peer->registered(call, result))
			return true;
	}
	return false;
}
