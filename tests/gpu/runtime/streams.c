/* SPDX-License-Identifier: MIT */
/* streams.c - streams, events, host functions and callbacks */
#include "code.h"

static void waits(void)
{
	long long cycles = 200000000;
	void *arguments[] = { &cycles };
	cudaStream_t stream;
	cudaEvent_t before, after;
	float elapsed = -1;

	DO(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	DO(cudaEventCreate(&before));
	DO(cudaEventCreateWithFlags(&after, cudaEventBlockingSync));
	DO(cudaEventRecord(before, stream));
	DO(launch(&spin, 1, 1, arguments, stream));
	DO(cudaEventRecord(after, stream));
	/* 100 ms, about: none of the two can be done, on a busy machine either. */
	RESULT("stream-busy", cudaStreamQuery(stream));
	RESULT("event-busy", cudaEventQuery(after));
	RESULT("not-an-error", cudaGetLastError());
	DO(cudaStreamWaitEvent(NULL, after, 0));
	DO(cudaEventSynchronize(after));
	RESULT("event-done", cudaEventQuery(after));
	RESULT("stream-done", cudaStreamQuery(stream));
	DO(cudaEventElapsedTime(&elapsed, before, after));
	is_right("elapsed", elapsed > 1 && elapsed < 10000);
	DO(cudaEventDestroy(before));
	DO(cudaEventDestroy(after));
	DO(cudaEventCreateWithFlags(&after, cudaEventDisableTiming));
	DO(cudaEventRecord(after, stream));
	DO(cudaEventSynchronize(after));
	RESULT("no-timing", cudaEventElapsedTime(&elapsed, after, after));
	cudaGetLastError();
	DO(cudaEventDestroy(after));
	DO(cudaStreamDestroy(stream));
}

static int order[2], calls;

static void CUDART_CB host_function(void *data)
{
	order[calls++ & 1] = *(int *)data;
}

static void CUDART_CB callback(cudaStream_t stream, cudaError_t status, void *data)
{
	(void)stream;
	order[calls++ & 1] = status ? -1 : *(int *)data;
}

static void host_functions(void)
{
	static int first = 11, second = 22;
	cudaStream_t stream;

	DO(cudaStreamCreate(&stream));
	DO(cudaLaunchHostFunc(stream, host_function, &first));
	DO(cudaStreamAddCallback(stream, callback, &second, 0));
	DO(cudaStreamSynchronize(stream));
	value("order", "%d %d %d", calls, order[0], order[1]);
	DO(cudaStreamDestroy(stream));
}

PROGRAM(RUN(waits); RUN(host_functions))
