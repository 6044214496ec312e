/* SPDX-License-Identifier: MIT */
/*
 * dump.c - an inspection, as lines
 *
 *     dump [--payloads] [--memory] [--symbols] FILE...
 *     dump --code N | --stored N | --fatbin N [--memory] FILE	writes it to stdout
 *
 * --memory gives the bytes, not the path.  Without a request for one entry's
 * code every entry's is asked for in all three ways, and what came is counted.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../../include/lazycuda_link.h"

enum { CODE, STORED, FATBIN };

static void *get(const struct lazycuda_inspection *inspection, int what, size_t index,
		 size_t *length, const char **error)
{
	if (what == FATBIN)
		return lazycuda_entry_fatbin(inspection, index, length, error);
	return lazycuda_entry_payload(inspection, index, what == CODE, length, error);
}

/* Touches every byte, for whoever watches. */
static void print_got(const struct lazycuda_inspection *inspection, size_t index)
{
	static const char *const names[] = { "code", "stored", "copy" };

	for (int what = CODE; what <= FATBIN; what++) {
		const char *error = "";
		unsigned sum = 0;
		size_t length;
		unsigned char *bytes = get(inspection, what, index, &length, &error);

		for (size_t i = 0; bytes && i < length; i++)
			sum = sum * 31 + bytes[i];
		if (bytes)
			printf("  %s %zu %u\n", names[what], length, sum);
		else
			printf("  no-%s %s\n", names[what], error);
		free(bytes);
	}
}

static void print_symbols(const struct lazycuda_entry *entry)
{
	for (size_t i = 0; i < entry->symbol_count; i++) {
		const struct lazycuda_symbol *symbol = &entry->symbols[i];

		printf("  symbol %s %s%s%s%s\n", symbol->name,
		       symbol->defined ? "defined" : "needed", symbol->weak ? " weak" : "",
		       symbol->kernel ? " kernel" : "", symbol->flags & LAZYCUDA_SYMBOL_VARIABLE ? " variable" : "");
	}
}

static void print_entry(const struct lazycuda_inspection *inspection, size_t index, int symbols)
{
	const struct lazycuda_entry *entry = inspection->entries[index];

	assert(entry->size == sizeof(*entry));
	printf("entry kind=%s arch=%d%s toolkit=%d isa=%d level=%d container=%d ir=%d debug=%d "
	       "llvm=%d abi=%d flags=%#x fatbin=%d header=%" PRIu64 " offset=%" PRIu64
	       " length=%" PRIu64 " unpacked=%" PRIu64 " symbols=%zu section=%s member=%s\n",
	       lazycuda_kind_name(entry->kind), entry->arch,
	       entry->suffix ? (char[]){ entry->suffix, 0 } : "", entry->toolkit, entry->isa,
	       entry->level, entry->container, entry->ir, entry->debug, entry->llvm, entry->abi,
	       entry->flags, entry->fatbin, entry->header, entry->offset, entry->length,
	       entry->unpacked, entry->symbol_count, entry->section ? entry->section : "",
	       entry->member ? entry->member : "");
	if (entry->error)
		printf("  error %s\n", entry->error);
	print_got(inspection, index);
	if (symbols)
		print_symbols(entry);
}

static void print(const struct lazycuda_inspection *inspection, int symbols)
{
	printf("file %s\nkind %s\nfatbins %d\nlength %" PRIu64 "\n", inspection->name,
	       lazycuda_kind_name(inspection->kind), inspection->fatbin_count, inspection->length);
	if (inspection->error)
		printf("error %s\n", inspection->error);
	if (inspection->warning)
		printf("warning %s\n", inspection->warning);
	for (size_t i = 0; i < inspection->entry_count; i++)
		print_entry(inspection, i, symbols);
}

/* In memory of exactly that size. */
static void *read_file(const char *path, size_t *length)
{
	FILE *file = fopen(path, "rb");
	struct stat st;
	void *bytes;

	if (!file || fstat(fileno(file), &st)) {
		perror(path);
		exit(2);
	}
	*length = (size_t)st.st_size;
	bytes = malloc(*length);
	if (*length && fread(bytes, 1, *length, file) != *length)
		exit(2);
	fclose(file);
	return bytes;
}

static int write_one(const struct lazycuda_inspection *inspection, int what, size_t index)
{
	const char *error = NULL;
	size_t length;
	void *bytes = get(inspection, what, index, &length, &error);

	if (bytes)
		fwrite(bytes, 1, length, stdout);
	else
		fprintf(stderr, "%s\n", error);
	free(bytes);
	return bytes ? 0 : 1;
}

int main(int argc, char **argv)
{
	int memory = 0, symbols = 0, what = -1, status = 0;
	unsigned flags = 0;
	size_t index = 0;

	for (int i = 1; i < argc; i++) {
		struct lazycuda_inspection *inspection;
		void *bytes = NULL;
		size_t length;

		if (!strcmp(argv[i], "--payloads"))
			flags = LAZYCUDA_INSPECT_PAYLOADS;
		else if (!strcmp(argv[i], "--memory"))
			memory = 1;
		else if (!strcmp(argv[i], "--symbols"))
			symbols = 1;
		else if (!strcmp(argv[i], "--code") || !strcmp(argv[i], "--stored") ||
			 !strcmp(argv[i], "--fatbin")) {
			what = argv[i][2] == 'c' ? CODE : argv[i][2] == 's' ? STORED : FATBIN;
			index = strtoul(argv[++i], NULL, 10);
		} else {
			if (memory)
				bytes = read_file(argv[i], &length);
			inspection = memory ? lazycuda_inspect(bytes, length, argv[i], flags) :
					      lazycuda_inspect_file(argv[i], flags);
			if (!inspection)
				return 3;
			if (what >= 0)
				status = write_one(inspection, what, index);
			else
				print(inspection, symbols);
			lazycuda_inspection_free(inspection);
			free(bytes);
		}
	}
	return status;
}
