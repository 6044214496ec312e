/* SPDX-License-Identifier: MIT */
/* As cuDNN 9 does, it opens its parts by name, and ends the process if it cannot. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

size_t cudnnGetCudartVersion(void)
{
	void *part = dlopen("libcudnn_graph.so.9", RTLD_LAZY), *address;
	size_t (*real)(void);

	address = part ? dlsym(part, __func__) : NULL;
	if (!address)
		abort();
	memcpy(&real, &address, sizeof(real));
	return real();
}
