/* SPDX-License-Identifier: MIT */
/* buffer.c - memory for the bytes of a large file, few of which are needed at once */
#include "buffer.h"

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Buffers larger than this lie in a file. */
#define LARGE (64 << 20)

/* Opens a file without a name and reserves `size` bytes of the disk for it; -1 on failure.
 * /tmp is memory on many systems, and /var/tmp is not. */
static int open_file(size_t size)
{
	const char *named = getenv("TMPDIR");
	int fd = open(named && *named ? named : "/var/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	/* A limit on the size of files raises this. */
	void (*before)(int) = signal(SIGXFSZ, SIG_IGN);

	if (fd >= 0 && (size > INT64_MAX || posix_fallocate(fd, 0, (off_t)size))) {
		close(fd);
		fd = -1;
	}
	signal(SIGXFSZ, before);
	return fd;
}

bool buffer_allocate(struct buffer *buffer)
{
	int fd = buffer->size > LARGE ? open_file(buffer->size) : -1;
	void *bytes = MAP_FAILED;

	if (fd >= 0) {
		bytes = mmap(NULL, buffer->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		close(fd);
	}
	buffer->in_file = bytes != MAP_FAILED;
	if (!buffer->in_file)
		bytes = mmap(NULL, buffer->size, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	buffer->bytes = bytes;
	return bytes != MAP_FAILED;
}

void buffer_free(struct buffer *buffer)
{
	munmap(buffer->bytes, buffer->size);
}

void buffer_forget(const unsigned char *from, const unsigned char *to)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t start = (uintptr_t)from & -page;

	madvise((void *)start, (uintptr_t)to - start, MADV_DONTNEED);
}
