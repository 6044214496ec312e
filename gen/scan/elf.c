/* SPDX-License-Identifier: MIT */
/*
 * elf.c - reads what a shared library exports, and under which version node
 *
 * Reads segments and the dynamic table, as the dynamic loader does, and not the
 * section headers, which a library need not have.  The file is not trusted: every
 * offset is checked against the file size before use, every string against its
 * table, and every loop is bounded by its table.
 */
#include "scan.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct elf {
	const char *path;
	bool any;		/* any library, not only one of CUDA's */
	const char *data;
	size_t size;
	const char *segments;
	size_t segment_count;
	const char *dynamic;
	size_t dynamic_count;
	const char *strings;
	size_t string_size;
};

/* All reads of the file go through this check of the range. */
static const char *at(const struct elf *elf, uint64_t offset, uint64_t size, const char *what)
{
	if (offset > elf->size || size > elf->size - offset)
		fail(elf->path, "%s lies beyond the end of the file", what);
	return elf->data + offset;
}

/* Copies the header out: nothing in the file need be aligned. */
static Elf64_Phdr segment(const struct elf *elf, size_t index)
{
	Elf64_Phdr out;

	memcpy(&out, elf->segments + index * sizeof(out), sizeof(out));
	return out;
}

/* Maps the file: these files are large, and only a small part is read. */
static void map_file(struct elf *elf, const char *path)
{
	struct stat status;
	/* O_NONBLOCK: opening a FIFO must not wait for a writer. */
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	void *data;

	if (file < 0 || fstat(file, &status))
		fail(path, "%s", strerror(errno));
	if (!S_ISREG(status.st_mode))
		fail(path, "is not a regular file");
	if (!status.st_size)
		fail(path, "is empty");
	data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
	if (data == MAP_FAILED)
		fail(path, "%s", strerror(errno));
	close(file);
	elf->path = path;
	elf->data = data;
	elf->size = (size_t)status.st_size;
}

static void open_elf(struct elf *elf, const char *path)
{
	Elf64_Ehdr header;

	map_file(elf, path);
	if (elf->size < SELFMAG || memcmp(elf->data, ELFMAG, SELFMAG))
		fail(path, "is not an ELF file");
	memcpy(&header, at(elf, 0, sizeof(header), "the ELF header"), sizeof(header));
	if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
		fail(path, "is not a 64-bit little-endian ELF file");
	if (elf->any && header.e_machine != EM_X86_64 && header.e_machine != EM_AARCH64)
		fail(path, "is for another CPU: there are stubs for x86-64 and aarch64");
	if (header.e_type != ET_DYN)
		fail(path, "is not a shared library");
	if (header.e_phentsize != sizeof(Elf64_Phdr))
		fail(path, "has program headers of %u bytes", header.e_phentsize);
	elf->segment_count = header.e_phnum;
	elf->segments = at(elf, header.e_phoff, (uint64_t)header.e_phnum * sizeof(Elf64_Phdr),
			   "the program header table");
	for (size_t i = 0; i < elf->segment_count; i++) {
		Elf64_Phdr phdr = segment(elf, i);

		if (phdr.p_type != PT_DYNAMIC)
			continue;
		elf->dynamic = at(elf, phdr.p_offset, phdr.p_filesz, "the dynamic table");
		elf->dynamic_count = phdr.p_filesz / sizeof(Elf64_Dyn);
	}
	if (!elf->dynamic)
		fail(path, "has no dynamic table");
}

/* Finds the value of a dynamic entry; false if there is none. */
static bool dynamic(const struct elf *elf, int64_t tag, uint64_t *value)
{
	for (size_t i = 0; i < elf->dynamic_count; i++) {
		Elf64_Dyn entry;

		memcpy(&entry, elf->dynamic + i * sizeof(entry), sizeof(entry));
		if (entry.d_tag == DT_NULL)
			break;
		if (entry.d_tag != tag)
			continue;
		*value = entry.d_un.d_val;
		return true;
	}
	return false;
}

/* Returns the file's bytes at an address, and in *follow how many its segment has from
 * there on. */
static const char *address(const struct elf *elf, uint64_t where, uint64_t need,
			   uint64_t *follow, const char *what)
{
	for (size_t i = 0; i < elf->segment_count; i++) {
		Elf64_Phdr phdr = segment(elf, i);

		if (phdr.p_type != PT_LOAD || where < phdr.p_vaddr ||
		    where - phdr.p_vaddr >= phdr.p_filesz)
			continue;
		at(elf, phdr.p_offset, phdr.p_filesz, "a segment");
		*follow = phdr.p_filesz - (where - phdr.p_vaddr);
		if (need > *follow)
			fail(elf->path, "%s does not lie in one segment", what);
		return elf->data + phdr.p_offset + (where - phdr.p_vaddr);
	}
	fail(elf->path, "%s lies in no segment", what);
}

