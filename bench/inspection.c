/* SPDX-License-Identifier: MIT */
/*
 * inspection.c - the cost of an inspection
 *
 *     inspection make FILE MIB ENTRIES	makes a shared library of that size
 *     inspection read FILE	seconds to read() it once
 *     inspection file FILE	seconds to inspect it
 *     inspection memory MIB ENTRIES	seconds to copy and to inspect containers in memory
 *
 * The entries are uncompressed cubins, as in libraries of real size.  Apart from
 * their headers they hold filler.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../include/lazycuda_link.h"

#define PER_CONTAINER 8
#define CUBIN_SECTIONS 3

struct container {
	uint32_t magic;
	uint16_t version, header_size;
	uint64_t size;
};

struct entry {
	uint16_t kind, version;
	uint32_t header_size;
	uint64_t payload_size;
	uint32_t packed_size, options;
	uint16_t minor, major;
	uint32_t arch, name, name_length;
	uint64_t flags, key, unpacked_size;
};

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* Filler that is cheap to write and not zero. */
static void fill(unsigned char *at, size_t size)
{
	memset(at, 0x5a, size);
}

/* Writes an ELF file of this type and machine, with the section headers at the end. */
static void write_elf(unsigned char *at, size_t size, unsigned type, unsigned machine,
		      const char *names, size_t names_size, const Elf64_Shdr *sections, size_t count)
{
	Elf64_Ehdr header = {
		.e_ident = ELFMAG "\2\1\1", .e_type = type, .e_machine = machine, .e_version = 1,
		.e_shoff = size - count * sizeof(*sections), .e_ehsize = sizeof(header),
		.e_shentsize = sizeof(*sections), .e_shnum = count, .e_shstrndx = count - 1,
	};

	if (machine == 190) {
		header.e_ident[EI_OSABI] = 0x33;
		header.e_ident[EI_ABIVERSION] = 7;
		header.e_version = 129;
		header.e_flags = 80 << 16 | 0x500 | 80;
	}
	memcpy(at, &header, sizeof(header));
	memcpy(at + sections[count - 1].sh_offset, names, names_size);
	memcpy(at + header.e_shoff, sections, count * sizeof(*sections));
}

static void write_cubin(unsigned char *at, size_t size)
{
	static const char names[] = "\0.text.kernel\0.shstrtab";
	const size_t end = size - CUBIN_SECTIONS * sizeof(Elf64_Shdr) - sizeof(names);
	const Elf64_Shdr sections[CUBIN_SECTIONS] = {
		{ 0 },
		{ .sh_name = 1, .sh_type = SHT_PROGBITS, .sh_offset = sizeof(Elf64_Ehdr),
		  .sh_size = end - sizeof(Elf64_Ehdr) },
		{ .sh_name = 14, .sh_type = SHT_STRTAB, .sh_offset = end,
		  .sh_size = sizeof(names) },
	};

	fill(at, size);
	write_elf(at, size, ET_EXEC, 190, names, sizeof(names), sections, CUBIN_SECTIONS);
}

/* Writes containers of PER_CONTAINER entries each, at most `size` bytes in all. */
static void write_containers(unsigned char *at, size_t size, size_t entries)
{
	const size_t containers = entries / PER_CONTAINER;
	const size_t payload = ((size / containers - sizeof(struct container)) / PER_CONTAINER -
				sizeof(struct entry)) & ~(size_t)7;
	const struct entry entry = {
		.kind = 2, .version = 0x101, .header_size = sizeof(entry), .payload_size = payload,
		.minor = 7, .major = 1, .arch = 80, .flags = 0x11,
	};
	const struct container container = {
		0xba55ed50, 1, sizeof(container), PER_CONTAINER * (sizeof(entry) + payload)
	};

	for (size_t i = 0; i < containers * PER_CONTAINER; i++) {
		if (i % PER_CONTAINER == 0) {
			memcpy(at, &container, sizeof(container));
			at += sizeof(container);
		}
		memcpy(at, &entry, sizeof(entry));
		write_cubin(at + sizeof(entry), payload);
		at += sizeof(entry) + payload;
	}
}

static void make(const char *path, size_t size, size_t entries)
{
	static const char names[] = "\0.nv_fatbin\0.shstrtab";
	const size_t end = size - 3 * sizeof(Elf64_Shdr) - sizeof(names);
	const Elf64_Shdr sections[] = {
		{ 0 },
		{ .sh_name = 1, .sh_type = SHT_PROGBITS, .sh_offset = 4096, .sh_size = end - 4096 },
		{ .sh_name = 12, .sh_type = SHT_STRTAB, .sh_offset = end,
		  .sh_size = sizeof(names) },
	};
	unsigned char *bytes = calloc(1, size);
	FILE *file = fopen(path, "wb");

	if (!bytes || !file)
		fail(path);
	write_containers(bytes + 4096, end - 4096, entries);
	write_elf(bytes, size, ET_DYN, EM_X86_64, names, sizeof(names), sections, 3);
	if (fwrite(bytes, 1, size, file) != size || fclose(file))
		fail(path);
	free(bytes);
}

static double time_read(const char *path)
{
	static char window[1 << 20];
	double begin = now();
	int fd = open(path, O_RDONLY);
	ssize_t got;

	if (fd < 0)
		fail(path);
	while ((got = read(fd, window, sizeof(window))) > 0)
		;
	if (got < 0)
		fail(path);
	close(fd);
	return now() - begin;
}

static void check(const struct lazycuda_inspection *inspection, size_t entries)
{
	if (!inspection || inspection->error || inspection->entry_count < entries ||
	    !inspection->entry_count || inspection->entries[0]->toolkit != 12090) {
		fprintf(stderr, "inspection: %s\n", inspection && inspection->error ?
			inspection->error : "not all was seen");
		exit(1);
	}
}

static double time_file(const char *path)
{
	double begin = now();
	struct lazycuda_inspection *inspection = lazycuda_inspect_file(path, 0);

	check(inspection, 1);
	lazycuda_inspection_free(inspection);
	return now() - begin;
}

static void time_memory(size_t size, size_t entries)
{
	unsigned char *bytes = calloc(1, size), *copy = malloc(size);
	struct lazycuda_inspection *inspection;
	double begin, middle;

	if (!bytes || !copy)
		fail("memory");
	write_containers(bytes, size, entries);
	memset(copy, 1, size);
	begin = now();
	memcpy(copy, bytes, size);
	middle = now();
	inspection = lazycuda_inspect(copy, size, NULL, LAZYCUDA_INSPECT_PAYLOADS);
	check(inspection, entries / PER_CONTAINER * PER_CONTAINER);
	lazycuda_inspection_free(inspection);
	printf("%.6f %.6f\n", middle - begin, now() - middle);
	free(bytes);
	free(copy);
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "make"))
		make(argv[2], strtoul(argv[3], NULL, 10) << 20, strtoul(argv[4], NULL, 10));
	else if (argc == 3 && !strcmp(argv[1], "read"))
		printf("%.6f\n", time_read(argv[2]));
	else if (argc == 3 && !strcmp(argv[1], "file"))
		printf("%.6f\n", time_file(argv[2]));
	else if (argc == 4 && !strcmp(argv[1], "memory"))
		time_memory(strtoul(argv[2], NULL, 10) << 20, strtoul(argv[3], NULL, 10));
	else
		return 2;
	return 0;
}
