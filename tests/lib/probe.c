/* SPDX-License-Identifier: MIT */
/*
 * probe - does what its arguments say, one after the other, and prints what
 * came of each as a line of JSON
 *
 *     open:FILE        dlopen, RTLD_LOCAL      {"open": FILE, "error": null}
 *     global:FILE      the same, RTLD_GLOBAL
 *     close:FILE       dlclose what was opened under that name last
 *     load[:LIBRARY]   lazycuda_load           {"load": 0}
 *     status:LIBRARY   lazycuda_get_status     all of it
 *     error:LIBRARY    lazycuda_get_error      all of it
 *     driver           lazycuda_get_driver     {"version": 12020, "branch": 535}
 *     guard            lazycuda_get_guard      {"guard": "strict"}
 *     constrain:TEXT   lazycuda_set_constraint {"constrain": 0}
 *     order:TEXT       lazycuda_set_order      {"order": 0}
 *     allows:VERSION   lazycuda_is_allowed     {"allows": 1}
 *     call:NAME@NODE   call a function with eight zeros
 *                                              {"call": NAME, "value": 303}
 *     text:NAME@NODE:N call it with N, it answers a string
 *                                              {"call": NAME, "text": "..."}
 *     out:NAME@NODE:SIZE:PLACE...
 *                      call it with the address of SIZE bytes of 0xa5 for each
 *                      argument PLACE, else 0  {"call":, "value":, "bytes": ["00a5"]}
 *     setenv:NAME=VALUE, fork
 *     shell:COMMAND    system()                {"shell": 0}
 *     mark:TEXT        writes it to stderr, for strace
 *     maps:PREFIX      the first mapped file whose base name begins so
 *                                              {"maps": "/..."}
 *     libraries        every object in the process
 *     exit             what follows is done by an exit handler from before all that
 *
 * Names are looked up in what was opened, the last first; @NODE may be left out.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <lazycuda.h>

static struct { const char *name; void *handle; } opened[512];
static int open_count;

static void *find(const char *name, const char *node)
{
	for (int i = open_count; i-- > 0;) {
		void *symbol = !opened[i].handle ? NULL : node ?
			dlvsym(opened[i].handle, name, node) : dlsym(opened[i].handle, name);
		if (symbol)
			return symbol;
	}
	fprintf(stderr, "probe: no %s%s%s\n", name, node ? "@" : "", node ? node : "");
	exit(2);
}

/* Functions are looked up by name: probe itself is linked with no stub. */
#define CALL(type, name, ...) (((type)find(name, NULL))(__VA_ARGS__))

static void text(const char *text)
{
	if (!text) {
		fputs("null", stdout);
		return;
	}
	putchar('"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			printf("\\%c", *text);
		else if ((unsigned char)*text < 0x20)
			printf("\\u%04x", *text);
		else
			putchar(*text);
	}
	putchar('"');
}

static void member(const char *name, const char *value)
{
	printf("\"%s\": ", name);
	text(value);
	printf(", ");
}

static void do_open(const char *file, int flags)
{
	void *handle = dlopen(file, RTLD_NOW | flags);
	const char *error = handle ? NULL : dlerror();

	opened[open_count].name = file;
	opened[open_count++].handle = handle;
	putchar('{');
	member("open", file);
	printf("\"error\": ");
	text(error);
	puts("}");
}

static void do_close(const char *file)
{
	for (int i = open_count; i-- > 0;)
		if (opened[i].handle && !strcmp(opened[i].name, file)) {
			printf("{\"close\": %d}\n", dlclose(opened[i].handle));
			opened[i].handle = NULL;
			return;
		}
}

static void do_status(const char *library)
{
	static const char *const states[] = { "unknown", "usable", "missing", "refused", "broken",
						"hidden" };
	const struct lazycuda_status *status =
		CALL(const struct lazycuda_status *(*)(const char *), "lazycuda_get_status", library);

	if (!status) {
		puts("null");
		return;
	}
	putchar('{');
	member("library", status->library);
	member("state", states[status->state]);
	member("version", status->version);
	member("path", status->path);
	member("found_by", status->found_by);
	member("reason", status->reason);
	member("not_asked", status->not_asked);
	printf("\"size\": %zu, \"cause\": %d, \"major\": %d, \"minor\": %d, \"candidates\": [",
	       status->size, status->cause, status->major, status->minor);
	for (size_t i = 0; i < status->candidate_count; i++) {
		const struct lazycuda_candidate *candidate = &status->candidates[i];
		printf("%s{", i ? ", " : "");
		member("path", candidate->path);
		member("version", candidate->version);
		member("found_by", candidate->found_by);
		member("reason", candidate->reason);
		printf("\"taken\": %s}", candidate->taken ? "true" : "false");
	}
	printf("], \"left_out\": [");
	for (size_t i = 0; i < status->left_out_count; i++) {
		printf("%s{\"path\": ", i ? ", " : "");
		text(status->left_out[i].path);
		printf(", \"reason\": ");
		text(status->left_out[i].reason);
		putchar('}');
	}
	puts("]}");
}

static void do_error(const char *library)
{
	const struct lazycuda_error *error =
		CALL(const struct lazycuda_error *(*)(const char *), "lazycuda_get_error", library);

	if (!error) {
		puts("null");
		return;
	}
	putchar('{');
	member("library", error->library);
	member("function", error->function);
	member("message", error->message);
	printf("\"size\": %zu, \"cause\": %d, \"status\": %d}\n",
	       error->size, error->cause, error->status);
}

/* Splits NAME@NODE; returns the function. */
static void *function(char *name)
{
	char *node = strchr(name, '@');

	if (node)
		*node++ = 0;
	return find(name, node);
}

