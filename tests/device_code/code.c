/* SPDX-License-Identifier: MIT */
/*
 * code.c - the readers of device code, driven by tests
 *
 *	code read FILE				what the entry is, and its symbols
 *	code cut FILE				every beginning of the file
 *	code change FILE COUNT			COUNT copies, each with a few bytes changed
 *	code starve FILE			the first allocation fails, the second, ...
 *	code image FILE OUTPUT ARCH SYMBOL...	lk_image_check()
 *	code time FILE				how long reading takes
 *
 * Every copy that is read lies in memory of its own, so that a sanitizer sees
 * one byte too many.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../link/tables/arch.h"
#include "../../link/formats/formats.h"

struct file {
	unsigned char *bytes;
	size_t length;
};

static struct file read_file(const char *path)
{
	FILE *stream = fopen(path, "rb");
	struct file file;

	if (!stream) {
		perror(path);
		exit(2);
	}
	fseek(stream, 0, SEEK_END);
	file.length = (size_t)ftell(stream);
	rewind(stream);
	file.bytes = malloc(file.length + 1);
	if (fread(file.bytes, 1, file.length, stream) != file.length)
		exit(2);
	fclose(stream);
	return file;
}

static const char *read_source(const struct lk_source *source, bool symbols,
			       struct lc_arena *arena, struct lazycuda_entry *entry)
{
	const struct lk_part part = { source, 0, source->length };

	*entry = (struct lazycuda_entry){ .level = -1 };
	return lk_code_read(&part, lk_recognise(&part), arena, entry, symbols);
}

static const char *read_bytes(const unsigned char *bytes, size_t length, bool symbols,
			      struct lc_arena *arena, struct lazycuda_entry *entry)
{
	const struct lk_source source = { .bytes = bytes, .fd = -1, .length = length };

	return read_source(&source, symbols, arena, entry);
}

static const char *or_none(const char *text)
{
	return text ? text : "-";
}

/* A text of its own for everything that a reader says. */
static void print_entry(FILE *stream, const struct lazycuda_entry *entry, const char *why)
{
	static const char *const kinds[] = { "unknown", "ptx", "cubin", "ltoir", [12] = "optixir" };

	fprintf(stream, "wrong %s\nerror %s\n", or_none(why), or_none(entry->error));
	fprintf(stream, "kind %s\n", kinds[entry->kind]);
	fprintf(stream, "arch %d%s\n", entry->arch,
		entry->suffix == 'a' ? "a" : entry->suffix == 'f' ? "f" : "");
	fprintf(stream, "toolkit %d\nisa %d\nlevel %d\n", entry->toolkit, entry->isa, entry->level);
	fprintf(stream, "container %d\nir %d\ndebug %d\nllvm %d\n", entry->container, entry->ir,
		entry->debug, entry->llvm);
	fprintf(stream, "abi %d\nflags %x\n", entry->abi, entry->flags);
	for (size_t i = 0; !why && i < entry->symbol_count; i++) {
		const struct lazycuda_symbol *symbol = &entry->symbols[i];

		fprintf(stream, "symbol %s%s%s %s\n", symbol->defined ? "defined" : "needed",
			symbol->weak ? "-weak" : "", symbol->kernel ? "-kernel" : "",
			symbol->name);
	}
}

static char *describe(const struct lazycuda_entry *entry, const char *why)
{
	char *text;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	print_entry(stream, entry, why);
	fclose(stream);
	return text;
}

/* From memory and from the file the same has to come. */
static int read_both(const char *path)
{
	struct file file = read_file(path);
	FILE *stream = fopen(path, "rb");
	const struct lk_source source = { .fd = fileno(stream), .length = file.length };
	struct lc_arena arenas[3] = { { .failed = false } };
	struct lazycuda_entry entries[3];
	const char *why[3];
	char *texts[2];

	why[0] = read_bytes(file.bytes, file.length, true, &arenas[0], &entries[0]);
	why[1] = read_source(&source, true, &arenas[1], &entries[1]);
	why[2] = read_bytes(file.bytes, file.length, false, &arenas[2], &entries[2]);
	for (int i = 0; i < 2; i++)
		texts[i] = describe(&entries[i], why[i]);
	fputs(texts[0], stdout);
	if (strcmp(texts[0], texts[1]))
		printf("from the file:\n%s", texts[1]);
	printf("headers %s\n", or_none(why[2]));
	if (entries[2].symbol_count)
		puts("headers alone, and symbols");
	for (int i = 0; i < 2; i++)
		free(texts[i]);
	for (int i = 0; i < 3; i++)
		lc_arena_free(&arenas[i]);
	fclose(stream);
	free(file.bytes);
	return 0;
}

