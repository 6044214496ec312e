/* SPDX-License-Identifier: MIT */
/*
 * handle.c - one link through the handle, and what came of it
 *
 *     handle [--lto] [--output N] [--symbol NAME] [--bytes] [--callbacks] [--driver V]
 *            [--nvjitlink V] [--nvrtc V] [--main] [--support FILE:FUNCTION] [--exact]
 *            [-o OUT] FILE...
 *
 * --main speaks of the input behind it.  --bytes has all given as memory, --exact in
 * blocks that end where a page does.  Prints lines of "name: value"; in logs a newline is "|".
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lazycuda_link.h>

enum { MOST = 64 };

static struct lazycuda_input inputs[MOST], support_inputs[MOST];
static struct lazycuda_support support[MOST];
static const struct lazycuda_support *support_list[MOST];
static const char *symbols[MOST], *functions[MOST];
static size_t input_count;
static struct lazycuda_request request = {
	.size = sizeof(request), .arch = "sm_80", .symbols = symbols,
	.support = support_list,
};
static struct lazycuda_environment environment;
static int environment_given, bytes, exact, callbacks;
static const char *output;

static void fail(const char *what)
{
	perror(what);
	exit(2);
}

/* ---- inputs ---- */

static void *read_file(const char *path, size_t *length)
{
	int fd = open(path, O_RDONLY);
	struct stat st;
	char *memory;

	if (fd < 0 || fstat(fd, &st))
		fail(path);
	*length = (size_t)st.st_size;
	if (exact) {	/* what is behind it cannot be read */
		size_t page = 4096, pages = (*length + page - 1) / page * page;

		memory = mmap(NULL, pages + page, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		mprotect(memory + pages, page, PROT_NONE);
		memory += pages - *length;
	} else {
		memory = malloc(*length + 1);
	}
	if (read(fd, memory, *length) != st.st_size)
		fail(path);
	close(fd);
	return memory;
}

static void set_up(void *module, void *data)
{
	printf("setup: %s %s\n", (char *)module, (char *)data);
}

static void tear_down(void *module, void *data)
{
	printf("teardown: %s %s\n", (char *)module, (char *)data);
}

static void give(struct lazycuda_input *input, const char *path)
{
	if (bytes) {
		input->bytes = read_file(path, &input->length);
		input->name = path;
	} else {
		input->path = path;
	}
	if (callbacks) {
		const char *slash = strrchr(path, '/');

		input->setup = set_up;
		input->teardown = tear_down;
		input->data = (char *)(slash ? slash + 1 : path);
	}
}

static void add_support(char *word)
{
	size_t i = request.support_count++;
	char *colon = strchr(word, ':');

	*colon = 0;
	functions[i] = colon + 1;
	support_inputs[i] = (struct lazycuda_input){ .size = sizeof(*inputs) };
	give(&support_inputs[i], word);
	support[i] = (struct lazycuda_support){
		.size = sizeof(*support), .name = "support", .enabled = 1,
		.functions = &functions[i], .function_count = 1, .input = &support_inputs[i],
	};
	support_list[i] = &support[i];
}

/* ---- the command line ---- */

static int version(const char *word)
{
	environment_given = 1;
	return atoi(word);
}

/* An option with a value; 0 if there is none of that name. */
static int take(const char *name, char *value)
{
	if (!strcmp(name, "--output"))
		request.output = atoi(value);
	else if (!strcmp(name, "--symbol"))
		symbols[request.symbol_count++] = value;
	else if (!strcmp(name, "--support"))
		add_support(value);
	else if (!strcmp(name, "--driver"))
		environment.driver = version(value);
	else if (!strcmp(name, "--nvjitlink"))
		environment.nvjitlink = version(value);
	else if (!strcmp(name, "--nvrtc"))
		environment.nvrtc = version(value);
	else if (!strcmp(name, "-o"))
		output = value;
	else
		return 0;
	return 1;
}

static void read_arguments(char **words)
{
	struct lazycuda_input next = { .size = sizeof(next) };

	environment = lazycuda_get_environment();
	for (; *words; words++) {
		if (!strcmp(*words, "--lto")) {
			request.lto = 1;
		} else if (!strcmp(*words, "--bytes")) {
			bytes = 1;
		} else if (!strcmp(*words, "--exact")) {
			exact = 1;
		} else if (!strcmp(*words, "--callbacks")) {
			callbacks = 1;
		} else if (!strcmp(*words, "--main")) {
			next.flags |= LAZYCUDA_INPUT_MAIN;
		} else if (take(*words, words[1])) {
			words++;
		} else {
			inputs[input_count] = next;
			give(&inputs[input_count++], *words);
			next = (struct lazycuda_input){ .size = sizeof(next) };
		}
	}
}

/* ---- what came of it ---- */

static void print_log(const char *name, const char *text)
{
	printf("%s: ", name);
	for (; *text; text++)
		putchar(*text == '\n' ? '|' : *text);
	putchar('\n');
}

static void print(const struct lazycuda_result *result)
{
	printf("code: %s\n", lazycuda_code_name(result->code));
	print_log("message", result->message);
	printf("input: %zd\n", (ssize_t)result->input);
	printf("call: %s %d\n", result->backend_call ? result->backend_call : "none",
	       result->backend_status);
	printf("backend: %d\n", result->plan ? (int)result->plan->backend : -1);
	printf("image: %zu\n", result->image_length);
	print_log("info", result->info_log);
	print_log("error", result->error_log);
}

static void save(const struct lazycuda_result *result)
{
	FILE *file = fopen(output, "w");

	if (!file || fwrite(result->image, 1, result->image_length, file) != result->image_length ||
	    fclose(file))
		fail(output);
}

int main(int argc, char **argv)
{
	const struct lazycuda_result *result;
	struct lazycuda_link *link;

	(void)argc;
	read_arguments(argv + 1);
	link = lazycuda_link_new(&request, environment_given ? &environment : NULL);
	for (size_t i = 0; i < input_count; i++)
		if (lazycuda_link_add(link, &inputs[i]))
			fail("lazycuda_link_add");
	if (callbacks)	/* nothing has been linked yet */
		lazycuda_link_setup(link, "early");
	result = lazycuda_link_run(link);
	print(result);
	if (result->image && output)
		save(result);
	if (lazycuda_link_run(link) != result)
		puts("another result");
	if (!result->image != (result->code != LAZYCUDA_CODE_OK))
		puts("an image that goes with no code");
	if (callbacks) {
		lazycuda_link_setup(link, "module");
		lazycuda_link_teardown(link, "module");
	}
	lazycuda_link_free(link);
	return result == NULL;
}
