/* SPDX-License-Identifier: MIT */
/*
 * note.h - ELF notes: the libraries that an object may dlopen(), and their packages
 *
 * DT_NEEDED does not list the arguments of dlopen().  An ELF note does (UAPI.12,
 * `.note.dlopen`): packaging tools read it and suggest the packages with these
 * libraries.  Generated code takes the names from the table that the search uses;
 * code that opens something else defines a second note.
 *
 * The PyPI packages of a library are in a note of their own, because published
 * readers only know the keys of `.note.dlopen`.  `lazycuda retarget` reads both.
 */
#ifndef NOTE_H
#define NOTE_H

#include <stdint.h>

#define LC_NOTE_DLOPEN 0x407c0c0a
#define LC_NOTE_PACKAGES 1

/* One library to open, an object in the note's JSON array.  `sonames` is
 * "\"a.so.2\", \"a.so.1\"", the newest first; any one of them will do. */
#define LC_DLOPEN(sonames, feature, description) \
	"{\"soname\":[" sonames "],\"feature\":\"" feature "\",\"description\":\"" description \
	"\",\"priority\":\"suggested\"}"

/* A note in this object file whose text is a JSON array. */
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

/* "\"nvidia-cuda-runtime\"", or several, without a suffix for a CUDA major such as -cu12. */
#define LC_PACKAGE_NOTE(list) LC_NOTE(packages, "lazycuda", "lazycuda", LC_NOTE_PACKAGES, list)

#endif
