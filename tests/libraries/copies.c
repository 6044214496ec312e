/* SPDX-License-Identifier: MIT */
/*
 * copies.c - copies a file as a caller of cuFile does, with memory of the host
 *
 *	copies STUB FROM TO
 *
 * A line for each side: what its first call returned.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

typedef ssize_t transfer(void *handle, void *buffer, size_t size, off_t at, off_t in_buffer);

/* A handle is a pointer of the library; that of files.c is a file descriptor. */
static void *handle_of(const char *path, int flags)
{
	return (void *)(long)open(path, flags, 0644);
}

int main(int argc, char **argv)
{
	void *stub = dlopen(argv[1], RTLD_NOW);
	transfer *reads = stub ? (transfer *)dlsym(stub, "cuFileRead") : NULL;
	transfer *writes = stub ? (transfer *)dlsym(stub, "cuFileWrite") : NULL;
	char buffer[64] = "";

	if (argc != 4 || !reads || !writes) {
		fprintf(stderr, "%s\n", dlerror());
		return 2;
	}
	printf("read %zd\n", reads(handle_of(argv[2], O_RDONLY), buffer, sizeof(buffer) - 1, 0, 0));
	printf("write %zd\n", writes(handle_of(argv[3], O_WRONLY | O_CREAT), buffer, strlen(buffer),
				     0, 0));
	return 0;
}
