/* SPDX-License-Identifier: MIT */
/*
 * reenter.c - to be preloaded: whatever a stub asks of the dynamic loader or of
 * malloc(), first another thread makes a CUDA call, and is waited for
 *
 * A stub that held a lock meanwhile, of its own or of ld.so, would get no answer.
 * Prints "reentered N" at the end, or "stuck in NAME".
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The stubs call the versions of old; the later ones are libc's own still. */
void *real_dlsym(void *, const char *);
void *real_dlvsym(void *, const char *, const char *);
__asm__(".symver real_dlsym, dlsym@GLIBC_2.34");
__asm__(".symver real_dlvsym, dlvsym@GLIBC_2.34");

int cudaDeviceSynchronize(void), nvrtcDestroyProgram(void **);
void **__cudaRegisterFatBinary(void *), __cudaUnregisterFatBinary(void **);

static atomic_int reentered;
static __thread int inside;	/* what is called on the way is left alone */

struct visit {
	atomic_int done;
	int number;
};

static void *make_call(void *data)
{
	struct visit *visit = data;

	inside = 1;
	if (visit->number % 2)
		nvrtcDestroyProgram(NULL);
	else
		cudaDeviceSynchronize();
	/* These take the stub's lock, whatever its state. */
	__cudaUnregisterFatBinary(__cudaRegisterFatBinary(visit));
	visit->done = 1;
	return NULL;
}

static int is_stub(const void *caller)
{
	Dl_info where;

	return dladdr(caller, &where) && where.dli_fname && strstr(where.dli_fname, "_stub.so");
}

static void wait_for_call(const char *name)
{
	const struct timespec moment = { .tv_nsec = 100 * 1000 };
	struct visit visit = { .number = reentered++ };
	pthread_t thread;

	pthread_create(&thread, NULL, make_call, &visit);
	for (int i = 0; !visit.done; i++) {
		if (i == 100000) {
			dprintf(1, "stuck in %s\n", name);
			_exit(1);
		}
		nanosleep(&moment, NULL);
	}
	pthread_join(thread, NULL);
}

static void reenter(const char *name, const void *caller)
{
	if (inside)
		return;
	inside = 1;
	if (is_stub(caller))
		wait_for_call(name);
	inside = 0;
}

static __attribute__((destructor)) void end(void)
{
	dprintf(1, "reentered %d\n", reentered);
}

#define PASS(name, version, find, type, parameters, arguments) \
	type shim_##name parameters; \
	type shim_##name parameters \
	{ \
		static type (*next) parameters; \
		if (!next) \
			*(void **)&next = find; \
		reenter(#name, __builtin_return_address(0)); \
		return next arguments; \
	} \
	__asm__(".symver shim_" #name ", " #name "@" version);
#define NEXT(name) real_dlsym(RTLD_NEXT, #name)

PASS(dlopen, "GLIBC_2.2.5", NEXT(dlopen), void *, (const char *path, int flags), (path, flags))
PASS(dlclose, "GLIBC_2.2.5", NEXT(dlclose), int, (void *handle), (handle))
PASS(dlerror, "GLIBC_2.2.5", NEXT(dlerror), char *, (void), ())
PASS(dlinfo, "GLIBC_2.3.3", NEXT(dlinfo), int, (void *handle, int request, void *info),
     (handle, request, info))
PASS(dlsym, "GLIBC_2.2.5", real_dlsym, void *, (void *handle, const char *name), (handle, name))
PASS(dlvsym, "GLIBC_2.2.5", real_dlvsym, void *,
     (void *handle, const char *name, const char *version), (handle, name, version))
PASS(dl_iterate_phdr, "GLIBC_2.2.5", NEXT(dl_iterate_phdr), int,
     (int (*each)(struct dl_phdr_info *, size_t, void *), void *data), (each, data))
PASS(malloc, "GLIBC_2.2.5", NEXT(malloc), void *, (size_t size), (size))
PASS(free, "GLIBC_2.2.5", NEXT(free), void, (void *memory), (memory))
