/* SPDX-License-Identifier: MIT */
/*
 * note.h - which libraries an object may open while it runs, and who has them
 *
 * DT_NEEDED does not name what dlopen() is asked for.  An ELF note does (UAPI.12,
 * `.note.dlopen`): packaging tools read it and suggest the packages that have
 * these libraries.  Generated code takes the names from the table that the search
 * uses; code that opens something else has its note beside that table.
 *
 * PyPI's packages of a library have a note of their own: published readers know the
 * keys of the first alone.  `lazycuda retarget` reads both.
 */
#ifndef NOTE_H
#define NOTE_H

#include <stdint.h>

#define LC_NOTE_DLOPEN 0x407c0c0a
#define LC_NOTE_PACKAGES 1

/* One thing to open, for the JSON array of a note.  `sonames` is "\"a.so.2\", \"a.so.1\"",
 * the newest first: any of them will do. */
#define LC_DLOPEN(sonames, feature, description) \
	"{\"soname\":[" sonames "],\"feature\":\"" feature "\",\"description\":\"" description \
	"\",\"priority\":\"suggested\"}"

/* A note of this file that is a JSON array. */
#define LC_NOTE(name, place, said_by, kind, list) \
	static const struct { \
		uint32_t owner_size, text_size, type; \
		char owner[(sizeof(said_by) + 3) / 4 * 4]; \
		char text[(sizeof("[" list "]") + 3) / 4 * 4]; \
	} lc_note_##name __attribute__((used, aligned(4), section(".note." place))) = { \
		sizeof(said_by), sizeof("[" list "]"), kind, said_by, "[" list "]" \
	};

/* One LC_DLOPEN, or several with "," between them. */
#define LC_DLOPEN_NOTE(name, list) LC_NOTE(name, "dlopen", "FDO", LC_NOTE_DLOPEN, list)

/* "\"nvidia-cuda-runtime\"", or several: without the -cu12 of some CUDA. */
#define LC_PACKAGE_NOTE(list) LC_NOTE(packages, "lazycuda", "lazycuda", LC_NOTE_PACKAGES, list)

#endif
