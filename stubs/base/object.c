/* SPDX-License-Identifier: MIT */
/* object.c - checks whether a file can be loaded as a real library */
#include "object.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "glibc.h"
#include "image.h"

#if defined(__x86_64__)
# define MACHINE EM_X86_64
#elif defined(__aarch64__)
# define MACHINE EM_AARCH64
#elif defined(__riscv)
# define MACHINE EM_RISCV
#elif defined(__powerpc64__)
# define MACHINE EM_PPC64
#else
# error "object.c: name this CPU's e_machine"
#endif

#define MAX_PHDRS 64
#define MAX_DYNAMIC 512		/* entries; a CUDA library has about 30 */
#define MAX_STRINGS (1 << 20)	/* bytes; the largest has 20 KiB */

/* A file being read. */
struct reader {
	int fd;
	int error;		/* errno of a read or fstat() that failed */
	off_t size;
	ElfW(Phdr) phdrs[MAX_PHDRS];
	size_t phdr_count;
	uint64_t strings;	/* file offset of DT_STRTAB */
	uint64_t strings_size;
};

static bool read_at(struct reader *file, uint64_t offset, void *data, size_t size)
{
	if (offset > (uint64_t)file->size || size > (uint64_t)file->size - offset)
		return false;
	while (size) {
		ssize_t got = pread(file->fd, data, size, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			file->error = errno;
		if (got <= 0)
			return false;
		data = (char *)data + got;
		offset += (uint64_t)got;
		size -= (size_t)got;
	}
	return true;
}

/* The file offset of the byte at this address; false if no segment has it. */
static bool file_offset(const struct reader *file, uint64_t address, uint64_t *offset)
{
	for (size_t i = 0; i < file->phdr_count; i++) {
		const ElfW(Phdr) *p = &file->phdrs[i];

		if (p->p_type == PT_LOAD && address >= p->p_vaddr &&
		    address - p->p_vaddr < lc_mapped_size(p)) {
			*offset = p->p_offset + (address - p->p_vaddr);
			return *offset >= p->p_offset;
		}
	}
	return false;
}

/* Reads the string at `index` of the string table; false if it does not fit. */
static bool read_string(struct reader *file, uint64_t index, char *text, size_t size)
{
	if (index >= file->strings_size)
		return false;
	if (size > file->strings_size - index)
		size = (size_t)(file->strings_size - index);
	return read_at(file, file->strings + index, text, size) && memchr(text, 0, size);
}

static const char *read_header(struct reader *file)
{
	ElfW(Ehdr) header;

	if (!read_at(file, 0, &header, sizeof(header)) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG))
		return "is not an ELF file";
	if (header.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
	    header.e_ident[EI_DATA] != (__BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB) ||
	    header.e_machine != MACHINE)
		return "was built for another architecture";
	if (header.e_type != ET_DYN)
		return "is not a shared library";
	if (header.e_phentsize != sizeof(ElfW(Phdr)) || !header.e_phnum ||
	    header.e_phnum > MAX_PHDRS)
		return "has a damaged ELF header";
	file->phdr_count = header.e_phnum;
	if (!read_at(file, header.e_phoff, file->phdrs, header.e_phnum * sizeof(ElfW(Phdr))))
		return "is truncated";
	for (size_t i = 0; i < file->phdr_count; i++) {
		const ElfW(Phdr) *p = &file->phdrs[i];

		/* Checked here, since ld.so would map such a file and die of SIGBUS. */
		if (p->p_type == PT_LOAD && (p->p_offset > (uint64_t)file->size ||
					     p->p_filesz > (uint64_t)file->size - p->p_offset))
			return "is truncated";
	}
	return NULL;
}

static void match_node(const char *node, const struct lc_library *library, struct lc_elf *elf)
{
	if (!strcmp(node, LC_PRIVATE_NODE))
		elf->stub = true;
	for (size_t i = 0; lc_has_nodes(library) && i < library->major_count; i++)
		if (!strcmp(node, library->majors[i].soname))
			elf->major = &library->majors[i];
}

static void read_nodes(struct reader *file, uint64_t offset, uint64_t count,
		       const struct lc_library *library, struct lc_elf *elf)
{
	/* A stub has a handful; a hostile file might have any number. */
	for (uint64_t i = 0; i < count && i < 64; i++) {
		ElfW(Verdaux) name;
		ElfW(Verdef) def;
		char node[64];

		if (!read_at(file, offset, &def, sizeof(def)) ||
		    !read_at(file, offset + def.vd_aux, &name, sizeof(name)))
			return;
		if (read_string(file, name.vda_name, node, sizeof(node)))
			match_node(node, library, elf);
		if (!def.vd_next)
			return;
		offset += def.vd_next;
	}
}

