/* SPDX-License-Identifier: MIT */
/*
 * fake_nvjitlink.c - a libnvJitLink that does what a comment in its input says
 *
 * "//DO crash" and the like, in the first input that has one; else it makes an image.
 * NAMES is a file of ABSENT(name) lines, as for the fake of tests/handle.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../handle/cubin.h"

#define ABSENT(name) int name(void); int name(void) { abort(); }
#include NAMES

__attribute__((visibility("default"))) int fake;

struct handle {
	int inputs;
};

int nvJitLinkVersion(unsigned *major, unsigned *minor)
{
	*major = MAJOR;
	*minor = MINOR;
	return 0;
}

int nvJitLinkCreate(struct handle **handle, uint32_t count, const char **options)
{
	(void)count;
	(void)options;
	*handle = calloc(1, sizeof(**handle));
	return *handle ? 0 : 6;
}

int nvJitLinkDestroy(struct handle **handle)
{
	free(*handle);
	*handle = NULL;
	return 0;
}

__attribute__((noinline)) static int overflow(volatile char *before)
{
	volatile char here[4096];

	here[0] = before ? before[0] : 1;
	return overflow(here) + here[0];
}

static int eat(int crashes)
{
	/* Volatile: clang leaves out what nobody reads. */
	static char *volatile more;

	for (;;) {
		more = malloc(1 << 20);
		if (!more && crashes)
			raise(SIGSEGV);
		if (!more)
			return 6;
		memset(more, 1, 1 << 20);
	}
}

/* What another library in the process would do to open files. */
static int count_files(void)
{
	struct stat st;
	int count = 0;

	for (int fd = 0; fd < 1024; fd++)
		count += !fstat(fd, &st);
	return count;
}

static int act(const char *what)
{
	sigset_t blocked;

	fprintf(stderr, "fake: %.*s\n", (int)strcspn(what, "\n"), what);
	if (!strncmp(what, "crash", 5))
		raise(SIGSEGV);
	if (!strncmp(what, "abort", 5))
		abort();
	if (!strncmp(what, "exit", 4))
		exit(3);
	if (!strncmp(what, "kill", 4))
		kill(getpid(), SIGKILL);
	if (!strncmp(what, "overflow", 8))
		return overflow(NULL);
	if (!strncmp(what, "eat", 3))
		return eat(!strncmp(what, "eat and crash", 13));
	if (!strncmp(what, "stubborn", 8))
		signal(SIGTERM, SIG_IGN);
	/* As some programs do that start others. */
	for (int fd = 3; !strncmp(what, "close and hang", 14) && fd < 1024; fd++)
		close(fd);
	while (!strncmp(what, "close and hang", 14) || !strncmp(what, "hang", 4) || !strncmp(what, "stubborn", 8))
		pause();
	if (!strncmp(what, "files", 5)) {
		sigprocmask(SIG_BLOCK, NULL, &blocked);
		printf("files %d, pipe %d, blocked %d\n", count_files(),
		       signal(SIGPIPE, SIG_DFL) == SIG_DFL, sigismember(&blocked, SIGUSR1));
		fflush(stdout);
	}
	return 0;
}

int nvJitLinkAddData(struct handle *handle, int kind, const void *bytes, size_t length,
		     const char *name)
{
	const char *what = memmem(bytes, length, "//DO ", 5);

	(void)kind;
	(void)name;
	handle->inputs++;
	return what ? act(what + 5) : 0;
}

int nvJitLinkComplete(struct handle *handle)
{
	return handle->inputs ? 0 : 6;
}

#define PAIR(name, bytes, length) \
	int name##Size(struct handle *handle, size_t *size) \
	{ \
		(void)handle; \
		*size = length; \
		return 0; \
	} \
	int name(struct handle *handle, void *into) \
	{ \
		(void)handle; \
		memcpy(into, bytes, length); \
		return 0; \
	}

PAIR(nvJitLinkGetLinkedCubin, (&(struct cubin[]){ make_cubin() }), sizeof(struct cubin))
PAIR(nvJitLinkGetInfoLog, "", 0)
PAIR(nvJitLinkGetErrorLog, "", 0)
