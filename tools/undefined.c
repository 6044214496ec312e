/* SPDX-License-Identifier: MIT */
/* undefined.c - the names that objects, archives and shared libraries take from others */
#include "undefined.h"

#include <ar.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

static const char damaged[] = "it is damaged: a table lies outside of it";
static const char optimised_later[] =
	"it is for link-time optimisation, and does not list what it needs: compile it with -fno-lto";

/* Returns what is at an offset, if `size` bytes are there; NULL: they are not. */
static const void *part(const char *bytes, size_t all, uint64_t offset, uint64_t size)
{
	return offset <= all && size <= all - offset ? bytes + offset : NULL;
}

/* `names` ends with a NUL. */
static const char *read_symbols(const char *symbols, size_t count, const char *names, size_t names_size,
				undefined_name *each, void *data)
{
	for (size_t i = 0; i < count; i++) {
		Elf64_Sym symbol;

		memcpy(&symbol, symbols + i * sizeof(symbol), sizeof(symbol));
		if (!symbol.st_name || symbol.st_name >= names_size)
			continue;
		if (!strcmp(names + symbol.st_name, "__gnu_lto_slim"))
			return optimised_later;
		if (symbol.st_shndx == SHN_UNDEF)
			each(data, names + symbol.st_name);
	}
	return NULL;
}

/* That of LLVM, as it is or in a wrapper. */
static bool is_bitcode(const char *bytes, size_t size)
{
	return size >= 4 && (!memcmp(bytes, "BC\xc0\xde", 4) || !memcmp(bytes, "\xde\xc0\x17\x0b", 4));
}

/* An object has .symtab, a stripped library .dynsym alone. */
static const char *read_object(const char *bytes, size_t size, undefined_name *each, void *data)
{
	Elf64_Ehdr header;

	if (is_bitcode(bytes, size))
		return optimised_later;
	if (size < sizeof(header) || memcmp(bytes, ELFMAG, SELFMAG))
		return "it is neither an ELF file nor an archive of them";
	memcpy(&header, bytes, sizeof(header));
	if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
		return "it is not of a 64-bit machine with the lowest byte first";
	if (!part(bytes, size, header.e_shoff, (uint64_t)header.e_shnum * sizeof(Elf64_Shdr)))
		return damaged;
	for (unsigned i = 0; i < header.e_shnum; i++) {
		Elf64_Shdr table, strings;
		const char *symbols, *names, *wrong;

		memcpy(&table, bytes + header.e_shoff + i * sizeof(table), sizeof(table));
		if (table.sh_type != SHT_SYMTAB && table.sh_type != SHT_DYNSYM)
			continue;
		if (table.sh_link >= header.e_shnum)
			return damaged;
		memcpy(&strings, bytes + header.e_shoff + table.sh_link * sizeof(strings), sizeof(strings));
		symbols = part(bytes, size, table.sh_offset, table.sh_size);
		names = part(bytes, size, strings.sh_offset, strings.sh_size);
		if (!symbols || !names || (strings.sh_size && names[strings.sh_size - 1]))
			return damaged;
		wrong = read_symbols(symbols, table.sh_size / sizeof(Elf64_Sym), names, strings.sh_size, each,
				     data);
		if (wrong)
			return wrong;
	}
	return NULL;
}

const char *undefined_names(const char *bytes, size_t size, undefined_name *each, void *data)
{
	size_t at = SARMAG;

	if (size >= SARMAG && !memcmp(bytes, "!<thin>\n", SARMAG))
		return "it is a thin archive: its members lie elsewhere, give these";
	if (size < SARMAG || memcmp(bytes, ARMAG, SARMAG))
		return read_object(bytes, size, each, data);
	while (at < size) {
		const struct ar_hdr *member = part(bytes, size, at, sizeof(*member));
		const char *contents, *wrong;
		size_t length;

		if (!member || memcmp(member->ar_fmag, ARFMAG, sizeof(member->ar_fmag)))
			return damaged;
		length = strtoul(member->ar_size, NULL, 10);
		at += sizeof(*member);
		contents = part(bytes, size, at, length);
		if (!contents)
			return damaged;
		/* The index and the long names are no members, and others may be of any kind. */
		wrong = is_bitcode(contents, length) || (length > SELFMAG && !memcmp(contents, ELFMAG, SELFMAG)) ?
			read_object(contents, length, each, data) : NULL;
		if (wrong)
			return wrong;
		at += length + length % 2;
	}
	return NULL;
}
