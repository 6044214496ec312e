/* SPDX-License-Identifier: MIT */
/*
 * program.c - ordinary source, compiled with the real headers of any CUDA
 *
 * Calls what changed between majors as the headers at hand declare it, and
 * prints `name status` for each call.  Behind every struct that a call fills
 * stand guard bytes; a call that writes further prints "name overran".
 */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <string.h>

#define GUARD 64

#define GUARDED(type, name) \
	struct { type value; unsigned char guard[GUARD]; } name; \
	memset(&name, 0xa5, sizeof name)

static void check(const char *name, int status, const unsigned char *guard)
{
	for (int i = 0; guard && i < GUARD; i++) {
		if (guard[i] != 0xa5) {
			printf("%s overran\n", name);
			return;
		}
	}
	printf("%s %d\n", name, status);
}

#define CALL(name, ...) check(#name, name(__VA_ARGS__), NULL)
#define FILL(object, name, ...) check(#name, name(__VA_ARGS__), (object).guard)

static void properties(void)
{
	GUARDED(struct cudaDeviceProp, device);
	GUARDED(struct cudaPointerAttributes, pointer);
	GUARDED(struct cudaFuncAttributes, function);
	int chosen = -1;

	FILL(device, cudaGetDeviceProperties, &device.value, 0);
	memset(&device.value, 0, sizeof device.value);
	device.value.major = 8;
	CALL(cudaChooseDevice, &chosen, &device.value);
	FILL(pointer, cudaPointerGetAttributes, &pointer.value, &chosen);
	FILL(function, cudaFuncGetAttributes, &function.value, (const void *)properties);
}

static void memory(void)
{
	static char page[4096];
#if CUDART_VERSION >= 13000
	struct cudaMemLocation device = { .type = cudaMemLocationTypeDevice, .id = 0 };

	CALL(cudaMemAdvise, page, sizeof page, cudaMemAdviseSetReadMostly, device);
	CALL(cudaMemPrefetchAsync, page, sizeof page, device, 0, NULL);
#else
	CALL(cudaMemAdvise, page, sizeof page, cudaMemAdviseSetReadMostly, 0);
	CALL(cudaMemPrefetchAsync, page, sizeof page, cudaCpuDeviceId, NULL);
#endif
}

static void graphs(void)
{
	cudaGraph_t graph = NULL;
	cudaGraphNode_t nodes[2] = { NULL, NULL }, from[4], to[4];
	cudaGraphExec_t exec = NULL;
	size_t count = 4;

	CALL(cudaGraphCreate, &graph, 0);
	CALL(cudaGraphAddEmptyNode, &nodes[0], graph, NULL, 0);
	CALL(cudaGraphAddEmptyNode, &nodes[1], graph, NULL, 0);
#if CUDART_VERSION >= 13000
	CALL(cudaGraphAddDependencies, graph, &nodes[0], &nodes[1], NULL, 1);
	CALL(cudaGraphGetEdges, graph, from, to, NULL, &count);
#else
	CALL(cudaGraphAddDependencies, graph, &nodes[0], &nodes[1], 1);
	CALL(cudaGraphGetEdges, graph, from, to, &count);
#endif
#if CUDART_VERSION >= 12000
	{
		GUARDED(cudaGraphExecUpdateResultInfo, info);

		CALL(cudaGraphInstantiate, &exec, graph, 0);
		FILL(info, cudaGraphExecUpdate, exec, graph, &info.value);
	}
#else
	{
		cudaGraphNode_t bad;
		char log[64] = "untouched";
		enum cudaGraphExecUpdateResult result;

		CALL(cudaGraphInstantiate, &exec, graph, &bad, log, sizeof log);
		CALL(cudaGraphExecUpdate, exec, graph, &bad, &result);
	}
#endif
}

static void textures(void)
{
	struct cudaResourceDesc resource;
	struct cudaTextureDesc texture;
	cudaTextureObject_t object = 0;
	GUARDED(struct cudaResourceDesc, read_back);
	GUARDED(struct cudaTextureDesc, read_texture);

	memset(&resource, 0, sizeof resource);
	memset(&texture, 0, sizeof texture);
	CALL(cudaCreateTextureObject, &object, &resource, &texture, NULL);
	FILL(read_back, cudaGetTextureObjectResourceDesc, &read_back.value, object);
	FILL(read_texture, cudaGetTextureObjectTextureDesc, &read_texture.value, object);
}

int main(void)
{
	properties();
	memory();
	graphs();
	textures();
	CALL(cudaGetLastError);
	return 0;
}
