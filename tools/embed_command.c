/* SPDX-License-Identifier: MIT */
/* embed_command.c - `lazycuda embed`: writes stubs as one C file, or an archive of it */
#include "commands.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../include/lazycuda.h"
#include "../stubs/base/count.h"
#include "../stubs/base/regular.h"
#include "beside.h"
#include "command_line.h"
#include "output.h"
#include "part.h"
#include "ready.h"
#include "say.h"
#include "undefined.h"

static const char usage[] =
"usage: lazycuda embed --cuda MAJOR [OPTION...] -o OUT.c LIBRARY...\n"
"       lazycuda embed --cuda MAJOR [OPTION...] -o OUT.a LIBRARY...\n"
"\n"
"Writes the stubs of some libraries, say `cudart nvrtc`, as one C file, or as an archive of it,\n"
"which $CC compiles.  Compiled or linked into a library or a program of your own, it needs no\n"
"stub beside it, and all its names are hidden.\n"
"\n";

struct request {
	const char *cuda, *output, *list;
	struct lc_strings files;	/* those that the stubs are for */
};

static const struct option options[] = {
	{ "--cuda", "MAJOR", "with which CUDA's headers the callers are compiled: 11, 12 or 13",
	  .at = offsetof(struct request, cuda) },
	{ "-o, --output", "OUT", "the file, OUT.c or OUT.a; one that was made before is replaced",
	  .at = offsetof(struct request, output) },
	{ "--for", "FILE", "take the functions that this object, archive or library needs, and no"
	  " others; may be given again", .at = offsetof(struct request, files), .many = true },
	{ "--names", "FILE", "take the functions of this list, one a line, and no others",
	  .at = offsetof(struct request, list) },
	{ .name = NULL },
};

static char libraries[2048];

static const struct command command = {
	.name = "embed", .usage = usage, .options = options, .words = libraries,
	.end = "\nExit status: 0 the file is written; 2 nothing was changed.\n",
};

/* ---- what is asked for ---- */

/* Lists the libraries that there are stubs of. */
static bool list_libraries(const char *share)
{
	char path[PATH_MAX];
	struct dirent **list;
	int count;

	snprintf(path, sizeof(path), "%s/libraries", share);
	count = scandir(path, &list, NULL, alphasort);
	if (count < 0) {
		complain_of("embed", path, errno);
		return false;
	}
	strcpy(libraries, "cudart nvrtc nvJitLink cuda nvidia-ml");
	for (int i = 0; i < count; i++) {
		const char *end = strstr(list[i]->d_name, ".txt");

		if (end)
			snprintf(libraries + strlen(libraries), sizeof(libraries) - strlen(libraries), " %.*s",
				 (int)(end - list[i]->d_name), list[i]->d_name);
		free(list[i]);
	}
	free(list);
	return true;
}

/* Sets *name to the library's name as the list has it: cudart for CUDART and for libcudart.so.12. */
static bool read_library(char **name)
{
	char of_file[64];
	const char *word = ready_library_of(*name, of_file, sizeof(of_file)) ? of_file : *name;
	size_t length;

	if (!strcasecmp(word, "nvml"))
		word = "nvidia-ml";
	for (const char *at = libraries; *at; at += length + (at[length] == ' ')) {
		length = strcspn(at, " ");
		if (length == strlen(word) && !strncasecmp(at, word, length))
			return (*name = strndup(at, length));
	}
	return false;
}

/* Returns -1 to go on, else the exit status. */
static int judge(const struct request *request, char **names, int count)
{
	if (!count)
		return options_wrong(&command, "no library is given: say which, as `cudart nvrtc`", "");
	for (int i = 0; i < count; i++) {
		if (!read_library(&names[i]))
			return options_wrong(&command, "there is no stub of ", names[i]);
		for (int k = 0; k < i; k++)
			if (!strcmp(names[i], names[k]))
				return options_wrong(&command, "it is given twice: ", names[i]);
	}
	if (!request->cuda)
		return options_wrong(&command, "no CUDA is given: use --cuda 12", "");
	if (!request->output)
		return options_wrong(&command, "no file is given: use -o OUT.c", "");
	return -1;
}

