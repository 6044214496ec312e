/* SPDX-License-Identifier: MIT */
/*
 * pure.c - the same question (scene.h) asked in unusual ways
 *
 *	pure sealed QUESTION...		by a process that may only read and write
 *	pure starved QUESTION...	with every allocation failing in turn
 *
 * Fails if the answers are not the same; "starved" if one is neither that nor NULL.
 */
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/memory.h"
#include "../lib/seal.h"
#include "scene.h"

#define TEXT 65536

static struct scene scene;
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

/* Whether the answer is the expected one; 2: there is none. */
static int ask(char *into)
{
	struct lazycuda_plan *plan = lazycuda_plan(&scene.environment, &scene.request,
						   scene.inputs, scene.count);

	if (!plan)
		return 2;
	write_plan(plan, into);
	lazycuda_plan_free(plan);
	return !strcmp(into, expected);
}

/* ---- ways ---- */

static int sealed(void)
{
	static char into[TEXT];
	int status;
	pid_t child = fork();

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

static int starved(void)
{
	static char into[TEXT];
	int answer = 2;
	long n = 0;

	for (; n < 10000 && answer == 2; n++) {
		room = n;
		answer = ask(into);
		room = -1;
	}
	printf("%ld\n", n - 1);
	return answer != 1;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 3;
	scene = scene_read(argv + 2, argc - 2);
	scene.request.options = scene.options;
	scene.request.compile_options = scene.compile_options;
	scene.request.support = scene.support;
	scene.request.others = scene_others(&scene);
	ask(expected);
	return strcmp(argv[1], "sealed") ? starved() : sealed();
}
