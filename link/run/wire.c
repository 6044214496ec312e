/* SPDX-License-Identifier: MIT */
/* wire.c - numbers, text and bytes, written to a file and read from memory */
#include "wire.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Bytes begin at a multiple of this: linkers read them as headers, where they lie. */
#define ALIGNMENT 16

static const unsigned char zeros[ALIGNMENT];

/* A write beyond RLIMIT_FSIZE ends the process by a signal. */
static bool fits(int fd, size_t length)
{
	const off_t at = lseek(fd, 0, SEEK_CUR);
	struct rlimit most;

	if (getrlimit(RLIMIT_FSIZE, &most) || at < 0 || (uint64_t)at + length <= most.rlim_cur)
		return true;
	errno = EFBIG;
	return false;
}

bool lk_write_all(int fd, const void *bytes, size_t length)
{
	if (!fits(fd, length))
		return false;
	for (size_t done = 0; done < length;) {
		const ssize_t written = write(fd, (const char *)bytes + done, length - done);

		if (!written || (written < 0 && errno != EINTR))
			return false;
		if (written > 0)
			done += (size_t)written;
	}
	return true;
}

static void write_now(struct lk_writer *writer, const void *bytes, size_t length)
{
	writer->failed = writer->failed || !lk_write_all(writer->fd, bytes, length);
}

static void append(struct lk_writer *writer, const void *bytes, size_t length)
{
	writer->length += length;
	if (length > sizeof(writer->buffer) - writer->used) {
		write_now(writer, writer->buffer, writer->used);
		writer->used = 0;
	}
	if (length > sizeof(writer->buffer)) {
		write_now(writer, bytes, length);
		return;
	}
	memcpy(writer->buffer + writer->used, bytes, length);
	writer->used += length;
}

void lk_wire_put_number(struct lk_writer *writer, uint64_t number)
{
	append(writer, &number, sizeof(number));
}

void lk_wire_put_bytes(struct lk_writer *writer, const void *bytes, size_t length)
{
	lk_wire_put_number(writer, bytes ? length : UINT64_MAX);
	if (!bytes)
		return;
	append(writer, zeros, (size_t)(-writer->length % ALIGNMENT));
	if (length)
		append(writer, bytes, length);
	append(writer, zeros, 1);
}

void lk_wire_put_text(struct lk_writer *writer, const char *text)
{
	lk_wire_put_bytes(writer, text, text ? strlen(text) : 0);
}

bool lk_wire_flush(struct lk_writer *writer)
{
	write_now(writer, writer->buffer, writer->used);
	writer->used = 0;
	return !writer->failed;
}

static const unsigned char *get(struct lk_reader *reader, uint64_t length)
{
	const unsigned char *bytes = reader->bytes + reader->at;

	if (reader->failed || length > reader->length - reader->at) {
		reader->failed = true;
		return NULL;
	}
	reader->at += (size_t)length;
	return bytes;
}

uint64_t lk_wire_get_number(struct lk_reader *reader)
{
	const unsigned char *bytes = get(reader, sizeof(uint64_t));
	uint64_t number = 0;

	if (bytes)
		memcpy(&number, bytes, sizeof(number));
	return number;
}

const void *lk_wire_get_bytes(struct lk_reader *reader, size_t *length)
{
	uint64_t size = lk_wire_get_number(reader);
	const unsigned char *bytes;

	*length = 0;
	if (size == UINT64_MAX || reader->failed)
		return NULL;
	get(reader, -(uint64_t)reader->at % ALIGNMENT);
	bytes = get(reader, size);
	if (!get(reader, 1) || bytes[size]) {
		reader->failed = true;
		return NULL;
	}
	*length = (size_t)size;
	return bytes;
}

const char *lk_wire_get_text(struct lk_reader *reader)
{
	size_t length;

	return lk_wire_get_bytes(reader, &length);
}
