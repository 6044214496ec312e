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
	value("fetched", "%d of %d %s", right, COUNT, right == COUNT ? "right" : "wrong");
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

static void filtered(void)
{
	const struct cudaChannelFormatDesc format = { 32, 0, 0, 0, cudaChannelFormatKindFloat };
	struct cudaResourceDesc resource;
	struct cudaTextureDesc description;
	cudaTextureObject_t texture;
	cudaArray_t array;
	float values[COUNT], *out;
	int n = COUNT - 1, right = 0;
	void *arguments[] = { &texture, &out, &n };

	for (int i = 0; i < COUNT; i++)
		values[i] = (float)(2 * i);
	DO(cudaMallocArray(&array, &format, COUNT, 1, 0));
	DO(cudaMemcpy2DToArray(array, 0, 0, values, sizeof(values), sizeof(values), 1,
			       cudaMemcpyHostToDevice));
	DO(cudaMalloc((void **)&out, sizeof(values)));
	memset(&resource, 0, sizeof(resource));
	resource.resType = cudaResourceTypeArray;
	resource.res.array.array = array;
	memset(&description, 0, sizeof(description));
	description.filterMode = cudaFilterModeLinear;
	description.addressMode[0] = description.addressMode[1] = cudaAddressModeClamp;
	DO(cudaCreateTextureObject(&texture, &resource, &description, NULL));
	DO(launch(&sample, 1, COUNT, arguments, NULL));
	DO(cudaMemcpy(values, out, sizeof(values), cudaMemcpyDeviceToHost));
	/* Between texel i, at i + 0.5, and the next one, in the middle. */
	for (int i = 0; i < n; i++)
		right += values[i] == (float)(2 * i + 1);
	value("between", "%d of %d %s", right, n, right == n ? "right" : "wrong");
	DO(cudaDestroyTextureObject(texture));
	DO(cudaFreeArray(array));
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
	value("inverted", "%d of %d %s", right, COUNT, right == COUNT ? "right" : "wrong");
	memset(&got, 0xa5, sizeof(got));
	DO(cudaGetSurfaceObjectResourceDesc(&got, object));
	value("resource", "%d %s", (int)got.resType,
	      got.res.array.array == array ? "right" : "wrong");
	DO(cudaDestroySurfaceObject(object));
	DO(cudaFreeArray(array));
}

int main(void)
{
	begin();
	RUN(linear);
	RUN(filtered);
	RUN(surface);
	return finish();
}
