// SPDX-License-Identifier: MIT
// compiled.cu - kernels and variables as nvcc itself registers and launches them
#include "../kernels.cu"
#include "../runtime/runtime.h"

enum { COUNT = 1000, THREADS = 64 };

extern "C" __global__ void reverse(int *p, int n)
{
	extern __shared__ int words[];
	int i = threadIdx.x;

	words[i] = p[i];
	__syncthreads();
	p[i] = words[n - 1 - i];
}

template <int N> __global__ void times(int *p, int n)
{
	if (threadIdx.x < n)
		p[threadIdx.x] *= N;
}

static int got[COUNT];

static void launched(void)
{
	int *out, right = 0;

	DO(cudaMalloc((void **)&out, sizeof(got)));
	compute<<<4, 256>>>(out, COUNT);
	RESULT("launch", cudaGetLastError());
	DO(cudaMemcpy(got, out, sizeof(got), cudaMemcpyDeviceToHost));
	for (int i = 0; i < COUNT; i++)
		right += got[i] == 5 * i + 3 + 7;
	are_right("values", right, COUNT);
	DO(cudaFree(out));
}

static void variables(void)
{
	int current = 0, set = 9;
	size_t size = 0;
	void *address = NULL;

	DO(cudaMemcpyFromSymbol(&current, counter, sizeof(current)));
	value("device", "%d", current);
	DO(cudaMemcpyToSymbol(factor, &set, sizeof(set)));
	DO(cudaMemcpyFromSymbol(&current, factor, sizeof(current)));
	value("constant-set", "%d", current);
	DO(cudaGetSymbolAddress(&address, counter));
	DO(cudaGetSymbolSize(&size, counter));
	value("symbol", "%s %zu", address ? "address" : "none", size);
	RESULT("no-symbol", cudaGetSymbolAddress(&address, set));
	cudaGetLastError();
}

// Grid, block, shared memory and stream, as the host code of <<<>>> hands them over.
static void configured(void)
{
	int *p, right = 0;
	cudaStream_t stream;

	DO(cudaStreamCreate(&stream));
	DO(cudaMalloc((void **)&p, THREADS * sizeof(int)));
	for (int i = 0; i < THREADS; i++)
		got[i] = i;
	DO(cudaMemcpyAsync(p, got, THREADS * sizeof(int), cudaMemcpyHostToDevice, stream));
	reverse<<<1, THREADS, THREADS * sizeof(int), stream>>>(p, THREADS);
	times<3><<<1, THREADS, 0, stream>>>(p, THREADS);
	DO(cudaMemcpyAsync(got, p, THREADS * sizeof(int), cudaMemcpyDeviceToHost, stream));
	DO(cudaStreamSynchronize(stream));
	for (int i = 0; i < THREADS; i++)
		right += got[i] == 3 * (THREADS - 1 - i);
	are_right("values", right, THREADS);
	reverse<<<1, 5000, 0, stream>>>(p, THREADS);
	RESULT("too-many-threads", cudaGetLastError());
	compute<<<0, 1>>>(p, 1);
	RESULT("no-blocks", cudaGetLastError());
	DO(cudaFree(p));
	DO(cudaStreamDestroy(stream));
}

static void managed_variable(void)
{
	value("before", "%d", total);
	total = 100;
	bump<<<1, 1>>>();
	DO(cudaDeviceSynchronize());
	value("after", "%d", total);
}

PROGRAM(RUN(launched); RUN(variables); RUN(configured); RUN(managed_variable))
