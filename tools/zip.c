/* SPDX-License-Identifier: MIT */
/*
 * zip.c - reads the files in a zip archive, such as a wheel
 *
 * zlib inflates compressed members.  It is loaded at run time, as almost every system
 * has it but no program here is linked against it.  A wheel without compressed members
 * does not need it.
 *
 * Neither the wheel nor a large member stays in memory: a page is given back once it was
 * read or written, and the next access reads it from its file again.
 */
#include "zip.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../stubs/base/by_name.h"
#include "progress.h"
#include "room.h"

struct zip {
	const unsigned char *bytes;
	size_t size;
};

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

bool zip_is(const void *bytes, size_t size)
{
	return size >= 4 && (!memcmp(bytes, "PK\3\4", 4) || !memcmp(bytes, "PK\5\6", 4));
}

/* ---- zlib ---- */

/* z_stream of zlib.h, unchanged since 1995. */
struct stream {
	const unsigned char *next_in;
	unsigned avail_in;
	unsigned long total_in;
	unsigned char *next_out;
	unsigned avail_out;
	unsigned long total_out;
	const char *message;
	void *state;
	void *(*allocate)(void *, unsigned, unsigned);
	void (*release)(void *, void *);
	void *opaque;
	int data_type;
	unsigned long adler, reserved;
};

#define Z_NO_FLUSH 0
#define Z_OK 0
#define Z_STREAM_END 1

static struct {
	int (*init)(struct stream *, int bits, const char *version, int size);
	int (*inflate)(struct stream *, int flush);
	int (*end)(struct stream *);
	unsigned long (*crc)(unsigned long crc, const unsigned char *bytes, unsigned size);
} zlib;

static bool zlib_load(void)
{
	static void *handle;

	if (handle)
		return zlib.init;
	handle = lc_open_by_name("libz.so.1");
	if (!handle)
		return false;
	*(void **)&zlib.inflate = dlsym(handle, "inflate");
	*(void **)&zlib.end = dlsym(handle, "inflateEnd");
	*(void **)&zlib.crc = dlsym(handle, "crc32");
	if (zlib.inflate && zlib.end && zlib.crc)
		*(void **)&zlib.init = dlsym(handle, "inflateInit2_");
	return zlib.init;
}

/* Bytes per call of zlib, which counts in unsigned int; progress is shown between calls. */
#define PORTION (1 << 22)

static unsigned portion(size_t size)
{
	return size < PORTION ? (unsigned)size : PORTION;
}

/* Gives back the pages that zlib has read and written; its checksum has their bytes. */
static void note_portion(const struct zip *zip, const struct room *room, unsigned long *crc,
			 const struct stream *stream, const unsigned char *in,
			 const unsigned char *out)
{
	*crc = zlib.crc(*crc, out, (unsigned)(stream->next_out - out));
	room_forget(in, stream->next_in);
	if (room->in_file)
		room_forget(out, stream->next_out);
	progress_at((size_t)(stream->next_in - zip->bytes));
}

/* Inflates `in` into the room.  Returns true if the result fills it exactly, and sets *crc.
 * Without `crc` only the beginning is inflated: true if it fills the room. */
static bool inflate_into(const struct zip *zip, const unsigned char *in, size_t in_size,
			 const struct room *room, unsigned long *crc)
{
	struct stream stream = { .next_in = in, .next_out = room->bytes };
	int status = Z_OK;

	if (zlib.init(&stream, -15, "1.2.11", sizeof(stream)) != Z_OK)
		return false;
	while (status == Z_OK) {
		const unsigned char *from = stream.next_in;
		unsigned char *to = stream.next_out;
		size_t left = room->size - (size_t)(to - room->bytes);

		stream.avail_in = portion(in_size - (size_t)(from - in));
		stream.avail_out = portion(left);
		if (!crc && !left)
			break;
		status = zlib.inflate(&stream, Z_NO_FLUSH);
		if (crc)
			note_portion(zip, room, crc, &stream, from, to);
		if (status == Z_OK && from == stream.next_in && to == stream.next_out)
			break;	/* no progress: more data than the size says */
	}
	zlib.end(&stream);
	return (!crc || status == Z_STREAM_END) &&
	       (size_t)(stream.next_out - room->bytes) == room->size;
}

/* ---- members ---- */

#define STORED 0
#define DEFLATED 8

