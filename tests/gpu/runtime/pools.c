/* SPDX-License-Identifier: MIT */
/* pools.c - memory that is allocated in the order of a stream */
#include "code.h"

enum { COUNT = 1024 };

static void is_usable(const char *key, int *p, cudaStream_t stream)
{
	static int got[COUNT];
	int wrong = 0;

	DO(cudaMemsetAsync(p, 0, sizeof(got), stream));
	DO(launch_add(p, COUNT, 5, stream));
	DO(cudaMemcpyAsync(got, p, sizeof(got), cudaMemcpyDeviceToHost, stream));
	DO(cudaStreamSynchronize(stream));
	for (int i = 0; i < COUNT; i++)
		wrong += got[i] != 5;
	is_right(key, !wrong);
}

static void standard(void)
{
	cudaMemPool_t first, pool;
	cudaStream_t stream;
	int *p;

	DO(cudaStreamCreate(&stream));
	DO(cudaMallocAsync((void **)&p, COUNT * sizeof(int), stream));
	is_usable("computed", p, stream);
	DO(cudaFreeAsync(p, stream));
	DO(cudaStreamSynchronize(stream));
	DO(cudaDeviceGetDefaultMemPool(&first, 0));
	DO(cudaDeviceGetMemPool(&pool, 0));
	is_right("default", first == pool);
	DO(cudaStreamDestroy(stream));
}

static void own(void)
{
	struct cudaMemPoolProps properties;
	struct cudaMemLocation location = { .type = cudaMemLocationTypeDevice, .id = 0 };
	uint64_t threshold = 1 << 20, got = 0;
	cudaMemPool_t pool;
	cudaStream_t stream;
	int *p;

	memset(&properties, 0, sizeof(properties));
	properties.allocType = cudaMemAllocationTypePinned;
	properties.location = location;
	DO(cudaMemPoolCreate(&pool, &properties));
	DO(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
	DO(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &got));
	value("threshold", "%llu", (unsigned long long)got);
	DO(cudaStreamCreate(&stream));
	DO(cudaMallocFromPoolAsync((void **)&p, COUNT * sizeof(int), pool, stream));
	is_usable("computed", p, stream);
	DO(cudaFreeAsync(p, stream));
	DO(cudaStreamSynchronize(stream));
	DO(cudaMemPoolTrimTo(pool, 0));
	DO(cudaMemPoolDestroy(pool));
	DO(cudaStreamDestroy(stream));
}

int main(void)
{
	begin();
	if (attribute(115) != 1)	/* memoryPoolsSupported */
		skip("the device has no memory pools");
	RUN(standard);
	RUN(own);
	return finish();
}
