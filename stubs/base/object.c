/* SPDX-License-Identifier: MIT */
/* object.c - checks whether a file can be loaded as a real library */
#include "object.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cuda_version.h"
#include "glibc.h"
#include "image.h"
#include "regular.h"

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

#define MAX_SIBLINGS 32	/* libcusolver needs four */
#define MAX_TABLE (64 << 20)	/* bytes; the string table of libcusparseLt 0.7 has 25 MiB */

bool lc_lead_to_same(const char *a, const char *b)
{
	struct stat one, other;

	return !strcmp(a, b) || (!stat(a, &one) && !stat(b, &other) &&
				 lc_same_file(lc_identity(&one), lc_identity(&other)));
}

/* A file being read. */
struct file {
	int fd;
	int error;		/* errno of what failed */
	const char *why;	/* what is wrong with the file, if image.c cannot know */
	struct lc_arena arena;	/* for tables, which are read whole */
	uint64_t at;		/* where the bytes lie that were read last, */
	size_t length;
	char bytes[512];	/* and these themselves: headers and records lie side by side */
};

static bool read_few(struct file *file, uint64_t offset, void *to, size_t size)
{
	if (offset < file->at || offset - file->at > file->length ||
	    size > file->length - (offset - file->at)) {
		const ssize_t got = LC_AGAIN(pread(file->fd, file->bytes, sizeof(file->bytes),
						   (off_t)offset));

		file->at = offset;
		file->length = got > 0 ? (size_t)got : 0;
		if (file->length < size)
			return lc_read_at(file->fd, offset, to, size, &file->error);
	}
	memcpy(to, file->bytes + (offset - file->at), size);
	return true;
}

/* The callback of struct lc_source. */
static const void *read_bytes(void *data, uint64_t offset, size_t size, void *to)
{
	struct file *file = data;

	if (!to && size > MAX_TABLE) {
		file->why = "has a table of an unlikely size";
		return NULL;
	}
	if (!to)
		to = lc_alloc(&file->arena, size);
	if (!to)
		file->error = ENOMEM;
	if (!to || !(size <= sizeof(file->bytes) ? read_few(file, offset, to, size) :
						   lc_read_at(file->fd, offset, to, size, &file->error)))
		return NULL;
	return to;
}

/* What `data` of judge_file() and match_node() is. */
struct judged {
	const struct lc_library *library;
	struct lc_elf *elf;
};