/* ---- the functions ---- */

/* A blank tells it from a name that somebody has listed. */
static void put_needed(void *data, const char *name)
{
	fprintf(data, " %s\n", name);
}

/* Adds the functions of a list; where `needed`, those that an object, archive or library needs. */
static bool put_names_of(FILE *names, const char *path, bool needed)
{
	struct lc_arena *arena = lc_arena_new();
	struct stat st = { .st_size = 1 };
	const char *bytes = arena ? lc_read_regular(arena, path, SIZE_MAX / 2, &st) : NULL;
	const int error = errno;
	/* A pipe says that it has no bytes, too. */
	const char *wrong = S_ISREG(st.st_mode) && !st.st_size ? "it is empty" : NULL;

	if (bytes && needed)
		wrong = undefined_names(bytes, (size_t)st.st_size, put_needed, names);
	else if (bytes)
		fprintf(names, "%s\n", bytes);
	if (wrong)
		complain("embed", "%s: %s", path, wrong);
	else if (!bytes)
		complain_of("embed", path, error);
	lc_arena_free(arena);
	return bytes && !wrong;
}

/* Sets *names to a file of those that are wanted; to NULL if all are. */
static bool collect_names(const struct request *request, FILE **names)
{
	bool good = true;

	*names = NULL;
	if (!request->list && !request->files.count)
		return true;
	*names = tmpfile();
	if (!*names) {
		complain("embed", "a temporary file cannot be made: %s", strerror(errno));
		return false;
	}
	if (request->list)
		good = put_names_of(*names, request->list, false);
	for (size_t i = 0; i < request->files.count; i++)
		good &= put_names_of(*names, request->files.list[i], true);
	return good && !fflush(*names);
}

/* ---- the file ---- */

/* What the files have that this command has made: the head of the C file, the archive's member. */
static const char mark[] = "Made by lazycuda ", object[] = "lazycuda.o/";

static bool is_archive(const char *path)
{
	const size_t length = strlen(path);

	return length > 2 && !strcmp(path + length - 2, ".a");
}

/* Returns true if there is no such file, or this command has made it. */
static bool may_be_replaced(const char *shown, const char *path)
{
	struct lc_arena *arena = lc_arena_new();
	const char *made_by = is_archive(path) ? object : mark;
	struct stat st = { .st_size = 1 };
	const char *bytes = arena ? lc_read_regular(arena, path, SIZE_MAX / 2, &st) : NULL;
	const bool absent = !bytes && errno == ENOENT;
	const bool ours = bytes && memmem(bytes, (size_t)st.st_size, made_by, strlen(made_by));

	if ((bytes && !ours) || !st.st_size)
		complain("embed", "%s is there, and this command has not made it: nothing was written; take"
			 " another name", shown);
	else if (!bytes && !absent)
		complain_of("embed", shown, errno);
	lc_arena_free(arena);
	return absent || ours;
}

static bool run_gen(const struct request *request, FILE *output, FILE *names, char **wanted, int count)
{
	char *stubs = beside(share_place, "lazycuda/stub"), *share = beside(share_place, "lazycuda/embed");
	const char **arguments = calloc((size_t)count + 16, sizeof(*arguments));
	char into[32], file[32];
	size_t used = 1;
	bool done;

	if (!stubs || !share || !arguments)
		return false;
	snprintf(into, sizeof(into), "/dev/fd/%d", fileno(output));
	snprintf(file, sizeof(file), "/dev/fd/%d", names ? fileno(names) : 0);
	arguments[used++] = "--embed";
	arguments[used++] = request->cuda;
	arguments[used++] = "--version";
	arguments[used++] = lazycuda_version();
	arguments[used++] = "--from";
	arguments[used++] = share;
	arguments[used++] = "--from";
	arguments[used++] = stubs;
	arguments[used++] = "-o";
	arguments[used++] = into;
	if (names) {
		arguments[used++] = "--names";
		arguments[used++] = file;
	}
	while (count--)
		arguments[used++] = *wanted++;
	done = run_part("embed", "lazycuda/gen", arguments);
	free(stubs);
	free(share);
	free(arguments);
	return done;
}

