/* SPDX-License-Identifier: MIT */
/*
 * gen.c - turns symbols.txt into the sources of the stub libraries
 *
 * For each library of the list, writes into DIR:
 *
 *	STUB.c, STUB.h		entry points, slots, tables
 *	STUB.layouts.h		structs, field by field, for adaptors; only for a
 *				library that has majors and no `advice`
 *	STUB.map		version script of the stub
 *	STUB.import.c		source of the import libraries of all majors
 *	STUB.import12.map	version script of the import library of major 12
 *	STUB.compat12.SONAME.map	version script of the stub that has the real
 *				library's SONAME; not for a library without majors
 *	STUB.real.h		what other code needs to find the real library; only
 *				for a library without majors
 *	STUB.specifics.c	lc_specifics of a stub that only forwards; only if
 *				the library has `advice`
 *
 * MAJOR is the default ABI of names whose interface differs between majors, for
 * programs that link against the stub itself instead of an import library.
 * `lazycuda stub` passes --stub.
 *
 * --words writes no file.  It prints for make what there is to make, with the library as its
 * stub's file is called.  For each CUDA's import library import/CUDA/LIBRARY/MAJOR, of the
 * highest major if a CUDA has several; for each SONAME that a stub takes
 * compat/CUDA/LIBRARY/MAJOR/SONAME: compat/13/cusparse/12/libcusparse.so.12.
 * CUDA is `any` if the library's majors are its own and it has no row `cuda`.
 *
 * Exit status: 0 all is written, 2 no file is.
 */
#include "embed.h"
#include "writers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
"usage: gen [-o DIR] [--abi MAJOR | --stub] LIST\n"
"       gen --words LIST\n"
"       gen --embed CUDA --version VERSION --from DIR... [--names FILE] -o FILE LIBRARY...";

struct options {
	const char *directory, *list;
	unsigned abi;		/* MAJOR; 0 if not given */
	struct embedding embedding;
	bool stub, words;
};

/* `more` is what is said below. */
static unsigned read_major(const char *option, const char *word, const char *more)
{
	char *end;
	unsigned long major = strtoul(word, &end, 10);

	if (*end || !major || major > MAX_MAJOR)
		fail(NULL, "%s %s: it is not a major of CUDA%s", option, word, more);
	return (unsigned)major;
}

static void read_options(struct options *options, char **word)
{
	const char *abi = NULL, *embed = NULL;
	const struct option table[] = {
		{ "--embed", .text = &embed }, { "--version", .text = &options->embedding.version },
		{ "--from", .list = &options->embedding.roots }, { "--names", .text = &options->embedding.names },
		{ "-o", .text = &options->directory }, { "--abi", .text = &abi },
		{ "--stub", .given = &options->stub }, { "--words", .given = &options->words },
		{ .name = NULL },
	};

	*options = (struct options){ .directory = "." };
	for (word++; *word && **word == '-';)
		word = take_option(word, table, usage);
	if (embed) {
		command_name = "lazycuda embed";
		options->embedding.cuda = read_major("--cuda", embed, "");
		for (; *word; word++)
			list_add(&options->embedding.libraries, *word);
		return;
	}
	if (!*word || word[1])
		fail(NULL, "it takes one LIST\n%s", usage);
	options->list = *word;
	if (abi)
		options->abi = read_major("--abi", abi, format("\n%s", usage));
	if (options->stub)
		command_name = "lazycuda stub";
}

/* Sets the origin that the first lines of the generated files state. */
static void name_maker(struct files *files, const struct options *options)
{
	const char *slash = strrchr(options->list, '/');

	files->maker = options->stub ? format("`lazycuda stub` from %s",
					      slash ? slash + 1 : options->list) :
				       "gen/gen";
	files->how = options->stub ? "" : ": `make` writes it from symbols.txt or libraries/";
}

static void check_abi(const struct symbols *list, unsigned major)
{
	for (size_t i = 0; i < list->libraries.count; i++)
		if (list->libraries.items[i].in & major_set(list, major))
			return;
	fail(NULL, "--abi %u: no library of the list has that major", major);
}

/* ---- files: all of them or none ---- */

static char **unfinished;	/* temporary files; removed when the program ends */
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
		fail(NULL, "cannot write %s: %s", path, strerror(errno));
	unfinished[unfinished_count++] = (char *)path;
	good = fwrite(text->bytes, 1, text->length, file) == text->length;
	if (fclose(file) || !good)
		fail(NULL, "cannot write %s: %s", path, strerror(errno));
}

