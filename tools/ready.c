/* SPDX-License-Identifier: MIT */
/* ready.c - finds the stubs of CUDA's other libraries, beside those of the five */
#include "ready.h"

#include <dlfcn.h>
#include <errno.h>
#include <fnmatch.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "../include/lazycuda.h"
#include "../stubs/base/count.h"
#include "../stubs/base/library_name.h"
#include "known.h"
#include "say.h"

/* The names of libraries/, from the Makefile. */
static const char *const libraries[] = { LAZYCUDA_READY NULL };

const char *ready_named(const char *library)
{
	for (size_t i = 0; libraries[i]; i++)
		if (!strcasecmp(libraries[i], library))
			return libraries[i];
	return NULL;
}

char *ready_stub(const char *library)
{
	/* This program is linked against the stub, so it is loaded. */
	void *handle = dlopen(STUB_SONAME("cudart"), RTLD_LAZY | RTLD_NOLOAD);
	struct link_map *map;
	const char *slash;
	char *path;

	if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &map))
		return NULL;
	slash = strrchr(map->l_name, '/');
	if (!slash || asprintf(&path, "%.*s/lib%s_stub.so" LAZYCUDA_SONUMBER,
			       (int)(slash - map->l_name), map->l_name, library) < 0)
		return NULL;
	if (!access(path, R_OK))
		return path;
	free(path);
	return NULL;
}

bool ready_library_of(const char *soname, char *library, size_t size)
{
	const char *name = lc_basename(soname);
	struct lc_ending ending;
	size_t length = lc_read_name(name, &ending);

	if (strncmp(name, "lib", 3) || length <= 3 || length >= size)
		return false;
	for (size_t i = 3; i < length; i++)
		if (lc_read_ending(name + i, &ending) && ending.hashed)
			length = i;
	snprintf(library, size, "%.*s", (int)length - 3, name + 3);
	length = strlen(library);
	if (length > 5 && !strcmp(library + length - 5, "_stub"))
		library[length - 5] = 0;
	return true;
}

bool ready_lists(const char *soname)
{
	char library[64];

	return ready_library_of(soname, library, sizeof(library)) && ready_named(library);
}

#define KNOWN(kind, soname) is_known(kind, LC_COUNT(kind), soname)

static bool is_known(const char *const *patterns, size_t count, const char *soname)
{
	const char *name = lc_basename(soname);
	char library[64];

	/* ld-linux-x86-64.so.2 */
	if (!ready_library_of(soname, library, sizeof(library)))
		snprintf(library, sizeof(library), "%.*s", (int)strcspn(name, "."), name);
	for (size_t i = 0; i < count; i++)
		if (!fnmatch(patterns[i], library, 0))
			return true;
	return false;
}

bool ready_is_cudas(const char *soname)
{
	return !ready_lists(soname) && KNOWN(known_cudas, soname);
}

bool ready_is_systems(const char *soname)
{
	return KNOWN(known_systems, soname);
}

bool ready_is_apart(const char *soname)
{
	return KNOWN(known_others, soname);
}

bool ready_brings(const char *soname, const char *library)
{
	char own[64];
	size_t length = strlen(library);

	if (!ready_library_of(soname, own, sizeof(own)))
		return false;
	for (size_t i = 0; i < LC_COUNT(known_in_turn); i++) {
		const char *word = known_in_turn[i][1];

		if (strcmp(known_in_turn[i][0], own))
			continue;
		for (size_t end; *word; word += end + (word[end] == ' ')) {
			end = strcspn(word, " ");
			if (end == length && !memcmp(word, library, length))
				return true;
		}
	}
	return false;
}

bool ready_may_have(const char *name)
{
	static const char *const starts[] = { "cu", "nv", "nccl", "npp" };

	name += strspn(name, "_");
	for (size_t i = 0; i < LC_COUNT(starts); i++)
		if (!strncmp(name, starts[i], strlen(starts[i])))
			return true;
	return false;
}

bool ready_bundled(const char *soname)
{
	struct lc_ending ending;

	for (const char *c = lc_basename(soname); *c; c++)
		if (lc_read_ending(c, &ending) && ending.hashed)
			return true;
	return false;
}

/* The structs behind a peer may differ between releases, so versions must be equal. */
static bool is_current(void *handle, const struct lc_peer *peer)
{
	const char *(*version)(void) = (const char *(*)(void))dlsym(handle, "lazycuda_version");

	return peer->size == sizeof(*peer) && version && !strcmp(version(), lazycuda_version());
}

/* ld.so says what is wrong behind the path. */
static const char *without_path(const char *message, const char *path)
{
	const size_t length = strlen(path);

	return strncmp(message, path, length) || strncmp(message + length, ": ", 2) ? message : message + length + 2;
}

const struct lc_peer *own_stub_open(const char *command, const char *path)
{
	/* realpath(): dlopen() would search for a name without a slash. */
	char *real = realpath(path, NULL);
	bool readable = real && can_read(real);		/* it would wait for the writer of a FIFO */
	void *handle = readable ? dlopen(real, RTLD_NOW | RTLD_LOCAL) : NULL;
	const struct lc_peer *peer = handle ? dlsym(handle, LC_PEER_SYMBOL) : NULL;

	if (!readable)
		complain_of(command, path, errno);
	else if (!handle)
		complain(command, "%s cannot be loaded as a stub: %s", path, without_path(dlerror(), real));
	else if (!peer)
		complain(command, "%s is not a stub of lazycuda; what has stubs inside shows with LAZYCUDA_DEBUG=1"
			 " what they use", path);
	else if (!is_current(handle, peer))
		complain(command, "%s is of another version of lazycuda: make it again", path);
	free(real);
	return peer && is_current(handle, peer) ? peer : NULL;
}

static bool has_table(const struct tables *tables, const char *library)
{
	for (size_t i = 0; i < tables->count; i++)
		if (!strcmp(tables->all[i].library->name, library))
			return true;
	return false;
}

static void add_library(struct tables *tables, const char *command, const char *library)
{
	char *path = has_table(tables, library) ? NULL : ready_stub(library);
	const struct lc_peer *peer = path ? own_stub_open(command, path) : NULL;
	const char *why = peer ? tables_add(tables, peer) : NULL;

	if (why)
		complain(command, "%s: %s", path, why);
	free(path);
}

void ready_add(struct tables *tables, const char *command, const char *soname)
{
	char library[64];

	if (ready_library_of(soname, library, sizeof(library)) && ready_named(library))
		add_library(tables, command, library);
}

void ready_add_all(struct tables *tables, const char *command)
{
	for (size_t i = 0; libraries[i]; i++)
		add_library(tables, command, libraries[i]);
}
