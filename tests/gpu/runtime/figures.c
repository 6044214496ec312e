/* SPDX-License-Identifier: MIT */
/*
 * figures.c - what the stub costs, as ratios to direct calls in this process
 *
 * It is linked to the stub.  The real library is opened here as well, which is the file
 * that the stub uses: argv[1].
 */
#include "code.h"

#include <time.h>

enum { ROUNDS = 7, CALLS = 2000 };

typedef cudaError_t launcher(const void *, dim3, dim3, void **, size_t, cudaStream_t);

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

int main(int count, char **words)
{
	void *library = count > 1 ? dlopen(words[1], RTLD_NOW) : NULL;

	if (!library)
		return 2;
	begin();
	part = "launch";
	launching(library);
	return finish();
}
