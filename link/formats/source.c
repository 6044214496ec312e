/* SPDX-License-Identifier: MIT */
/* source.c - the bytes of a file, read piece by piece */
#include "source.h"

#include <errno.h>
#include <unistd.h>

bool lk_source_overspend(const struct lk_source *source, uint64_t offset)
{
	struct lk_budget *budget = source->budget;

	if (!budget->spent)
		budget->at = offset;
	budget->spent = true;
	budget->left = 0;	/* no later read succeeds, either */
	return false;
}

/* No file is 2^63 bytes long, so every offset fits an off_t. */
bool lk_source_read_file(const struct lk_source *source, uint64_t offset, void *into, size_t size)
{
	unsigned char *at = into;

	while (size) {
		ssize_t got = pread(source->fd, at, size, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && source->error)
			*source->error = errno;
		if (got <= 0)
			return false;
		at += got;
		offset += (uint64_t)got;
		size -= (size_t)got;
	}
	return true;
}
