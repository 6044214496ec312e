/* SPDX-License-Identifier: MIT */
/* regular.c - opening a file that a user or another program has named */
#include "regular.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arena.h"
#include "glibc.h"

int lc_stat_again(int result, int fd, const char *path, struct stat *st, int flags)
{
	return result && lc_is_filtered() ? (int)syscall(SYS_newfstatat, fd, path, st, flags) : result;
}

int lc_open_regular(const char *path, struct stat *st)
{
	const int fd = LC_AGAIN(open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
	int error;

	if (fd < 0)
		return -1;
	if (fstat(fd, st))
		error = errno;
	else if (S_ISREG(st->st_mode))
		return fd;
	else
		error = S_ISDIR(st->st_mode) ? EISDIR : ENXIO;
	close(fd);
	errno = error;
	return -1;
}

bool lc_read_at(int fd, uint64_t offset, void *to, size_t size, int *error)
{
	for (char *at = to; size; ) {
		const ssize_t got = LC_AGAIN(pread(fd, at, size, (off_t)offset));

		if (got < 0)
			*error = errno;
		if (got <= 0)
			return false;
		at += got;
		offset += (uint64_t)got;
		size -= (size_t)got;
	}
	return true;
}

const char *lc_read_regular(struct lc_arena *arena, const char *path, size_t most, struct stat *st)
{
	const int fd = lc_open_regular(path, st);
	/* Those of the kernel may say that they have no bytes. */
	const size_t size = fd >= 0 && st->st_size > 0 && (uint64_t)st->st_size < most ?
			    (size_t)st->st_size : most;
	char *text = fd < 0 ? NULL : lc_alloc(arena, size + 1);
	ssize_t got = -1;

	/* A long file in /proc is read piece by piece. */
	for (size_t length = 0; text && length < size; length += (size_t)got) {
		got = LC_AGAIN(pread(fd, text + length, size - length, (off_t)length));
		if (got <= 0)
			break;
	}
	if (fd < 0 || (text && got < 0))
		lc_arena_note_error(arena, errno);
	if (fd >= 0)
		close(fd);
	return got < 0 ? NULL : text;
}

const char *lc_why_not_opened(int error)
{
	switch (error) {
	case ENOENT:	return "does not exist";
	case EACCES:	return "is not readable";
	case EISDIR:	return "is a directory";
	case ENXIO:	return "is not a regular file";
	default:	return NULL;
	}
}
