/* SPDX-License-Identifier: MIT */
/*
 * refusals.c - what the stub refuses is an error like any other, with the runtime's own
 * before and after it; only callers of 13 ask 11.8 for this
 */
#include "runtime.h"

#if CUDART_VERSION >= 13000
#define IS(key, call, code) is_right(key, (int)(call) == (code))

/* What CUDA 11 cannot express: memory near a NUMA node of the host. */
static int refused(void)
{
	const struct cudaMemLocation node = { .type = cudaMemLocationTypeHostNuma, .id = 0 };

	return (int)cudaMemAdvise(NULL, 0, cudaMemAdviseSetPreferredLocation, node);
}

static void errors(void)
{
	void *p;

	IS("call", refused(), REFUSED);
	IS("peek", cudaPeekAtLastError(), REFUSED);
	IS("last", cudaGetLastError(), REFUSED);
	IS("gone", cudaGetLastError(), 0);
	IS("runtime", cudaSetDevice(1000), cudaErrorInvalidDevice);
	IS("then-refused", refused(), REFUSED);
	/* Of both the stub's comes first, and what succeeds clears none. */
	IS("success", cudaDeviceSynchronize(), 0);
	IS("the-stubs", cudaGetLastError(), REFUSED);
	IS("the-runtimes", cudaGetLastError(), cudaErrorInvalidDevice);
	IS("nothing-left", cudaGetLastError(), 0);
	IS("device", cudaMalloc(&p, 100), 0);
	IS("device-is-well", cudaFree(p), 0);
}
#else
static void errors(void)
{
	printf("- errors only callers of 13 are refused anything here\n");
}
#endif

int main(void)
{
	begin();
	RUN(errors);
	return finish();
}
