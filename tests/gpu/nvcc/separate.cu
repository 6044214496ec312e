// SPDX-License-Identifier: MIT
// separate.cu - a kernel whose other half is compiled apart: helper.cu
#include "../linked.cu"
#include "../runtime/runtime.h"

enum { COUNT = 256 };

static void computed(void)
{
	int *out, got[COUNT], right = 0;

	DO(cudaMalloc((void **)&out, sizeof(got)));
	combine<<<1, COUNT>>>(out, COUNT);
	DO(cudaGetLastError());
	DO(cudaMemcpy(got, out, sizeof(got), cudaMemcpyDeviceToHost));
	for (int i = 0; i < COUNT; i++)
		right += got[i] == 3 * i + 1 + 5;
	are_right("values", right, COUNT);
	DO(cudaFree(out));
}

PROGRAM(RUN(computed))
