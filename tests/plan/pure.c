/* SPDX-License-Identifier: MIT */
/*
 * pure.c - to be preloaded into scene.py: the same question asked in unusual ways
 *
 * Fails if the answers are not the same; starved() if one is neither that nor NULL.
 */
#include <lazycuda_link.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/memory.h"
#include "../lib/seal.h"

#define TEXT 65536

typedef int way(struct lazycuda_environment *, struct lazycuda_request *,
		const struct lazycuda_input **, size_t);
extern way sealed, starved;

static struct lazycuda_environment *environment;
static struct lazycuda_request *request;
static const struct lazycuda_input **inputs;
static size_t count;
static char expected[TEXT];

/* ---- answers ---- */

static const char *text(const char *value)
{
	return value ? value : "-";
}

static size_t add(char *into, size_t at, const char *word)
{
	size_t length = strlen(word);

	if (at + length + 2 > TEXT)
		return at;
	memcpy(into + at, word, length);
	into[at + length] = '\n';
	into[at + length + 1] = '\0';
	return at + length + 1;
}

/* All that a plan says; no printf, which may ask the system for things. */
static void write_plan(const struct lazycuda_plan *plan, char *into)
{
	size_t at = add(into, 0, text(plan->rule));

	at = add(into, at, text(plan->message));
	at = add(into, at, text(plan->have));
	at = add(into, at, text(plan->need));
	for (size_t i = 0; i < plan->option_count; i++)
		at = add(into, at, plan->options[i]);
	for (size_t i = 0; i < plan->compile_option_count; i++)
		at = add(into, at, plan->compile_options[i]);
	for (size_t i = 0; i < plan->step_count; i++) {
		at = add(into, at, plan->steps[i]->name);
		at = add(into, at, plan->steps[i]->reason);
	}
	for (size_t i = 0; i < plan->note_count; i++)
		at = add(into, at, plan->notes[i]);
}

/* Whether the answer is the expected one; 2: there is none.  Either way no memory is lost. */
static int ask(char *into)
{
	const long before = live;
	struct lazycuda_plan *plan = lazycuda_plan(environment, request, inputs, count);

	if (plan)
		write_plan(plan, into);
	lazycuda_plan_free(plan);
	if (live != before)
		return 3;
	return plan ? !strcmp(into, expected) : 2;
}

static void begin(struct lazycuda_environment *e, struct lazycuda_request *r,
		  const struct lazycuda_input **i, size_t n)
{
	environment = e;
	request = r;
	inputs = i;
	count = n;
	ask(expected);
}

/* ---- ways ---- */

/* By a process that may only read and write. */
int sealed(struct lazycuda_environment *e, struct lazycuda_request *r,
	   const struct lazycuda_input **i, size_t n)
{
	static char into[TEXT];
	int status;
	pid_t child;

	begin(e, r, i, n);
	child = fork();
	if (!child) {
		ask(into);	/* the heap has room from here on */
		if (seal())
			syscall(SYS_exit, 77);
		syscall(SYS_exit, ask(into) == 1 ? 0 : 1);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return 1;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		puts("this kernel has no seccomp");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* With every allocation failing in turn. */
int starved(struct lazycuda_environment *e, struct lazycuda_request *r,
	    const struct lazycuda_input **i, size_t n)
{
	static char into[TEXT];
	int answer = 2;
	long at = 0;

	begin(e, r, i, n);
	for (; at < 10000 && answer == 2; at++) {
		room = at;
		answer = ask(into);
		room = -1;
	}
	printf("%ld\n", at - 1);
	fflush(stdout);
	return answer != 1;
}
