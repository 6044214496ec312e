/* SPDX-License-Identifier: MIT */
/*
 * directory.c - which members a zip archive has, and where each lies
 *
 * Readers of zip archives differ: one goes by the directory, another by the headers before the
 * members, and names that are spelled differently mean one file.  What two of them could take for two
 * wheels is refused.  tools/retarget/lazycuda/directory.py has the same rules and the same words.
 */
#include "directory.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "../stubs/base/count.h"
#include "../stubs/base/printable.h"

#define END_SIZE 22		/* of the end record */
#define WIDE_END_SIZE 56	/* of the same with 64 bits */
#define WIDE_PLACE_SIZE 20	/* of what says where that is */
#define ENTRY_SIZE 46
#define LOCAL_SIZE 30		/* of the header before a member */

#define UTF8 0x800		/* flags: how a name is written */
#define FOLLOWS 8		/* sizes follow the member */
#define UNREADABLE 0x61		/* it is encrypted or patched */
#define AGREED (UTF8 | FOLLOWS | UNREADABLE)

#define WIDE 1			/* extra fields */
#define UNICODE_NAME 0x7075

#define EXPANSION 1032		/* bytes that deflate makes of one at most */

static uint64_t number(const unsigned char *bytes, int size)
{
	uint64_t value = 0;

	while (size--)
		value = value << 8 | bytes[size];
	return value;
}

static const unsigned char *at(const struct zip *zip, uint64_t offset, uint64_t size)
{
	return offset <= zip->size && size <= zip->size - offset ? zip->bytes + offset : NULL;
}

/* ---- names ---- */

const char *path_in_site(const char *member)
{
	size_t first = strcspn(member, "/");

	if (first < 5 || !member[first] || memcmp(member + first - 5, ".data", 5))
		return member;
	member += first + 1;
	return strncmp(member, "purelib/", 8) && strncmp(member, "platlib/", 8) ? NULL : member + 8;
}

static bool is_folder(const struct zip_entry *entry)
{
	return entry->raw_size && entry->raw[entry->raw_size - 1] == '/';
}

/* Returns true for UTF-8 that says so, and for plain text. */
static bool is_text(const char *name, unsigned flags)
{
	uint32_t character;
	size_t length;

	for (; *name; name += length) {
		length = lc_character(name, &character);
		if (!length || (length > 1 && !(flags & UTF8)))
			return false;
	}
	return true;
}

/* Removes the parts "" and "."; returns how many are left.  Sets *why if one of them is ".." or too long. */
static size_t tidy(char *name, const char **why)
{
	char *to = name;
	size_t count = 0, length;

	for (const char *from = name; *from; from += length + (from[length] == '/')) {
		length = strcspn(from, "/");
		if (length == 2 && !memcmp(from, "..", 2))
			*why = "which would lie outside of it";
		else if (length > NAME_MAX && !*why)
			*why = "a name that is longer than any path may be";
		if (!length || (length == 1 && *from == '.'))
			continue;
		memmove(to, from, length + (from[length] == '/'));
		to += length + (from[length] == '/');
		count++;
	}
	*to = 0;
	return count;
}

/* Gives the name one spelling for one place; returns what is wrong with it, or NULL. */
static const char *read_name(struct zip_entry *entry)
{
	char *name = entry->name;
	const char *why = NULL;
	bool folder = is_folder(entry), outside;
	size_t parts, first;

	if (entry->raw_size >= sizeof(entry->name))
		return "a name that is longer than any path may be";
	memcpy(name, entry->raw, entry->raw_size);
	name[entry->raw_size] = 0;
	if (!is_text(name, entry->flags))
		return "a name that is not marked as UTF-8, or is not";
	outside = !*name || *name == '/' || strlen(name) < entry->raw_size || strchr(name, '\\');
	parts = tidy(name, &why);
	if (outside || (!parts && !folder))
		return "which would lie outside of it";
	if (why)
		return why;
	/* What ended in "/." is no folder. */
	if (!folder && name[strlen(name) - 1] == '/')
		name[strlen(name) - 1] = 0;
	first = strcspn(name, "/");
	/* pip goes by how the name begins, others by the folder. */
	if (first > 4 && !memcmp(name + first - 5, ".data", 5) &&
	    (memcmp(name, entry->raw, first) || (!folder && parts < 3)))
		return "which installers put at different places";
	return NULL;
}