static void write_files(const struct files *files, const char *directory)
{
	size_t count = files->all.count;
	char **paths = allocate(count + 1, sizeof(*paths));

	unfinished = allocate(count + 1, sizeof(*unfinished));
	atexit(remove_unfinished);
	for (size_t i = 0; i < count; i++) {
		paths[i] = format("%s/%s", directory, files->all.items[i]->name);
		write_temporary(format("%s.%ld.tmp", paths[i], (long)getpid()),
				&files->all.items[i]->text);
	}
	for (size_t i = 0; i < count; i++) {
		/* An unchanged file keeps its timestamp: make compares it. */
		if (same_content(paths[i], &files->all.items[i]->text))
			continue;
		if (rename(unfinished[i], paths[i]))
			fail(NULL, "cannot write %s: %s", paths[i], strerror(errno));
		unfinished[i] = NULL;
	}
}

/* ---- what there is to make of a list ---- */

static void print_word(const char *kind, const char *cuda, const struct library *library,
		       unsigned major, const char *end)
{
	const char *stub = library->stub + strlen("lib");

	printf("%s/%s/%.*s/%u%s\n", kind, cuda, (int)(strlen(stub) - strlen("_stub.so")), stub, major,
	       end);
}

static const char *number(unsigned value)
{
	return format("%u", value);
}

/* One word for each CUDA of the set; `any` if the majors are the library's own and it has no row
 * `cuda`, for it goes with each then. */
static void print_words(const char *kind, const struct library *library, uint32_t cudas,
			unsigned major, const char *end)
{
	if (!library->own_majors)
		print_word(kind, number(major), library, major, end);
	else if (!library->cuda.count)
		print_word(kind, "any", library, major, end);
	for (; cudas; cudas &= cudas - 1)
		print_word(kind, number(first_bit(cudas)), library, major, end);
}

/* The CUDAs that have a row `cuda` with this SONAME. */
static uint32_t cudas_of(const struct library *library, const struct ranged *soname)
{
	uint32_t cudas = 0;

	for (size_t i = 0; i < library->cuda.count; i++)
		if (!strcmp(library->cuda.items[i].soname, soname->text))
			cudas |= library->cuda.items[i].in;
	return cudas;
}

/* Import libraries are called the same in the folder of each CUDA: there is that of the highest
 * major. */
static void print_library(const struct symbols *list, const struct library *library)
{
	uint32_t taken = 0;

	for (size_t i = library->sonames.count; i--;) {
		const struct ranged *soname = &library->sonames.items[i];
		unsigned major = major_at(list, first_bit(soname->in));
		uint32_t cudas = cudas_of(library, soname);

		if (library->cuda.count ? cudas & ~taken :
		    !library->own_majors || i + 1 == library->sonames.count)
			print_words("import", library, cudas & ~taken, major, "");
		taken |= cudas;
		if (!library->compat_position.line)
			print_words("compat", library, cudas, major, format("/%s", soname->text));
	}
}

/* It has one SONAME and an interface for each CUDA. */
static void print_driver(const struct symbols *list, const struct library *library)
{
	for (unsigned i = 0; i < list->toolkit_count; i++)
		if (is_newest_of_major(list, i))
			print_word("import", number(major_at(list, i)), library, major_at(list, i), "");
}

static void print_lists(const struct symbols *list)
{
	for (size_t i = 0; i < list->libraries.count; i++)
		(list->libraries.items[i].without_majors ? print_driver : print_library)(
			list, &list->libraries.items[i]);
	if (fflush(stdout) || ferror(stdout))
		fail(NULL, "cannot write the words: %s", strerror(errno));
}

static void write_embedded(const struct options *options)
{
	struct text text = embed(&options->embedding);
	FILE *file = fopen(options->directory, "w");

	if (!file || fwrite(text.bytes, 1, text.length, file) != text.length || fclose(file))
		fail(NULL, "cannot write %s: %s", options->directory, strerror(errno));
}

int main(int count, char **arguments)
{
	struct options options;
	struct symbols list = { 0 };
	struct files files = { 0 };

	(void)count;
	read_options(&options, arguments);
	if (options.embedding.cuda) {
		write_embedded(&options);
		return 0;
	}
	name_maker(&files, &options);
	read_list(&list, options.list);
	if (options.words) {
		print_lists(&list);
		return 0;
	}
	if (options.abi)
		check_abi(&list, options.abi);
	for (size_t i = 0; i < list.libraries.count; i++) {
		struct library *library = &list.libraries.items[i];
		struct symbols view = view_of(&list, library);
		struct plan plan;

		plan_stub(&plan, &view, library);
		write_stub(&files, &plan, options.abi);
		write_maps(&files, &plan);
		if (!library->without_majors && !library->advice)	/* else no adaptors */
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
