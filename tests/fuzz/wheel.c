/* SPDX-License-Identifier: MIT */
/* wheel.c - fuzzing the reader of wheels */
#include "../../tools/room.h"
#include "../../tools/zip.h"

#include "fuzzing.h"

/* Of exactly that size, as copy_of() has it; what is no map of a file is not to be forgotten. */
bool room_take(struct room *room)
{
	room->bytes = calloc(1, room->size ? room->size : 1);
	return room->bytes;
}

void room_return(struct room *room)
{
	free(room->bytes);
}

void room_forget(const unsigned char *from, const unsigned char *to)
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned char *bytes = copy_of(data, size);
	uint64_t unpacked = 0;
	const char *why;

	zip_is(bytes, size);
	why = zip_read(bytes, size, NULL, see, &unpacked);
	must(!why || *why);
	/* However its members lie, no more comes out than deflate can make. */
	must(unpacked <= (size + 1) * 1032);
	free(bytes);
	return 0;
}
