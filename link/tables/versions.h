/* SPDX-License-Identifier: MIT */
/*
 * versions.h - what each version of toolkit, linker and driver is and takes
 *
 * Tables of what was measured on every public nvJitLink and nvrtc, 11.7 to
 * 13.5, and rules for what is newer than the tables.  Versions are as in
 * lazycuda_link.h, 12090 for 12.9.
 */
#ifndef LINK_VERSIONS_H
#define LINK_VERSIONS_H

#include <stdbool.h>

#include "../../include/lazycuda_link.h"

#define LK_CUDA(major, minor) (1000 * (major) + 10 * (minor))
#define LK_CUDA_MAJOR(version) ((version) / 1000)
#define LK_CUDA_MINOR(version) ((version) % 1000 / 10)

/* "12.9" into `text`; "none" and "unknown" for those. */
#define LK_VERSION_TEXT 16
const char *lk_version_text(int version, char text[LK_VERSION_TEXT]);

/* "12.9", "12.9.86", "12" (12.0); false if it is none.  Nothing may follow. */
bool lk_version_parse(const char *text, int *version);

/* The version at the start of a text, up to three numbers of which the third is
 * not kept, and how many there were.  Where the text goes on, or NULL if it is
 * none; a version is at most 999.99. */
const char *lk_version_scan(const char *text, int *version, int *numbers);

/* The first toolkit that knows a PTX ISA, 88 -> 12090; for an ISA newer than
 * the table the next one that could: 96 -> 13060, 100 -> 14000.  The oldest is
 * 11.0, also for what was before it.  NONE for an ISA that is not known (0). */
int lk_cuda_of_isa(int isa);
/* The newest PTX ISA that a toolkit, linker or driver of this version knows; 0
 * for one before 11.0, and for NONE and UNKNOWN. */
int lk_isa_of_cuda(int cuda);

/* The toolkit of LTO-IR by its version bytes as lazycuda_entry has them: the
 * first whose linker reads it, which for bytes newer than the table is the next
 * one that could.  0 if they do not tell: obfuscated LTO-IR shows its
 * container's version alone, and `ir` is 0. */
int lk_cuda_of_ltoir(int container, int ir);
/* The range of toolkits that the container's version leaves open; both are the
 * next one that could read it where no toolkit writes that version. */
void lk_cuda_range_of_container(int container, int *oldest, int *newest);

/* Whether nvJitLink of this version takes ZSTD and obfuscated entries, and
 * whether it says its version and has names without one (12.3). */
#define LK_NVJITLINK_ZSTD LK_CUDA(12, 4)
#define LK_NVJITLINK_OLDEST LK_CUDA(12, 3)

/* The display-driver branch that minor-version compatibility of this CUDA major
 * needs (450, 525, 580); 0 for a major that the table has not. */
int lk_branch_of_major(int major);
/* The CUDA version that a display driver's branch supports, 580 -> 13000; of a
 * branch that the table has not, the one before it counts.  0: older than all. */
int lk_cuda_of_branch(int branch);

/* ---- which versions go together; all are known ones ---- */

/* Whether a linker may be given what a compiler has made. */
enum lk_reading {
	LK_READS,
	LK_TOO_NEW,		/* the linker is the older one */
	LK_CROSS_MAJOR		/* LTO-IR of an older major */
};

/*
 * By NVIDIA's documentation: a linker reads what is not newer than itself, and
 * LTO-IR of its own major alone.  `across_majors` allows LTO-IR of an older one
 * from 12.0 on; that of 11 nothing reads.  `kind` is PTX, CUBIN or LTOIR.
 */
enum lk_reading lk_linker_reads(enum lazycuda_kind kind, int producer, int linker,
				bool across_majors);

/* Whether a driver runs a runtime, or loads a cubin, of a toolkit. */
enum lk_running {
	LK_RUNS,
	LK_MAJOR_TOO_OLD,	/* the driver is for an older CUDA major */
	LK_BRANCH_TOO_OLD,	/* for minor-version compatibility */
	LK_BRANCH_UNKNOWN	/* it depends on the branch, and nobody knows that, or what
				   the major needs */
};

/* `branch` is 0 where it is not known. */
enum lk_running lk_driver_runs(int driver, int branch, int toolkit);

/* ---- user constraints ---- */

/*
 * Whether a version satisfies ">=13.2,<14": any number of ==, !=, >=, <=, <, >,
 * ~= and ==12.*, !=12.*, all of which have to hold.  1, 0, or -1 for text that
 * is no constraint, and then *wrong points to where in it.
 *
 * These are Python's version specifiers (PEP 440) for plain releases: a missing
 * minor is 0, so that "==12" is 12.0 alone, and "~=13.2" is ">=13.2,==13.*".  A
 * toolkit's version has two numbers here: a third one is allowed, and not looked
 * at, so that 13.2 satisfies "==13.2.1" and not "<13.2.1"; only "~=13.2.1" takes
 * from it that the minor is fixed.  No text at all holds.
 */
int lk_constraint_holds(const char *constraint, int version, const char **wrong);

#endif
