/* SPDX-License-Identifier: MIT */
/* interrupts.c - to be preloaded: of two calls of a function, a signal interrupts the first */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int interrupted(unsigned *count)
{
	if ((*count)++ % 2)
		return 0;
	errno = EINTR;
	return 1;
}

/* Defines a function: what it does if it is not interrupted. */
#define INTERRUPTED(type, name, parameters, does) \
	type name parameters; \
	type name parameters \
	{ \
		static __thread unsigned count; \
		return interrupted(&count) ? (type)-1 : (type)(does); \
	}

INTERRUPTED(ssize_t, pread, (int fd, void *to, size_t size, off_t at),
	    syscall(SYS_pread64, fd, to, size, at))
/* What the stubs call does not create files. */
INTERRUPTED(int, open, (const char *path, int flags, ...),
	    syscall(SYS_openat, AT_FDCWD, path, flags, 0))
/* As stubs call stat() and lstat(): for glibc 2.17. */
INTERRUPTED(int, __xstat, (int version, const char *path, struct stat *st),
	    ((void)version, syscall(SYS_newfstatat, AT_FDCWD, path, st, 0)))
INTERRUPTED(int, __lxstat, (int version, const char *path, struct stat *st),
	    ((void)version, syscall(SYS_newfstatat, AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW)))

DIR *opendir(const char *path)
{
	static __thread unsigned count;

	int fd = interrupted(&count) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path,
						   O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);

	return fd < 0 ? NULL : fdopendir(fd);
}
