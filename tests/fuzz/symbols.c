/* SPDX-License-Identifier: MIT */
/*
 * symbols.c - fuzzing the reader of symbols.txt, and all that is made of it
 *
 * The generator ends when something is wrong, and frees nothing.  It is compiled
 * with the functions it does that with replaced by those here: exit() returns to
 * the target, fopen() opens the input, and what was allocated is freed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include "../../gen/writers.h"
#undef COUNT
#include "fuzzing.h"

static const uint8_t *input;
static size_t input_size;
static jmp_buf end;
static void **blocks;
static size_t block_count, block_room;

void fuzz_exit(int status) __attribute__((noreturn));
void fuzz_exit(int status)
{
	must(status == 2);
	longjmp(end, 1);
}

void *fuzz_calloc(size_t count, size_t size)
{
	if (block_count == block_room) {
		block_room = block_room ? 2 * block_room : 1024;
		blocks = realloc(blocks, block_room * sizeof(*blocks));
		must(blocks != NULL);
	}
	return blocks[block_count++] = calloc(count, size);
}

FILE *fuzz_fopen(const char *path, const char *mode)
{
	(void)path;
	/* An empty one cannot be had that way. */
	return input_size ? fmemopen((void *)input, input_size, mode) : tmpfile();
}

/* What is said of a list is fit to be read. */
int fuzz_vfprintf(FILE *stream, const char *format, va_list arguments)
{
	char text[8192];

	must(stream == stderr);
	if (vsnprintf(text, sizeof(text), format, arguments) < (int)sizeof(text))
		must_be_shown(text);
	return 0;
}

int fuzz_fprintf(FILE *stream, const char *format, ...)
{
	(void)stream, (void)format;
	return 0;
}

int fuzz_fputs(const char *text, FILE *stream)
{
	(void)text, (void)stream;
	return 0;
}

int fuzz_fputc(int c, FILE *stream)
{
	(void)stream;
	return c;
}

static void generate(void)
{
	struct symbols list = { .toolkit_count = 0 };
	struct files files = { .all = { NULL, 0, 0 } };
	struct plan plan;

	read_list(&list, "list.txt");
	for (size_t i = 0; i < list.libraries.count; i++) {
		const struct library *library = &list.libraries.items[i];

		plan_stub(&plan, &list, library);
		write_stub(&files, &plan, 0);
		write_maps(&files, &plan);
		write_imports(&files, &plan, &list);
		if (!library->without_majors && !library->advice)
			write_layouts(&files, &plan);
		if (library->without_majors)
			write_real(&files, &plan);
		if (library->advice)
			write_specifics(&files, &plan);
	}
	for (size_t i = 0; i < files.all.count; i++)
		touch(files.all.items[i]->text.bytes, files.all.items[i]->text.length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	input = data;
	input_size = size;
	if (!setjmp(end))
		generate();
	while (block_count)
		free(blocks[--block_count]);
	return 0;
}
