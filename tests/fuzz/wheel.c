/* SPDX-License-Identifier: MIT */
/* wheel.c - fuzzing the reader of wheels */
#include "../../tools/directory.h"
#include "../../tools/buffer.h"
#include "../../tools/zip.h"

#include "fuzzing.h"

/* Of exactly that size, as copy_of() has it; what is no map of a file is not to be forgotten. */
bool buffer_allocate(struct buffer *buffer)
{
	buffer->bytes = calloc(1, buffer->size ? buffer->size : 1);
	return buffer->bytes;
}

void buffer_free(struct buffer *buffer)
{
	free(buffer->bytes);
}

void buffer_forget(const unsigned char *from, const unsigned char *to)
{
	must(from <= to);
}

static void see(const struct zip_member *member, void *data)
{
	uint64_t *unpacked = data;

	touch_text(member->name);
	must(!member->error || *member->error);
	if (member->error)
		return;
	must(member->size >= 4 && !memcmp(member->bytes, "\177ELF", 4));
	touch(member->bytes, member->size);
	*unpacked += member->size;
}

/* Of what passed, every file lies inside, and has one name. */
static void see_name(const char *name, uint64_t entry, void *data)
{
	bool *passed = data;

	(void)entry;
	touch_text(name);
	if (*passed)
		must(*name && *name != '/' && !strstr(name, "//") && strncmp(name, "../", 3) &&
		     !strstr(name, "/../") && name[strlen(name) - 1] != '/');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned char *bytes = copy_of(data, size);
	struct lc_arena arena = { .failed = false };
	const char *why = directory_check(&arena, bytes, size);
	bool passed = !why;
	uint64_t unpacked = 0;

	must(!why || *why);
	lc_arena_free(&arena);
	zip_is(bytes, size);
	zip_names(bytes, size, see_name, &passed);
	why = zip_read(bytes, size, NULL, see, &unpacked);
	must(!why || *why);
	/* However its members lie, no more comes out than deflate can make. */
	must(!passed || unpacked <= (size + 1) * 1032);
	free(bytes);
	return 0;
}
