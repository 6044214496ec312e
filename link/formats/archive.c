/* SPDX-License-Identifier: MIT */
/* archive.c - the members of a static library */
#include <stdlib.h>
#include <string.h>

#include "../../stubs/base/printable.h"
#include "formats.h"

#define MAGIC_SIZE 8

struct member_header {
	char name[16], date[12], owner[6], group[6], mode[8], size[10], end[2];
};

struct archive {
	const struct lk_part *part;
	const struct lk_walk *walk;
	char *long_names;		/* GNU's member "//", each name ended by a NUL */
	uint64_t long_names_length;
	const char *member;		/* name of the member that is being read */
};

static void take_member(struct lazycuda_entry *entry, void *data)
{
	struct archive *archive = data;

	/* Many members may share one name, and everyone who gets an entry reads its name. */
	if (!lk_source_pay(archive->part->source, entry->offset, strlen(archive->member)))
		return;
	entry->member = archive->member;
	archive->walk->each(entry, archive->walk->data);
}

/* An error in one member becomes an entry, and the other members are still read. */
static void take_error(struct archive *archive, const struct lk_part *contents, const char *wrong)
{
	struct lazycuda_entry *entry = lk_entry_new(archive->walk->arena, contents);

	if (!entry)
		return;
	entry->error = wrong;
	take_member(entry, archive);
}

/* ---- names ---- */

/* Parses a number that fills the field, up to trailing blanks. */
static bool parse_number(const char *text, size_t length, uint64_t *number)
{
	size_t digits = 0;

	*number = 0;
	while (digits < length && text[digits] >= '0' && text[digits] <= '9')
		*number = *number * 10 + (uint64_t)(text[digits++] - '0');
	for (size_t i = digits; i < length; i++)
		if (text[i] != ' ')
			return false;
	return digits;
}

/* Makes every string in `length` bytes plus a NUL fit for a message. */
static void make_printable(char *texts, size_t length)
{
	for (size_t at = 0; at < length;) {
		char *text = texts + at, *end = text + strlen(text);

		lc_make_printable(text);
		at += (size_t)(end - text) + 1;
		for (text += strlen(text); text < end; text++)
			*text = '\0';
	}
}

/*
 * Reads the table of long names, each of which ends with "/\n".  The table is read once and kept
 * once, however many members use it.
 */
static void read_long_names(struct archive *archive, const struct lk_part *contents)
{
	const size_t length = (size_t)contents->length;
	char *names = lc_alloc(archive->walk->arena, length + 1);

	archive->long_names_length = 0;
	if (!names || !lk_part_read(contents, 0, names, length))
		return;
	for (size_t i = 0; i < length; i++)
		if (names[i] == '/' || names[i] == '\n')
			names[i] = '\0';
	make_printable(names, length);
	archive->long_names = names;
	archive->long_names_length = length;
}

/* Returns NULL if `at` lies outside the table or in the middle of a UTF-8 character. */
static const char *long_name(const struct archive *archive, uint64_t at)
{
	if (at >= archive->long_names_length || (archive->long_names[at] & 0xc0) == 0x80)
		return NULL;
	return archive->long_names + at;
}

/* "name/", or "/123", an offset into the long names.  Returns NULL if the name is not where the
 * header says. */
static const char *read_name(struct archive *archive, const struct member_header *header)
{
	uint64_t number;
	char text[17];

	if (header->name[0] == '/' && parse_number(header->name + 1, 15, &number))
		return long_name(archive, number);
	memcpy(text, header->name, 16);
	text[16] = '\0';
	for (size_t i = 16; i > 1 && text[i - 1] == ' '; i--)
		text[i - 1] = '\0';
	if (text[0] != '/')
		text[strcspn(text, "/")] = '\0';
	return lc_printable(archive->walk->arena, text);
}

/* ---- contents ---- */

/* Returns true for text and for an empty member, which may lie beside objects. */
static bool is_text(const struct lk_part *contents)
{
	unsigned char head[512];
	size_t length = contents->length < sizeof(head) ? (size_t)contents->length : sizeof(head);

	if (length && !lk_part_read(contents, 0, head, length))
		return false;
	for (size_t i = 0; i < length; i++)
		if ((head[i] < ' ' && !(head[i] >= '\t' && head[i] <= '\r')) || head[i] == 0x7f)
			return false;
	return true;
}

lk_container_reader *lk_container_reader_of(enum lazycuda_kind kind)
{
	switch (kind) {
	case LAZYCUDA_KIND_OBJECT:
	case LAZYCUDA_KIND_SHARED:	return lk_host_read;
	case LAZYCUDA_KIND_FATBIN:	return lk_fatbin_read;
	case LAZYCUDA_KIND_OFFLOAD:	return lk_offload_read;
	default:			return NULL;
	}
}

static const char *read_contents(struct archive *archive, const struct lk_part *contents)
{
	const struct lk_walk inside = { archive->walk->arena, archive->walk->count, take_member,
					archive };
	enum lazycuda_kind kind = lk_recognise(contents);
	lk_container_reader *read = lk_container_reader_of(kind);
	struct lazycuda_entry *entry;

	if (read)
		return read(contents, &inside);
	switch (kind) {
	case LAZYCUDA_KIND_ARCHIVE:
	case LAZYCUDA_KIND_THIN_ARCHIVE:
		return "is an archive in an archive, which no linker reads";
	case LAZYCUDA_KIND_SOURCE:
		return NULL;
	case LAZYCUDA_KIND_UNKNOWN:
		/* nvJitLink crashes on it, or leaves out the whole archive and says SUCCESS. */
		return is_text(contents) ? NULL : "is neither an object nor device code nor text";
	default:
		entry = lk_entry_new(archive->walk->arena, contents);
		if (!entry)
			return NULL;
		entry->kind = kind;
		take_member(entry, archive);
		return NULL;
	}
}

static void read_member(struct archive *archive, const struct member_header *header,
			const struct lk_part *contents)
{
	const char *wrong;

	if (!memcmp(header->name, "//", 2)) {
		read_long_names(archive, contents);
		return;
	}
	archive->member = read_name(archive, header);
	if (archive->member && *archive->member == '/')
		return;		/* a symbol table: "/", "/SYM64/" */
	wrong = archive->member ? read_contents(archive, contents) :
		"has a name that lies outside the archive's names";
	if (!archive->member)
		archive->member = "?";
	if (wrong)
		take_error(archive, contents, wrong);
}

/* ---- the walk ---- */

static const char *check_member(const struct lk_part *part, uint64_t at,
				struct member_header *header, uint64_t *size)
{
	if (!lk_part_read(part, at, header, sizeof(*header)))
		return "is cut off in its header";
	if (memcmp(header->end, "`\n", 2) ||
	    !parse_number(header->size, sizeof(header->size), size))
		return "has a damaged header";
	if (!lk_part_has(part, at + sizeof(*header), *size))
		return "ends past the archive";
	return NULL;
}

const char *lk_archive_read(const struct lk_part *part, const struct lk_walk *walk)
{
	struct archive archive = { .part = part, .walk = walk };
	uint64_t at = MAGIC_SIZE;

	while (at < part->length) {
		struct member_header header;
		struct lk_part contents;
		const char *wrong;
		uint64_t size;

		wrong = check_member(part, at, &header, &size);
		if (wrong)
			return lc_format(walk->arena, "archive member at 0x%llx %s",
					 (unsigned long long)(part->offset + at), wrong);
		contents = lk_part_of(part, at + sizeof(header), size);
		read_member(&archive, &header, &contents);
		at += sizeof(header) + size;
		at += at & 1;	/* members begin at even offsets */
	}
	return NULL;
}
