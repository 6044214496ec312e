/* SPDX-License-Identifier: MIT */
/* header.c - every function of lazycuda.h, from a program linked with one stub */
#include <lazycuda.h>
#include <stdio.h>

int main(void)
{
	static const char *const libraries[] = { "cudart", "nvrtc", "nvJitLink" };

	printf("%s %s %d", lazycuda_version(), lazycuda_get_guard(), lazycuda_get_driver().version);
	for (int i = 0; i < 3; i++) {
		const struct lazycuda_status *status = lazycuda_get_status(libraries[i]);
		const struct lazycuda_error *error = lazycuda_get_error(libraries[i]);
		if (status && error)
			printf(" %s %zu %zu", status->library, status->size, error->size);
	}
	printf(" %d\n", lazycuda_load(NULL));
	return 0;
}
