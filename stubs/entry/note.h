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

#include "stub.h"

#define LC_NOTE_DLOPEN 0x407c0c0a
#define LC_NOTE_PACKAGES 1
#define LC_NOTE_RECORD 2	/* of an embedded stub */

/* One library to open, an object in the note's JSON array.  `sonames` is
 * "\"a.so.2\", \"a.so.1\"", the newest first; any one of them will do. */
#define LC_DLOPEN(sonames, feature, description) \
	"{\"soname\":[" sonames "],\"feature\":\"" feature "\",\"description\":\"" description \
	"\",\"priority\":\"suggested\"}"

/* clang's address sanitizer puts something behind each variable, and a note would end too early. */
#ifdef __clang__
#define LC_AS_IT_IS __attribute__((no_sanitize("address")))
#else
#define LC_AS_IT_IS
#endif

/* A note in this object file whose text is a JSON array. */
#define LC_NOTE(place, said_by, kind, list) LC_NOTE_AT(__LINE__, place, said_by, kind, list)
#define LC_NOTE_AT(line, place, said_by, kind, list) LC_NOTE_CALLED(line, place, said_by, kind, list)
#define LC_NOTE_CALLED(line, place, said_by, kind, list) \
	static const struct { \
		uint32_t owner_size, text_size, type; \
		char owner[(sizeof(said_by) + 3) / 4 * 4]; \
		char text[(sizeof("[" list "]") + 3) / 4 * 4]; \
	} lc_note_##line LC_AS_IT_IS __attribute__((used, aligned(4), section(".note." place))) = { \
		sizeof(said_by), sizeof("[" list "]"), kind, said_by, "[" list "]" \
	};

/* One LC_DLOPEN, or several with "," between them. */
#define LC_DLOPEN_NOTE(list) LC_NOTE("dlopen", "FDO", LC_NOTE_DLOPEN, list)

/* "\"nvidia-cuda-runtime\"", or several, without a suffix for a CUDA major such as -cu12. */
#define LC_PACKAGE_NOTE(list) LC_NOTE("lazycuda", "lazycuda", LC_NOTE_PACKAGES, list)

/*
 * The record of an embedded stub (loader/peers.h): how far it and the object's ELF header are from these
 * two words.  Whoever moves notes, as patchelf does, moves both, and their difference stays.
 *
 * Behind them is what audit and retarget say of it: "0.1.0 cudart 12 12 cudaFree cudaMalloc", the release,
 * the library, the CUDA of its callers and what the library calls that, and the functions; none: all.
 */
#define LC_RECORD_NOTE(record, says) __asm__( \
	".pushsection .note.lazycuda.record,\"a\",%note\n" \
	".hidden __ehdr_start\n" \
	".balign 4\n" \
	".long 9, 2f - 1f, 2\n" \
	".asciz \"lazycuda\"\n" \
	".balign 4\n" \
	"1:\n" \
	".long " record " - .\n" \
	".long __ehdr_start - .\n" \
	".asciz \"" says "\"\n" \
	"2:\n" \
	".balign 4\n" \
	".popsection\n");

#endif