/* ---- the archive ---- */

#define DAMAGED "has a damaged directory, or an end record that is not of it"

static bool agrees(uint64_t few, uint64_t many, uint64_t top)
{
	return few == many || few == top;
}

/* The end record is last but for a comment of up to 65535 bytes. */
const char *directory_find(struct zip *zip, const void *bytes, size_t size)
{
	const unsigned char *end = NULL, *wide;
	uint64_t length, disks, here;

	*zip = (struct zip){ .bytes = bytes, .size = size };
	for (size_t back = END_SIZE; back <= size && back <= END_SIZE + UINT16_MAX && !end; back++)
		if (!memcmp(zip->bytes + size - back, "PK\5\6", 4))
			end = zip->bytes + size - back;
	if (!end)
		return "is no zip archive, or cut short: it has no end record";
	disks = number(end + 4, 4);
	here = number(end + 8, 2);
	zip->count = number(end + 10, 2);
	length = number(end + 12, 4);
	zip->start = number(end + 16, 4);
	zip->end = (uint64_t)(end - zip->bytes);
	if (number(end + 20, 2) != size - zip->end - END_SIZE)
		return DAMAGED;
	wide = end - WIDE_PLACE_SIZE;
	if (zip->end >= WIDE_PLACE_SIZE && !memcmp(wide, "PK\6\7", 4)) {
		if (zip->end < WIDE_PLACE_SIZE + WIDE_END_SIZE)
			return DAMAGED;
		zip->end -= WIDE_PLACE_SIZE + WIDE_END_SIZE;
		if (number(wide + 4, 4) || number(wide + 8, 8) != zip->end || number(wide + 16, 4) > 1)
			return DAMAGED;
		wide -= WIDE_END_SIZE;
		if (memcmp(wide, "PK\6\6", 4) || number(wide + 4, 8) != WIDE_END_SIZE - 12 ||
		    !agrees(here, number(wide + 24, 8), UINT16_MAX) ||
		    !agrees(zip->count, number(wide + 32, 8), UINT16_MAX) ||
		    !agrees(length, number(wide + 40, 8), UINT32_MAX) ||
		    !agrees(zip->start, number(wide + 48, 8), UINT32_MAX))
			return DAMAGED;
		disks |= number(wide + 16, 8);
		here = number(wide + 24, 8);
		zip->count = number(wide + 32, 8);
		length = number(wide + 40, 8);
		zip->start = number(wide + 48, 8);
	}
	return disks || here != zip->count || zip->start > zip->end || length != zip->end - zip->start ?
	       DAMAGED : NULL;
}

/* Reads the extra fields: numbers that need more than 32 bits.  Returns false if they are damaged, or one
 * holds another name, which some readers take. */
static bool read_extras(const struct zip_entry *entry, const unsigned char *extra, size_t size,
			uint64_t *const numbers[], size_t count)
{
	while (size >= 4) {
		size_t length = number(extra + 2, 2), used = 0;
		uint64_t kind = number(extra, 2);

		extra += 4;
		size -= 4;
		if (length > size)
			return false;
		if (kind == UNICODE_NAME && (length != entry->raw_size + 5 ||
					     memcmp(extra + 5, entry->raw, entry->raw_size)))
			return false;
		for (size_t i = 0; kind == WIDE && i < count; i++) {
			if (*numbers[i] != UINT32_MAX || length - used < 8)
				continue;
			*numbers[i] = number(extra + used, 8);
			used += 8;
		}
		extra += length;
		size -= length;
	}
	return true;
}

