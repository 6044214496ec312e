/* SPDX-License-Identifier: MIT */
/*
 * answers.c - what each function of a library answers: `answers LIBRARY NODE`,
 * names on standard input; of a library without versions NODE is empty
 *
 * Each line of input is NAME PATTERN RESULT.  PATTERN has a letter for each
 * argument: 0 for a zero, p for the address of a page of 0xa5.  RESULT is
 * i (a status), s (a string), v (nothing) or p (a pointer: NULL or not).  The
 * call is made in a child with a time limit, and the line that is printed holds
 * all that the caller can see of it: what was returned, what was written, and
 * how the child ended.  Two libraries that print the same lines answer alike.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ARGUMENTS = 12, BYTES = 2048 };
#define UNTOUCHED 0xa5

typedef long (*any_function)(long, long, long, long, long, long, long, long, long, long, long, long);

/* Numbers are compared, addresses are not: only that there is one. */
static void print_written(const unsigned char *bytes)
{
	size_t last = BYTES;

	while (last > 0 && bytes[last - 1] == UNTOUCHED)
		last--;
	for (size_t i = 0; i < last; i += 8) {
		unsigned long word;
		memcpy(&word, bytes + i, 8);
		if (word >> 40 && word >> 40 <= 0x7f)
			printf("<address>");
		else
			printf("%016lx", word);
	}
}

static void call(void *function, const char *pattern, char result)
{
	static unsigned char buffers[ARGUMENTS][BYTES + 4096];
	long a[ARGUMENTS] = { 0 };

	memset(buffers, UNTOUCHED, sizeof buffers);
	for (int i = 0; pattern[i] && i < ARGUMENTS; i++)
		if (pattern[i] == 'p')
			a[i] = (long)buffers[i];
	long value = ((any_function)function)(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8],
					      a[9], a[10], a[11]);
	if (result == 'i')
		printf(" %d", (int)value);
	else if (result == 's')
		printf(" %s", value ? (const char *)value : "(null)");
	else if (result == 'p')
		printf(" %s", value ? "<address>" : "0");
	for (int i = 0; pattern[i] && i < ARGUMENTS; i++)
		if (pattern[i] == 'p') {
			printf(" %d:", i);
			print_written(buffers[i]);
		}
	fflush(stdout);
}

static void limited_call(const char *name, void *function, const char *pattern, char result)
{
	int status;

	printf("%s %s", name, pattern);
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		setrlimit(RLIMIT_CPU, &(struct rlimit){ 5, 5 });
		alarm(5);
		if (!freopen("/dev/null", "w", stderr))
			_exit(99);
		call(function, pattern, result);
		_exit(0);
	}
	waitpid(child, &status, 0);
	if (WIFSIGNALED(status))
		printf(" dies\n");
	else
		printf(" %d\n", WEXITSTATUS(status));
}

int main(int argc, char **argv)
{
	char name[256], pattern[32], result;
	void *library = argc > 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
	int (*load)(const char *);

	if (!library) {
		printf("%s\n", argc > 2 ? dlerror() : "usage: answers LIBRARY NODE");
		return 2;
	}
	/* The stub looks once, here, and not in every child again. */
	load = (int (*)(const char *))dlsym(library, "lazycuda_load");
	if (load && load(NULL))
		return 3;
	while (scanf("%255s %31s %c", name, pattern, &result) == 3) {
		void *function = *argv[2] ? dlvsym(library, name, argv[2]) : dlsym(library, name);

		if (function)
			limited_call(name, function, pattern, result);
		else
			printf("%s is not there\n", name);
	}
	return 0;
}