typedef long (*any_function)(long, long, long, long, long, long, long, long);

static void do_call(char *name)
{
	any_function call = (any_function)function(name);

	printf("{\"call\": \"%s\", \"value\": ", name);
	fflush(stdout);
	printf("%d}\n", (int)call(0, 0, 0, 0, 0, 0, 0, 0));
}

static void do_text(char *name)
{
	char *number = strrchr(name, ':');

	*number++ = 0;
	const char *(*call)(int) = (const char *(*)(int))function(name);
	putchar('{');
	member("call", name);
	printf("\"text\": ");
	text(call(atoi(number)));
	puts("}");
}

static void do_out(char *name)
{
	static unsigned char buffers[8][1 << 18];
	long arguments[8] = { 0 };
	char *size = strchr(name, ':');
	size_t length;

	*size++ = 0;
	length = strtoul(size, &size, 10);
	for (char *place = size; *place == ':';) {
		long i = strtol(place + 1, &place, 10);
		memset(buffers[i], 0xa5, sizeof *buffers);
		arguments[i] = (long)buffers[i];
	}
	any_function call = (any_function)function(name);
	printf("{\"call\": \"%s\", \"value\": %d, \"bytes\": [", name,
	       (int)call(arguments[0], arguments[1], arguments[2], arguments[3],
			 arguments[4], arguments[5], arguments[6], arguments[7]));
	for (int i = 0, first = 1; i < 8; i++) {
		if (!arguments[i])
			continue;
		printf("%s\"", first ? "" : ", ");
		for (size_t j = 0; j < length; j++)
			printf("%02x", buffers[i][j]);
		putchar('"');
		first = 0;
	}
	puts("]}");
}

static void do_maps(const char *prefix)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[8192], *path, *name;

	while (maps && fgets(line, sizeof line, maps)) {
		line[strcspn(line, "\n")] = 0;
		path = strchr(line, '/');
		name = path ? strrchr(path, '/') + 1 : NULL;
		if (name && !strncmp(name, prefix, strlen(prefix))) {
			printf("{\"maps\": \"%s\"}\n", path);
			fclose(maps);
			return;
		}
	}
	puts("{\"maps\": null}");
}

static int print_object(struct dl_phdr_info *info, size_t size, void *first)
{
	(void)size;
	printf("%s\"%s\"", *(int *)first ? "" : ", ", info->dlpi_name);
	*(int *)first = 0;
	return 0;
}

/* Goes on in a child; the parent ends as the child does. */
static void do_fork(void)
{
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0)
		return;
	waitpid(child, &status, 0);
	exit(WIFEXITED(status) ? WEXITSTATUS(status) : 99);
}

static char **left;	/* the words behind `exit` */

static int run(char **words)
{
	for (int i = 0; words[i]; i++) {
		char *value = strchr(words[i], ':');
		if (value)
			*value++ = 0;
		const char *word = words[i];

		if (!strcmp(word, "open"))
			do_open(value, RTLD_LOCAL);
		else if (!strcmp(word, "global"))
			do_open(value, RTLD_GLOBAL);
		else if (!strcmp(word, "close"))
			do_close(value);
		else if (!strcmp(word, "load"))
			printf("{\"load\": %d}\n", CALL(int (*)(const char *), "lazycuda_load", value));
		else if (!strcmp(word, "status"))
			do_status(value);
		else if (!strcmp(word, "error"))
			do_error(value);
		else if (!strcmp(word, "driver")) {
			struct lazycuda_driver driver =
				CALL(struct lazycuda_driver (*)(void), "lazycuda_get_driver");
			printf("{\"version\": %d, \"branch\": %d}\n", driver.version, driver.branch);
		} else if (!strcmp(word, "guard")) {
			printf("{\"guard\": \"%s\"}\n",
			       CALL(const char *(*)(void), "lazycuda_get_guard"));
		} else if (!strcmp(word, "constrain"))
			printf("{\"constrain\": %d}\n",
			       CALL(int (*)(const char *), "lazycuda_set_constraint", value));
		else if (!strcmp(word, "order"))
			printf("{\"order\": %d}\n",
			       CALL(int (*)(const char *), "lazycuda_set_order", value));
		else if (!strcmp(word, "allows"))
			printf("{\"allows\": %d}\n",
			       CALL(int (*)(int), "lazycuda_is_allowed", atoi(value)));
		else if (!strcmp(word, "call"))
			do_call(value);
		else if (!strcmp(word, "text"))
			do_text(value);
		else if (!strcmp(word, "out"))
			do_out(value);
		else if (!strcmp(word, "setenv")) {
			putenv(value);
			puts("{}");
		} else if (!strcmp(word, "shell")) {
			printf("{\"shell\": %d}\n", system(value));
		} else if (!strcmp(word, "mark")) {
			printf("{\"mark\": %zd}\n", write(2, value, strlen(value)));
		} else if (!strcmp(word, "fork")) {
			do_fork();
			puts("{}");
		} else if (!strcmp(word, "maps"))
			do_maps(value);
		else if (!strcmp(word, "libraries")) {
			int first = 1;
			printf("{\"libraries\": [");
			dl_iterate_phdr(print_object, &first);
			puts("]}");
		} else if (!strcmp(word, "exit")) {
			left = words + i + 1;
			return 0;
		} else {
			fprintf(stderr, "probe: what is %s?\n", word);
			return 2;
		}
	}
	return 0;
}

static void at_exit(void)
{
	if (left && run(left))
		_exit(2);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	(void)argc;
	atexit(at_exit);
	return run(argv + 1);
}
