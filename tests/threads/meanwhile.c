/* SPDX-License-Identifier: MIT */
/*
 * meanwhile.c - one thread loads the library while another is in its search: `meanwhile ANSWER`
 *
 * The other thread stops before its 1st, 2nd, 3rd, ... look at the environment or at the
 * loaded objects, each time in a process of its own and until it would have loaded the library
 * itself. It waits until the first thread has loaded the library and begun to replay what
 * nvcc's code registered. The first thread goes on after the other one has returned, or a
 * moment later. Both calls have to return ANSWER.
 *
 * Prints what went wrong, and "each of N moments".
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <lazycuda.h>

int cudaDeviceSynchronize(void);

enum { MOMENTS = 1000, ALL_PASSED = 9 };

static _Atomic int stopped, loaded, returned;
static __thread int before;	/* so many looks from now; 0: never */
static __thread int loads;	/* this is the thread that loads */

static void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 1000 * 1000 }, NULL);
}

static void look(void)
{
	if (!before || --before)
		return;
	atomic_store(&stopped, 1);
	while (!atomic_load(&loaded))
		nap();
}

/* The stub calls these three, which are the C library's. */
char *secure_getenv(const char *name)
{
	look();
	return getenv(name);
}

int dl_iterate_phdr(int (*visit)(struct dl_phdr_info *, size_t, void *), void *data)
{
	static int (*real)(int (*)(struct dl_phdr_info *, size_t, void *), void *);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "dl_iterate_phdr");
	look();
	return real(visit, data);
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	static int (*real)(pthread_mutex_t *);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "pthread_mutex_lock");
	if (loads && lazycuda_get_status("cudart")->state == LAZYCUDA_STATE_USABLE) {
		loads = 0;
		atomic_store(&loaded, 1);
		for (int i = 0; i < 50 && !atomic_load(&returned); i++)
			nap();
	}
	return real(mutex);
}

static void *search(void *moment)
{
	int said;

	before = (int)(long)moment;
	said = cudaDeviceSynchronize();
	atomic_store(&returned, 1);
	return (void *)(long)said;
}

static int at_moment(int moment, int answer)
{
	pthread_t thread;
	void *said;

	alarm(30);
	if (pthread_create(&thread, NULL, search, (void *)(long)moment))
		return 2;
	while (!atomic_load(&stopped) && !atomic_load(&returned))
		nap();
	if (!atomic_load(&stopped))
		return ALL_PASSED;
	loads = 1;
	if (cudaDeviceSynchronize() != answer)
		return 3;
	if (!atomic_load(&loaded))
		return ALL_PASSED;	/* the other thread had loaded it when it stopped */
	pthread_join(thread, &said);
	if ((int)(long)said == answer)
		return 0;
	printf("look %d: the call returned %d: %s\n", moment, (int)(long)said,
	       lazycuda_get_status("cudart")->reason);
	return 1;
}

int main(int argc, char **argv)
{
	int answer = argc > 1 ? atoi(argv[1]) : 0, status;

	for (int moment = 1; moment <= MOMENTS; moment++) {
		pid_t child = fork();

		if (!child) {
			status = at_moment(moment, answer);
			fflush(stdout);
			_exit(status);
		}
		if (waitpid(child, &status, 0) < 0)
			return 2;
		if (WIFEXITED(status) && WEXITSTATUS(status) == ALL_PASSED) {
			printf("each of %d moments\n", moment - 1);
			return 0;
		}
		if (status)
			printf("look %d ended with %#x\n", moment, status);
		fflush(stdout);
	}
	return 2;
}
