/* SPDX-License-Identifier: MIT */
/*
 * gen.c - turns symbols.txt into the sources of the stub libraries
 *
 *	gen [-o DIR] [--abi MAJOR | --stub] LIST
 *
 * For each library of the list it writes, into DIR:
 *
 *	STUB.c, STUB.h		entry points, slots, tables
 *	STUB.layouts.h		structs, field by field, for adaptors
 *	STUB.map		version script of the stub
 *	STUB.import.c		bodies of the import libraries, one for each major
 *	STUB.import12.map	and their version scripts
 *	STUB.compat12.SONAME.map	that of the stub under the real library's name
 *	STUB.real.h		what it takes to find the real library, for others, if
 *				it has no majors
 *	STUB.specifics.c	what the stub says of itself, if `advice` tells
 *
 * MAJOR is the ABI that programs get which link the stub itself rather than an
 * import library, for the names whose interface differs between majors.  --stub is
 * how `lazycuda stub` calls it.
 *
 * Exit status: 0 all written, 2 nothing was.
 */
#include "write.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct options {
	const char *directory, *list;
	unsigned abi;		/* MAJOR; 0: none */
	bool stub;
};

static _Noreturn void usage(void)
{
	fputs("usage: gen [-o DIR] [--abi MAJOR | --stub] LIST\n", stderr);
	exit(2);
}

static unsigned read_major(const char *word)
{
	char *end;
	unsigned long major = strtoul(word, &end, 10);

	if (*end || !major || major > 1000)
		usage();
	return (unsigned)major;
}

static void read_options(struct options *options, char **argument)
{
	*options = (struct options){ .directory = "." };
	for (argument++; *argument; argument++) {
		if (!strcmp(*argument, "-o") && argument[1]) {
			options->directory = *++argument;
		} else if (!strcmp(*argument, "--abi") && argument[1]) {
			options->abi = read_major(*++argument);
		} else if (!strcmp(*argument, "--stub")) {
			options->stub = true;
		} else if (**argument == '-' || options->list) {
			usage();
		} else {
			options->list = *argument;
		}
	}
	if (!options->list)
		usage();
}

/* What the heads of the files say. */
static void name_maker(struct files *files, const struct options *options)
{
	const char *slash = strrchr(options->list, '/');

	files->maker = options->stub ? format("`lazycuda stub` from %s",
					      slash ? slash + 1 : options->list) :
				       "gen/gen from symbols.txt";
	files->how = options->stub ? "" : ": `make generate`";
}

static void check_abi(const struct list *list, unsigned major)
{
	for (size_t i = 0; i < list->libraries.count; i++)
		if (list->libraries.items[i].in & major_set(list, major))
			return;
	fail("--abi %u: no library of the list has that major", major);
}

/* ---- files: all of them or none ---- */

static char **unfinished;	/* temporary files, removed if the program fails */
static size_t unfinished_count;

static void remove_unfinished(void)
{
	for (size_t i = 0; i < unfinished_count; i++)
		if (unfinished[i])
			unlink(unfinished[i]);
}

static bool same_content(const char *path, const struct text *text)
{
	char *bytes = allocate(text->length + 2, 1);
	FILE *file = fopen(path, "r");
	size_t length;

	if (!file)
		return false;
	length = fread(bytes, 1, text->length + 1, file);
	fclose(file);
	return length == text->length && !memcmp(bytes, text->bytes, length);
}

static void write_temporary(const char *path, const struct text *text)
{
	FILE *file = fopen(path, "w");
	bool good;

	if (!file)
		fail("cannot write %s: %s", path, strerror(errno));
	unfinished[unfinished_count++] = (char *)path;
	good = fwrite(text->bytes, 1, text->length, file) == text->length;
	if (fclose(file) || !good)
		fail("cannot write %s: %s", path, strerror(errno));
}

/* Renaming a file over another in the same folder fails only for reasons that
 * can be looked at before: so either all renames come about or none is tried. */
static void check_target(const char *path)
{
	struct stat status;

	if (!lstat(path, &status) && S_ISDIR(status.st_mode))
		fail("cannot write %s: it is a directory", path);
}

static void write_files(const struct files *files, const char *directory)
{
	size_t count = files->all.count;
	char **paths = allocate(count + 1, sizeof(*paths));

	unfinished = allocate(count + 1, sizeof(*unfinished));
	atexit(remove_unfinished);
	for (size_t i = 0; i < count; i++) {
		paths[i] = format("%s/%s", directory, files->all.items[i]->name);
		check_target(paths[i]);
	}
	for (size_t i = 0; i < count; i++)
		write_temporary(format("%s.%ld.tmp", paths[i], (long)getpid()),
				&files->all.items[i]->text);
	for (size_t i = 0; i < count; i++) {
		/* What has not changed keeps its time: make looks at it. */
		if (same_content(paths[i], &files->all.items[i]->text))
			continue;
		if (rename(unfinished[i], paths[i]))
			fail("cannot write %s: %s", paths[i], strerror(errno));
		unfinished[i] = NULL;
	}
}

int main(int count, char **arguments)
{
	struct options options;
	struct list list = { 0 };
	struct files files = { 0 };

	(void)count;
	read_options(&options, arguments);
	name_maker(&files, &options);
	read_list(&list, options.list);
	if (options.abi)
		check_abi(&list, options.abi);
	for (size_t i = 0; i < list.libraries.count; i++) {
		struct library *library = &list.libraries.items[i];
		struct list view = view_of(&list, library);
		struct plan plan;

		make_plan(&plan, &view, library);
		write_stub(&files, &plan, options.abi);
		write_maps(&files, &plan);
		if (!library->without_majors && !library->advice)	/* else there are no adaptors */
			write_layouts(&files, &plan);
		write_imports(&files, &plan, &list);
		if (library->without_majors)
			write_real(&files, &plan);
		if (library->advice)
			write_specifics(&files, &plan);
	}
	write_files(&files, options.directory);
	return 0;
}
