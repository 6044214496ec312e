/* SPDX-License-Identifier: MIT */
/*
 * stub_command.c - `lazycuda stub`: makes a stub for any library
 *
 * Runs two other programs: scan derives the list, gen writes the sources.  The
 * folder that this makes holds their output and the files that every stub needs.
 */
#include "commands.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "beside.h"
#include "command_line.h"
#include "output.h"
#include "part.h"
#include "say.h"
#include "stub_folder.h"
#include "tables.h"

static const char usage[] =
"usage: lazycuda stub --from FILE[=CUDA]... --missing VALUE [OPTION...] -o DIR\n"
"       lazycuda stub --list LIST -o DIR\n"
"\n"
"Makes a stub for any shared library: a folder that holds a list of what the\n"
"library has, as text, and sources.  `make -C DIR` builds it with a C compiler.\n"
"\n";

struct request {
	const char *list, *output;
	struct lc_strings scan;	/* arguments for scan */
};

/* For scan, which reads it. */
#define PASS_ON .at = offsetof(struct request, scan), .many = true, .with_name = true

static const struct option options[] = {
	{ "--from", "FILE[=CUDA]", "the library; once for each major. Where the majors are"
	  " CUDA's, it belongs to this one: libcufft.so.11=12, or once for each version: =12.4",
	  PASS_ON },
	{ "--version", "VERSION", "of the library before it, such as 11.6, where majors are its"
	  " own", PASS_ON },
	{ "--missing", "VALUE", "what functions return where there is no such library: a number,"
	  " or a name of the enumeration", PASS_ON },
	{ "--absent", "VALUE", "where the library lacks the function; default: the same", PASS_ON },
	{ "--refused", "VALUE", "where it has it with another interface; default: the same",
	  PASS_ON },
	{ "--list", "LIST", "a list that was made before, and may have been edited",
	  .at = offsetof(struct request, list) },
	{ "-o, --output", "DIR", "the folder; one that was made before is replaced",
	  .at = offsetof(struct request, output) },
	{ "--advice", "TEXT", "how to get the library, for messages", PASS_ON },
	{ "--package", "NAME", "the library's package on PyPI, without -cu12, by which `lazycuda"
	  " retarget` knows a wheel's requirement; default: nvidia-cublas for a FILE in"
	  " nvidia/cublas/lib; may be given again", PASS_ON },
	{ "--name", "NAME", "what to call it; default: cublas for libcublas.so.12", PASS_ON },
	{ "--header", "HEADER", "a file, or a name below --include; each is read by itself."
	  " Without headers a function is called in a library of the caller's major alone, and"
	  " taken to return an int. Before the first --from this, --include, --define and"
	  " --folder are for all libraries, later for the --from before them; may be given again",
	  PASS_ON },
	{ "--include", "DIR", "where headers are looked for", PASS_ON },
	{ "--define", "NAME[=VALUE]", "a macro", PASS_ON },
	{ "--folder", "DIR", "where pip puts the library, below site-packages; default: what"
	  " follows in FILE's path from its last `nvidia` on", PASS_ON },
	{ "--status", "ENUM", "the type that functions return to say whether they failed;"
	  " default: the enumeration that most functions return. A VALUE may be one of its names",
	  PASS_ON },
	{ "--libclang", "FILE", "libclang 18, which reads headers", PASS_ON },
	{ "--text", "FUNCTION", "a function that says what an error means: without a library the"
	  " stub answers. If no header declares it, it is taken for const char *FUNCTION(int)."
	  " Functions that headers declare so, of a status, need no --text; may be given again",
	  PASS_ON },
	{ "--negative", "FUNCTION", "a function that returns a number, which is negative where it"
	  " fails, as a size that was read: without a library the negative of VALUE, and without"
	  " this option 0. A header has to declare it; may be given again", PASS_ON },
	{ "--mangled", "NAME", "a function of C++ that other libraries call, by its mangled name;"
	  " without this all of C++ is left out; may be given again", PASS_ON },
	{ "--data", "NAME", "a variable that the library exports; without this all are left out;"
	  " may be given again", PASS_ON },
	{ "--int-status", "PATTERN", "functions that return an int which is 0 if they succeeded,"
	  " say `foo_*_init`: without a library VALUE, and without this option 0; may be given"
	  " again", PASS_ON },
	{ "--apart", "PATTERN", "functions whose callers read what the library has laid out by"
	  " its own version: they are forwarded to the caller's major alone; may be given again",
	  PASS_ON },
	{ "--compat", "none", "no stub takes the library's own name: other libraries need more of"
	  " it than a stub has", PASS_ON },
	{ "--handle", "STRUCT[=PATTERN]", "a struct that the library makes and frees, whatever"
	  " its size; functions that match PATTERN take one that the caller has made; may be"
	  " given again", PASS_ON },
	{ .name = NULL },
};

static const struct command command = {
	.name = "stub", .usage = usage, .options = options,
	.end = "\nExit status: 0 the stub's folder is made or was up to date; 2 nothing was changed.\n",
};

/* ---- arguments ---- */

/* Returns -1 to go on, else the exit status. */
static int read_arguments(struct request *request, int argc, char **argv)
{
	int status = 2, count;

	request->scan.list = calloc((size_t)argc * 2 + 32, sizeof(*request->scan.list));
	if (!request->scan.list)
		return status;
	request->scan.count = 2;	/* argv[0] and --own */
	count = options_read(&command, request, argc, argv, NULL, &status);
	if (count < 0)
		return status;
	if (count)
		return options_wrong(&command, "it takes no word by itself; use --from ", argv[0]);
	if (!request->output)
		return options_wrong(&command, "no folder is given: use -o DIR", "");
	if (request->list && request->scan.count > 2)
		complain("stub", "%s: it cannot be used with --list", request->scan.list[2]);
	else
		return -1;
	return 2;
}

