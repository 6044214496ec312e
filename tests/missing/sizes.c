/* SPDX-License-Identifier: MIT */
/*
 * sizes.c - a log is no longer than its size, whatever happened in between
 *
 * Asks for the size of nvJitLink's error log, makes calls of longer and shorter
 * names, here or in another thread, asks for the size there or not, and has the log
 * written into as much memory as was announced first.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int nvJitLinkDestroy(void **), nvJitLinkComplete(void *);
int nvJitLinkGetLinkedCubinSize(void *, size_t *), nvJitLinkGetInfoLogSize(void *, size_t *);
int nvJitLinkGetErrorLogSize(void *, size_t *), nvJitLinkGetErrorLog(void *, char *);

static void refuse_short(void)
{
	nvJitLinkDestroy(NULL);
}

static void refuse_long(void)
{
	size_t size;

	nvJitLinkGetLinkedCubinSize(NULL, &size);
	nvJitLinkGetInfoLogSize(NULL, &size);
}

static void ask_again(void)
{
	size_t size;

	refuse_short();
	nvJitLinkGetErrorLogSize(NULL, &size);
	refuse_long();
	nvJitLinkGetErrorLogSize(NULL, &size);
}

static void (*const steps[])(void) = { refuse_short, refuse_long, ask_again };
enum { STEPS = sizeof steps / sizeof *steps };

static void *run(void *step)
{
	(*(void (*const *)(void))step)();
	return NULL;
}

static void do_step(void (*const *step)(void), int elsewhere)
{
	pthread_t thread;

	if (!elsewhere) {
		(*step)();
		return;
	}
	pthread_create(&thread, NULL, run, (void *)step);
	pthread_join(thread, NULL);
}

static char *into;

static void write_log(void)
{
	nvJitLinkGetErrorLog(NULL, into);
}

static void (*const writing)(void) = write_log;

static int spoilt(int before, int between, int there, int written_there)
{
	size_t size = 0, room;
	int wrong;

	steps[before]();
	nvJitLinkGetErrorLogSize(NULL, &size);
	room = size + 512;
	into = malloc(room);
	memset(into, 0x5a, room);
	do_step(&steps[between], there);
	do_step(&writing, written_there);
	wrong = strnlen(into, room) + 1 != size || into[size] != 0x5a || into[room - 1] != 0x5a;
	free(into);
	return wrong;
}

int main(void)
{
	for (int i = 0; i < STEPS * STEPS * 4; i++)
		if (spoilt(i / 4 / STEPS, i / 4 % STEPS, i & 1, i >> 1 & 1))
			printf("before %d, between %d, %s, %s\n", i / 4 / STEPS, i / 4 % STEPS,
			       i & 1 ? "there" : "here", i >> 1 & 1 ? "written there" : "here");
	return 0;
}
