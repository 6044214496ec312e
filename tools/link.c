/* SPDX-License-Identifier: MIT */
/* link.c - `lazycuda link`: links device code as `lazycuda plan` describes */
#include "commands.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "json.h"
#include "plan_report.h"
#include "say.h"

static const char usage[] =
"usage: lazycuda link -o OUT [OPTION...] --arch ARCH FILE...\n"
"\n"
"Links device code with nvJitLink or the driver, whichever can, and says what was\n"
"done and why.  FILE is PTX, a cubin, LTO-IR, a fatbin, an object, a static or\n"
"shared library, or CUDA source, which is compiled first.\n"
"\n"
"OUT is written whole or not at all.  Compiler's and linker's logs go to standard\n"
"error, or into the JSON.\n"
"\n"
"Exit status: 0 it was linked, 1 it was not, 2 wrong usage, or a file that cannot\n"
"be read or written.\n"
"\n"
"  -o OUT, --output OUT the file to make\n";

/* ---- the output file ---- */

static bool write_all(int fd, const char *bytes, size_t length)
{
	while (length) {
		ssize_t written = write(fd, bytes, length);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return false;
		bytes += written;
		length -= (size_t)written;
	}
	return true;
}

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
	written = write_all(fd, bytes, length);
	written = !close(fd) && written;
	written = written && !rename(beside, path);
	error = errno;
	if (!written)
		unlink(beside);
	free(beside);
	errno = error;
	return written;
}

/* Returns true for a symbolic link of another user, except root, in a world-writable
 * folder: it may lead to a file that this user did not mean to replace. */
static bool is_trap(const char *path)
{
	struct stat link, folder;
	char *copy;
	bool open;

	if (lstat(path, &link) || !S_ISLNK(link.st_mode) || !link.st_uid ||
	    link.st_uid == geteuid())
		return false;
	copy = strdup(path);
	open = !copy || stat(dirname(copy), &folder) || folder.st_mode & S_IWOTH;
	free(copy);
	return open;
}

/* Replaces the target of a symbolic link, not the link.  Never replaces a device. */
static bool save(const char *path, const void *bytes, size_t length)
{
	char *real = realpath(path, NULL);
	const char *why = NULL;
	struct stat st;

	if (real && is_trap(path))
		why = "is a symbolic link of somebody else's in a folder that everybody may"
		      " write to: not followed";
	else if (real && !stat(real, &st) && !S_ISREG(st.st_mode))
		why = S_ISDIR(st.st_mode) ? strerror(EISDIR) : "is not a regular file";
	else if (!replace(real ? real : path, bytes, length))
		why = strerror(errno);
	if (why)
		complain("link", "%s: %s", path, why);
	free(real);
	return !why;
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
	return plan;
}

static void print_json(const struct link_arguments *arguments, const char *output,
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

static void print(const struct link_arguments *arguments, const char *output,
		  const struct lazycuda_result *result)
{
	const struct lazycuda_plan plan = told(result);

	say_log(result->info_log);
	say_log(result->error_log);
	plan_print(arguments, &plan);
	if (result->code == LAZYCUDA_CODE_OK) {
		fputs("output      ", stdout);
		say(output);
		printf(", %zu bytes\n", result->image_length);
	}
}

/* ---- the link ---- */

static int link_files(struct link_arguments *arguments, const char *output)
{
	struct lazycuda_link *link = lazycuda_link_new(&arguments->request,
		arguments->environment_given ? &arguments->environment : NULL);
	const struct lazycuda_result *result;
	bool added = link;
	int status = 2;

	for (size_t i = 0; added && i < arguments->input_count; i++)
		added = !lazycuda_link_add(link, &arguments->inputs[i]);
	if (!added) {
		fputs("lazycuda link: memory ran out\n", stderr);
		lazycuda_link_free(link);
		return status;
	}
	result = lazycuda_link_run(link);
	if (result->code != LAZYCUDA_CODE_OK ||
	    save(output, result->image, result->image_length)) {
		status = result->code != LAZYCUDA_CODE_OK;
		(arguments->json ? print_json : print)(arguments, output, result);
	}
	lazycuda_link_free(link);
	return status;
}

/* ---- command line ---- */

/* The take() of struct link_command. */
static int take_output(void *data, char **words)
{
	const char **output = data;
	const char *joined = !strncmp(words[0], "--output=", 9) ? words[0] + 9 : NULL;

	if (!joined && strcmp(words[0], "-o") && strcmp(words[0], "--output"))
		return 0;
	*output = joined ? joined : words[1];
	if (!*output || !**output)
		return -1;
	return joined ? 1 : 2;
}

static int link_with(struct link_arguments *arguments, const struct link_command *command,
		     const char *output)
{
	if (!arguments->input_count)
		return link_arguments_wrong(command, "which file?", "");
	if (!arguments->request.arch)
		return link_arguments_wrong(command, "for which architecture? --arch sm_90, say",
					    "");
	if (!output)
		return link_arguments_wrong(command, "into which file? -o OUT", "");
	if (!link_arguments_readable(arguments, command))
		return 2;
	return link_files(arguments, output);
}

int link_main(int argc, char **argv)
{
	const char *output = NULL;
	const struct link_command command = {
		.name = "link", .usage = usage, .take = take_output, .data = &output,
	};
	struct link_arguments arguments;
	int status = link_arguments_read(&arguments, &command, argc, argv);

	if (status < 0)
		status = link_with(&arguments, &command, output);
	link_arguments_free(&arguments);
	if (fflush(stdout) || ferror(stdout)) {
		perror("lazycuda link: standard output");
		return 2;
	}
	return status;
}
