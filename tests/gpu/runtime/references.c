/* SPDX-License-Identifier: MIT */
/*
 * references.c - a texture reference of CUDA 11, as nvcc of 11 registers it
 *
 * Through the stub on a later runtime, which has none: an error, and nothing worse.
 */
#include "code.h"

#if CUDART_VERSION < 12000
enum { COUNT = 32 };

__asm__(".pushsection .nv_fatbin, \"a\"\n"
	".balign 16\n"
	"references_fatbin: .incbin \"" REFERENCES "\"\n"
	".popsection\n");
extern const char references_fatbin[] __attribute__((visibility("hidden")));

void __cudaRegisterTexture(void **, const void *, const void **, const char *, int, int, int);

static const struct wrapper references_wrapper = { 0x466243b1, 1, references_fatbin, NULL };
static struct textureReference table;
static char look;
static void **references_handle;

static void unregister_references(void)
{
	__cudaUnregisterFatBinary(references_handle);
}

static __attribute__((constructor)) void register_references(void)
{
	references_handle = __cudaRegisterFatBinary((void *)(uintptr_t)&references_wrapper);
	__cudaRegisterFunction(references_handle, &look, (char *)(uintptr_t)"look", "look", -1, NULL,
			       NULL, NULL, NULL, NULL);
	__cudaRegisterTexture(references_handle, &table, NULL, "table", 1, 0, 0);
	__cudaRegisterFatBinaryEnd(references_handle);
	table.channelDesc = (struct cudaChannelFormatDesc){ 32, 0, 0, 0,
							    cudaChannelFormatKindSigned };
	atexit(unregister_references);
}

/* From here on functions that CUDA 11 called deprecated. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static void bound(void)
{
	int values[COUNT], *memory, *out, n = COUNT, right = 0;
	void *arguments[] = { &out, &n };
	const struct textureReference *found = NULL;
	size_t offset = 99;

	for (int i = 0; i < COUNT; i++)
		values[i] = i * i;
	DO(cudaMalloc((void **)&memory, sizeof(values)));
	DO(cudaMalloc((void **)&out, sizeof(values)));
	DO(cudaMemcpy(memory, values, sizeof(values), cudaMemcpyHostToDevice));
	DO(cudaBindTexture(&offset, &table, memory, &table.channelDesc, sizeof(values)));
	value("offset", "%zu", offset);
	DO(launch(&look, 1, COUNT, arguments, NULL));
	DO(cudaMemcpy(values, out, sizeof(values), cudaMemcpyDeviceToHost));
	for (int i = 0; i < COUNT; i++)
		right += values[i] == i * i;
	value("fetched", "%d of %d %s", right, COUNT, right == COUNT ? "right" : "wrong");
	DO(cudaGetTextureReference(&found, &table));
	is_right("found", found == &table);
	DO(cudaUnbindTexture(&table));
	RESULT("no-texture", cudaGetTextureReference(&found, &look));
	cudaGetLastError();
	DO(cudaFree(memory));
	DO(cudaFree(out));
}

/* A later runtime: what was registered is refused, and all else works. */
static void refused(void)
{
	size_t offset;
	int got = 0;

	is_right("registering", (int)cudaGetLastError() == ABSENT);
	is_right("binding", (int)cudaBindTexture(&offset, &table, NULL, &table.channelDesc, 0) ==
		 ABSENT);
	is_right("last", (int)cudaGetLastError() == ABSENT);
	is_right("other-code", !cudaMemcpyFromSymbol(&got, &counter, sizeof(got), 0,
						     cudaMemcpyDeviceToHost) && got == 3);
}
#else
static void bound(void)
{
}

static void refused(void)
{
}
#endif

int main(void)
{
	int version = 0;

	begin();
	cudaRuntimeGetVersion(&version);
	if (version < 12000)
		RUN(bound);
	else
		RUN(refused);
	return finish();
}
