/* SPDX-License-Identifier: MIT */
/*
 * versions.h - what each version of toolkit, linker and driver is and takes
 *
 * Tables of what was measured on every public nvJitLink and nvrtc, 11.7 to
 * 13.5, and rules for versions newer than the tables.  Versions are numbered as
 * in lazycuda_link.h, 12090 for 12.9.
 */
#ifndef LINK_VERSIONS_H
#define LINK_VERSIONS_H

#include <stdbool.h>

#include "../../include/lazycuda_link.h"
#include "../../stubs/base/constraint.h"
#include "../../stubs/base/cuda_version.h"

/* Whether it is a version, NONE or UNKNOWN. */
static inline bool lk_is_version(int version)
{
	return version >= 1000 || version == LAZYCUDA_VERSION_NONE ||
	       version == LAZYCUDA_VERSION_UNKNOWN;
}

/* Writes "12.9" to `text`, or "none" for NONE and "unknown" for UNKNOWN. */
#define LK_VERSION_TEXT 16
const char *lk_version_text(int version, char text[LK_VERSION_TEXT]);

/* The toolkit after this one in the table, 12090 after 12080; 0 after the newest. */
int lk_next_cuda(int cuda);
/* The newest toolkit in the table; the other tables know as much of it as this one. */
int lk_newest_cuda(void);

/* Reads "12.9", "12.9.86" or "12" (12.0), which nothing may follow; false for any
 * other text. */
bool lk_version_parse(const char *text, int *version);

/* The first toolkit that knows a PTX ISA, 88 -> 12090; for an ISA newer than the
 * table, the first that could: 96 -> 13060, 100 -> 14000.  The oldest is 11.0, also
 * for an ISA from before it.  NONE for an ISA that is not known (0). */
int lk_cuda_of_isa(int isa);
/* The newest PTX ISA that a toolkit, linker or driver of this version knows; 0
 * for one before 11.0, and for NONE and UNKNOWN. */
int lk_isa_of_cuda(int cuda);

/* The toolkit of LTO-IR, by its version bytes as in lazycuda_entry: the first whose
 * linker reads it; for bytes newer than the table, the version after the newest
 * there.  0 if the bytes do not tell: obfuscated LTO-IR shows only its container's
 * version, and `ir` is 0. */
int lk_cuda_of_ltoir(int container, int ir);
/* The range of toolkits that may have written a container of this version.  If no
 * toolkit in the table writes the version, both are the first that could read it. */
void lk_cuda_range_of_container(int container, int *oldest, int *newest);

/* ELF ABI versions of cubins. */
#define LK_ABI_OLDEST 7
#define LK_ABI_NEWEST 8

/* The toolkit of a cubin: the one that it names, or the first that writes its ABI version if that
 * is later; 0 if nothing tells. */
int lk_cuda_of_cubin(const struct lazycuda_entry *entry);

/* The first nvJitLink that takes ZSTD and obfuscated entries (12.4), and the first
 * that reports its version and has names without one (12.3). */
#define LK_NVJITLINK_ZSTD LC_CUDA(12, 4)
#define LK_NVJITLINK_OLDEST LC_CUDA(12, 3)

/* The CUDA version that a display driver's branch supports, 580 -> 13000.  A branch
 * that is not in the table counts as the one before it; 0 if it is older than all. */
int lk_cuda_of_branch(int branch);

/* The version of a library that dlopen() has opened, "libnvrtc" say, by its own answer or
 * names; 0 if it does not tell. */
int lk_library_version(const char *name, void *library);

/* ---- which versions go together; each has to be known ---- */

/* Whether a linker may be given what a compiler has made. */
enum lk_reading {
	LK_READS,
	LK_TOO_NEW,		/* the linker is the older one */
	LK_CROSS_MAJOR		/* LTO-IR of an older major */
};

/*
 * By NVIDIA's documentation, a linker reads code that is not newer than itself, and
 * LTO-IR of its own major only.  `across_majors` allows LTO-IR of an older major
 * from 12.0 on; nothing reads LTO-IR of 11.  `kind` is PTX, CUBIN or LTOIR.
 */
enum lk_reading lk_linker_reads(enum lazycuda_kind kind, int producer, int linker,
				bool across_majors);

#endif
