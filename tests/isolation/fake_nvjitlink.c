/* SPDX-License-Identifier: MIT */
/*
 * fake_nvjitlink.c - a libnvJitLink that does what a comment in its input says
 *
 * "//DO crash" and the like, in the first input that has one; else it makes an image, as that
 * of tests/handle does, whose other half this is.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static int act(const char *what);

#define ACT(bytes, length) \
	const char *what = memmem(bytes, length, "//DO ", 5); \
	if (what && act(what + 5)) \
		return 6;
#include "../handle/fake_nvjitlink.c"

__attribute__((noinline)) static int overflow(volatile char *before)
{
	volatile char here[4096];

	here[0] = before ? before[0] : 1;
	return overflow(here) + here[0];
}

/* All there is, or 256 MiB. */
static int eat(int crashes, int all)
{
	/* Volatile: clang leaves out what nobody reads. */
	static char *volatile more;

	for (int i = 0; all || i < 256; i++) {
		more = malloc(1 << 20);
		if (!more && crashes)
			raise(SIGSEGV);
		if (!more)
			return 6;
		memset(more, 1, 1 << 20);
	}
	return 0;
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

/* What it has from the caller, and who started it. */
static void tell(void)
{
	char path[64], words[4096] = "", folder[4096];
	struct rlimit files;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)getppid());
	file = fopen(path, "r");
	if (file) {
		fread(words, 1, sizeof(words) - 1, file);
		fclose(file);
	}
	getrlimit(RLIMIT_NOFILE, &files);
	printf("round %s in %s with %d files, by the %s\n", getenv("ROUND"), getcwd(folder, sizeof(folder)),
	       (int)files.rlim_cur, memmem(words, sizeof(words), "serve", 5) ? "server" : "caller");
	fflush(stdout);
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
		return eat(!strncmp(what, "eat and crash", 13), strncmp(what, "eat some", 8));
	if (!strncmp(what, "slow", 4))
		sleep(1);
	if (!strncmp(what, "stubborn", 8))
		signal(SIGTERM, SIG_IGN);
	/* As some programs do that start others. */
	for (int fd = 3; !strncmp(what, "close and hang", 14) && fd < 1024; fd++)
		close(fd);
	if (!strncmp(what, "tell", 4))
		tell();
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
