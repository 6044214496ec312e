/* SPDX-License-Identifier: MIT */
/* late_handler.c - the registration of a kernel sets the program's first signal handler, which calls
 * the runtime, and the signal comes while the stub has its lock, and when it makes its slots writable */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ASKS cudaRuntimeGetVersion
#include "asks.h"

void **__cudaRegisterFatBinary(void *binary);
void __cudaRegisterFatBinaryEnd(void **handle);

static volatile sig_atomic_t set;

static void handle(int signal)
{
	(void)signal;
	ask();
}

void when_registered(void)
{
	signal(SIGUSR1, handle);
	set = 1;
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	int (*real)(pthread_mutex_t *), error;

	*(void **)&real = dlsym(RTLD_NEXT, "pthread_mutex_lock");
	error = real(mutex);
	if (set)
		raise(SIGUSR1);
	return error;
}

int mprotect(void *address, size_t size, int protection)
{
	if (set)
		raise(SIGUSR1);
	return (int)syscall(SYS_mprotect, address, size, protection);
}

static __attribute__((constructor)) void begin(void)
{
	static int kernel;

	__cudaRegisterFatBinaryEnd(__cudaRegisterFatBinary(&kernel));
}

int main(void)
{
	sigset_t blocked;

	printf("%d\n", ask());
	sigprocmask(SIG_BLOCK, NULL, &blocked);
	printf("%d\n", sigismember(&blocked, SIGUSR1));
	return 0;
}
