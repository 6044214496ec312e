/* SPDX-License-Identifier: MIT */
/*
 * meanwhile.c - what happens while recorded registrations are replayed:
 * `meanwhile KIND EXTENSION...`
 *
 *     being      another thread closes the extension that is being registered,
 *                which the library goes on reading
 *     done       another thread closes one that has been registered, while the
 *                next one is
 *     unwritten  it is closed when all are registered and the slots could not be
 *                written
 *     itself     the library closes it, in the thread that registers it
 *     jump       the library leaves the registration by longjmp()
 *     cancel     the thread that makes the first call has been cancelled, and the
 *                library looks for that while it is told of an extension
 *     version    the library's function that tells its version leaves by longjmp()
 *     lost       the same, and the thread makes no call after that
 *     forked     fork() waits in vain while an extension is being registered; the new
 *                process makes a call and closes both
 *     late       fork() waits in vain for a thread in that function, which then comes
 *                back; the next one finds another thread in the stub
 *
 * Prints what the calls returned, and how often fork() slept after them.
 * EXTENSIONs are those of nvcc.c that hand over an address in themselves.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int cudaDeviceSynchronize(void);
void fake_called(const char *name, const long *arguments);

static const char *kind;
static void *extensions[8];
static atomic_int registered, inside, naps, fail_mprotect, wait_for_naps;
static jmp_buf out;

static int is(const char *word)
{
	return !strcmp(kind, word);
}

static void sleep_ms(long ms)
{
	const struct timespec time = { .tv_nsec = ms * 1000000 };

	syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &time, NULL);
}

/* The stubs'. */
int nanosleep(const struct timespec *time, struct timespec *rest)
{
	naps++;
	return (int)syscall(SYS_nanosleep, time, rest);
}

int mprotect(void *address, size_t length, int protection)
{
	if (wait_for_naps) {
		inside = 1;
		for (int i = 0; i < 1000 && !naps; i++)
			sleep_ms(1);
	}
	if (fail_mprotect) {
		errno = ENOMEM;
		return -1;
	}
	return (int)syscall(SYS_mprotect, address, length, protection);
}

/* Reads for a while what an extension has registered. */
static void read_on(const volatile char *binary)
{
	inside = 1;
	for (int i = 0; i < 30; i++) {
		(void)*binary;
		sleep_ms(1);
	}
}

static void registering(const long *arguments)
{
	int number = registered++;

	if (is("being") || (is("done") && number == 1))
		read_on((const char *)arguments[0]);
	else if (is("itself") && number == 0)
		dlclose(extensions[0]);
	else if (is("jump") && number == 0)
		longjmp(out, 1);
	else if (is("cancel"))
		pthread_testcancel();
	else if (is("forked") && number == 0)
		for (inside = 1; inside;)
			sleep_ms(1);
}

void fake_called(const char *name, const long *arguments)
{
	static int versions;

	if (!strcmp(name, "__cudaRegisterFatBinary"))
		registering(arguments);
	if (strcmp(name, "cudaRuntimeGetVersion") || versions++)
		return;
	if (is("version") || is("lost"))
		longjmp(out, 1);
	for (inside = is("late"); inside;)
		sleep_ms(1);
}

static void *call(void *unused)
{
	(void)unused;
	if (is("cancel"))
		pthread_cancel(pthread_self());
	if (!setjmp(out)) {
		printf("%d\n", cudaDeviceSynchronize());
		return NULL;
	}
	puts("left");
	if (!is("lost"))
		printf("%d\n", cudaDeviceSynchronize());
	return NULL;
}

static void in_a_thread(void)
{
	pthread_t thread;
	void *result;

	pthread_create(&thread, NULL, call, NULL);
	if (is("being") || is("done")) {
		while (!inside)
			sleep_ms(1);
		dlclose(extensions[0]);
	}
	pthread_join(thread, &result);
	if (result == PTHREAD_CANCELED)
		puts("cancelled");
}

static void fork_once(void)
{
	pid_t child;

	fflush(stdout);
	naps = 0;
	child = fork();
	if (!child)
		_exit(cudaDeviceSynchronize() < 1000 ? 1 : 0);
	printf("%d naps\n", naps);
	waitpid(child, NULL, 0);
}

static pthread_t begin(void)
{
	pthread_t thread;

	inside = 0;
	pthread_create(&thread, NULL, call, NULL);
	while (!inside)
		sleep_ms(1);
	return thread;
}

/* What the new process finds: half of what the thread did that it has not. */
static void forked(void)
{
	pthread_t thread = begin();
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child) {
		naps = 0;
		printf("%d\n", cudaDeviceSynchronize());
		dlclose(extensions[0]);
		dlclose(extensions[1]);
		printf("%d naps\n", naps);
		fflush(stdout);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	inside = 0;
	pthread_join(thread, NULL);
}

static void late(void)
{
	pthread_t thread = begin();

	fork_once();
	fail_mprotect = 1;
	inside = 0;
	pthread_join(thread, NULL);
	fail_mprotect = 0;
	naps = 0;
	wait_for_naps = 1;
	thread = begin();
	fork_once();
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	kind = argc > 1 ? argv[1] : "";
	for (int i = 2; i < argc; i++) {
		extensions[i - 2] = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
		if (!extensions[i - 2])
			return fprintf(stderr, "%s\n", dlerror()), 2;
	}
	if (is("unwritten")) {
		fail_mprotect = 1;
		call(NULL);
		dlclose(extensions[0]);
		fail_mprotect = 0;
	}
	if (is("late") || is("forked")) {
		is("late") ? late() : forked();
		return 0;
	}
	if (is("itself"))
		call(NULL);
	else
		in_a_thread();
	if (is("cancel"))
		printf("%d\n", cudaDeviceSynchronize());
	fork_once();
	fork_once();
	fflush(stdout);
	return 0;
}
