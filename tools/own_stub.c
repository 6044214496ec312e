/* SPDX-License-Identifier: MIT */
/* own_stub.c - opens a stub by its path, such as one that `lazycuda stub` made */
#include "own_stub.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../include/lazycuda.h"
#include "say.h"

/* The structs behind a peer may differ between releases, so versions must be equal. */
static bool is_current(void *handle, const struct lc_peer *peer)
{
	const char *(*version)(void) = (const char *(*)(void))dlsym(handle, "lazycuda_version");

	return peer->size == sizeof(*peer) && version && !strcmp(version(), lazycuda_version());
}

const struct lc_peer *own_stub_open(const char *command, const char *path)
{
	/* realpath(): dlopen() would search for a name without a slash. */
	char *real = realpath(path, NULL);
	void *handle = real ? dlopen(real, RTLD_NOW | RTLD_LOCAL) : NULL;
	const struct lc_peer *peer = handle ? dlsym(handle, LC_PEER_SYMBOL) : NULL;

	if (!real)
		complain_of(command, path, errno);
	else if (!handle)
		complain(command, "%s", dlerror());
	else if (!peer)
		complain(command, "%s is not a stub of lazycuda", path);
	else if (!is_current(handle, peer))
		complain(command, "%s is of another version of lazycuda: make it again", path);
	free(real);
	return peer && is_current(handle, peer) ? peer : NULL;
}
