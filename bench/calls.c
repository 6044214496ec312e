/* SPDX-License-Identifier: MIT */
/*
 * calls.c - what one call costs
 *
 *	calls [THREADS [FILE...]]	loads the files, calls once, then reads numbers.
 *					For each number it makes that many calls, divided
 *					among the threads, and prints nanoseconds of CPU
 *					time
 *
 * Compiled with
 *	-DNAME='cudaMemAdvise'
 *	-DPARAMETERS='(const void *, size_t, int, struct location)'
 *	-DARGUMENTS='(numbers, 1, 1, place)'
 * and linked to a library, its stub, or anything else that has the function.  With
 *	-DPOINTER='"libcudart.so.13"'
 * it is linked to none of these, and calls through a pointer into that library.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"

struct location { int type, id; };

/* Variables for ARGUMENTS. */
extern int numbers[512];
extern struct location place;
int numbers[512];
struct location place = { 1, 0 };

#ifdef POINTER
extern int (*pointer) PARAMETERS;
int (*pointer) PARAMETERS;
# define FIND(name) *(void **)&pointer = dlsym(dlopen(POINTER, RTLD_NOW), name)
# define CALL pointer
#else
extern int NAME PARAMETERS;
# define FIND(name) (void)(name)
# define CALL NAME
#endif
#define TEXT_(name) #name
#define TEXT(name) TEXT_(name)

static pthread_barrier_t begin, end;
static long share;

/* callgrind counts the instructions of this function. */
__attribute__((noinline)) static void loop(long rounds)
{
	for (long i = 0; i < rounds; i++)
		CALL ARGUMENTS;
}

static void *work(void *unused)
{
	for (;;) {
		pthread_barrier_wait(&begin);
		loop(share);
		pthread_barrier_wait(&end);
	}
	return unused;
}

/* Other processes do not count, and threads that contend use more of it. */
#define CPU_TIME CLOCK_PROCESS_CPUTIME_ID

static double take(long rounds, long threads)
{
	double start;

	share = rounds / threads;
	start = now(CPU_TIME);
	pthread_barrier_wait(&begin);
	loop(share);
	pthread_barrier_wait(&end);
	return now(CPU_TIME) - start;
}

int main(int argc, char **argv)
{
	long threads = argc > 1 ? atol(argv[1]) : 1, rounds;
	pthread_t thread;

	for (int i = 2; i < argc; i++)
		if (!dlopen(argv[i], RTLD_NOW))
			fprintf(stderr, "calls: %s\n", dlerror());
	FIND(TEXT(NAME));
	CALL ARGUMENTS;		/* the first call finds the library */
	pthread_barrier_init(&begin, NULL, (unsigned)threads);
	pthread_barrier_init(&end, NULL, (unsigned)threads);
	for (long i = 1; i < threads; i++)
		if (pthread_create(&thread, NULL, work, NULL))
			return 1;
	while (scanf("%ld", &rounds) == 1) {
		printf("%.0f\n", take(rounds, threads));
		fflush(stdout);
	}
	return 0;
}