static const char *table(const struct elf *elf, int64_t tag, uint64_t *follow, const char *what)
{
	uint64_t where;

	if (!dynamic(elf, tag, &where))
		fail(elf->path, "has no %s", what);
	return address(elf, where, 1, follow, what);
}

static const char *string(const struct elf *elf, uint64_t offset)
{
	const char *text;

	if (offset >= elf->string_size ||
	    !memchr(elf->strings + offset, '\0', elf->string_size - offset))
		fail(elf->path, "a name lies beyond the string table");
	text = elf->strings + offset;
	/* Names are written to the list and to terminals. */
	for (const char *c = text; *c; c++)
		if (*c <= ' ' || *c >= 0x7f)
			fail(elf->path, "a name has a character that no name has");
	return text;
}

static void find_strings(struct elf *elf)
{
	uint64_t size, follow;

	elf->strings = table(elf, DT_STRTAB, &follow, "string table");
	if (!dynamic(elf, DT_STRSZ, &size) || size > follow)
		fail(elf->path, "has no valid size of its string table");
	elf->string_size = size;
}

static uint32_t word(const char *table, uint64_t index)
{
	uint32_t value;

	memcpy(&value, table + 4 * index, sizeof(value));
	return value;
}

/*
 * The dynamic table does not give the number of symbols.  A GNU hash table gives
 * it indirectly: the last symbol is the end of the chain with the highest start.
 */
static uint64_t count_by_gnu_hash(const struct elf *elf)
{
	uint64_t follow, words, buckets, first, chains, last = 0;
	const char *hash = table(elf, DT_GNU_HASH, &follow, "hash table");

	words = follow / 4;
	if (words < 4)
		fail(elf->path, "the hash table is cut off");
	buckets = 4 + 2 * (uint64_t)word(hash, 2);
	first = word(hash, 1);
	chains = buckets + word(hash, 0);
	if (chains > words)
		fail(elf->path, "the hash table is cut off");
	for (uint64_t i = buckets; i < chains; i++)
		if (word(hash, i) > last)
			last = word(hash, i);
	if (!last)
		return first;
	if (last < first)
		fail(elf->path, "the hash table is inconsistent");
	do {
		if (chains + (last - first) >= words)
			fail(elf->path, "a chain of the hash table does not end");
	} while (!(word(hash, chains + (last++ - first)) & 1));
	return last;
}

static uint64_t count_symbols(const struct elf *elf)
{
	uint64_t where, follow;
	const char *hash;

	if (dynamic(elf, DT_GNU_HASH, &where))
		return count_by_gnu_hash(elf);
	hash = table(elf, DT_HASH, &follow, "hash table");
	if (follow < 8)
		fail(elf->path, "the hash table is cut off");
	return word(hash, 1);
}

/* The name of version node number `index`. */
static const char *node_name(const struct elf *elf, uint16_t index)
{
	uint64_t count, follow, offset = 0;
	const char *nodes = table(elf, DT_VERDEF, &follow, "version definitions");

	/* Version nodes have 16-bit numbers. */
	if (!dynamic(elf, DT_VERDEFNUM, &count) || count > UINT16_MAX)
		fail(elf->path, "does not say how many version definitions it has");
	for (uint64_t i = 0; i < count; i++) {
		Elf64_Verdef node;
		Elf64_Verdaux name;

		if (offset > follow || follow - offset < sizeof(node))
			fail(elf->path, "the version definitions are cut off");
		memcpy(&node, nodes + offset, sizeof(node));
		if (node.vd_ndx == index) {
			offset += node.vd_aux;
			if (offset > follow || follow - offset < sizeof(name))
				fail(elf->path, "the version definitions are cut off");
			memcpy(&name, nodes + offset, sizeof(name));
			return string(elf, name.vda_name);
		}
		if (node.vd_next < sizeof(node))
			break;
		offset += node.vd_next;
	}
	fail(elf->path, "has a symbol of version node %u, which is not defined", index);
}

/* Checks all that a stub relies on when it stands in for the library.  If `soname` is NULL,
 * the version node is not checked. */
