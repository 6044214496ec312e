// SPDX-License-Identifier: MIT
// kernel.cu - for the tests of what nvcc really makes
__device__ int counter;
__managed__ int managed;
__constant__ int factor;

__global__ void scale(int *out)
{
	atomicAdd(&counter, 1);
	out[threadIdx.x] = factor * managed;
}

extern "C" int last_error()
{
	return cudaGetLastError();
}

extern "C" int launch()
{
	scale<<<1, 32>>>(nullptr);
	return cudaGetLastError();
}
