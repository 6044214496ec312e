/* SPDX-License-Identifier: MIT */
/* errors.c - which error a call returns, how long it stays, and what follows a trap */
#include "code.h"

static void plain(void)
{
	struct cudaPointerAttributes attributes;
	cudaStream_t stream;

	RESULT("clean", cudaGetLastError());
	RESULT("no-device", cudaSetDevice(1000));
	RESULT("peek", cudaPeekAtLastError());
	RESULT("peek-again", cudaPeekAtLastError());
	RESULT("last", cudaGetLastError());
	RESULT("gone", cudaGetLastError());
	RESULT("bad-copy", cudaMemcpy(NULL, NULL, 10, cudaMemcpyHostToDevice));
	RESULT("good-call", cudaFree(NULL));
	RESULT("still-there", cudaGetLastError());
	RESULT("null-stream", cudaStreamCreateWithFlags(&stream, 12345));
	RESULT("null-attributes", cudaPointerGetAttributes(&attributes, NULL));
	cudaGetLastError();
}

static void bad_launches(void)
{
	int n = 1, *none = NULL;
	void *arguments[] = { &none, &n };

	RESULT("too-many-threads", launch(&compute, 1, 5000, arguments, NULL));
	RESULT("last", cudaGetLastError());
	RESULT("no-blocks", launch(&compute, 0, 1, arguments, NULL));
	RESULT("last-of-it", cudaGetLastError());
}

/* The last part: after it the context is gone. */
static void trap(void)
{
	void *p = NULL;

	RESULT("launch", launch(&stop, 1, 1, NULL, NULL));
	RESULT("synchronize", cudaDeviceSynchronize());
	RESULT("peek", cudaPeekAtLastError());
	RESULT("last", cudaGetLastError());
	RESULT("sticky", cudaMalloc(&p, 100));
	RESULT("sticky-last", cudaGetLastError());
	RESULT("sticky-again", cudaDeviceSynchronize());
	RESULT("reset", cudaDeviceReset());
	RESULT("after-reset", cudaMalloc(&p, 100));
	RESULT("after-last", cudaGetLastError());
}

PROGRAM(RUN(plain); RUN(bad_launches); RUN(trap))
