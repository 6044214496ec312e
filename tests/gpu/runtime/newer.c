/* SPDX-License-Identifier: MIT */
/*
 * newer.c - what an older runtime lacks and the stub does with what there is
 *
 * Callers whose headers have the function call it.  A caller of 11 has none; on a
 * runtime of 11 it does the same with the driver or with functions of 11: that is what
 * the others are compared with there.
 */
#include "code.h"

enum { COUNT = 64 };

typedef int get_address(const char *, void **, int, uint64_t, int *);

static void *driver;
static int runtime;

/* Returns true if this caller has no function that came with `version`, and what it would do
 * instead is not what this runtime does. */
static int has_none(int version)
{
	return CUDART_VERSION < version && runtime >= 12000;
}

static void *of_driver(const char *name)
{
	return dlsym(driver, name);
}

/* cuStreamGetId() and cuStreamGetCtx() of the driver's file. */
static void streams(void)
{
	int (*id_of)(cudaStream_t, unsigned long long *);
	unsigned long long id = 0, expected = 1;
	int device = -1;
	cudaStream_t stream;

	if (has_none(12000))
		return;
	*(void **)&id_of = of_driver("cuStreamGetId");
	if (!id_of) {
		printf("- streams the driver has no cuStreamGetId\n");
		return;
	}
	DO(cudaStreamCreate(&stream));
	DO(id_of(stream, &expected));
#if CUDART_VERSION >= 12000
	DO(cudaStreamGetId(stream, &id));
#else
	id = expected;
#endif
	is_right("id", id == expected);
#if CUDART_VERSION >= 12080
	DO(cudaStreamGetDevice(stream, &device));
#else
	DO(cudaGetDevice(&device));
#endif
	value("device", "%d", device);
	DO(cudaStreamDestroy(stream));
}

/* Functions of the driver as of versions, by their places in its file. */
static void entries(void)
{
	static const struct {
		const char *name;
		int version;
	} rows[] = {
		{ "cuMemAlloc", 11080 }, { "cuMemAlloc", 2000 }, { "cuStreamGetCaptureInfo", 11080 },
		{ "cuStreamGetCaptureInfo", 12030 }, { "cuGraphAddKernelNode", 11080 },
		{ "cuGraphAddKernelNode", 12000 }, { "cuNothingOfTheKind", 12000 },
	};
	get_address *get;

	if (has_none(12050))
		return;
	*(void **)&get = of_driver("cuGetProcAddress_v2");
	if (!get) {
		printf("- entries the driver has no cuGetProcAddress_v2\n");
		return;
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		void *function = NULL, *expected = NULL;
		char key[64];
		int status, result = 0;

		get(rows[i].name, &expected, rows[i].version, 0, &status);
#if CUDART_VERSION >= 12050
		enum cudaDriverEntryPointQueryResult query;

		result = (int)cudaGetDriverEntryPointByVersion(rows[i].name, &function,
							       (unsigned)rows[i].version, 0, &query);
#else
		function = expected;
#endif
		snprintf(key, sizeof(key), "%s-%d", rows[i].name, rows[i].version);
		value(key, "%d %s %s", result, function ? "there" : "none",
		      function == expected ? "same" : "another");
	}
	cudaGetLastError();
}

static int batch(void **to, void **from, size_t *sizes, size_t count, cudaStream_t stream)
{
#if CUDART_VERSION >= 12080
	struct cudaMemcpyAttributes attributes;
	size_t first = 0;

	memset(&attributes, 0, sizeof(attributes));
	attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
# if CUDART_VERSION >= 13000
	return (int)cudaMemcpyBatchAsync(to, (const void *const *)from, sizes, count,
					 &attributes, &first, 1, stream);
# else
	size_t failed = 0;

	return (int)cudaMemcpyBatchAsync(to, from, sizes, count, &attributes, &first, 1, &failed,
					 stream);
# endif
#else
	int result = 0;

	for (size_t i = 0; i < count && !result; i++)
		result = (int)cudaMemcpyAsync(to[i], from[i], sizes[i], cudaMemcpyDefault, stream);
	return result;
#endif
}

