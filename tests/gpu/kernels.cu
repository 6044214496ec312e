// SPDX-License-Identifier: MIT
// kernels.cu - the device code of the programs here; compiled by nvrtc, and by nvcc for those of nvcc/
__device__ int counter = 3;
__constant__ int factor = 5;
__managed__ int total = 7;

extern "C" __global__ void compute(int *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = factor * i + counter + total;
}

extern "C" __global__ void add(int *out, int n, int amount)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] += amount;
}

extern "C" __global__ void bump()
{
	counter += 1;
	total += 10;
}

extern "C" __global__ void stop()
{
	asm("trap;");
}

extern "C" __global__ void spin(long long cycles)
{
	long long begin = clock64();

	while (clock64() - begin < cycles)
		;
}

extern "C" __global__ void fetch(unsigned long long texture, int *out, int n)
{
	int i = threadIdx.x;

	if (i < n)
		out[i] = tex1Dfetch<int>(texture, i);
}

extern "C" __global__ void invert(unsigned long long surface, int n)
{
	int i = threadIdx.x, value;

	if (i < n) {
		surf2Dread(&value, surface, i * 4, 0);
		surf2Dwrite(-value, surface, i * 4, 0);
	}
}