bool directory_read(const struct zip *zip, uint64_t offset, struct zip_entry *entry, uint64_t *next,
		    const char **why)
{
	const unsigned char *head = at(zip, offset, ENTRY_SIZE);
	uint64_t *const numbers[] = { &entry->size, &entry->packed, &entry->header };
	size_t extra;

	*why = NULL;
	if (!head || memcmp(head, "PK\1\2", 4) || number(head + 34, 2))
		return false;
	entry->raw_size = number(head + 28, 2);
	extra = number(head + 30, 2);
	*next = offset + ENTRY_SIZE + entry->raw_size + extra + number(head + 32, 2);
	if (*next > zip->end)
		return false;
	entry->raw = head + ENTRY_SIZE;
	entry->flags = (unsigned)number(head + 8, 2);
	entry->method = (unsigned)number(head + 10, 2);
	entry->crc = (uint32_t)number(head + 16, 4);
	entry->packed = number(head + 20, 4);
	entry->size = number(head + 24, 4);
	entry->header = number(head + 42, 4);
	entry->data = NULL;
	*why = read_name(entry);
	if (!read_extras(entry, entry->raw + entry->raw_size, extra, numbers, 3))
		entry->header = UINT64_MAX;	/* where none can be located */
	return true;
}

/* Bytes of the sizes that follow a member; -1 if what follows is none. */
static int behind(const struct zip *zip, const struct zip_entry *entry)
{
	const unsigned char *end = entry->data + entry->packed;
	size_t left = (size_t)(zip->bytes + zip->size - end);

	for (int width = 8; width >= 4; width -= 4)
		for (int mark = 4; mark >= 0; mark -= 4) {
			const unsigned char *said = end + mark;

			if (left >= (size_t)(mark + 4 + 2 * width) &&
			    (!mark || !memcmp(end, "PK\7\10", 4)) && number(said, 4) == entry->crc &&
			    number(said + 4, width) == entry->packed &&
			    number(said + 4 + width, width) == entry->size)
				return mark + 4 + 2 * width;
		}
	return -1;
}

bool directory_locate(const struct zip *zip, struct zip_entry *entry, uint64_t *next)
{
	const unsigned char *head = at(zip, entry->header, LOCAL_SIZE + entry->raw_size);
	bool follows = entry->flags & FOLLOWS, unsaid;
	uint64_t size, packed, extra, crc;
	uint64_t *const numbers[] = { &size, &packed };
	int more;

	if (!head || memcmp(head, "PK\3\4", 4) || number(head + 26, 2) != entry->raw_size ||
	    memcmp(head + LOCAL_SIZE, entry->raw, entry->raw_size) ||
	    ((number(head + 6, 2) ^ entry->flags) & AGREED) || number(head + 8, 2) != entry->method)
		return false;
	crc = number(head + 14, 4);
	packed = number(head + 18, 4);
	size = number(head + 22, 4);
	extra = number(head + 28, 2);
	*next = entry->header + LOCAL_SIZE + entry->raw_size + extra;
	entry->data = at(zip, *next, entry->packed);
	if (!entry->data || !read_extras(entry, head + LOCAL_SIZE + entry->raw_size, extra, numbers, 2))
		return false;
	unsaid = follows && size == packed && (!size || size == UINT32_MAX);
	if ((!unsaid && (size != entry->size || packed != entry->packed)) ||
	    (crc != entry->crc && (!follows || crc)))
		return false;
	more = follows ? behind(zip, entry) : 0;
	*next += entry->packed + (uint64_t)more;
	return more >= 0;
}

/* ---- whether all agree ---- */

/* Of 190 wheels with CUDA none unpacks to 9 times its size. */
#define MOST (512u << 20)
#define MOST_TIMES 100

/* The most bytes of what a wheel says of itself: the largest have 64 kB, 1.3 MB and 229 bytes. */
static const struct {
	const char *name;
	uint64_t most;
	const char *why;
} limits[] = {
	{ ".dist-info/METADATA", 16 << 20, "which has more than 16 MiB" },
	{ ".dist-info/RECORD", 16 << 20, "which has more than 16 MiB" },
	{ ".dist-info/WHEEL", 1 << 20, "which has more than 1 MiB" },
};

