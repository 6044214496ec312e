/* SPDX-License-Identifier: MIT */
/* link_command.c - `lazycuda link`: links device code as `lazycuda plan` describes */
#include "commands.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../stubs/base/object.h"
#include "../stubs/base/regular.h"
#include "json.h"
#include "output.h"
#include "plan_report.h"
#include "say.h"

static const char usage[] =
"usage: lazycuda link -o OUT [OPTION...] [--arch ARCH] FILE...\n"
"\n"
"Links device code with nvJitLink or the driver, whichever can, and says what it\n"
"did and why.  FILE is PTX, a cubin, LTO-IR, a fatbin, an object, a static or\n"
"shared library, or LLVM IR or CUDA source, which is compiled first.\n"
"\n"
"OUT is written whole or not at all, and is not an input.  Compiler's and linker's logs go\n"
"to standard error, or into the JSON.\n"
"\n"
"Exit status: 0 it was linked, 1 it was not, 2 wrong usage, or a file that cannot\n"
"be read or written.\n"
"\n";

/* ---- the output file ---- */

/* Creates a temporary file in the folder of the output file. */
static int open_beside(const char *path, char **beside)
{
	int fd;

	for (int i = 0; i < 100; i++) {
		if (asprintf(beside, "%s.%ld-%d.part", path, (long)getpid(), i) < 0) {
			*beside = NULL;
			return -1;
		}
		fd = open(*beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd >= 0)
			return fd;
		free(*beside);
		*beside = NULL;
		if (errno != EEXIST)
			break;
	}
	return -1;
}

static bool replace(const char *path, const void *bytes, size_t length)
{
	char *beside;
	int fd = open_beside(path, &beside), error;
	bool written;

	if (fd < 0)
		return false;
	written = lc_write_all(fd, bytes, length);
	written = !close(fd) && written;
	written = written && !rename(beside, path);
	error = errno;
	if (!written)
		unlink(beside);
	free(beside);
	errno = error;
	return written;
}

static bool is_link(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISLNK(st.st_mode);
}

/* Why nothing is written to what a path leads to; NULL if it is. */
static const char *why_not(const char *path, const char *real)
{
	struct stat st, out;

	if (stat(path, &st) && path[strlen(path) - 1] == '/')
		return strerror(errno);
	if (stat(path, &st))
		return is_link(path) ? "is a symbolic link to nowhere" : NULL;
	if (!fstat(STDOUT_FILENO, &out) && lc_same_file(lc_identity(&st), lc_identity(&out)) &&
	    !S_ISDIR(st.st_mode))
		return "is standard output: use -o -";
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? strerror(EISDIR) : "is not a regular file";
	/* A link of /proc to a file that was removed. */
	return access(real, F_OK) ? strerror(errno) : NULL;
}

/* Replaces the target of a symbolic link, not the link.  Never replaces a device. */
static bool save(const char *path, const void *bytes, size_t length)
{
	char *real = output_path("link", path);
	const char *why = real ? why_not(path, real) : NULL;

	output_hold_signals();
	if (real && !why && !replace(real, bytes, length))
		why = strerror(errno);
	output_release_signals();
	if (why)
		complain("link", "%s: %s", path, why);
	free(real);
	return real && !why;
}

/* Takes standard output for the image; from then on the report goes to standard error.  Returns
 * -1 after a message. */
static int take_standard_output(void)
{
	int fd;

	if (isatty(STDOUT_FILENO)) {
		complain("link", "standard output is a terminal; no image is written to it");
		return -1;
	}
	fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (fd < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
		complain("link", "standard output: %s", strerror(errno));
		return -1;
	}
	return fd;
}

static bool send(int fd, const void *bytes, size_t length)
{
	bool sent = lc_write_all(fd, bytes, length);

	sent = !close(fd) && sent;
	if (!sent)
		complain("link", "standard output: %s", strerror(errno));
	return sent;
}

/* ---- the report ---- */

/* The plan, with the code, input and message of the link itself. */
static struct lazycuda_plan told(const struct lazycuda_result *result)
{
	struct lazycuda_plan plan = { .size = sizeof(plan) };

	if (result->plan)
		plan = *result->plan;
	plan.code = result->code;
	plan.input = result->input;
	plan.message = result->message;
	plan.symbol_errors = result->symbol_errors;
	plan.symbol_error_count = result->symbol_error_count;
	return plan;
}

static void print_result_json(const struct link_arguments *arguments, const char *output,
			      const struct lazycuda_result *result)
{
	const struct lazycuda_plan plan = told(result);
	const bool linked = result->code == LAZYCUDA_CODE_OK;

	json_open(NULL, '{');
	plan_json(arguments, &plan);
	json_text("output", linked ? output : NULL);
	if (linked)
		json_size("size", result->image_length);
	else
		json_null("size");
	json_text("info_log", result->info_log);
	json_text("error_log", result->error_log);
	json_text("backend_call", result->backend_call);
	json_integer("backend_status", result->backend_status);
	json_close('}');
}

static void print_detail(const char *head, const char *text)
{
	if (!text)
		return;
	fprintf(stderr, "%-11s ", head);
	say_log(text);
}

