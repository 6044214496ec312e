/* SPDX-License-Identifier: MIT */
/* peers.c - how the stubs of a process know each other */
#include "peers.h"

#include <link.h>
#include <string.h>

#include "glibc.h"

static struct lc_peer *peer_at(const char *path)
{
	void *handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	struct lc_peer *peer;

	if (!handle)
		return NULL;
	peer = dlsym(handle, LC_PEER_SYMBOL);
	/* Stubs are never unloaded: what was found stays. */
	dlclose(handle);
	return peer && peer->size >= sizeof(*peer) ? peer : NULL;
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
		/* One stub too many, or memory is out. */
		peers->stubs[peers->count] = (struct lc_stub){ "", lc_library.stub, &lc_library };
		peers->peers[peers->count++] = &lc_self;
	}
}
