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
#include "directory.h"
#include "progress.h"
#include "buffer.h"

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
static void note_portion(const struct zip *zip, const struct buffer *buffer, unsigned long *crc,
			 const struct stream *stream, const unsigned char *in,
			 const unsigned char *out)
{
	*crc = zlib.crc(*crc, out, (unsigned)(stream->next_out - out));
	buffer_forget(in, stream->next_in);
	if (buffer->in_file)
		buffer_forget(out, stream->next_out);
	progress_at((size_t)(stream->next_in - zip->bytes));
}

/* Inflates `in` into the buffer.  Returns true if the result fills it exactly, and sets *crc.
 * Without `crc` only the beginning is inflated: true if it fills the buffer. */
static bool inflate_into(const struct zip *zip, const unsigned char *in, size_t in_size,
			 const struct buffer *buffer, unsigned long *crc)
{
	struct stream stream = { .next_in = in, .next_out = buffer->bytes };
	int status = Z_OK;

	if (zlib.init(&stream, -15, "1.2.11", sizeof(stream)) != Z_OK)
		return false;
	while (status == Z_OK) {
		const unsigned char *from = stream.next_in;
		unsigned char *to = stream.next_out;
		size_t left = buffer->size - (size_t)(to - buffer->bytes);

		stream.avail_in = portion(in_size - (size_t)(from - in));
		stream.avail_out = portion(left);
		if (!crc && !left)
			break;
		status = zlib.inflate(&stream, Z_NO_FLUSH);
		if (crc)
			note_portion(zip, buffer, crc, &stream, from, to);
		if (status == Z_OK && from == stream.next_in && to == stream.next_out)
			break;	/* no progress: more data than the size says */
	}
	zlib.end(&stream);
	return (!crc || status == Z_STREAM_END) &&
	       (size_t)(stream.next_out - buffer->bytes) == buffer->size;
}

/* ---- members ---- */

/* Inflates only the first bytes. */
static bool copy_start(const struct zip *zip, const struct zip_entry *entry, void *start, size_t size)
{
	struct buffer buffer = { .bytes = start, .size = size };

	if (entry->size < size)
		return false;
	if (entry->method == ZIP_DEFLATED)
		return zlib_load() && inflate_into(zip, entry->data, entry->packed, &buffer, NULL);
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
	struct buffer buffer = { .size = entry->size };
	unsigned long crc = 0;
	const char *why = NULL;

	member->size = entry->size;
	if (entry->method == ZIP_STORED) {
		member->bytes = entry->data;
		each(member, data);
		return NULL;
	}
	if (!buffer_allocate(&buffer))
		return "is too large for this machine's memory";
	if (!inflate_into(zip, entry->data, entry->packed, &buffer, &crc) ||
	    crc != entry->crc) {
		why = "is damaged in the archive: it does not decompress to what it should";
	} else {
		member->bytes = buffer.bytes;
		each(member, data);
	}
	buffer_free(&buffer);
	return why;
}

/* ---- the archive ---- */

/* Reads the entry at *offset, or the first after it, that is a file's, and sets *offset to what follows;
 * *entry has its place.  Returns false after the last. */
static bool next_file(const struct zip *zip, uint64_t *offset, struct zip_entry *entry, uint64_t *place)
{
	const char *why = NULL;
	uint64_t end;

	while (!why && *offset < zip->end) {
		*place = *offset;
		if (!directory_read(zip, *offset, entry, offset, &why))
			return false;
		if (!why && entry->raw[entry->raw_size - 1] != '/' && directory_locate(zip, entry, &end))
			return true;
	}
	return false;
}

void zip_names(const void *bytes, size_t size,
	       void (*each)(const char *name, uint64_t entry, void *data), void *data)
{
	uint64_t offset, place;
	struct zip_entry entry;
	struct zip zip;

	if (directory_find(&zip, bytes, size))
		return;
	for (offset = zip.start; next_file(&zip, &offset, &entry, &place);)
		each(entry.name, place, data);
}

bool zip_start(const void *bytes, size_t size, uint64_t at, void *start, size_t wanted)
{
	struct zip_entry entry;
	struct zip zip;

	return !directory_find(&zip, bytes, size) && next_file(&zip, &at, &entry, &at) &&
	       copy_start(&zip, &entry, start, wanted);
}

void zip_read_one(const void *bytes, size_t size, bool (*wanted)(const char *name),
		  void (*each)(const struct zip_member *member, void *data), void *data)
{
	uint64_t offset, place;
	struct zip_entry entry;
	struct zip_member member = { .name = entry.name };
	struct zip zip;

	if (directory_find(&zip, bytes, size))
		return;
	for (offset = zip.start; next_file(&zip, &offset, &entry, &place);)
		if (wanted(entry.name)) {
			if (entry.method == ZIP_STORED || zlib_load())
				hand_out(&zip, &entry, &member, each, data);
			return;
		}
}

const char *zip_read(const void *bytes, size_t size, bool (*wanted)(const char *name),
		     void (*each)(const struct zip_member *member, void *data), void *data)
{
	uint64_t offset, place;
	struct zip_entry entry;
	struct zip zip;

	if (directory_find(&zip, bytes, size))
		return NULL;	/* as directory_check() has said */
	for (offset = zip.start; next_file(&zip, &offset, &entry, &place);) {
		struct zip_member member = { .name = entry.name };

		if (entry.method == ZIP_DEFLATED && !zlib_load())
			return "is compressed, and libz.so.1 is not installed to decompress it;"
			       " unpack the wheel, or install zlib";
		if ((wanted && wanted(entry.name)) || is_elf(&zip, &entry))
			member.error = hand_out(&zip, &entry, &member, each, data);
		if (member.error)
			each(&member, data);
		buffer_forget(entry.data, entry.data + entry.packed);
	}
	return NULL;
}