/* Passes on the CUDA majors that lazycuda's stubs know: other stubs in a process may have
 * any of them, and the choice of a major considers all. */
static bool add_majors(struct lc_strings *scan)
{
	static char majors[8][8];
	struct tables tables;
	const char *problem = tables_read(&tables);

	if (problem) {
		complain("stub", "%s", problem);
		return false;
	}
	for (size_t i = 0; i < tables.all[0].library->known_major_count && i < 8; i++) {
		snprintf(majors[i], sizeof(majors[i]), "%u",
			 tables.all[0].library->known_majors[i]);
		scan->list[scan->count++] = "--cuda-major";
		scan->list[scan->count++] = majors[i];
	}
	tables_free(&tables);
	return true;
}

/* ---- programs ---- */

/* Names the file after the library in the list: "cublas.txt". */
static bool name_list(const char *list, char *name, size_t size)
{
	char line[256], library[128] = "";
	FILE *file = fopen(list, "r");

	while (file && !*library && fgets(line, sizeof(line), file))
		sscanf(line, "library %127[A-Za-z0-9_]", library);
	if (file)
		fclose(file);
	return *library && snprintf(name, size, "%s.txt", library) < (int)size;
}

/* Derives the list into the folder and sets `path` to its path. */
static bool derive(struct lc_strings *scan, const struct stub_folder *folder, char *path)
{
	char made[PATH_MAX], name[160];

	if (!add_majors(scan))
		return false;
	snprintf(made, sizeof(made), "%s/list", folder->parts);
	scan->list[1] = "--own";
	scan->list[scan->count++] = "-o";
	scan->list[scan->count++] = made;
	if (!run_part("stub", "lazycuda/scan", scan->list))
		return false;
	errno = ENAMETOOLONG;
	if (!name_list(made, name, sizeof(name)) ||
	    snprintf(path, PATH_MAX, "%s/%s", folder->parts, name) >= PATH_MAX ||
	    rename(made, path)) {
		complain("stub", "%s: %s", made, strerror(errno));
		return false;
	}
	return true;
}

/* Copies a list that the user gives. */
static bool take_list(const char *list, const struct stub_folder *folder)
{
	const char *name = lc_basename(list);
	size_t length = strlen(name);

	if (length < 5 || strcmp(name + length - 4, ".txt")) {
		complain("stub", "%s: the name of a list ends in .txt", list);
		return false;
	}
	if (can_read(list))
		return stub_folder_copy(folder, list, name);
	complain_of("stub", list, errno);
	return false;
}

/* ---- all together ---- */

/* Finds the name of the only stub that gen wrote: "libcublas_stub". */
static bool find_stub(const char *generated, const char *list, char *stub, size_t size)
{
	static const char end[] = ".specifics.c";
	DIR *folder = opendir(generated);
	struct dirent *entry;
	unsigned count = 0;

	while (folder && (entry = readdir(folder))) {
		size_t length = strlen(entry->d_name);

		if (length < sizeof(end) || strcmp(entry->d_name + length - sizeof(end) + 1, end))
			continue;
		snprintf(stub, size, "%.*s", (int)(length - sizeof(end) + 1), entry->d_name);
		count++;
	}
	if (folder)
		closedir(folder);
	if (count != 1)
		complain("stub", "%s: a list for this command has one library, with a row `advice`; in"
			 " this one %u have it", list, count);
	return count == 1;
}

static bool write_sources(struct stub_folder *folder, const char *list, char *stub, size_t size)
{
	char generated[PATH_MAX], *share = beside(share_place, "lazycuda/stub");
	const char *gen[] = { NULL, "--stub", "-o", generated, list, NULL };
	bool done;

	if (!share) {
		complain("stub", "there is no lazycuda/stub in %s: it is a part of the installation",
			 share_place);
		return false;
	}
	done = stub_folder_copy_all(folder, share);
	free(share);
	if (!done)
		return false;
	snprintf(generated, sizeof(generated), "%s/generated", folder->parts);
	if (mkdir(generated, 0777)) {
		complain("stub", "%s: %s", generated, strerror(errno));
		return false;
	}
	return run_part("stub", "lazycuda/gen", gen) && find_stub(generated, list, stub, size);
}

static bool make_stub(struct request *request, struct stub_folder *folder)
{
	char path[PATH_MAX], stub[256];
	const char *list = request->list;

	if (list ? !take_list(list, folder) : !derive(&request->scan, folder, path))
		return false;
	if (!write_sources(folder, list ? list : path, stub, sizeof(stub)) ||
	    !stub_folder_finish(folder))
		return false;
	say(folder->shown);
	printf(folder->changed ? ": %s.so, once `make -C` has built it\n" : ": %s.so, as it was\n", stub);
	return true;
}

int stub_main(int argc, char **argv)
{
	struct request request = { 0 };
	struct stub_folder folder = { 0 };
	int status;

	if (argc < 2)
		return options_wrong(&command, "no library is given", "");
	status = read_arguments(&request, argc, argv);
	output_hold_signals();
	if (status < 0)
		status = stub_folder_begin(&folder, request.output) && make_stub(&request, &folder) ? 0 : 2;
	stub_folder_end(&folder);
	output_release_signals();
	free(request.scan.list);
	return status;
}
