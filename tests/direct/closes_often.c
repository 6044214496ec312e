/* SPDX-License-Identifier: MIT */
/* Opens the runtime after a call, and closes it more than once, which does not matter to what ld.so
 * has loaded for a program. */
#include <dlfcn.h>

#include "versions.h"

int main(void)
{
	void *handle;

	print_versions();
	handle = dlopen("libcudart.so.12", RTLD_LAZY);
	for (int i = 0; handle && i < 3; i++)
		dlclose(handle);
	return print_versions();
}
