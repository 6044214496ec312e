/* SPDX-License-Identifier: MIT */
/* api.c - the functions of lazycuda.h: any stub answers for all stubs of the process */
#include <string.h>

#include "../../include/lazycuda.h"
#include "driver.h"
#include "errors.h"
#include "loader.h"
#include "peers.h"
#include "settings.h"
#include "specifics.h"
#include "tries.h"

#define LC_EXPORT __attribute__((visibility("default")))

static int load_this(void)
{
	return lc_load();
}

static int registered_here(const struct lc_registration *call, uintptr_t *result)
{
	return lc_specifics.registered && lc_specifics.registered(call, result);
}

struct lc_peer lc_self = {
	.size = sizeof(lc_self),
	.library = &lc_library,
	.load = load_this,
	.status = lc_status,
	.error = lc_last_error,
	.specifics = &lc_specifics,
	.registered = registered_here,
};

extern struct lc_peer lazycuda_stub_1 __attribute__((alias("lc_self"))) LC_EXPORT;

static struct lc_peer *peer_named(const char *library)
{
	struct lc_peers peers;

	if (library && !strcmp(library, lc_library.name))
		return &lc_self;
	if (!lc_is_ready())
		return NULL;
	lc_peers_list(&peers);
	for (size_t i = 0; library && i < peers.count; i++)
		if (!strcmp(library, peers.peers[i]->library->name))
			return peers.peers[i];
	return NULL;
}

LC_EXPORT const struct lazycuda_status *lazycuda_get_status(const char *library)
{
	struct lc_peer *peer = peer_named(library);

	return peer ? peer->status() : NULL;
}

LC_EXPORT int lazycuda_load(const char *library)
{
	struct lc_peers peers;
	int unusable = 0;

	if (library) {
		struct lc_peer *peer = peer_named(library);

		return peer ? !peer->load() : -1;
	}
	if (!lc_is_ready())
		return 1;
	lc_peers_list(&peers);
	for (size_t i = 0; i < peers.count; i++)
		unusable += !peers.peers[i]->load();
	return unusable;
}

LC_EXPORT struct lazycuda_driver lazycuda_get_driver(void)
{
	return lc_driver();
}

LC_EXPORT const struct lazycuda_error *lazycuda_get_error(const char *library)
{
	struct lc_peer *peer = peer_named(library);

	return peer ? peer->error() : NULL;
}

LC_EXPORT const char *lazycuda_get_guard(void)
{
	struct lc_arena arena = { 0 };
	struct lc_settings settings;

	lc_settings_read(&arena, &settings);
	lc_arena_free(&arena);
	return lc_guard_name(settings.guard);
}

LC_EXPORT const char *lazycuda_version(void)
{
	return LAZYCUDA_VERSION;
}
