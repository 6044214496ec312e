/* SPDX-License-Identifier: MIT */
/*
 * scan.c - derives symbols.txt from CUDA toolkits, or checks it
 *
 * The first form of its usage derives the list from the toolkits below DIR, which are laid
 * out as tools/upkeep/fetch.py does it: DIR/VERSION/CPU/nvidia/...  The second says
 * what each given library has that the list has not, and the other way round.
 * The third is how `lazycuda stub` calls it.  Only reading headers needs libclang.
 *
 * Exit status: 0 done, or all agree; 1 some differ; 2 wrong usage or input.
 */
#include "scanner.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
"usage: scan --toolkits DIR --hints FILE --head FILE [--libclang FILE] -o LIST\n"
"       scan --check LIST LIBRARY[=VERSION]...\n"
"       scan --own OPTION... -o LIST";
static const char *const cpus[] = { "x86_64", "aarch64" };

static void find_toolkits(struct scan *scan)
{
	DIR *folder = opendir(scan->folder);
	struct dirent *entry;

	if (!folder)
		fail(scan->folder, "%s", strerror(errno));
	while ((entry = readdir(folder))) {
		version v;

		if (!parse_version(entry->d_name, strlen(entry->d_name), &v))
			continue;
		if (scan->count == MAX_TOOLKITS)
			fail(scan->folder, "holds more than %d toolkits", MAX_TOOLKITS);
		scan->versions[scan->count++] = v;
	}
	closedir(folder);
	if (!scan->count)
		fail(scan->folder, "holds no toolkit");
	qsort(scan->versions, (size_t)scan->count, sizeof(*scan->versions), compare_versions);
}

/* Finds the only file in a folder that is named libNAME.so.SOMETHING. */
static const char *find_library_in(const char *folder, const char *name)
{
	const char *start = format("lib%s.so.", name), *found = NULL;
	DIR *stream = opendir(folder);
	struct dirent *entry;

	if (!stream)
		return NULL;
	while ((entry = readdir(stream))) {
		if (strncmp(entry->d_name, start, strlen(start)))
			continue;
		if (found)
			fail(folder, "holds more than one %s*", start);
		found = format("%s/%s", folder, entry->d_name);
	}
	closedir(stream);
	return found;
}

static const char *find_library(const struct scan *scan, const struct subject *library, int toolkit,
				const char *cpu)
{
	version v = scan->versions[toolkit];

	for (size_t i = 0; i < library->folders.count; i++) {
		const struct hint *hint = library->folders.items[i];
		const char *found;

		if (!in_ranges(&hint->ranges, v))
			continue;
		found = find_library_in(format("%s/%d.%d/%s/%s", scan->folder, MAJOR(v),
						    MINOR(v), cpu, hint->words[0]), library->name);
		if (found)
			return found;
	}
	return NULL;
}

static void refuse_missing(const struct exports *a, const struct exports *b)
{
	for (size_t i = 0; i < a->count; i++)
		if (!exports_name(b, a->names[i]))
			fail(b->path, "does not export %s, which %s does", a->names[i], a->path);
}

/* The list has one line for both CPUs, so their libraries must agree. */
static void compare_cpus(const struct exports *a, const struct exports *b)
{
	if (a->soname != b->soname)
		fail(b->path, "has the SONAME %s, but %s has %s", b->soname, a->path, a->soname);
	refuse_missing(a, b);
	refuse_missing(b, a);
}

static void read_library(struct scan *scan, struct subject *library, int toolkit)
{
	struct exports *exports = &library->exports[toolkit], other;
	version v = scan->versions[toolkit];
	const char *path = find_library(scan, library, toolkit, cpus[0]);

	if (!path && in_folders(&library->folders, v))
		fail(scan->folder, "toolkit %d.%d (%s) has no lib%s.so", MAJOR(v), MINOR(v),
		     cpus[0], library->name);
	if (!path)
		return;
	read_exports(path, NULL, NULL, exports);
	refuse_plain(exports);
	path = find_library(scan, library, toolkit, cpus[1]);
	if (path) {
		read_exports(path, NULL, NULL, &other);
		compare_cpus(exports, &other);
	}
	note_names(library, exports);
}

/* Sets the exports of a library that comes with the driver: the names that the headers
 * declare, and further names that hints list as exported by real ones. */
static void take_declared(struct scan *scan, struct subject *library, int toolkit)
{
	const struct list *declared = &library->headers[toolkit].prototypes.keys;
	struct exports *exports = &library->exports[toolkit];
	struct list names = { 0 };
	version v = scan->versions[toolkit];

	if (!declared->count)
		return;
	for (size_t i = 0; i < declared->count; i++)
		list_add(&names, declared->items[i]);
	for (size_t i = 0; i < library->exported.count; i++) {
		struct hint *hint = library->exported.items[i];

		if (!in_ranges(&hint->ranges, v) ||
		    map_get(&library->headers[toolkit].prototypes, hint->words[0]))
			continue;
		hint->used = true;
		list_add(&names, hint->words[0]);
	}
	*exports = (struct exports){ .path = "headers", .soname = library->soname,
				     .names = (const char **)names.items, .count = names.count };
	qsort(exports->names, exports->count, sizeof(*exports->names), compare_texts);
	note_names(library, exports);
}

static int derive(struct scan *scan, const char *hints, const char *head, const char *output)
{
	scan->libraries = read_hints(hints);
	find_toolkits(scan);
	for (size_t i = 0; i < scan->libraries.count; i++)
		for (int toolkit = 0; toolkit < scan->count; toolkit++)
			read_library(scan, scan->libraries.items[i], toolkit);
	scan_headers(scan);
	for (size_t i = 0; i < scan->libraries.count; i++) {
		struct subject *library = scan->libraries.items[i];

		for (int toolkit = 0; library->soname && toolkit < scan->count; toolkit++)
			take_declared(scan, library, toolkit);
		resolve_library(scan, library);
		assign_letters(scan, library);
		if (library->without_majors)
			refuse_changes(scan, library);
	}
	write_list(scan, read_text(head), output);
	return 0;
}

int main(int argc, char **argv)
{
	struct scan scan = { .libclang = "libclang-18.so.18" };
	const char *hints = NULL, *head = NULL, *output = NULL;
	const struct option options[] = {
		{ "--toolkits", .text = &scan.folder }, { "--hints", .text = &hints },
		{ "--head", .text = &head }, { "--libclang", .text = &scan.libclang },
		{ "-o", .text = &output }, { .name = NULL },
	};

	program_name = "scan";
	if (argc > 3 && !strcmp(argv[1], "--check"))
		return check(argv[2], argv + 3, argc - 3);
	if (argc > 1 && !strcmp(argv[1], "--own"))
		return derive_own(&scan, argv + 2);
	for (char **word = argv + 1; word < argv + argc;)
		word = take_option(word, options, usage);
	if (!scan.folder || !hints || !head || !output)
		fail(NULL, "an option is missing\n%s", usage);
	return derive(&scan, hints, head, output);
}