static void batches(void)
{
	char *a, *b, *host, got[COUNT];
	size_t sizes[2] = { COUNT / 2, COUNT / 2 };
	cudaStream_t stream;

	DO(cudaStreamCreate(&stream));
	DO(cudaMalloc((void **)&a, COUNT));
	DO(cudaMalloc((void **)&b, COUNT));
	DO(cudaHostAlloc((void **)&host, COUNT, 0));
	for (int i = 0; i < COUNT; i++)
		host[i] = (char)i;
	DO(cudaMemcpy(a, host, COUNT, cudaMemcpyHostToDevice));
	/* The halves of a, the other way round. */
	DO(batch((void *[]){ b + COUNT / 2, b }, (void *[]){ a, a + COUNT / 2 }, sizes, 2, stream));
	DO(cudaStreamSynchronize(stream));
	DO(cudaMemcpy(got, b, COUNT, cudaMemcpyDeviceToHost));
	value_bytes("copied", got, COUNT);
	DO(cudaFreeHost(host));
	DO(cudaFree(a));
	DO(cudaFree(b));
	DO(cudaStreamDestroy(stream));
}

static void device(void)
{
	unsigned flags = 99;
	int current = -1;

#if CUDART_VERSION >= 12000
	RESULT("no-device", cudaInitDevice(1000, 0, 0));
	cudaGetLastError();
	DO(cudaInitDevice(0, 0, 0));
#else
	RESULT("no-device", cudaSetDevice(1000));
	cudaGetLastError();
	DO(cudaFree(NULL));
#endif
	DO(cudaGetDevice(&current));
	DO(cudaGetDeviceFlags(&flags));
	value("current", "%d %u", current, flags);
}

#if CUDART_VERSION >= 12080
/* What nvcc's host code calls; the one in the header, 11 cannot do. */
cudaError_t __cudaGetKernel(cudaKernel_t *, const void *);
#endif

static void kernels(void)
{
	struct cudaFuncAttributes attributes;

	memset(&attributes, 0, sizeof(attributes));
	if (has_none(12080))
		return;
#if CUDART_VERSION >= 12080
	cudaKernel_t kernel;

	DO(__cudaGetKernel(&kernel, &add));
	DO(cudaKernelSetAttributeForDevice(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 8192,
					   0));
#else
	DO(cudaFuncSetAttribute(&add, cudaFuncAttributeMaxDynamicSharedMemorySize, 8192));
#endif
	DO(cudaFuncGetAttributes(&attributes, &add));
	value("threads", "%d", attributes.maxThreadsPerBlock);
	/* Later runtimes need not tell it before the kernel is used. */
	if (runtime < 12080)
		value("dynamic", "%d", attributes.maxDynamicSharedSizeBytes);
}

/* An older runtime launches no kernel that it did not register: refused there. */
static void libraries(void)
{
#if CUDART_VERSION >= 12080
	static int got[COUNT];
	int n = COUNT, amount = 5, *memory;
	void *arguments[] = { &memory, &n, &amount };
	const dim3 one = { 1, 1, 1 }, threads = { COUNT, 1, 1 };
	cudaLibrary_t library;
	cudaKernel_t kernel;

	DO(cudaLibraryLoadData(&library, code_fatbin, NULL, NULL, 0, NULL, NULL, 0));
	DO(cudaLibraryGetKernel(&kernel, library, "add"));
	DO(cudaMalloc((void **)&memory, sizeof(got)));
	DO(cudaMemset(memory, 0, sizeof(got)));
	DO(cudaLaunchKernel((const void *)kernel, one, threads, arguments, 0, NULL));
	DO(cudaMemcpy(got, memory, sizeof(got), cudaMemcpyDeviceToHost));
	value("values", "%d %d", got[0], got[COUNT - 1]);
	DO(cudaFree(memory));
	DO(cudaLibraryUnload(library));
#endif
}

int main(void)
{
	begin();
	driver = dlopen("libcuda.so.1", RTLD_NOW);
	if (!driver)
		skip("no driver: %s", dlerror());
	cudaRuntimeGetVersion(&runtime);
	RUN(streams);
	RUN(entries);
	RUN(batches);
	RUN(device);
	RUN(kernels);
	RUN(libraries);
	return finish();
}