/* A refusal goes to standard error, with its code. */
static void print(const struct link_arguments *arguments, const char *output,
		  const struct lazycuda_result *result)
{
	const struct lazycuda_plan plan = told(result);

	if (result->code == LAZYCUDA_CODE_OK) {
		plan_print(arguments, &plan);
		fputs("output      ", stdout);
		say(output);
		printf(", %zu bytes\n", result->image_length);
		return;
	}
	fprintf(stderr, "lazycuda link: refused (%s): ", lazycuda_code_name(plan.code));
	say_message(stderr, plan.message ? plan.message : "memory ran out", TEXT_COLUMN);
	print_detail("rule", plan.rule);
	print_detail("have", plan.have);
	print_detail("need", plan.need);
}

/* ---- the link ---- */

/* Notes are in the report. */
static void say_as_it_comes(void *data, enum lazycuda_log kind, size_t input, const char *text)
{
	(void)data, (void)input;
	if (kind != LAZYCUDA_LOG_NOTE)
		say_log(text);
}

/* `stream` is the file of standard output for the image, or -1. */
static int link_files(struct link_arguments *arguments, const char *output, int stream)
{
	const struct lazycuda_environment *environment =
		arguments->environment_given ? &arguments->environment : NULL;
	const struct lazycuda_result *result;
	struct lazycuda_link *link;
	int status = 2;

	arguments->request.log = arguments->json ? NULL : say_as_it_comes;
	link = lazycuda_link_new(&arguments->request, environment);
	for (size_t i = 0; i < arguments->input_count; i++)
		lazycuda_link_add(link, &arguments->inputs[i]);
	result = lazycuda_link_run(link);
	if (result->code != LAZYCUDA_CODE_OK ||
	    (stream >= 0 ? send(stream, result->image, result->image_length) :
			   save(output, result->image, result->image_length))) {
		status = result->code != LAZYCUDA_CODE_OK;
		(arguments->json ? print_result_json : print)(arguments, output, result);
	}
	lazycuda_link_free(link);
	return status;
}

/* ---- command line ---- */

struct own_arguments {
	struct link_arguments shared;
	const char *output;
	bool isolated;
	uint64_t time_limit, memory_limit;	/* as the request has them */
};

static bool read_seconds(const char *value, void *at)
{
	char *end;
	double seconds = strtod(value, &end);
	uint64_t limit = (uint64_t)(seconds > 0 && seconds < 1e12 ? seconds * 1000 : 0);

	*(uint64_t *)at = limit;
	return end != value && !*end && limit;
}

static const struct option options[] = {
	{ "-o, --output", "OUT", "the file to make; -: standard output, with the report on"
	  " standard error", .at = offsetof(struct own_arguments, output) },
	{ "--isolated", NULL, "compiler and linker run in a process of their own, whose crash is"
	  " a refusal", .at = offsetof(struct own_arguments, isolated) },
	{ "--time-limit", "SECONDS", "implies --isolated: a limit for both together; default: ten"
	  " minutes", .read = read_seconds, .at = offsetof(struct own_arguments, time_limit),
	  .wants = "seconds" },
	{ "--memory-limit", "SIZE", "implies --isolated: a limit for each, such as 2G; default:"
	  " none", .read = bytes_read, .at = offsetof(struct own_arguments, memory_limit),
	  .wants = "a size, such as 2G" },
	{ .name = NULL },
};

static const struct command command = {
	.name = "link", .usage = usage, .options = options, .shared = link_arguments_options, .end = "",
};

/* Which of the files that are read is the output, too; NULL if none is. */
static const char *read_and_written(const struct link_arguments *arguments, const char *output)
{
	struct stat out;

	if (stat(output, &out) || !S_ISREG(out.st_mode))
		return NULL;
	for (size_t i = 0; i < arguments->input_count; i++)
		if (lc_lead_to_same(arguments->inputs[i].path, output))
			return arguments->inputs[i].path;
	for (size_t i = 0; i < arguments->header_count; i++) {
		const char *name = arguments->include_names[i];

		/* The "=" between name and file is a NUL by now. */
		if (lc_lead_to_same(name + strlen(name) + 1, output))
			return name;
	}
	return NULL;
}

static int link_with(struct own_arguments *own)
{
	struct link_arguments *arguments = &own->shared;
	struct lazycuda_request *request = &arguments->request;
	bool stream = own->output && !strcmp(own->output, "-");
	const char *twice;
	int fd = -1;

	if (!arguments->input_count)
		return options_wrong(&command, "no file is given", "");
	if (!own->output)
		return options_wrong(&command, "no output file is given: use -o OUT", "");
	if (!link_arguments_readable(arguments, &command))
		return 2;
	twice = stream ? NULL : read_and_written(arguments, own->output);
	if (twice)
		return options_wrong(&command, "the output is an input as well: ", twice);
	if (stream)
		fd = take_standard_output();
	if (stream && fd < 0)
		return 2;
	if (own->isolated || own->time_limit || own->memory_limit)
		request->flags |= LAZYCUDA_LINK_ISOLATED;
	request->time_limit = own->time_limit;
	request->memory_limit = own->memory_limit;
	return link_files(arguments, own->output, fd);
}

int link_main(int argc, char **argv)
{
	struct own_arguments own = { .output = NULL };
	int status = link_arguments_read(&own.shared, &command, argc, argv);

	if (status < 0)
		status = link_with(&own);
	lc_arena_free(&own.shared.arena);
	return status;
}
