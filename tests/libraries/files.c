/* SPDX-License-Identifier: MIT */
/* files.c - a cuFile whose handles are file descriptors and whose memory is the host's */
#include <sys/types.h>
#include <unistd.h>

ssize_t cuFileRead(void *handle, char *buffer, size_t size, off_t at, off_t in_buffer)
{
	return pread((int)(long)handle, buffer + in_buffer, size, at);
}

ssize_t cuFileWrite(void *handle, const char *buffer, size_t size, off_t at, off_t in_buffer)
{
	return pwrite((int)(long)handle, buffer + in_buffer, size, at);
}
