/* SPDX-License-Identifier: MIT */
/* prune.h - leaves out of a stub what callers of a few functions do not need */
#ifndef PRUNE_H
#define PRUNE_H

#include "slots.h"

/* A source of the library's room, such as "stubs/cudart/adaptors/memory.c". */
struct room_file {
	const char *path, *text;
};
typedef ARRAY(struct room_file) room_files;

/*
 * Leaves the slots that callers of one major have by these names, and marks as bare those that sources
 * mention: idle ones, which are last, if nothing that is there can call them.
 */
void prune(struct plan *plan, unsigned major, const struct list *names, const room_files *room);

/* The table of adaptors without the rows of slots that are not there. */
const char *without_idle_rows(const struct plan *plan, const char *rows);

#endif
