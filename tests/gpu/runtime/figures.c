/* SPDX-License-Identifier: MIT */
/*
 * figures.c - what the stub costs, as ratios to direct calls in this process
 *
 * It is linked to the stub.  The real library is opened here as well, which is the file
 * that the stub uses: argv[1].
 */
#include "code.h"

#include <time.h>

enum { ROUNDS = 7, CALLS = 2000, QUERIES = 200 };

typedef cudaError_t launcher(const void *, dim3, dim3, void **, size_t, cudaStream_t);
typedef cudaError_t asker(void *, int);
typedef cudaError_t asker_of_attribute(int *, int, int);

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static double launches(launcher *call)
{
	const dim3 one = { 1, 1, 1 };
	int n = 0, *out = NULL;
	void *arguments[] = { &out, &n };
	double begin, end;

	cudaDeviceSynchronize();
	begin = now();
	/* Few enough to fit in the queue: what waits there is not the call. */
	for (int i = 0; i < CALLS; i++) {
		call(&compute, one, one, arguments, 0, NULL);
		if (i % 500 == 499)
			cudaDeviceSynchronize();
	}
	end = now();
	cudaDeviceSynchronize();
	return (end - begin) / CALLS;
}

/* Calls `call`, and asks for these attributes besides, by cudaDeviceGetAttribute(). */
static double questions(asker *call, asker_of_attribute *by, const uint8_t *attributes)
{
	static char properties[4096];
	const double begin = now();

	for (int i = 0; i < QUERIES; i++) {
		call(properties, 0);
		for (const uint8_t *which = attributes; *which; which++)
			by((int *)properties, *which, 0);
	}
	return (now() - begin) / QUERIES;
}

static double least(double a, double b)
{
	return b < a ? b : a;
}


static void launching(void *library)
{
	launcher *direct = (launcher *)(uintptr_t)dlsym(library, "cudaLaunchKernel");
	double stub = 1e18, real = 1e18;

	for (int i = 0; i < ROUNDS; i++) {
		stub = least(stub, launches(cudaLaunchKernel));
		real = least(real, launches(direct));
	}
	DO(cudaGetLastError());
	printf("%% a launch: %.0f ns through the stub, %.0f ns directly, ratio %.3f\n", stub, real,
	       stub / real);
	is_right("ratio", stub / real < 1.2);
}

static cudaError_t ask(void *into, int number)
{
	return cudaGetDeviceProperties((struct cudaDeviceProp *)into, number);
}

/*
 * Without a version: of 12, whose callers ask for _v2, it is the older one.  13 dropped fields from
 * the struct; whoever wants their values there asks for these attributes.  The two clock rates
 * take 0.4 ms each.
 */
static void properties(void *library)
{
	static const uint8_t none[1] = { 0 }, dropped[] = { 13, 15, 17, 20, 36, 69, 87, 0 };
	asker *direct = (asker *)(uintptr_t)dlsym(library, "cudaGetDeviceProperties");
	asker_of_attribute *by = (asker_of_attribute *)(uintptr_t)
				 dlsym(library, "cudaDeviceGetAttribute");
	double stub = 1e18, real = 1e18;
	int runtime = 0;

	DO(cudaRuntimeGetVersion(&runtime));
	for (int i = 0; i < ROUNDS; i++) {
		stub = least(stub, questions(ask, by, none));
		real = least(real, questions(direct, by, CUDART_VERSION < 13000 && runtime >= 13000 ?
						     dropped : none));
	}
	DO(cudaGetLastError());
	printf("%% cudaGetDeviceProperties: %.0f ns through the stub, %.0f ns directly, ratio %.3f\n",
	       stub, real, stub / real);
	is_right("ratio", stub / real <= 2);
}

int main(int count, char **words)
{
	void *library = count > 1 ? dlopen(words[1], RTLD_NOW) : NULL;

	if (!library)
		return 2;
	begin();
	part = "launch";
	launching(library);
	part = "properties";
	properties(library);
	return finish();
}