static bool match_node(const struct lc_node *node, void *data)
{
	const struct judged *match = data;
	const struct lc_library *library = match->library;

	if (!strcmp(node->name, LC_PRIVATE_NODE))
		match->elf->stub = true;
	for (size_t i = 0; lc_has_nodes(library) && i < library->major_count; i++)
		if (!strcmp(node->name, library->majors[i].soname))
			match->elf->major = &library->majors[i];
	return false;
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

lc_version lc_latest_version(const struct lc_library *library, lc_version proven)
{
	lc_version latest = LC_VERSION(LC_MAJOR(proven), LC_LAST_MINOR);

	for (size_t i = 0; i < library->since_count; i++)
		if (library->since[i].version > proven && library->since[i].version <= latest)
			latest = (lc_version)(library->since[i].version - 1);
	return latest;
}

static bool add_needed(const char *soname, void *data)
{
	*(uint32_t *)data |= lc_cuda_of_soname(soname);
	return false;
}

void lc_cuda_needed(const struct lc_image *image, uint32_t *set)
{
	lc_image_needed(image, add_needed, set);
}

static const char *judge_header(const struct lc_image *image)
{
	if (image->machine && image->machine != MACHINE)
		return "was built for another architecture";
	if (image->machine && image->type != ET_DYN)
		return "is not a shared library";
	return NULL;
}

static bool add_kind(const char *soname, void *data)
{
	*(uint32_t *)data |= lc_cuda_kind(soname);
	return false;
}

static const char *judge_file(const struct lc_image *image, void *data)
{
	const struct judged *judged = data;
	const struct lc_library *library = judged->library;
	struct lc_elf *elf = judged->elf;
	const char *soname = lc_image_string(image, DT_SONAME), *why;

	if (!image->dynamic_count)
		return "has no dynamic section";
	if (soname && strlen(soname) >= sizeof(elf->soname))
		return "has a damaged SONAME";
	if (soname)
		strcpy(elf->soname, soname);
	why = lc_image_nodes(image, match_node, data);
	if (why)
		return why;
	if (!elf->stub)
		match_soname(library, elf);
	if (elf->major && !lc_has_majors(library) &&
	    (!image->strings || !memmem(image->strings, image->strings_size, library->witness,
					strlen(library->witness) + 1)))
		elf->major = NULL;
	if (elf->major && library->own_majors)
		lc_cuda_needed(image, &elf->needs);
	lc_image_needed(image, add_kind, &elf->siblings);
	if (elf->major)
		elf->version = lc_proven_version(library, elf->major, image->strings,
						 image->strings_size);
	return NULL;
}

/* Reads one thing in an image; returns NULL, or what is wrong with it. */
typedef const char *read_image(const struct lc_image *image, void *data);

static const char *read_elf(struct file *file, uint64_t size, read_image *each, void *data)
{
	const struct lc_source source = { .size = size, .read = read_bytes, .data = file };
	struct lc_image image;
	const char *why = lc_image_open(&image, &source), *header = judge_header(&image);

	if (header)
		why = header;
	if (!why)
		why = each(&image, data);
	lc_arena_free(&file->arena);
	return file->why ? file->why : why;
}

/* Sets *identity, once it is known, and *error as in struct lc_elf. */
static const char *read_path(const char *path, read_image *each, void *data,
			     struct lc_identity *identity, int *error)
{
	struct stat st;
	struct file file = { .fd = lc_open_regular(path, &st), .arena.raw = true };
	const char *why;

	if (file.fd < 0) {
		why = lc_why_not_opened(errno);
		*error = why ? 0 : errno;
		return why ? why : "cannot be opened";
	}
	*identity = lc_identity(&st);
	why = read_elf(&file, (uint64_t)st.st_size, each, data);
	if (file.error)
		why = "cannot be read";
	*error = file.error;
	close(file.fd);
	return why;
}

const char *lc_elf_file(const char *path, const struct lc_library *library, struct lc_elf *elf)
{
	*elf = (struct lc_elf){ .soname = "" };
	return read_path(path, judge_file, &(struct judged){ library, elf }, &elf->identity,
			 &elf->error);
}

/* What `data` of add_sibling() and note_siblings() is. */
struct noting {
	struct lc_arena *arena;
	struct lc_siblings *siblings;
};

static bool add_sibling(const char *soname, void *data)
{
	const struct noting *noting = data;
	struct lc_strings *sonames = &noting->siblings->sonames;

	if (strchr(soname, '/') || !lc_cuda_folder(soname))
		return false;
	if (sonames->count == MAX_SIBLINGS)
		return true;
	lc_add_string(noting->arena, sonames, lc_text(noting->arena, soname));
	return noting->arena->failed;
}

static const char *note_siblings(const struct lc_image *image, void *data)
{
	const struct noting *noting = data;
	const char *path = lc_image_string(image, DT_RUNPATH);

	if (!path)
		path = lc_image_string(image, DT_RPATH);
	lc_image_needed(image, add_sibling, data);
	noting->siblings->path = path ? lc_text(noting->arena, path) : NULL;
	return NULL;
}

void lc_elf_siblings(struct lc_arena *arena, const char *path, struct lc_siblings *siblings)
{
	struct lc_identity identity;
	int error = 0;

	*siblings = (struct lc_siblings){ .path = NULL };
	read_path(path, note_siblings, &(struct noting){ arena, siblings }, &identity, &error);
	lc_arena_note_error(arena, error);
	if (arena->failed)
		siblings->sonames.count = 0;
}
