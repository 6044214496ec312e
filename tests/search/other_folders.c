/* SPDX-License-Identifier: MIT */
/* To be preloaded: a dlinfo() that does not tell ld.so's own folders, as if they were called otherwise. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

int dlinfo(void *handle, int request, void *result)
{
	int (*next)(void *, int, void *), failed;
	void *address = dlsym(RTLD_NEXT, "dlinfo");
	Dl_serinfo *path = result;

	memcpy(&next, &address, sizeof(next));
	failed = next(handle, request, result);
	while (!failed && request == RTLD_DI_SERINFO && path->dls_cnt) {
		const char *name = path->dls_serpath[path->dls_cnt - 1].dls_name;

		if (strncmp(name, "/lib", 4) && strncmp(name, "/usr/lib", 8))
			break;
		path->dls_cnt--;
	}
	return failed;
}
