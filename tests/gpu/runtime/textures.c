/* SPDX-License-Identifier: MIT */
/* textures.c - texture and surface objects, whose descriptions majors lay out differently */
#include "code.h"

enum { COUNT = 32 };

static void linear(void)
{
	struct cudaResourceDesc resource, got;
	struct cudaTextureDesc description, described;
	cudaTextureObject_t texture;
	int values[COUNT], *memory, *out, n = COUNT, right = 0;
	void *arguments[] = { &texture, &out, &n };

	for (int i = 0; i < COUNT; i++)
		values[i] = i * i;
	DO(cudaMalloc((void **)&memory, sizeof(values)));
	DO(cudaMalloc((void **)&out, sizeof(values)));
	DO(cudaMemcpy(memory, values, sizeof(values), cudaMemcpyHostToDevice));
	memset(&resource, 0, sizeof(resource));
	resource.resType = cudaResourceTypeLinear;
	resource.res.linear.devPtr = memory;
	resource.res.linear.sizeInBytes = sizeof(values);
	resource.res.linear.desc.x = 32;
	resource.res.linear.desc.f = cudaChannelFormatKindSigned;
	memset(&description, 0, sizeof(description));
	description.readMode = cudaReadModeElementType;
	DO(cudaCreateTextureObject(&texture, &resource, &description, NULL));
	DO(launch(&fetch, 1, COUNT, arguments, NULL));
	DO(cudaMemcpy(values, out, sizeof(values), cudaMemcpyDeviceToHost));
	for (int i = 0; i < COUNT; i++)
		right += values[i] == i * i;
	are_right("fetched", right, COUNT);
	memset(&got, 0xa5, sizeof(got));
	DO(cudaGetTextureObjectResourceDesc(&got, texture));
	value("resource", "%d %zu %d %s", (int)got.resType, got.res.linear.sizeInBytes,
	      got.res.linear.desc.x, got.res.linear.devPtr == memory ? "right" : "wrong");
	memset(&described, 0xa5, sizeof(described));
	DO(cudaGetTextureObjectTextureDesc(&described, texture));
	value("description", "%d %d %d", (int)described.readMode, (int)described.filterMode,
	      described.normalizedCoords);
	DO(cudaDestroyTextureObject(texture));
	DO(cudaFree(memory));
	DO(cudaFree(out));
}

static void surface(void)
{
	const struct cudaChannelFormatDesc format = { 32, 0, 0, 0, cudaChannelFormatKindSigned };
	struct cudaResourceDesc resource, got;
	cudaSurfaceObject_t object;
	cudaArray_t array;
	int values[COUNT], n = COUNT, right = 0;
	void *arguments[] = { &object, &n };

	for (int i = 0; i < COUNT; i++)
		values[i] = i + 1;
	DO(cudaMallocArray(&array, &format, COUNT, 1, cudaArraySurfaceLoadStore));
	DO(cudaMemcpy2DToArray(array, 0, 0, values, sizeof(values), sizeof(values), 1,
			       cudaMemcpyHostToDevice));
	memset(&resource, 0, sizeof(resource));
	resource.resType = cudaResourceTypeArray;
	resource.res.array.array = array;
	DO(cudaCreateSurfaceObject(&object, &resource));
	DO(launch(&invert, 1, COUNT, arguments, NULL));
	DO(cudaMemcpy2DFromArray(values, sizeof(values), array, 0, 0, sizeof(values), 1,
				 cudaMemcpyDeviceToHost));
	for (int i = 0; i < COUNT; i++)
		right += values[i] == -i - 1;
	are_right("inverted", right, COUNT);
	memset(&got, 0xa5, sizeof(got));
	DO(cudaGetSurfaceObjectResourceDesc(&got, object));
	value("resource", "%d %s", (int)got.resType,
	      got.res.array.array == array ? "right" : "wrong");
	DO(cudaDestroySurfaceObject(object));
	DO(cudaFreeArray(array));
}

PROGRAM(RUN(linear); RUN(surface))
