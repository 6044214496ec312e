// SPDX-License-Identifier: MIT
// whole.cu - what linked.cu and helper.cu compute, in one piece
extern "C" __global__ void combine(int *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = 3 * i + 1 + 5;
}
