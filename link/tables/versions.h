/* SPDX-License-Identifier: MIT */
/*
 * versions.h - what each version of toolkit, linker and driver is and takes
 *
 * Tables of what was measured on every public nvJitLink and nvrtc, 11.7 to
 * 13.5, and rules for versions newer than the tables.  Versions are numbered as
 * in lazycuda_link.h, 12090 for 12.9; the other number, 1209, does not occur in this room.
 */
#ifndef LINK_VERSIONS_H
#define LINK_VERSIONS_H

#include <stdbool.h>

#include "../../include/lazycuda_link.h"
#include "../../stubs/base/cuda_version.h"

#define LK_CUDA LC_NUMBER
#define LK_CUDA_MAJOR LC_NUMBER_MAJOR
#define LK_CUDA_MINOR LC_NUMBER_MINOR

/* Writes "12.9" to `text`, or "none" for NONE and "unknown" for UNKNOWN. */
#define LK_VERSION_TEXT 16
const char *lk_version_text(int version, char text[LK_VERSION_TEXT]);

/* Reads "12.9", "12.9.86" or "12" (12.0), which nothing may follow; false for any
 * other text. */
bool lk_version_parse(const char *text, int *version);

/* Reads the version at the start of a text: one to three numbers, of which the third
 * is not kept.  *numbers is how many there are.  Returns the text after the version,
 * or NULL if there is none; a version is at most 999.99. */
const char *lk_version_scan(const char *text, int *version, int *numbers);

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

/* The first nvJitLink that takes ZSTD and obfuscated entries (12.4), and the first
 * that reports its version and has names without one (12.3). */
#define LK_NVJITLINK_ZSTD LK_CUDA(12, 4)
#define LK_NVJITLINK_OLDEST LK_CUDA(12, 3)

/* The CUDA version that a display driver's branch supports, 580 -> 13000.  A branch
 * that is not in the table counts as the one before it; 0 if it is older than all. */
int lk_cuda_of_branch(int branch);

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

/* Whether a driver runs a runtime, or loads a cubin, of a toolkit. */
enum lk_running {
	LK_RUNS,
	LK_MAJOR_TOO_OLD,	/* the driver is for an older CUDA major */
	LK_BRANCH_TOO_OLD,	/* for minor-version compatibility */
	LK_BRANCH_UNKNOWN	/* it depends on the branch, and the branch, or the one that
				   the major needs, is not known */
};

/* `branch` is 0 where it is not known. */
enum lk_running lk_driver_runs(int driver, int branch, int toolkit);

/* ---- user constraints ---- */

/*
 * Returns 1 if a version satisfies a constraint such as ">=13.2,<14", 0 if not, and
 * -1 for malformed text, with *wrong, unless `wrong` is NULL, at the error.  A
 * constraint is any number of ==, !=, >=, <=, <, >, ~= and ==12.*, !=12.*, all of
 * which have to hold.
 *
 * These are Python's version specifiers (PEP 440) for plain releases: a missing
 * minor is 0, so that "==12" is 12.0 alone, and "~=13.2" is ">=13.2,==13.*".  A
 * toolkit's version has two numbers here.  A third one is allowed but ignored, so
 * that 13.2 satisfies "==13.2.1" and not "<13.2.1"; only in "~=13.2.1" does it
 * matter, where it fixes the minor.  Every version satisfies an empty text.
 */
int lk_constraint_holds(const char *constraint, int version, const char **wrong);

#endif
