// SPDX-License-Identifier: MIT
// linked.cu - half of a program; the other half is helper.cu; nvcc/separate.cu has it too
extern __device__ int helper(int);
extern __device__ int elsewhere;

extern "C" __global__ void combine(int *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = helper(i) + elsewhere;
}
