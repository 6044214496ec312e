/* SPDX-License-Identifier: MIT */
/*
 * exits.c - how a process ends that has begun with CUDA, and what it calls while it ends
 *
 * Each way is a process of its own, this program again: what its last handlers get as
 * results, and how it ended, is what is compared.
 */
#include "code.h"

#include <pthread.h>

enum { COUNT = 1 << 20 };

static int *memory, *pinned;
static cudaStream_t stream;
static cudaEvent_t event;
static int freed_at_end;

static int use(void)
{
	return (int)cudaMalloc((void **)&memory, COUNT * sizeof(*memory)) ?:
	       (int)cudaHostAlloc((void **)&pinned, 4096, 0) ?:
	       (int)cudaStreamCreate(&stream) ?: (int)cudaEventCreate(&event) ?:
	       launch_add(memory, COUNT, 4, stream) ?: (int)cudaEventRecord(event, stream);
}

static void give_back(void)
{
	RESULT("sync", cudaEventSynchronize(event));
	RESULT("event", cudaEventDestroy(event));
	RESULT("stream", cudaStreamDestroy(stream));
	RESULT("pinned", cudaFreeHost(pinned));
	RESULT("memory", cudaFree(memory));
	RESULT("again", cudaMalloc((void **)&memory, 4096));
	RESULT("last", cudaGetLastError());
}

static __attribute__((destructor)) void at_the_very_end(void)
{
	if (freed_at_end)
		give_back();
}

static void in_destructor(void)
{
	freed_at_end = 1;
	RESULT("use", use());
}

static void in_handler_set_before(void)
{
	atexit(give_back);
	RESULT("use", use());
}

static void in_handler_of_quick_exit(void)
{
	RESULT("use", use());
	at_quick_exit(give_back);
	quick_exit(3);
}

static void first_call_in_handler(void)
{
	/* Nothing of CUDA has been called. */
	int count = -1;

	RESULT("count", cudaGetDeviceCount(&count));
	value("devices", "%d", count);
	RESULT("use", use());
}

static void begun_in_handler(void)
{
	atexit(first_call_in_handler);
}

static void reset_before(void)
{
	RESULT("use", use());
	RESULT("reset", cudaDeviceReset());
	freed_at_end = 1;
}

static void *launches(void *nothing)
{
	cudaSetDevice(0);
	while (!launch_add(memory, COUNT, 1, stream) && !cudaStreamSynchronize(stream))
		;
	return nothing;
}

static void while_a_thread_launches(void)
{
	pthread_t thread;

	RESULT("use", use());
	if (!pthread_create(&thread, NULL, launches, NULL))
		usleep(20000);
}

/* A child that goes on with CUDA gets an error; one that only ends, ends. */
static void in_a_child(void)
{
	int status = -1, count = -1;
	pid_t child;

	RESULT("use", use());
	freed_at_end = 1;
	child = fork();
	if (!child) {
		RESULT("child.count", cudaGetDeviceCount(&count));
		RESULT("child.malloc", cudaMalloc((void **)&memory, 4096));
		RESULT("child.launch", launch_add(memory, 1, 1, NULL));
		RESULT("child.last", cudaGetLastError());
		_exit(5);
	}
	waitpid(child, &status, 0);
	value("child", "%x", (unsigned)status);
}

#define WAY(name) { #name, name }

static const struct {
	const char *name;
	void (*run)(void);
} ways[] = {
	WAY(in_destructor), WAY(in_handler_set_before), WAY(in_handler_of_quick_exit), WAY(begun_in_handler),
	WAY(reset_before), WAY(while_a_thread_launches), WAY(in_a_child),
};

int main(int count, char **words)
{
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		part = ways[i].name;
		if (count != 2) {
			fflush(stdout);
			value("status", "%x", (unsigned)run_again(words[0], part));
		} else if (!strcmp(words[1], part)) {
			ways[i].run();
			return 7;
		}
	}
	/* Only now, so that no child is one of a process that has begun with CUDA. */
	begin();
	return finish();
}
