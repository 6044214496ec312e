/* SPDX-License-Identifier: MIT */
/* source.c - the bytes of a file or of memory, read piece by piece */
#include "source.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* A file of 2^63 bytes there is not: every offset in it is an off_t. */
static bool read_file(const struct lc_source *source, uint64_t offset, unsigned char *into,
		      size_t size)
{
	while (size) {
		ssize_t got = pread(source->fd, into, size, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && source->error)
			*source->error = errno;
		if (got <= 0)
			return false;
		into += got;
		offset += (uint64_t)got;
		size -= (size_t)got;
	}
	return true;
}

bool lc_source_read(const struct lc_source *source, uint64_t offset, void *into, size_t size)
{
	if (!lc_source_has(source, offset, size))
		return false;
	if (!source->bytes)
		return read_file(source, offset, into, size);
	if (size)
		memcpy(into, source->bytes + offset, size);
	return true;
}
