/* SPDX-License-Identifier: MIT */
/* record.c - a stub's record, by which the stubs of a process know each other */
#include "aside.h"
#include "errors.h"
#include "cache.h"
#include "loader.h"
#include "peers.h"
#include "specifics.h"
#include "../entry/note.h"

static struct lc_aside aside;

static int load_this(void)
{
	return lc_load();
}

static int registered_here(const struct lc_registration *call, uintptr_t *result)
{
	return lc_specifics.registered && lc_specifics.registered(call, result);
}

static void *open_aside(const char *path)
{
	return lc_open_aside(&lc_library, &aside, path);
}

LC_USED struct lc_peer lc_self = {
	.size = sizeof(lc_self),
	.library = &lc_library,
	.load = load_this,
	.status = lc_status,
	.error = lc_last_error,
	.specifics = &lc_specifics,
	.registered = registered_here,
	.cache_size = sizeof(struct lc_cache),
	.sources = LAZYCUDA_VERSION " " LC_SOURCES,
	.open_aside = open_aside,
	.aside = &aside,
#ifdef LC_EMBEDDED
	.callers = LC_EMBEDDED,
#endif
	.self = &lc_self,
};

#ifdef LC_EMBEDDED
LC_RECORD_NOTE("lc_self", LAZYCUDA_VERSION " " LC_COPY_OF)
#else
extern struct lc_peer lazycuda_stub_1 __attribute__((alias("lc_self"))) LC_PUBLIC;
#endif
