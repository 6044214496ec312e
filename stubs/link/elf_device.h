/* SPDX-License-Identifier: MIT */
/* elf_device.h - an ELF file for the device: its header, sections and symbols */
#ifndef LINK_ELF_DEVICE_H
#define LINK_ELF_DEVICE_H

#include <elf.h>

#include "bytes.h"

#define LC_EM_CUDA 190

/* A section, found to lie within the file. */
struct lc_section {
	const char *name;	/* lives as long as the file is open */
	uint32_t type, link;
	uint64_t offset, size;
};

struct lc_device_elf {
	const struct lc_part *part;
	struct lc_arena *arena;
	Elf64_Ehdr header;
	uint64_t section_count;
	struct lc_bytes sections, names;
	uint64_t names_size;
};

/* A symbol that other files may see. */
struct lc_device_symbol {
	const char *name;
	bool defined, weak, kernel, function, shared;
	uint64_t size;
};

/*
 * Opens a part and checks every header in it.  NULL, or what is wrong, and then
 * nothing is open.
 */
const char *lc_device_elf_open(struct lc_device_elf *elf, const struct lc_part *part,
			       struct lc_arena *arena);
void lc_device_elf_close(struct lc_device_elf *elf);

/* Section `index`, which has to be less than section_count: its header as it
 * stands in the file, and what most want of it. */
Elf64_Shdr lc_device_elf_header(const struct lc_device_elf *elf, uint64_t index);
struct lc_section lc_device_elf_section(const struct lc_device_elf *elf, uint64_t index);

/* The section of that name; false if there is none. */
bool lc_device_elf_find(const struct lc_device_elf *elf, const char *name,
			struct lc_section *section);

/* The section that is the table of symbols; 0 if there is none. */
uint64_t lc_device_elf_symbol_table(const struct lc_device_elf *elf);

/* Calls `each` with every global and weak symbol; its name lives until then. */
const char *lc_device_elf_symbols(const struct lc_device_elf *elf,
				  void (*each)(const struct lc_device_symbol *symbol, void *data),
				  void *data);

/* lc_cubin_read() of a file that is open. */
const char *lc_cubin_describe(const struct lc_device_elf *elf, struct lazycuda_entry *entry,
			      bool symbols);

#endif
