/* SPDX-License-Identifier: MIT */
/* api.c - the functions of lazycuda.h: any stub answers for all stubs of the process */
#include <string.h>

#include "../../include/lazycuda.h"
#include "../base/constraint.h"
#include "../base/cuda_version.h"
#include "driver.h"
#include "of_thread.h"
#include "peers.h"
#include "settings.h"

static struct lc_peer *peer_named(const char *library)
{
	struct lc_arena arena = { 0 };
	struct lc_peer *found = NULL;
	struct lc_peers peers;

	if (!library || !strcmp(library, lc_self.library->name))
		return library ? &lc_self : NULL;
	if (!lc_is_ready())
		return NULL;
	lc_peers_list(&arena, &peers);
	for (size_t i = 0; i < peers.count && !found; i++)
		if (!strcmp(library, peers.list[i]->library->name))
			found = peers.list[i];
	lc_arena_free(&arena);
	return found;
}

LC_PUBLIC const struct lazycuda_status *lazycuda_get_status(const char *library)
{
	struct lc_peer *peer = peer_named(library);

	return peer ? peer->status() : NULL;
}

LC_PUBLIC int lazycuda_load(const char *library)
{
	struct lc_arena arena = { 0 };
	struct lc_peers peers;
	int unusable = 0;

	if (library) {
		struct lc_peer *peer = peer_named(library);

		return peer ? !peer->load() : -1;
	}
	if (!lc_is_ready())
		return 1;
	lc_peers_list(&arena, &peers);
	for (size_t i = 0; i < peers.count; i++)
		unusable += !peers.list[i]->load();
	lc_arena_free(&arena);
	return unusable;
}

LC_PUBLIC struct lazycuda_driver lazycuda_get_driver(void)
{
	return lc_driver();
}

LC_PUBLIC const struct lazycuda_error *lazycuda_get_error(const char *library)
{
	struct lc_peer *peer = peer_named(library);

	return peer ? peer->error() : NULL;
}

LC_PUBLIC void *lazycuda_open_aside(const char *library, const char *path)
{
	struct lc_peer *peer = peer_named(library);

	return peer ? peer->open_aside(path) : NULL;
}

/* How many stubs have loaded what a constraint does not allow. */
static int count_excluded(const struct lc_peers *peers, const char *constraint)
{
	int excluded = 0;

	for (size_t i = 0; i < peers->count; i++) {
		lc_version loaded = (lc_version)atomic_load(&peers->list[i]->loaded);
		const struct lc_library *library = peers->list[i]->library;

		/* With own majors it may end before `cuda`, and those are no versions of CUDA. */
		if (loaded && !library->own_majors && lc_is_coordinated(library))
			excluded += !lc_constraint_holds(constraint, lc_number_of_version(loaded),
							 NULL);
	}
	return excluded;
}

LC_PUBLIC int lazycuda_set_constraint(const char *constraint)
{
	const char *text = constraint ? constraint : "";
	struct lc_arena arena = { 0 };
	struct lc_peers peers;
	int excluded = -1;

	if (lc_constraint_holds(text, LC_CUDA(1, 0), NULL) < 0 || !lc_is_ready())
		return -1;
	lc_peers_list(&arena, &peers);
	if (lc_peers_constrain(&peers, text))
		excluded = count_excluded(&peers, text);
	lc_arena_free(&arena);
	return excluded;
}

LC_PUBLIC int lazycuda_set_order(const char *order)
{
	struct lc_arena arena = { 0 };
	struct lc_peers peers;
	enum lc_order read;
	bool set;

	if (!order || !lc_order_read(order, &read) || !lc_is_ready())
		return -1;
	lc_peers_list(&arena, &peers);
	set = lc_peers_order(&peers, read);
	lc_arena_free(&arena);
	return set ? 0 : -1;
}

LC_PUBLIC int lazycuda_is_allowed(int version)
{
	struct lc_arena arena = { 0 };
	struct lc_settings settings;
	struct lc_peers peers;
	bool allowed;

	lc_settings_read(&arena, &settings, lc_self.library, true);
	if (lc_is_ready()) {
		lc_peers_list(&arena, &peers);
		lc_peers_settings(&peers, &settings);
	}
	allowed = !settings.wrong && !lc_hides_all() &&
		  (!settings.major || settings.major == LC_CUDA_MAJOR(version)) &&
		  (!settings.constraint ||
		   lc_constraint_holds(settings.constraint, version, NULL) > 0) &&
		  (!settings.program || lc_constraint_holds(settings.program, version, NULL) > 0);
	lc_arena_free(&arena);
	return allowed;
}

LC_PUBLIC const char *lazycuda_get_guard(void)
{
	struct lc_arena arena = { 0 };
	struct lc_settings settings;

	lc_settings_read(&arena, &settings, lc_self.library, false);
	lc_arena_free(&arena);
	return lc_guard_name(settings.guard);
}

LC_PUBLIC const char *lazycuda_version(void)
{
	return LAZYCUDA_VERSION;
}
