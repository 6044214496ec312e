/* SPDX-License-Identifier: MIT */
/* squares.cu - what nvcc compiles */
#include <cuda_runtime.h>

__global__ static void square(float *values, int count)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		values[i] *= values[i];
}

/* A cudaError_t; unless it is 0 the values are what they were. */
extern "C" int square_on_gpu(float *values, int count)
{
	const int threads = 256;
	size_t size = count * sizeof(*values);
	float *device;
	cudaError_t status = cudaMalloc(&device, size);

	if (status)
		return status;
	status = cudaMemcpy(device, values, size, cudaMemcpyHostToDevice);
	if (!status) {
		square<<<(count + threads - 1) / threads, threads>>>(device, count);
		status = cudaGetLastError();
	}
	if (!status)
		status = cudaMemcpy(values, device, size, cudaMemcpyDeviceToHost);
	cudaFree(device);
	return status;
}