struct zip_entry {
	char name[4096];
	unsigned method, flags;
	uint32_t crc;
	uint64_t packed, size;	/* bytes in the archive, and out of it */
	uint64_t header;	/* offset of the member's own header */
	const unsigned char *data;
};

/* An extra field holds sizes and offsets that need more than 32 bits. */
static void read_zip64(struct zip_entry *entry, const unsigned char *extra, size_t size)
{
	uint64_t *const wide[] = { &entry->size, &entry->packed, &entry->header };

	while (size >= 4) {
		size_t length = number(extra + 2, 2), used = 0;
		bool zip64 = number(extra, 2) == 1;

		extra += 4;
		size -= 4;
		if (length > size)
			return;
		for (size_t i = 0; zip64 && i < 3; i++) {
			if (*wide[i] != UINT32_MAX || length - used < 8)
				continue;
			*wide[i] = number(extra + used, 8);
			used += 8;
		}
		extra += length;
		size -= length;
	}
}

/* Reads an entry of the directory and sets *next to the offset of the next one. */
static const char *read_entry(const struct zip *zip, uint64_t offset, struct zip_entry *entry,
			      uint64_t *next)
{
	const unsigned char *head = at(zip, offset, 46), *rest;
	size_t name, extra, comment;

	if (!head || memcmp(head, "PK\1\2", 4))
		return "has a damaged directory";
	name = number(head + 28, 2);
	extra = number(head + 30, 2);
	comment = number(head + 32, 2);
	rest = at(zip, offset + 46, name + extra + comment);
	if (!rest)
		return "has a damaged directory";
	if (name >= sizeof(entry->name))
		return "has a member whose name is longer than any path may be";
	memcpy(entry->name, rest, name);
	entry->name[name] = 0;
	entry->data = NULL;
	entry->flags = (unsigned)number(head + 8, 2);
	entry->method = (unsigned)number(head + 10, 2);
	entry->crc = (uint32_t)number(head + 16, 4);
	entry->packed = number(head + 20, 4);
	entry->size = number(head + 24, 4);
	entry->header = number(head + 42, 4);
	read_zip64(entry, rest + name, extra);
	*next = offset + 46 + name + extra + comment;
	return NULL;
}

/* Finds a member's data, which follows its own header. */
static const char *locate(const struct zip *zip, struct zip_entry *entry)
{
	const unsigned char *head = at(zip, entry->header, 30);
	uint64_t data;

	if (!head || memcmp(head, "PK\3\4", 4))
		return "is damaged in the archive: its header is not where it should be";
	data = entry->header + 30 + number(head + 26, 2) + number(head + 28, 2);
	entry->data = at(zip, data, entry->packed);
	if (!entry->data)
		return "is truncated in the archive";
	if (entry->flags & 1)
		return "is encrypted";
	if (entry->method != STORED && entry->method != DEFLATED)
		return "is compressed in a way that this program does not know";
	if (entry->method == STORED && entry->packed != entry->size)
		return "is damaged in the archive: its sizes differ";
	/* Deflate expands a byte to at most 1032: a larger size is an attack on memory. */
	if (entry->method == DEFLATED && entry->size / 1032 > entry->packed + 1)
		return "is damaged in the archive: it claims an impossible size";
	return NULL;
}

/* Inflates only the first bytes. */
static bool copy_start(const struct zip *zip, const struct zip_entry *entry, void *start, size_t size)
{
	struct room room = { .bytes = start, .size = size };

	if (entry->size < size)
		return false;
	if (entry->method == DEFLATED)
		return zlib_load() && inflate_into(zip, entry->data, entry->packed, &room, NULL);
	memcpy(start, entry->data, size);
	return true;
}

static bool is_elf(const struct zip *zip, const struct zip_entry *entry)
{
	unsigned char start[SELFMAG];

	return copy_start(zip, entry, start, SELFMAG) && !memcmp(start, ELFMAG, SELFMAG);
}

