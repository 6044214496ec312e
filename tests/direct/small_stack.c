/* SPDX-License-Identifier: MIT */
/*
 * small_stack.c - a first call where there is little stack: `small_stack coroutine|signal`
 *
 * In a coroutine of 4 KiB, and in a handler on a signal stack of 8 KiB; below each lies a page that
 * may not be touched.
 */
#define _GNU_SOURCE
#include "asks.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

static ucontext_t back, coroutine;
static int answer = -1;

static void call(void)
{
	answer = ask();
}

static void handle(int number)
{
	stack_t now = { .ss_size = 0 };

	(void)number;
	call();
	/* It is still the stack of signals. */
	if (sigaltstack(NULL, &now) || !(now.ss_flags & SS_ONSTACK) || now.ss_size != 8192)
		answer = -2;
}

static char *stack_of(size_t size)
{
	char *room = mmap(NULL, size + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (room == MAP_FAILED || mprotect(room + 4096, size, PROT_READ | PROT_WRITE))
		return NULL;
	return room + 4096;
}

static void run(const char *where)
{
	if (!strcmp(where, "coroutine")) {
		getcontext(&coroutine);
		coroutine.uc_stack = (stack_t){ .ss_sp = stack_of(4096), .ss_size = 4096 };
		coroutine.uc_link = &back;
		makecontext(&coroutine, call, 0);
		swapcontext(&back, &coroutine);
	} else {
		sigaltstack(&(stack_t){ .ss_sp = stack_of(8192), .ss_size = 8192 }, NULL);
		sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = handle, .sa_flags = SA_ONSTACK },
			  NULL);
		raise(SIGUSR1);
	}
}

int main(int argc, char **argv)
{
	run(argc > 1 ? argv[1] : "");
	printf("%d\n", answer);
	return 0;
}
