/* SPDX-License-Identifier: MIT */
/*
 * compare.c - REAL STUB FIRST NAME...: calls each function in the real library and
 * through the stub, each in a child of its own, and says what came of it:
 *
 *     cuInit 100 0 same
 *
 * with what the call returned, a sum of all that it wrote, and whether the two
 * agree.  A crash is `signal N`.  FIRST is called before, so that both libraries
 * are loaded and both children begin alike.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARGUMENTS 8
#define BYTES 4096

typedef long (*function)(void *, void *, void *, void *, void *, void *, void *, void *);

/* Fixed places: what is written may be an address. */
static unsigned char buffers[ARGUMENTS][BYTES];

struct outcome {
	int signal, result;
	uint64_t sum;
};

static uint64_t sum_of_buffers(void)
{
	const unsigned char *bytes = buffers[0];
	uint64_t sum = 0;

	for (size_t i = 0; i < sizeof(buffers); i++)
		sum = sum * 31 + bytes[i];
	return sum;
}

static void call(function f, int pointers, struct outcome *out)
{
	void *a[ARGUMENTS] = { 0 };

	for (int i = 0; pointers && i < ARGUMENTS; i++)
		a[i] = buffers[i];
	out->result = (int)f(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]);
	out->sum = sum_of_buffers();
}

static struct outcome try(function f, int pointers)
{
	struct outcome out = { 0 };
	int channel[2], status;
	pid_t child;

	if (pipe2(channel, O_CLOEXEC) || (child = fork()) < 0)
		exit(2);
	if (!child) {
		const struct rlimit none = { 0 };
		int null = open("/dev/null", O_RDWR);

		setrlimit(RLIMIT_CORE, &none);
		dup2(null, 0);
		dup2(null, 1);
		dup2(null, 2);
		alarm(10);
		call(f, pointers, &out);
		if (write(channel[1], &out, sizeof(out)) != sizeof(out))
			_exit(3);
		_exit(0);
	}
	close(channel[1]);
	if (read(channel[0], &out, sizeof(out)) != sizeof(out))
		out = (struct outcome){ 0 };
	close(channel[0]);
	waitpid(child, &status, 0);
	if (WIFSIGNALED(status))
		out = (struct outcome){ .signal = WTERMSIG(status) };
	else if (WEXITSTATUS(status))
		out = (struct outcome){ .signal = 1000 + WEXITSTATUS(status) };
	return out;
}

static function find(void *library, const char *name)
{
	void *address = dlsym(library, name);

	if (!address) {
		printf("no %s: %s\n", name, dlerror());
		exit(2);
	}
	return (function)address;
}

int main(int count, char **words)
{
	void *real = dlopen(words[1], RTLD_NOW), *stub = dlopen(words[2], RTLD_NOW);

	if (!real || !stub) {
		puts(dlerror());
		return 2;
	}
	find(real, words[3])(buffers[0], (void *)BYTES, 0, 0, 0, 0, 0, 0);
	find(stub, words[3])(buffers[0], (void *)BYTES, 0, 0, 0, 0, 0, 0);
	memset(buffers, 0, sizeof(buffers));
	for (int i = 4; i < count; i++) {
		for (int pointers = 0; pointers < 2; pointers++) {
			struct outcome a = try(find(real, words[i]), pointers);
			struct outcome b = try(find(stub, words[i]), pointers);

			printf(a.signal ? "%s signal %d %s\n" : "%s %d %s\n", words[i],
			       a.signal ? a.signal : a.result,
			       a.signal == b.signal && a.result == b.result && a.sum == b.sum ?
			       "same" : "different");
		}
	}
	return 0;
}
