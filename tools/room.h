/* SPDX-License-Identifier: MIT */
/* room.h - memory for the bytes of a large file, few of which are needed at once */
#ifndef ROOM_H
#define ROOM_H

#include <stdbool.h>
#include <stddef.h>

struct room {
	unsigned char *bytes;
	size_t size;
	bool in_file;		/* room_forget() may be called on it */
};

/* Allocates room->size bytes, zeroed; false on failure. */
bool room_take(struct room *room);
void room_return(struct room *room);

/* Gives back the pages of a mapped file between two addresses.  The next access reads them
 * from the file again. */
void room_forget(const unsigned char *from, const unsigned char *to);

#endif
