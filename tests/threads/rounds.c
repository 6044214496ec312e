/* SPDX-License-Identifier: MIT */
/*
 * rounds.c - many rounds of a race of 32 threads: `rounds KIND N ANSWER FILE USER`
 *
 *     first     all make the first call
 *     appears   there is no library, until one of them loads FILE, a real one
 *     closes    some open and close USER, which needs the stub, and FILE
 *     forks     one forks in the midst of it, and the child calls too
 *
 * Each round is a process of its own, forked from one in which nothing has been
 * called yet.  Every call has to return ANSWER in the end, and until then that
 * there is no library.  With -DDRIVER it is the driver's stub.  Prints what went
 * wrong, how many rounds there were, and in how many of these a process hung in
 * such a way that no alarm ended it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <lazycuda.h>

#ifdef DRIVER
# define LIBRARY "cuda"
# define MISSING 34
int cuCtxSynchronize(void);
int cuGetErrorString(int, const char **);

static int synchronize(void)
{
	return cuCtxSynchronize();
}

static void tell(int said)
{
	const char *text;

	cuGetErrorString(said, &text);
}
#else
# define LIBRARY "cudart"
# define MISSING 303
int cudaDeviceSynchronize(void);
const char *cudaGetErrorString(int);

static int synchronize(void)
{
	return cudaDeviceSynchronize();
}

static void tell(int said)
{
	cudaGetErrorString(said);
}
#endif

enum { THREADS = 32, SECONDS = 60, STUCK = 3 };

static int answer, failures, stuck;
static const char *file, *user;
static pthread_barrier_t barrier;
static unsigned dice;

/* Threads begin together and then drift apart, in each round differently. */
static void drift(int thread)
{
	unsigned steps = dice * (2 * (unsigned)thread + 1) * 2654435761u >> 16;

	for (volatile unsigned i = 0; i < steps; i++)
		;
}

static void check(int said)
{
	if (said == answer)
		return;
	if (!failures++)
		printf("a call returned %d: %s\n", said, lazycuda_get_status(LIBRARY)->reason);
}

static void call(void)
{
	check(synchronize());
	if (lazycuda_get_status(LIBRARY)->state != LAZYCUDA_STATE_USABLE && !failures++)
		puts("it was forwarded, and the state is another");
}

static void first(int thread)
{
	if (thread % 4 == 1)
		lazycuda_load(NULL);
	call();
}

static void appears(int thread)
{
	int said;

	if (!thread && !dlopen(file, RTLD_NOW) && !failures++)
		printf("%s\n", dlerror());
	while ((said = synchronize()) == MISSING) {
		tell(said);
		sched_yield();
	}
	check(said);
	call();
}

static void closes(int thread)
{
	void *handle;

	for (int i = 0; thread % 4 && i < 3; i++) {
		handle = dlopen(thread % 4 == 1 ? file : user, RTLD_NOW);
		if (!handle) {
			failures++;
			printf("%s\n", dlerror());
			return;
		}
		if (thread % 4 == 2)
			check(((int (*)(void))dlsym(handle, "user_call"))());
		dlclose(handle);
	}
	call();
}

/* The status of a child, which an alarm ends if it hangs.  An emulator that hangs
 * itself, in a lock of its own, hears no alarm. */
static int status_of(pid_t child)
{
	const struct timespec moment = { .tv_nsec = 1000 * 1000 };
	time_t end = time(NULL) + 2 * SECONDS / 3;
	int status = -1;

	while (time(NULL) < end) {
		if (waitpid(child, &status, WNOHANG))
			return status;
		nanosleep(&moment, NULL);
	}
	stuck = 1;
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	return 0;
}

static void forks(int thread)
{
	int status;
	pid_t child;

	if (thread) {
		call();
		return;
	}
	child = fork();
	if (!child) {
		alarm(SECONDS / 3);
		call();
		_exit(failures != 0);
	}
	status = child < 0 ? -1 : status_of(child);
	if (status && !failures++)
		printf("the child ended with %#x\n", status);
	call();
}

static const struct kind {
	const char *name;
	void (*race)(int thread);
} kinds[] = {
	{ "first", first }, { "appears", appears }, { "closes", closes }, { "forks", forks },
};

static const struct kind *kind;

static void *race(void *number)
{
	int thread = (int)(long)number;

	pthread_barrier_wait(&barrier);
	drift(thread);
	kind->race(thread);
	return NULL;
}

static int in_round(void)
{
	pthread_t threads[THREADS];

	alarm(SECONDS);
	/* A fork() that began before the stub was first called knows nothing of it
	 * (docs/reference/threads.md).  What nvcc makes calls it before main(); here it is to look
	 * for another one. */
	if (kind->race == forks)
		lazycuda_get_status("nvrtc");
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (long i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, race, (void *)i))
			return 2;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	call();
	fflush(stdout);
	return failures ? 1 : stuck ? STUCK : 0;
}

int main(int argc, char **argv)
{
	int rounds, failed = 0, beyond = 0, status;
	pid_t child;

	for (size_t i = 0; argc > 5 && i < sizeof kinds / sizeof *kinds; i++)
		if (!strcmp(argv[1], kinds[i].name))
			kind = &kinds[i];
	if (!kind)
		return 2;
	rounds = atoi(argv[2]);
	answer = atoi(argv[3]);
	file = argv[4];
	user = argv[5];
	for (int i = 0; i < rounds && failed < 3; i++) {
		dice = (unsigned)i * 40503u & 0x3ff;
		child = fork();
		if (!child)
			_exit(in_round());
		while (waitpid(child, &status, 0) < 0 && errno == EINTR)
			;
		if (WIFEXITED(status) && WEXITSTATUS(status) == STUCK) {
			beyond++;
		} else if (status) {
			failed++;
			printf("round %d ended with %#x\n", i, status);
		}
		/* Else the next round has it in its own buffer, too. */
		fflush(stdout);
	}
	printf("%d rounds\n", rounds);
	if (beyond)
		printf("%d of them stuck, and deaf\n", beyond);
	return failed != 0;
}
