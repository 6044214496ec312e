/* SPDX-License-Identifier: MIT */
/*
 * elf.c - what a shared library exports, and under which version node
 *
 * stubs/base/image.h reads the file.  This file decides what a stub can stand in for.
 */
#include "scanner.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../stubs/base/image.h"
#include "../../stubs/base/regular.h"

#define MOST_NODES 0x8000	/* as many as there are indexes */

struct elf {
	const char *path;
	bool any;		/* any library, not only one of CUDA's */
	const struct list *mangled;	/* names of C++ that are taken all the same */
	const struct list *variables;	/* names of variables that are */
	struct exports *out;
	struct lc_source file;
	struct lc_image image;
	struct list names;
	const char **nodes;	/* by index */
};

/* Maps the file: these files are large, and only a small part is read. */
static void map_file(struct elf *elf)
{
	struct stat status;
	int file = lc_open_regular(elf->path, &status);
	const char *why;
	void *data;

	if (file < 0) {
		why = lc_why_not_opened(errno);
		fail(elf->path, why ? "%s" : "cannot be opened: %s", why ? why : strerror(errno));
	}
	if (!status.st_size)
		fail(elf->path, "is empty");
	data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
	if (data == MAP_FAILED)
		fail(elf->path, "%s", strerror(errno));
	close(file);
	elf->file = (struct lc_source){ data, .size = (uint64_t)status.st_size };
}

static void check_header(const struct elf *elf)
{
	const unsigned char *ident = elf->file.bytes;

	if (elf->file.size < SELFMAG || memcmp(ident, ELFMAG, SELFMAG))
		fail(elf->path, "is not an ELF file");
	if (elf->file.size < sizeof(Elf64_Ehdr))
		fail(elf->path, "is truncated");
	if (ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != ELFDATA2LSB)
		fail(elf->path, "is not a 64-bit little-endian ELF file");
}

static void open_elf(struct elf *elf)
{
	const struct lc_image *image = &elf->image;
	const char *why;

	map_file(elf);
	check_header(elf);
	why = lc_image_open(&elf->image, &elf->file);
	if (elf->any && image->machine != EM_X86_64 && image->machine != EM_AARCH64)
		fail(elf->path, "is for another CPU: there are stubs for x86-64 and aarch64");
	if (image->type != ET_DYN)
		fail(elf->path, "is not a shared library");
	if (why)
		fail(elf->path, "%s", why);
	if (!image->dynamic_count)
		fail(elf->path, "has no dynamic table");
}

/* Names are written to the list and to terminals. */
static const char *checked(const struct elf *elf, const char *name)
{
	for (const char *c = name; *c; c++)
		if (*c <= ' ' || *c >= 0x7f)
			fail(elf->path, "a name has a character that no name has");
	return name;
}

static bool take_node(const struct lc_node *node, void *data)
{
	struct elf *elf = data;

	if (!elf->nodes[node->index])
		elf->nodes[node->index] = node->name;
	return false;
}

/* The name of a symbol's version node; NULL if it has none. */
static const char *node_of(const struct elf *elf, const struct lc_defined *symbol)
{
	if (symbol->node < 2)
		return NULL;
	if (!elf->nodes[symbol->node])
		fail(elf->path, "has a symbol of version node %u, which is not defined",
		     symbol->node);
	return checked(elf, elf->nodes[symbol->node]);
}

/* Checks all that a stub relies on when it stands in for the library. */
static void check_symbol(const struct elf *elf, const struct lc_defined *symbol)
{
	const char *soname = elf->out->soname, *node;

	if (ELF64_ST_TYPE(symbol->entry.st_info) != STT_FUNC)
		fail(elf->path, "exports %s, which is not a plain function", symbol->name);
	if (ELF64_ST_BIND(symbol->entry.st_info) != STB_GLOBAL)
		fail(elf->path, "exports %s, which is weak", symbol->name);
	if (elf->out->plain)
		return;
	node = node_of(elf, symbol);
	if (!node)
		fail(elf->path, "exports %s without a version node", symbol->name);
	if (strcmp(node, soname))
		fail(elf->path, "exports %s under the version node %s, but its SONAME is %s",
		     symbol->name, node, soname);
}

static bool is_export(const Elf64_Sym *symbol)
{
	unsigned bind = ELF64_ST_BIND(symbol->st_info);
	unsigned visibility = ELF64_ST_VISIBILITY(symbol->st_other);

	/* Absolute symbols are the version nodes' own names. */
	if (symbol->st_shndx == SHN_ABS)
		return false;
	if (bind != STB_GLOBAL && bind != STB_WEAK && bind != STB_GNU_UNIQUE)
		return false;
	return visibility == STV_DEFAULT || visibility == STV_PROTECTED;
}

/* Returns true for a C identifier that does not collide with a stub's own names. */
static bool is_plain_name(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

	return !strchr("0123456789", *name) && !name[strspn(name, letters)] &&
	       strncmp(name, "lc_", 3) && strncmp(name, "lazycuda_", 9) &&
	       strcmp(name, "_init") && strcmp(name, "_fini");
}

static void add_node(struct exports *out, const char *node)
{
	for (size_t i = 0; i < out->nodes.count; i++)
		if (out->nodes.items[i] == node)
			return;
	list_add(&out->nodes, node);
}

static bool is_in(const struct list *names, const char *name)
{
	for (size_t i = 0; i < names->count; i++)
		if (!strcmp(names->items[i], name))
			return true;
	return false;
}

