/* SPDX-License-Identifier: MIT */
/* results.c - what nvJitLinkCreate says to each set of options; and to none */
#include <stdint.h>
#include <stdio.h>

int nvJitLinkCreate(void **handle, uint32_t count, const char **options);
int nvJitLinkAddData(void *handle, int kind, const void *data, size_t size, const char *name);

int main(void)
{
	const char *incompatible[] = { "-arch=sm_80", "-ptx" }, *unknown[] = { "-arch=sm_999" };
	const char *good[] = { "-arch=sm_80" };
	void *handle;

	printf("%d %d", nvJitLinkCreate(&handle, 2, incompatible),
	       nvJitLinkCreate(&handle, 1, unknown));
	printf(" %d", nvJitLinkCreate(&handle, 1, good));
	/* A cubin's bytes declared as PTX. */
	printf(" %d\n", nvJitLinkAddData(handle, 1, "no cubin at all", 16, "x"));
	return 0;
}
