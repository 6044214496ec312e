/* SPDX-License-Identifier: MIT */
/* app.c - somebody's program, compiled with NVIDIA's headers */
#include <stdio.h>
#include <string.h>

#include <cuda_runtime_api.h>

int main(void)
{
	/* Its interface is another in 13, so its version says for whom it was linked. */
#if CUDART_VERSION >= 13000
	struct cudaMemLocation where;

	memset(&where, 0, sizeof(where));
#else
	int where = 0;
#endif
	printf("%d %d\n", cudaDeviceSynchronize(),
	       cudaMemAdvise(NULL, 0, cudaMemAdviseSetReadMostly, where));
	return 0;
}
