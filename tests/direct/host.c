/* SPDX-License-Identifier: MIT */
/*
 * host.c - a process that opens extensions, as asks.c makes them: `host STEP...`
 *
 *	open:FILE	opens it, or says that it cannot
 *	begin, second	calls that function of what was opened last and has it
 *	try:FILE	opens it and calls both, without a word
 *	plugin:FILE	uses it, and goes on without it if it cannot be opened or finds no driver
 *	close		closes what was opened last; at_exit has that done by an exit handler
 *	look:NAME	whether the global scope has that; look_for_all:FILE, which of a list it lacks
 *	call, call_second	with -DCALLS: asks itself, as asks.h says
 *	cd:FOLDER	goes there; gone:FOLDER goes to one that it makes and removes
 *	no_proc		has no /proc from here on, as in a chroot; 77 where that cannot be made
 *	set:NAME=FOLDER	sets a variable for children, to that folder of the current one
 *	in_a_thread	first: a thread does the rest, and main() returns amid what follows an open
 *	instead		first: a thread does the rest, when the main thread has ended
 *	pause		for a tenth of a second
 *	install:FILE	from the folder later to the folder cuda; wait for the search to see it
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef PR_GET_AUXV
# define PR_GET_AUXV 0x41555856
#endif

#ifdef CALLS
# include "asks.h"
#endif

#define NO_DRIVER (-35)

typedef int function(void);

static void *_Atomic opened, *extension;

static bool open_file(const char *file)
{
	opened = dlopen(file, RTLD_NOW);
	if (opened && dlsym(opened, "begin"))
		extension = opened;
	return opened;
}

static int ask_extension(const char *name)
{
	function *asked = (function *)dlsym(extension, name);

	return asked ? asked() : 0;
}

static void use_plugin(const char *file)
{
	int said = open_file(file) ? ask_extension("begin") : NO_DRIVER;

	puts(said == NO_DRIVER ? "goes without" : said < 0 ? "fails" : "uses it");
}

static bool look_for_all(const char *list)
{
	FILE *names = fopen(list, "r");
	int there = 0;
	char name[256];

	while (names && fscanf(names, "%255s", name) == 1)
		dlsym(RTLD_DEFAULT, name) ? there++ : puts(name);
	return names && printf("%d there\n", there) > 0;
}

static void close_opened(void)
{
	printf("close %d\n", dlclose(opened));
}

static bool go_where_nothing_is(const char *folder)
{
	char path[4096];

	return !mkdir(folder, 0700) && !chdir(folder) && getcwd(path, sizeof(path)) && !rmdir(path);
}

static bool leave_proc(void)
{
	char values[1024];

	if (prctl(PR_GET_AUXV, values, sizeof(values), 0, 0) < 0 ||
	    (unshare(CLONE_NEWNS) && unshare(CLONE_NEWUSER | CLONE_NEWNS)) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "/proc", "tmpfs", 0, NULL)) {
		puts("/proc cannot be taken away");
		exit(77);
	}
	return true;
}

static bool set(char *name)
{
	char value[4096], *folder = strchr(name, '=');

	*folder++ = 0;
	return getcwd(value, sizeof(value) - 100) &&
	       !setenv(name, strcat(strcat(value, "/"), folder), 1);
}

static bool install(const char *file)
{
	char from[100], to[100];

	snprintf(from, sizeof(from), "later/%s", file);
	snprintf(to, sizeof(to), "cuda/%s", file);
	return !rename(from, to);
}

static bool do_step(const char *name, char *value)
{
	if (!strcmp(name, "open"))
		return open_file(value) || puts("cannot open") > 0;
	if (!strcmp(name, "try"))
		return !open_file(value) || ask_extension("begin") | ask_extension("second") | 1;
	if (!strcmp(name, "begin") || !strcmp(name, "second"))
		return extension && printf("%d\n", ask_extension(name)) > 0;
	if (!strcmp(name, "plugin"))
		return use_plugin(value), true;
	if (!strcmp(name, "close"))
		return dlclose(opened), true;
	if (!strcmp(name, "at_exit"))
		return !atexit(close_opened);
	if (!strcmp(name, "look"))
		return puts(dlsym(RTLD_DEFAULT, value) ? "there" : "not there") > 0;
	if (!strcmp(name, "look_for_all"))
		return look_for_all(value);
#ifdef CALLS
	if (!strcmp(name, "call"))
		return printf("%d\n", ask()) > 0;
#ifdef SECOND
	if (!strcmp(name, "call_second"))
		return printf("%d\n", ask_second()) > 0;
#endif
#endif
	if (!strcmp(name, "cd"))
		return !chdir(value);
	if (!strcmp(name, "gone"))
		return go_where_nothing_is(value);
	if (!strcmp(name, "no_proc"))
		return leave_proc();
	if (!strcmp(name, "set"))
		return set(value);
	if (!strcmp(name, "install"))
		return install(value);
	if (!strcmp(name, "pause"))
		return !usleep(100000);
	return !strcmp(name, "wait") && !usleep(1200000);
}

/* Time for the thread: a second of exit(). */
static void linger(void)
{
	usleep(1000000);
}

static void *do_steps(void *first)
{
	for (char **step = first; *step; step++) {
		char *name = strsep(step, ":");

		if (!do_step(name, *step))
			exit(2);
		fflush(stdout);
	}
	return NULL;
}

int main(int count, char **steps)
{
	pthread_t thread;

	if (count > 1 && !strcmp(steps[1], "instead")) {
		pthread_create(&thread, NULL, do_steps, steps + 2);
		pthread_exit(NULL);
	}
	if (count < 2 || strcmp(steps[1], "in_a_thread")) {
		do_steps(steps + 1);
		return 0;
	}
	atexit(linger);
	pthread_create(&thread, NULL, do_steps, steps + 2);
	while (!opened)
		usleep(1000);
	usleep(200000);
	return 0;
}