/* Whether a copy of these bytes is taken for whole. */
static bool is_whole(const unsigned char *bytes, size_t length, bool symbols)
{
	struct lc_arena arena = { .failed = false };
	struct lazycuda_entry entry;
	unsigned char *copy = malloc(length ? length : 1);
	const char *why;
	char *text;

	memcpy(copy, bytes, length);
	why = read_bytes(copy, length, symbols, &arena, &entry);
	text = describe(&entry, why);
	free(text);
	lc_arena_free(&arena);
	free(copy);
	return !why;
}

static int cut(const char *path)
{
	struct file file = read_file(path);
	size_t whole[2] = { 0 }, first[2] = { 0 };

	for (size_t length = 0; length < file.length; length++)
		for (int symbols = 0; symbols < 2; symbols++)
			if (is_whole(file.bytes, length, symbols)) {
				if (!whole[symbols]++)
					first[symbols] = length;
			}
	printf("length %zu\nwhole %zu from %zu\nwith symbols %zu from %zu\n", file.length,
	       whole[0], first[0], whole[1], first[1]);
	free(file.bytes);
	return 0;
}

static int change(const char *path, int count)
{
	static const unsigned char values[] = { 0, 1, 0x7f, 0x80, 0xff, '{', '"', '/', '.', '\n' };
	struct file file = read_file(path);
	unsigned seed = 1;
	int whole = 0;

	for (int i = 0; i < count && file.length; i++) {
		unsigned char *copy = malloc(file.length);

		memcpy(copy, file.bytes, file.length);
		for (int k = rand_r(&seed) % 6; k >= 0; k--) {
			/* Half of them in the headers. */
			size_t room = k & 1 && file.length > 256 ? 256 : file.length;

			copy[(size_t)rand_r(&seed) % room] =
				values[(size_t)rand_r(&seed) % sizeof(values)];
		}
		whole += is_whole(copy, file.length, true);
		free(copy);
	}
	printf("whole %d of %d\n", whole, count);
	free(file.bytes);
	return 0;
}

/* Linked with --wrap=malloc. */
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
static long allowed = -1;	/* allocations; -1: any number */

void *__wrap_malloc(size_t size)
{
	if (!allowed)
		return NULL;
	if (allowed > 0)
		allowed--;
	return __real_malloc(size);
}

/* Until one is enough; every failure has to be marked. */
static int starve(const char *path)
{
	FILE *stream = fopen(path, "rb");
	struct lk_source source = { .fd = fileno(stream) };
	const char *why = "";

	fseek(stream, 0, SEEK_END);
	source.length = (uint64_t)ftell(stream);
	for (long count = 0; why; count++) {
		struct lc_arena arena = { .failed = false };
		struct lazycuda_entry entry;

		allowed = count;
		why = read_source(&source, true, &arena, &entry);
		allowed = -1;
		if (why && !arena.failed)
			printf("%ld: %s\n", count, why);
		if (arena.failed)
			why = "memory ran out";
		else if (!why)
			printf("enough: %ld\n", count);
		lc_arena_free(&arena);
	}
	fclose(stream);
	return 0;
}

static int image(char **words, int count)
{
	static const char *const outputs[] = { "cubin", "ptx", "relocatable", "ltoir" };
	struct file file = read_file(words[0]);
	struct lc_arena arena = { .failed = false };
	struct lk_arch arch;
	int output = 0;

	while (strcmp(outputs[output], words[1]))
		output++;
	if (!lk_arch_parse(words[2], &arch))
		return 2;
	puts(or_none(lk_image_check(file.bytes, file.length, output, arch.sm, arch.suffix,
				    (const char *const *)words + 3, (size_t)count - 3, &arena)));
	lc_arena_free(&arena);
	free(file.bytes);
	return 0;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int measure(const char *path)
{
	struct file file = read_file(path);
	double best[2] = { 1e9, 1e9 };

	for (int i = 0; i < 20; i++) {
		struct lc_arena arena = { .failed = false };
		struct lazycuda_entry entry;
		double begin = now();

		read_bytes(file.bytes, file.length, i & 1, &arena, &entry);
		if (now() - begin < best[i & 1])
			best[i & 1] = now() - begin;
		lc_arena_free(&arena);
	}
	printf("header %.1f us\nsymbols %.1f us, %.2f MB/ms\n", 1e6 * best[0], 1e6 * best[1],
	       (double)file.length / best[1] / 1e9);
	free(file.bytes);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "read"))
		return read_both(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "cut"))
		return cut(argv[2]);
	if (argc == 4 && !strcmp(argv[1], "change"))
		return change(argv[2], atoi(argv[3]));
	if (argc == 3 && !strcmp(argv[1], "starve"))
		return starve(argv[2]);
	if (argc >= 5 && !strcmp(argv[1], "image"))
		return image(argv + 2, argc - 2);
	if (argc == 3 && !strcmp(argv[1], "time"))
		return measure(argv[2]);
	fputs("usage: code read|cut|starve|time FILE, change FILE COUNT, image FILE OUTPUT ARCH"
	      " SYMBOL...\n", stderr);
	return 2;
}
