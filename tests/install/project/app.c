/* SPDX-License-Identifier: MIT */
/* app.c - somebody's program: calls what its project was configured to link */
#include <stdio.h>

#ifdef WITH_HEADER
#include <cuda_runtime.h>
#endif

int cudaDeviceSynchronize(void);
/* Its interface is another in 13, so its version says for whom it was linked. */
int cudaMemAdvise(const void *, size_t, int, long);
#ifdef WITH_NVRTC
int nvrtcVersion(int *, int *);
#endif
#ifdef WITH_NVJITLINK
int nvJitLinkVersion(unsigned *, unsigned *);
#endif

int main(void)
{
	printf("%d %d", cudaDeviceSynchronize(), cudaMemAdvise(NULL, 0, 0, 0));
#ifdef WITH_NVRTC
	int major = -1, minor = -1;

	printf(" %d", nvrtcVersion(&major, &minor));
#endif
#ifdef WITH_NVJITLINK
	unsigned newest = 0, minor_of = 0;

	printf(" %d", nvJitLinkVersion(&newest, &minor_of));
#endif
	putchar('\n');
	return 0;
}