/* Compiles lazycuda.c in a folder, and makes lazycuda.a there. */
static bool compile_archive(const char *shown, const char *folder)
{
	static const char script[] =
		"set -e; cd \"$1\"; ${CC:-cc} -Os -fPIC -ffunction-sections -fno-lto -c lazycuda.c;"
		" ${AR:-$(${CC:-cc} -print-prog-name=ar)} rcsD lazycuda.a lazycuda.o";
	const char *arguments[] = { "sh", "-c", script, "sh", folder, NULL };

	if (run_program("embed", "/bin/sh", arguments))
		return true;
	if (!output_stops())
		complain("embed", "%s: %s did not compile it: nothing was written; set CC to a C compiler, and AR"
			 " to its ar", shown, getenv("CC") ? getenv("CC") : "cc");
	return false;
}

/* Takes a folder away with what this command has put there. */
static void remove_folder(const char *folder)
{
	static const char *const names[] = { "lazycuda.c", "lazycuda.o", "lazycuda.a" };

	for (size_t i = 0; i < LC_COUNT(names); i++) {
		char *path;

		if (asprintf(&path, "%s/%s", folder, names[i]) < 0)
			return;
		unlink(path);
		free(path);
	}
	rmdir(folder);
}

/* Makes the file in a new folder beside its place. */
static bool write_inside(const struct request *request, const char *path, const char *folder, FILE *names,
			 char **wanted, int count)
{
	const bool archive = is_archive(path);
	char *source = NULL, *made = NULL;
	FILE *output;
	bool done;

	if (asprintf(&source, "%s/lazycuda.c", folder) < 0 ||
	    asprintf(&made, "%s/lazycuda.%s", folder, archive ? "a" : "c") < 0)
		return false;
	output = fopen(source, "w");
	done = output && run_gen(request, output, names, wanted, count);
	if (!output || fclose(output)) {
		complain("embed", "%s: %s", request->output, strerror(errno));
		done = false;
	}
	done = done && (!archive || compile_archive(request->output, folder)) && !output_stops();
	if (done && rename(made, path)) {
		complain("embed", "%s: %s", request->output, strerror(errno));
		done = false;
	}
	free(source);
	free(made);
	return done;
}

static bool write_file(const struct request *request, FILE *names, char **wanted, int count)
{
	char *path = output_path("embed", request->output), *folder = NULL;
	bool done = false;

	if (!path || !may_be_replaced(request->output, path) ||
	    asprintf(&folder, "%s.%ld.tmp", path, (long)getpid()) < 0) {
		free(path);
		return false;
	}
	if (mkdir(folder, 0777)) {
		complain("embed", "%s: %s", request->output, strerror(errno));
	} else {
		done = write_inside(request, path, folder, names, wanted, count);
		remove_folder(folder);
	}
	free(folder);
	free(path);
	return done;
}

int embed_main(int argc, char **argv)
{
	char *share = beside(share_place, "lazycuda/embed");
	struct request request = { .files.list = calloc((size_t)argc, sizeof(const char *)) };
	FILE *names = NULL;
	int status = 2, count;

	if (!share || !request.files.list) {
		complain("embed", "there is no lazycuda/embed in %s: it is a part of the installation", share_place);
		return 2;
	}
	count = list_libraries(share) ? options_read(&command, &request, argc, argv, NULL, &status) : -1;
	free(share);
	if (count >= 0) {
		status = judge(&request, argv, count);
		output_hold_signals();
		if (status < 0)
			status = collect_names(&request, &names) && write_file(&request, names, argv, count) ? 0 : 2;
		output_release_signals();
	}
	if (names)
		fclose(names);
	free(request.files.list);
	return status;
}