static const char *hand_out(const struct zip *zip, const struct zip_entry *entry,
			    struct zip_member *member,
			    void (*each)(const struct zip_member *member, void *data),
			    void *data)
{
	struct room room = { .size = entry->size };
	unsigned long crc = 0;
	const char *why = NULL;

	member->size = entry->size;
	if (entry->method == STORED) {
		member->bytes = entry->data;
		each(member, data);
		return NULL;
	}
	if (!room_take(&room))
		return "is too large for this machine's memory";
	if (!inflate_into(zip, entry->data, entry->packed, &room, &crc) ||
	    crc != entry->crc) {
		why = "is damaged in the archive: it does not decompress to what it should";
	} else {
		member->bytes = room.bytes;
		each(member, data);
	}
	room_return(&room);
	return why;
}

/* ---- the archive ---- */

/* Finds the end record, which is last except for a comment of up to 65535 bytes. */
static const char *find_directory(const struct zip *zip, uint64_t *offset, uint64_t *count)
{
	const unsigned char *end = NULL, *wide, *record;

	for (size_t back = 22; back <= zip->size && back <= 22 + UINT16_MAX && !end; back++)
		if (!memcmp(zip->bytes + zip->size - back, "PK\5\6", 4))
			end = zip->bytes + zip->size - back;
	if (!end)
		return "is a truncated wheel: its directory is missing";
	*count = number(end + 10, 2);
	*offset = number(end + 16, 4);
	wide = end - zip->bytes >= 20 ? end - 20 : NULL;
	if (!wide || memcmp(wide, "PK\6\7", 4))
		return NULL;
	record = at(zip, number(wide + 8, 8), 56);
	if (!record || memcmp(record, "PK\6\6", 4))
		return "is a damaged wheel";
	*count = number(record + 32, 8);
	*offset = number(record + 48, 8);
	return NULL;
}

void zip_names(const void *bytes, size_t size,
	       void (*each)(const char *name, uint64_t entry, void *data), void *data)
{
	struct zip zip = { bytes, size };
	uint64_t offset, count;
	const char *why = find_directory(&zip, &offset, &count);
	struct zip_entry entry;

	for (uint64_t i = 0, next; !why && i < count; i++, offset = next) {
		why = read_entry(&zip, offset, &entry, &next);
		if (!why)
			each(entry.name, offset, data);
	}
}

bool zip_start(const void *bytes, size_t size, uint64_t at, void *start, size_t wanted)
{
	struct zip zip = { bytes, size };
	struct zip_entry entry;

	return !read_entry(&zip, at, &entry, &at) && !locate(&zip, &entry) &&
	       copy_start(&zip, &entry, start, wanted);
}

void zip_read_one(const void *bytes, size_t size, bool (*wanted)(const char *name),
		  void (*each)(const struct zip_member *member, void *data), void *data)
{
	struct zip zip = { bytes, size };
	uint64_t offset, count;
	const char *why = find_directory(&zip, &offset, &count);
	struct zip_entry entry;

	for (uint64_t i = 0; !why && i < count; i++) {
		struct zip_member member = { .name = entry.name };

		why = read_entry(&zip, offset, &entry, &offset);
		if (why || !wanted(entry.name))
			continue;
		if ((entry.method == STORED || zlib_load()) && !locate(&zip, &entry))
			hand_out(&zip, &entry, &member, each, data);
		return;
	}
}

const char *zip_read(const void *bytes, size_t size, bool (*wanted)(const char *name),
		     void (*each)(const struct zip_member *member, void *data), void *data)
{
	struct zip zip = { bytes, size };
	uint64_t offset, count, left = size;
	const char *why = find_directory(&zip, &offset, &count);
	struct zip_entry entry;

	for (uint64_t i = 0; !why && i < count; i++) {
		struct zip_member member = { .name = entry.name };

		why = read_entry(&zip, offset, &entry, &offset);
		if (why || (entry.name[0] && entry.name[strlen(entry.name) - 1] == '/'))
			continue;
		if (entry.method == DEFLATED && !zlib_load())
			return "is compressed, and libz.so.1 is not installed to decompress it;"
			       " unpack the wheel, or install zlib";
		member.error = locate(&zip, &entry);
		/* Many members that share the same bytes are a zip bomb, too. */
		if (!member.error && entry.packed > left)
			return "is a damaged wheel: its members overlap";
		left -= member.error ? 0 : entry.packed;
		if (!member.error && ((wanted && wanted(entry.name)) || is_elf(&zip, &entry)))
			member.error = hand_out(&zip, &entry, &member, each, data);
		if (member.error)
			each(&member, data);
		if (entry.data)
			room_forget(entry.data, entry.data + entry.packed);
	}
	return why;
}