static void check_symbol(const struct elf *elf, const char *soname, const Elf64_Sym *symbol,
			 uint16_t node)
{
	const char *name = string(elf, symbol->st_name);
	const char *node_text;

	if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC)
		fail(elf->path, "exports %s, which is not a plain function", name);
	if (ELF64_ST_BIND(symbol->st_info) != STB_GLOBAL)
		fail(elf->path, "exports %s, which is weak", name);
	if (!soname)
		return;
	if ((node & 0x7fff) < 2)
		fail(elf->path, "exports %s without a version node", name);
	node_text = node_name(elf, node & 0x7fff);
	if (strcmp(node_text, soname))
		fail(elf->path, "exports %s under the version node %s, but its SONAME is %s",
		     name, node_text, soname);
}

static bool is_export(const Elf64_Sym *symbol)
{
	unsigned bind = ELF64_ST_BIND(symbol->st_info);
	unsigned visibility = ELF64_ST_VISIBILITY(symbol->st_other);

	/* Absolute symbols are the version nodes' own names. */
	if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS)
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
	list_add(&out->nodes, (void *)node);
}

/* Takes a symbol of any library, or lists it among those left out. */
static void take_any(const struct elf *elf, const Elf64_Sym *symbol, uint16_t node,
		     struct exports *out)
{
	unsigned type = ELF64_ST_TYPE(symbol->st_info);
	const char *name = scan_intern(string(elf, symbol->st_name));
	const char *node_text = (node & 0x7fff) >= 2 ? node_name(elf, node & 0x7fff) : NULL;

	if (node_text && !strcmp(node_text, "LAZYCUDA_1"))
		fail(elf->path, "is a lazycuda stub itself");
	/* The linker defines these, and some libraries do not hide them. */
	if (type == STT_NOTYPE && (!strcmp(name, "_edata") || !strcmp(name, "_end") ||
				   !strcmp(name, "__bss_start")))
		return;
	if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE) {
		list_add(&out->data, (void *)name);
	} else if (!strncmp(name, "_Z", 2)) {
		list_add(&out->mangled, (void *)name);
	} else if (type == STT_NOTYPE || !is_plain_name(name)) {
		list_add(&out->odd, (void *)name);
	} else {
		out->names[out->count++] = name;
		if (node_text)
			add_node(out, scan_intern(node_text));
	}
}

static void collect(const struct elf *elf, struct exports *out)
{
	uint64_t count = count_symbols(elf), follow;
	const char *symbols = table(elf, DT_SYMTAB, &follow, "symbol table");
	const char *versions = NULL;
	uint64_t nodes;

	if (count > follow / sizeof(Elf64_Sym))
		fail(elf->path, "the symbol table is cut off");
	out->plain = !dynamic(elf, DT_VERDEF, &nodes);
	if (!out->plain)
		versions = table(elf, DT_VERSYM, &follow, "symbol versions");
	if (!out->plain && count > follow / 2)
		fail(elf->path, "the symbol versions are cut off");
	out->names = scan_alloc((count + 1) * sizeof(*out->names));
	for (uint64_t i = 0; i < count; i++) {
		Elf64_Sym symbol;
		uint16_t node = 0;

		memcpy(&symbol, symbols + i * sizeof(symbol), sizeof(symbol));
		if (versions)
			memcpy(&node, versions + 2 * i, sizeof(node));
		if (elf->any && is_export(&symbol)) {
			take_any(elf, &symbol, node, out);
			continue;
		}
		if (!is_export(&symbol) ||
		    (out->plain && ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT))
			continue;
		check_symbol(elf, out->plain ? NULL : out->soname, &symbol, node);
		out->names[out->count++] = scan_intern(string(elf, symbol.st_name));
	}
}

static void read_symbols(struct elf *elf, const char *path, struct exports *out)
{
	uint64_t soname;

	open_elf(elf, path);
	find_strings(elf);
	if (!dynamic(elf, DT_SONAME, &soname))
		fail(path, "has no SONAME");
	*out = (struct exports){ .path = path, .soname = scan_intern(string(elf, soname)) };
	collect(elf, out);
	if (!out->count)
		fail(path, elf->any ? "exports no function" : "exports nothing");
	qsort(out->names, out->count, sizeof(*out->names), compare_texts);
	for (size_t i = 1; i < out->count; i++)
		if (out->names[i - 1] == out->names[i])
			fail(path, "exports %s twice", out->names[i]);
	munmap((void *)elf->data, elf->size);
}

void read_exports(const char *path, struct exports *out)
{
	struct elf elf = { .any = false };

	read_symbols(&elf, path, out);
}

void read_any_exports(const char *path, struct exports *out)
{
	struct elf elf = { .any = true };

	read_symbols(&elf, path, out);
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