/* A library without version nodes is identified by its SONAME. */
static void match_soname(const struct lc_library *library, struct lc_elf *elf)
{
	for (size_t i = 0; !lc_has_nodes(library) && i < library->major_count; i++)
		if (!strcmp(elf->soname, library->majors[i].soname))
			elf->major = &library->majors[i];
}

/* The string table holds every name that the library exports, and the library
 * imports none of these names, so its symbols need not be read. */
lc_version lc_proven_version(const struct lc_library *library, const struct lc_major *major,
			     const char *strings, size_t size)
{
	for (size_t i = 0; i < library->since_count; i++) {
		const char *name = library->names + library->since[i].name;

		if (lc_is_of(library->since[i].version, major) &&
		    memmem(strings, size, name, strlen(name) + 1))
			return library->since[i].version;
	}
	return major->oldest;
}

static void read_version(struct reader *file, const struct lc_library *library,
			 struct lc_elf *elf)
{
	size_t size = file->strings_size < MAX_STRINGS ? (size_t)file->strings_size : MAX_STRINGS;
	char *strings;

	elf->version = elf->major->oldest;
	strings = malloc(size);
	if (strings && read_at(file, file->strings, strings, size)) {
		if (!lc_has_majors(library) &&
		    !memmem(strings, size, library->witness, strlen(library->witness) + 1))
			elf->major = NULL;
		if (elf->major)
			elf->version = lc_proven_version(library, elf->major, strings, size);
	}
	free(strings);
}

static const char *read_dynamic(struct reader *file, const struct lc_library *library,
				struct lc_elf *elf)
{
	uint64_t soname = 0, strings = 0, verdef = 0, verdefs = 0, offset;
	ElfW(Dyn) dynamic[MAX_DYNAMIC];
	const ElfW(Phdr) *segment = NULL;
	size_t count;

	for (size_t i = 0; i < file->phdr_count; i++)
		if (file->phdrs[i].p_type == PT_DYNAMIC)
			segment = &file->phdrs[i];
	if (!segment)
		return "has no dynamic section";
	count = segment->p_filesz / sizeof(ElfW(Dyn));
	if (count > MAX_DYNAMIC)
		return "has a dynamic section of an unlikely size";
	if (!read_at(file, segment->p_offset, dynamic, count * sizeof(ElfW(Dyn))))
		return "is truncated";
	for (size_t i = 0; i < count && dynamic[i].d_tag != DT_NULL; i++) {
		uint64_t value = dynamic[i].d_un.d_val;

		switch (dynamic[i].d_tag) {
		case DT_SONAME:		soname = value; break;
		case DT_STRTAB:		strings = value; break;
		case DT_STRSZ:		file->strings_size = value; break;
		case DT_VERDEF:		verdef = value; break;
		case DT_VERDEFNUM:	verdefs = value; break;
		}
	}
	if (!file_offset(file, strings, &file->strings))
		return "has a damaged dynamic section";
	if (soname && !read_string(file, soname, elf->soname, sizeof(elf->soname)))
		return "has a damaged SONAME";
	if (verdef && file_offset(file, verdef, &offset))
		read_nodes(file, offset, verdefs, library, elf);
	if (!elf->stub)
		match_soname(library, elf);
	if (elf->major)
		read_version(file, library, elf);
	return NULL;
}

const char *lc_elf_file(const char *path, const struct lc_library *library, struct lc_elf *elf)
{
	/* Non-blocking, so that open() does not wait for the writer of a FIFO. */
	struct reader file = { .fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY) };
	const char *why = NULL;
	struct stat st;

	*elf = (struct lc_elf){ .soname = "" };
	if (file.fd < 0) {
		if (errno == ENOENT)
			return "does not exist";
		if (errno == EACCES)
			return "may not be read";
		elf->error = errno;
		return "cannot be opened";
	}
	if (fstat(file.fd, &st))
		file.error = errno;
	else if (S_ISDIR(st.st_mode))
		why = "is a directory";
	else if (!S_ISREG(st.st_mode))
		why = "is not a regular file";
	if (!why && !file.error) {
		file.size = st.st_size;
		elf->identity = lc_identity(&st);
		why = read_header(&file);
	}
	if (!why && !file.error)
		why = read_dynamic(&file, library, elf);
	if (file.error)
		why = "cannot be read";
	elf->error = file.error;
	close(file.fd);
	return why;
}
