/* SPDX-License-Identifier: MIT */
/* aside.c - real libraries that are loaded beside those of the stubs */
#include "aside.h"

#include <stdlib.h>
#include <string.h>

#include "../base/glibc.h"
#include "../base/object.h"
#include "forks.h"

bool lc_is_aside(const struct lc_aside *aside, const char *path)
{
	for (size_t i = 0; aside && i < LC_MAX_ASIDE; i++) {
		const char *known = atomic_load_explicit(&aside->paths[i], memory_order_acquire);

		if (!known)
			return false;
		if (!strcmp(known, path))
			return true;
	}
	return false;
}

/* Records a path; false if there is no room or no memory.  Paths are never removed. */
static bool keep_path(struct lc_aside *aside, const char *path)
{
	const size_t size = strlen(path) + 1;
	char *copy = malloc(size);

	if (copy)
		memcpy(copy, path, size);
	for (size_t i = 0; copy && i < LC_MAX_ASIDE; i++) {
		const char *none = NULL;

		if (atomic_compare_exchange_strong(&aside->paths[i], &none, copy))
			return true;
	}
	free(copy);
	return false;
}

static bool is_loaded(const char *path)
{
	void *handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);

	if (handle)
		dlclose(handle);
	return handle;
}

/* Returns true if the file is such a library: a stub would join those of the process, and the
 * constructors of any other file are not to run. */
static bool is_real(const struct lc_library *library, const char *path)
{
	struct lc_elf elf;

	return path[0] == '/' && !lc_elf_file(path, library, &elf) && !elf.stub && elf.major;
}

/* The path is recorded before the library is loaded, so that no search sees it in between.
 * A library that is loaded already is not recorded. */
void *lc_open_aside(const struct lc_library *library, struct lc_aside *aside, const char *path)
{
	void *handle = NULL;

	lc_enter();
	if (is_real(library, path) &&
	    (lc_is_aside(aside, path) || is_loaded(path) || keep_path(aside, path)))
		handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	lc_leave();
	return handle;
}
