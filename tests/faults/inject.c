/* SPDX-License-Identifier: MIT */
/*
 * inject.c - stands between a library under test and libc
 *
 * The library is linked with --wrap for each function of `faults`, and so calls
 * these instead.  What they call is libc's: only the library's own calls are
 * counted and fail.
 */
#define _GNU_SOURCE
#include "inject.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

const struct fault faults[] = {
	{ "malloc", ENOMEM, true }, { "calloc", ENOMEM, true }, { "vsnprintf", ENOMEM, true },
	{ "dprintf", EIO, true },
	{ "open", EMFILE, true }, { "open", EACCES, false }, { "open", EIO, false },
	{ "pread", EIO, false }, { "pread", ENOMEM, true }, { "pread", 0, false },
	{ "fstat", EIO, false }, { "stat", EACCES, false }, { "lstat", EACCES, false },
	{ "statvfs", EACCES, false },
	{ "__fxstat", EIO, false }, { "__fxstat", ENOMEM, true },
	{ "__xstat", ESTALE, false }, { "__xstat", ENOMEM, true },
	{ "__lxstat", ETIMEDOUT, false }, { "__lxstat", ENOMEM, true },
	{ "access", EACCES, false }, { "readlink", ENOENT, false }, { "getcwd", ENOENT, false },
	{ "opendir", EMFILE, true }, { "readdir", 0, false },
	{ "mmap", ENOMEM, true }, { "mprotect", ENOMEM, true },
	{ "dlopen", EMFILE, true }, { "dlsym", 0, false }, { "dlvsym", 0, false },
	{ "dlinfo", 0, false }, { "dladdr1", 0, false },
	{ "dlerror", 0, true },
	{ "__register_atfork", ENOMEM, true }, { "atexit", ENOMEM, true },
	{ "nanosleep", EINTR, true },
	{ "clock_gettime", EINVAL, true },
};
const size_t fault_count = sizeof(faults) / sizeof(*faults);

struct injection injection;
struct held held;

static bool fails(const char *function)
{
	const struct injection *now = &injection;
	long call;

	if (!now->fault || strcmp(now->fault->function, function))
		return false;
	call = __atomic_add_fetch(&injection.calls, 1, __ATOMIC_SEQ_CST);
	if (call < now->at || (call > now->at && !now->lasting))
		return false;
	errno = now->fault->error;
	return true;
}

/* Notes that something was taken, or given back, if it was. */
static void note(long *count, bool done, int change)
{
	if (done)
		__atomic_fetch_add(count, change, __ATOMIC_SEQ_CST);
}

/* ---- what is only made to fail ---- */

/* name, what it returns, its parameters, the arguments, what it returns when it fails */
#define PASS(name, type, parameters, arguments, failure) \
	type __wrap_##name parameters; \
	type __wrap_##name parameters { return fails(#name) ? failure : name arguments; }
/* How pread() fails: with -1, or with 0 where a file ends early. */
#define SHORT (injection.fault->error ? -1 : 0)

extern int __register_atfork(void (*before)(void), void (*parent)(void), void (*child)(void),
			     void *object);
extern int __xstat(int version, const char *path, struct stat *st);
extern int __lxstat(int version, const char *path, struct stat *st);
extern int __fxstat(int version, int fd, struct stat *st);

/* None of what is opened here is made: there is no mode. */
PASS(open, int, (const char *path, int flags), (path, flags), -1)
PASS(vsnprintf, int, (char *to, size_t size, const char *format, va_list arguments),
     (to, size, format, arguments), -1)
PASS(pread, ssize_t, (int fd, void *data, size_t size, off_t at), (fd, data, size, at), SHORT)
PASS(access, int, (const char *path, int mode), (path, mode), -1)
PASS(readlink, ssize_t, (const char *path, char *to, size_t size), (path, to, size), -1)
PASS(__xstat, int, (int version, const char *path, struct stat *st), (version, path, st), -1)
PASS(__lxstat, int, (int version, const char *path, struct stat *st), (version, path, st), -1)
PASS(__fxstat, int, (int version, int fd, struct stat *st), (version, fd, st), -1)
PASS(stat, int, (const char *path, struct stat *st), (path, st), -1)
PASS(lstat, int, (const char *path, struct stat *st), (path, st), -1)
PASS(statvfs, int, (const char *path, struct statvfs *fs), (path, fs), -1)
PASS(fstat, int, (int fd, struct stat *st), (fd, st), -1)
PASS(readdir, struct dirent *, (DIR *folder), (folder), NULL)
PASS(mprotect, int, (void *start, size_t size, int protection), (start, size, protection), -1)
PASS(dlsym, void *, (void *handle, const char *name), (handle, name), NULL)
PASS(dlvsym, void *, (void *handle, const char *name, const char *version),
     (handle, name, version), NULL)