static const char *over_limit(const struct zip_entry *entry)
{
	size_t first = strcspn(entry->name, "/");

	for (size_t i = 0; first > 10 && i < LC_COUNT(limits); i++)
		if (entry->size > limits[i].most && !strcmp(entry->name + first - 10, limits[i].name))
			return limits[i].why;
	return NULL;
}

/* Judges a member, which has to begin where the last one ended; sets *next to where it ends. */
static const char *judge_entry(const struct zip *zip, struct zip_entry *entry, uint64_t *next)
{
	uint64_t follows = *next;

	if (entry->flags & UNREADABLE)
		return "which is encrypted, or patched";
	if (entry->method != ZIP_STORED && entry->method != ZIP_DEFLATED)
		return "which is compressed in a way that is not known here";
	if (entry->header < follows)
		return "which overlaps with the member before it";
	if (entry->header > follows && entry->header != UINT64_MAX)
		return "and before it what is no member";
	if (!directory_locate(zip, entry, next) || *next > zip->start)
		return "whose header is not what the directory says";
	if (entry->size > entry->packed * EXPANSION || (entry->size && is_folder(entry)) ||
	    (entry->method == ZIP_STORED && entry->size != entry->packed))
		return "which claims an impossible size";
	return over_limit(entry);
}

struct place {
	const char *key, *name;
};

static int rank(const char *text)
{
	return !*text ? 0 : *text == '/' ? 1 : 1 + (unsigned char)*text;
}

/* So that what lies in a folder directly follows a file of that name. */
static int compare(const void *one, const void *other)
{
	const char *a = ((const struct place *)one)->key, *b = ((const struct place *)other)->key;

	while (*a && *a == *b)
		a++, b++;
	return rank(a) != rank(b) ? rank(a) - rank(b) :
	       strcmp(((const struct place *)one)->name, ((const struct place *)other)->name);
}

/* A file may be neither at the place of another nor above it. */
static char *check_places(struct lc_arena *arena, struct place *list, size_t count)
{
	if (count)
		qsort(list, count, sizeof(*list), compare);
	for (size_t i = 1; i < count; i++) {
		const struct place *one = list + i - 1, *other = list + i;
		size_t length = strlen(one->key);

		if (one->name[strlen(one->name) - 1] != '/' && !strncmp(one->key, other->key, length) &&
		    (!other->key[length] || other->key[length] == '/'))
			return lc_format(arena, "holds %s and %s, which are one place", one->name,
					 other->name);
	}
	return NULL;
}

const char *directory_check(struct lc_arena *arena, const void *bytes, size_t size)
{
	struct place *places = NULL, *place;
	size_t place_count = 0;
	uint64_t offset, count = 0, next = 0, total = 0;
	struct zip_entry entry;
	struct zip zip;
	const char *why;

	why = directory_find(&zip, bytes, size);
	if (why)
		return why;
	for (offset = zip.start; offset < zip.end; count++) {
		if (!directory_read(&zip, offset, &entry, &offset, &why))
			return DAMAGED;
		why = why ? why : judge_entry(&zip, &entry, &next);
		if (why)
			return lc_format(arena, "holds %.*s, %s", (int)entry.raw_size,
					 (const char *)entry.raw, why);
		total += entry.size;
		place = *entry.name ? lc_grow(arena, &places, &place_count, sizeof(*place)) : NULL;
		if (!place)
			continue;
		place->name = lc_text(arena, entry.name);
		place->key = path_in_site(place->name);
		if (!place->key)	/* whatever the folder is called, pip installs from it */
			place->key = lc_format(arena, ".data%s", strchr(place->name, '/'));
	}
	if (count != zip.count || next != zip.start)
		return DAMAGED;
	if (total > MOST && total > (uint64_t)MOST_TIMES * size)
		return "unpacks to more than 512 MiB and 100 times its size";
	return check_places(arena, places, place_count);
}
