/* SPDX-License-Identifier: MIT */
/*
 * glibc.h - run on glibc 2.17, whatever glibc this was built with
 *
 * A manylinux2014 wheel must not need symbols newer than 2.17, and the real
 * libcudart needs none either.  glibc 2.34 moved libdl into libc and gave its
 * functions new versions; 2.33 made functions of stat() and its kin;
 * 2.38 added new functions that read numbers, for C23's 0b1.  The old ones are
 * still there and do the same.  Include this before calling any of them.
 */
#ifndef GLIBC_H
#define GLIBC_H

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>

/*
 * System calls that a signal interrupted are made again.  A program's timer may interrupt open(),
 * stat() and read() on a slow file system.  What else is wrong with a file that always says EINTR,
 * no program can tell: after some times that counts.
 */
#define LC_AGAIN_TIMES 100

/* `failed` is an expression about `done`, what the call returned. */
#define LC_AGAIN_IF(call, failed) __extension__({ \
	__typeof__(call) done; \
	int times = 0; \
	do \
		done = call; \
	while ((failed) && errno == EINTR && ++times < LC_AGAIN_TIMES); \
	done; \
})
#define LC_AGAIN(call) LC_AGAIN_IF(call, done < 0)

/* Whether the last call failed as one does that a filter of system calls does not let through. */
#define lc_is_filtered() (errno == EPERM || errno == ENOSYS)

/* Returns what the old call returned, or makes the one that today's ld.so makes, if a list of allowed
 * system calls has that alone.  (regular.c) */
int lc_stat_again(int result, int fd, const char *path, struct stat *st, int flags);

/* The first versions of its functions, and what __xstat() is told. */
#ifdef __x86_64__
# define LC_GLIBC_FIRST "GLIBC_2.2.5"
# define LC_GLIBC_DLINFO "GLIBC_2.3.3"
# define LC_STAT_VERSION 1
#else
# define LC_GLIBC_FIRST "GLIBC_2.17"
# define LC_GLIBC_DLINFO "GLIBC_2.17"
# define LC_STAT_VERSION 0
#endif

#ifdef LC_EMBEDDED	/* it runs where the rest of its object does */

# define stat(path, st) LC_AGAIN(lc_stat_again(stat(path, st), AT_FDCWD, path, st, 0))
# define lstat(path, st) LC_AGAIN(lc_stat_again(lstat(path, st), AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW))
# define fstat(fd, st) lc_stat_again(fstat(fd, st), fd, "", st, AT_EMPTY_PATH)

#elif defined(__GLIBC__) && (defined(__x86_64__) || defined(__aarch64__))

/* For a function that libasan has too, binutils 2.35 (Debian 11) writes a relocation that
   ld.so refuses. */
# ifndef __SANITIZE_ADDRESS__
__asm__(".symver dlopen, dlopen@" LC_GLIBC_FIRST);
__asm__(".symver dlclose, dlclose@" LC_GLIBC_FIRST);
# endif
__asm__(".symver dlerror, dlerror@" LC_GLIBC_FIRST);
__asm__(".symver dlsym, dlsym@" LC_GLIBC_FIRST);
__asm__(".symver dlvsym, dlvsym@" LC_GLIBC_FIRST);
__asm__(".symver dlinfo, dlinfo@" LC_GLIBC_DLINFO);
__asm__(".symver dladdr1, dladdr1@" LC_GLIBC_DLINFO);

extern int __xstat(int version, const char *path, struct stat *st);
extern int __lxstat(int version, const char *path, struct stat *st);
extern int __fxstat(int version, int fd, struct stat *st);

/*
 * pthread_atfork() lies in libc_nonshared.a and makes this call.  zig's stand-in for
 * that archive lacks the function on x86-64, where the name then leads to a symbol
 * of libpthread from before 2.3.
 */
extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
			     void *object);

# define stat(path, st) \
	LC_AGAIN(lc_stat_again(__xstat(LC_STAT_VERSION, path, st), AT_FDCWD, path, st, 0))
# define lstat(path, st) LC_AGAIN(lc_stat_again(__lxstat(LC_STAT_VERSION, path, st), AT_FDCWD, \
						path, st, AT_SYMLINK_NOFOLLOW))
# define fstat(fd, st) lc_stat_again(__fxstat(LC_STAT_VERSION, fd, st), fd, "", st, AT_EMPTY_PATH)
# define pthread_atfork(prepare, parent, child) \
	__register_atfork(prepare, parent, child, &__dso_handle)

extern long lc_strtol(const char *text, char **end, int base) __asm__("strtol");

# define strtol(text, end, base) lc_strtol(text, end, base)
# define atoi(text) ((int)lc_strtol(text, NULL, 10))

#endif

#endif