PASS(dlinfo, int, (void *handle, int request, void *info), (handle, request, info), -1)
PASS(dladdr1, int, (const void *address, Dl_info *info, void **extra, int flags),
     (address, info, extra, flags), 0)
PASS(getcwd, char *, (char *to, size_t size), (to, size), NULL)
PASS(dlerror, char *, (void), (), NULL)
PASS(__register_atfork, int, (void (*before)(void), void (*parent)(void), void (*child)(void),
			      void *object), (before, parent, child, object), ENOMEM)
PASS(atexit, int, (void (*handler)(void)), (handler), -1)
PASS(clock_gettime, int, (clockid_t clock, struct timespec *time), (clock, time), -1)
PASS(nanosleep, int, (const struct timespec *time, struct timespec *left), (time, left), -1)

/* likewise, where the function called takes a va_list; `called` is what a caller names: with
 * -D_FORTIFY_SOURCE another function */
#define FORMATS(called, name, parameters, call) \
	int __wrap_##called parameters; \
	int __wrap_##called parameters \
	{ \
		va_list arguments; \
		int length = -1; \
		va_start(arguments, format); \
		if (!fails(#name)) \
			length = call; \
		va_end(arguments); \
		return length; \
	}
#define UNUSED __attribute__((unused))

FORMATS(dprintf, dprintf, (int fd, const char *format, ...), vdprintf(fd, format, arguments))
FORMATS(__dprintf_chk, dprintf, (int fd, int flag UNUSED, const char *format, ...),
	vdprintf(fd, format, arguments))

/* ---- what is also to be given back ---- */

/* likewise, and what counts it */
#define TAKE(name, type, parameters, arguments, failure, count) \
	type __wrap_##name parameters; \
	type __wrap_##name parameters \
	{ \
		type taken = failure; \
		if (!fails(#name)) \
			taken = name arguments; \
		note(&held.count, taken != failure, 1); \
		return taken; \
	}
#define GIVE(name, type, parameters, arguments, count) \
	type __wrap_##name parameters; \
	type __wrap_##name parameters \
	{ \
		type status = name arguments; \
		note(&held.count, !status, -1); \
		return status; \
	}

TAKE(malloc, void *, (size_t size), (size), NULL, blocks)
TAKE(calloc, void *, (size_t count, size_t size), (count, size), NULL, blocks)
TAKE(opendir, DIR *, (const char *path), (path), NULL, folders)
GIVE(closedir, int, (DIR *folder), (folder), folders)
GIVE(dlclose, int, (void *handle), (handle), handles)

/* A mapping may be given back in parts. */
static int pages(size_t size)
{
	return (int)((size + 4095) / 4096);
}

void *__wrap_mmap(void *start, size_t size, int protection, int flags, int fd, off_t at);
void *__wrap_mmap(void *start, size_t size, int protection, int flags, int fd, off_t at)
{
	void *taken = MAP_FAILED;

	if (!fails("mmap"))
		taken = mmap(start, size, protection, flags, fd, at);
	note(&held.pages, taken != MAP_FAILED, pages(size));
	return taken;
}

int __wrap_munmap(void *start, size_t size);
int __wrap_munmap(void *start, size_t size)
{
	int status = munmap(start, size);

	note(&held.pages, !status, -pages(size));
	return status;
}

void __wrap_free(void *block);
void __wrap_free(void *block)
{
	note(&held.blocks, block, -1);
	free(block);
}

/* ld.so has something to say about it. */
void *__wrap_dlopen(const char *path, int flags);
void *__wrap_dlopen(const char *path, int flags)
{
	bool failing = fails("dlopen");
	void *handle = dlopen(failing ? "/a file that is not there" : path, flags);

	if (failing)
		errno = injection.fault->error;
	note(&held.handles, handle, 1);
	return handle;
}

/* ---- other functions that -D_FORTIFY_SOURCE calls ---- */

#define CHECKED(name, type, parameters, arguments) \
	type __wrap___##name##_chk parameters; \
	type __wrap___##name##_chk parameters { return __wrap_##name arguments; }

CHECKED(vsnprintf, int, (char *to, size_t size, int flag UNUSED, size_t room UNUSED,
			 const char *format, va_list arguments), (to, size, format, arguments))
CHECKED(pread, ssize_t, (int fd, void *data, size_t size, off_t at, size_t room UNUSED),
	(fd, data, size, at))
CHECKED(readlink, ssize_t, (const char *path, char *to, size_t size, size_t room UNUSED),
	(path, to, size))