/* Where so many bytes at an address lie in the file; NULL: they are zeroes, or not there. */
static const unsigned char *bytes_at(const struct elf *elf, uint64_t address, uint64_t size)
{
	const unsigned char *bytes = elf->file.bytes;

	for (size_t i = 0; i < elf->image.phdr_count; i++) {
		const lc_phdr *load = &elf->image.phdrs[i];

		if (load->p_type == PT_LOAD && address >= load->p_vaddr && size <= load->p_filesz &&
		    address - load->p_vaddr <= load->p_filesz - size &&
		    load->p_offset <= elf->file.size && load->p_filesz <= elf->file.size - load->p_offset)
			return bytes + load->p_offset + (address - load->p_vaddr);
	}
	return NULL;
}

/* Returns true if ld.so writes an address there. */
static bool is_relocated(const struct elf *elf, uint64_t address, uint64_t size)
{
	uint64_t bytes = lc_entry(&elf->image, DT_RELASZ);
	const unsigned char *table = bytes_at(elf, lc_entry(&elf->image, DT_RELA), bytes);

	for (uint64_t at = 0; table && at + sizeof(Elf64_Rela) <= bytes; at += sizeof(Elf64_Rela)) {
		Elf64_Rela one;

		memcpy(&one, table + at, sizeof(one));
		if (one.r_offset + sizeof(uint64_t) > address && one.r_offset < address + size)
			return true;
	}
	return false;
}

#define LARGEST_VARIABLE 4096		/* of a variable */

static void take_variable(struct elf *elf, const struct lc_defined *symbol)
{
	const uint64_t size = symbol->entry.st_size, address = symbol->entry.st_value;
	struct datum *datum = allocate(1, sizeof(*datum));
	const unsigned char *bytes;
	bool any = false;
	char *text;

	if (!size || size > LARGEST_VARIABLE)
		fail(elf->path, "exports %s, a variable of %llu bytes", symbol->name,
		     (unsigned long long)size);
	*datum = (struct datum){ .name = scan_intern(symbol->name), .size = (unsigned)size };
	list_add(&elf->out->variables, datum);
	bytes = is_relocated(elf, address, size) ? NULL : bytes_at(elf, address, size);
	text = allocate(1, 2 * size + 1);
	for (uint64_t i = 0; bytes && i < size; i++) {
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
		any |= bytes[i];
	}
	if (any)
		datum->bytes = text;
}

/* Takes a symbol of any library, or lists it among those left out. */
static void take_any(struct elf *elf, const struct lc_defined *symbol)
{
	unsigned type = ELF64_ST_TYPE(symbol->entry.st_info);
	const char *name = scan_intern(symbol->name), *node = node_of(elf, symbol);

	if (node && !strcmp(node, "LAZYCUDA_1"))
		fail(elf->path, "is a lazycuda stub itself");
	/* The linker defines these, and some libraries do not hide them. */
	if (type == STT_NOTYPE && (!strcmp(name, "_edata") || !strcmp(name, "_end") ||
				   !strcmp(name, "__bss_start")))
		return;
	if (type == STT_OBJECT && is_in(elf->variables, name) && is_plain_name(name)) {
		take_variable(elf, symbol);
		if (node)
			add_node(elf->out, scan_intern(node));
	} else if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE) {
		list_add(&elf->out->data, name);
	} else if (!strncmp(name, "_Z", 2) && !is_in(elf->mangled, name)) {
		list_add(&elf->out->mangled, name);
	} else if (type == STT_NOTYPE || !is_plain_name(name)) {
		list_add(&elf->out->odd, name);
	} else {
		list_add(&elf->names, name);
		if (node)
			add_node(elf->out, scan_intern(node));
	}
}

static bool take(const struct lc_defined *symbol, void *data)
{
	struct elf *elf = data;

	if (!is_export(&symbol->entry))
		return false;
	checked(elf, symbol->name);
	if (elf->any) {
		take_any(elf, symbol);
	} else if (!elf->out->plain || ELF64_ST_TYPE(symbol->entry.st_info) != STT_OBJECT) {
		check_symbol(elf, symbol);
		list_add(&elf->names, scan_intern(symbol->name));
	}
	return false;
}

static void read_symbols(struct elf *elf)
{
	struct exports *out = elf->out;
	const char *soname, *why;

	open_elf(elf);
	soname = lc_image_string(&elf->image, DT_SONAME);
	if (!soname)
		fail(elf->path, "has no SONAME");
	*out = (struct exports){
		.path = elf->path, .soname = scan_intern(checked(elf, soname)),
		.plain = !lc_entry(&elf->image, DT_VERDEF),
	};
	elf->nodes = allocate(1, MOST_NODES * sizeof(*elf->nodes));
	why = lc_image_nodes(&elf->image, take_node, elf);
	if (!why)
		why = lc_image_defined(&elf->image, take, elf);
	if (why)
		fail(elf->path, "%s", why);
	out->names = (const char **)elf->names.items;
	out->count = elf->names.count;
	if (!out->count)
		fail(elf->path, elf->any ? "exports no function" : "exports nothing");
	qsort(out->names, out->count, sizeof(*out->names), compare_texts);
	for (size_t i = 1; i < out->count; i++)
		if (out->names[i - 1] == out->names[i])
			fail(elf->path, "exports %s twice", out->names[i]);
	munmap((void *)elf->file.bytes, elf->file.size);
}

void read_exports(const char *path, const struct list *mangled, const struct list *variables,
		  struct exports *out)
{
	struct elf elf = {
		.path = path, .any = mangled, .mangled = mangled, .variables = variables, .out = out
	};

	read_symbols(&elf);
}

bool exports_name(const struct exports *exports, const char *name)
{
	return exports->count && bsearch(&name, exports->names, exports->count,
					 sizeof(*exports->names), compare_texts);
}

void refuse_plain(const struct exports *exports)
{
	if (exports->plain)
		fail(exports->path, "has no symbol versions, which only a library without majors"
		     " can lack");
}
