/* SPDX-License-Identifier: MIT */
/* versions.c - what each version of toolkit, linker and driver is and takes */
#include <string.h>

#include "text.h"
#include "versions.h"
#include "../../stubs/base/count.h"

/*
 * One row for each toolkit, oldest first; 0 where nothing is known.  `isa` and the
 * versions of LTO-IR were measured from 11.7 on; the compiler writes these versions
 * of LTO-IR, and the linker reads no newer ones.  `branch` is that of the display
 * driver that came with the toolkit.  There is no public toolkit 12.7; drivers of
 * that version exist.
 */
static const struct toolkit {
	int cuda;
	int isa;		/* PTX, 88 for 8.8 */
	int branch;
	int container, ir;	/* of LTO-IR, major * 1000 + minor */
} toolkits[] = {
	{ LC_CUDA(11, 0), 70, 445, 0, 0 },
	{ LC_CUDA(11, 1), 71, 455, 0, 0 },
	{ LC_CUDA(11, 2), 72, 460, 0, 0 },
	{ LC_CUDA(11, 3), 73, 465, 0, 0 },
	{ LC_CUDA(11, 4), 74, 470, 0, 0 },
	{ LC_CUDA(11, 5), 75, 495, 0, 0 },
	{ LC_CUDA(11, 6), 76, 510, 0, 0 },
	{ LC_CUDA(11, 7), 77, 515, 1054, 2047 },
	{ LC_CUDA(11, 8), 78, 520, 1054, 2048 },
	{ LC_CUDA(12, 0), 80, 525, 1057, 2051 },
	{ LC_CUDA(12, 1), 81, 530, 1057, 2053 },
	{ LC_CUDA(12, 2), 82, 535, 1059, 2058 },
	{ LC_CUDA(12, 3), 83, 545, 1060, 2063 },
	{ LC_CUDA(12, 4), 84, 550, 1061, 2071 },
	{ LC_CUDA(12, 5), 85, 555, 1061, 2083 },
	{ LC_CUDA(12, 6), 85, 560, 1062, 2084 },
	{ LC_CUDA(12, 7), 86, 565, 0, 0 },
	{ LC_CUDA(12, 8), 87, 570, 1064, 2089 },
	{ LC_CUDA(12, 9), 88, 575, 1064, 2093 },
	{ LC_CUDA(13, 0), 90, 580, 1065, 2098 },
	{ LC_CUDA(13, 1), 91, 590, 1066, 2107 },
	{ LC_CUDA(13, 2), 92, 595, 1066, 2114 },
	{ LC_CUDA(13, 3), 93, 610, 1067, 2115 },
	{ LC_CUDA(13, 4), 94, 615, 1067, 2120 },
	{ LC_CUDA(13, 5), 95, 0, 1067, 2131 },
};

#define NEWEST (&toolkits[LC_COUNT(toolkits) - 1])
/* The first version that could know something that no toolkit in the table does. */
#define NEXT_CUDA (NEWEST->cuda + 10)

/* ---- text ---- */

const char *lk_version_text(int version, char text[LK_VERSION_TEXT])
{
	if (version > 0)
		lk_put_number(stpcpy(lk_put_number(text, LC_CUDA_MAJOR(version)), "."),
			      LC_CUDA_MINOR(version));
	else
		stpcpy(text, version == LAZYCUDA_VERSION_NONE ? "none" : "unknown");
	return text;
}

int lk_next_cuda(int cuda)
{
	for (size_t i = 0; i < LC_COUNT(toolkits); i++)
		if (toolkits[i].cuda > cuda)
			return toolkits[i].cuda;
	return 0;
}

int lk_newest_cuda(void)
{
	return NEWEST->cuda;
}

bool lk_version_parse(const char *text, int *version)
{
	int found, numbers;
	const char *end = lc_version_scan(text, &found, &numbers);

	if (!end || *end)
		return false;
	*version = found;
	return true;
}

/* ---- PTX ---- */

/*
 * Since 13.0 the ISA of CUDA M.m is (M - 4).m, and that is the rule for versions
 * newer than the table: PTX 9.6 is for 13.6, and PTX 10.0 for 14.0.
 */
#define ISA_BEHIND 4

int lk_cuda_of_isa(int isa)
{
	if (isa <= 0)
		return LAZYCUDA_VERSION_NONE;
	for (size_t i = 0; i < LC_COUNT(toolkits); i++)
		if (toolkits[i].isa >= isa)
			return toolkits[i].cuda;
	return LC_CUDA(isa / 10 + ISA_BEHIND, isa % 10);
}

int lk_isa_of_cuda(int cuda)
{
	const struct toolkit *toolkit = NEWEST;

	if (cuda > NEWEST->cuda) {
		/* An ISA has only one digit after the point here. */
		int minor = LC_CUDA_MINOR(cuda) < 9 ? LC_CUDA_MINOR(cuda) : 9;

		return 10 * (LC_CUDA_MAJOR(cuda) - ISA_BEHIND) + minor;
	}
	/* Newest first, since most versions in use are new. */
	while (toolkit > toolkits && toolkit->cuda > cuda)
		toolkit--;
	return toolkit->cuda <= cuda ? toolkit->isa : 0;
}

/* ---- LTO-IR ---- */

/* The first toolkit that reads these versions of the container and of the IR; a
 * version of 0 rules out nothing. */
static int first_reader(int container, int ir)
{
	for (size_t i = 0; i < LC_COUNT(toolkits); i++)
		if (toolkits[i].ir && toolkits[i].container >= container && toolkits[i].ir >= ir)
			return toolkits[i].cuda;
	return NEXT_CUDA;
}

int lk_cuda_of_ltoir(int container, int ir)
{
	/* For a linker neither version may be newer than its own. */
	return ir > 0 ? first_reader(container, ir) : 0;
}

void lk_cuda_range_of_container(int container, int *oldest, int *newest)
{
	*oldest = *newest = first_reader(container, 0);
	for (size_t i = 0; i < LC_COUNT(toolkits); i++)
		if (toolkits[i].container == container && container)
			*newest = toolkits[i].cuda;
}

/* ---- cubins ---- */

/* The ABI is 8 from 13.0 on, and from 12.8 on for the architectures that came with it. */
#define ABI_NEW_SINCE LC_CUDA(12, 8)
#define ABI_NEW_FOR_ALL LC_CUDA(13, 0)
#define ABI_NEW_ARCH 100

int lk_cuda_of_cubin(const struct lazycuda_entry *entry)
{
	int by_abi = 0;

	if (entry->abi >= LK_ABI_NEWEST)
		by_abi = entry->arch >= ABI_NEW_ARCH ? ABI_NEW_SINCE : ABI_NEW_FOR_ALL;
	return entry->toolkit > by_abi ? entry->toolkit : by_abi;
}

/* ---- display drivers ---- */

int lk_cuda_of_branch(int branch)
{
	int cuda = 0;

	/* A branch between two rows is known only to be newer than the first of them. */
	for (size_t i = 0; i < LC_COUNT(toolkits); i++)
		if (toolkits[i].branch && toolkits[i].branch <= branch)
			cuda = toolkits[i].cuda;
	return cuda;
}

/* A version with a first number below this is CUDA's. */
#define FIRST_BRANCH 100

/* The branch of a display driver's version, "550.163.01"; 0 if it is none. */
static int branch_of(const char *text)
{
	int first = 0;

	for (int number = 0; number < 3; number++) {
		const char *digits = text;

		while (*text >= '0' && *text <= '9' && text - digits < 4)
			text++;
		if (text == digits)
			return 0;
		for (; !number && digits < text; digits++)
			first = 10 * first + *digits - '0';
		if (!*text)
			return first >= FIRST_BRANCH ? first : 0;
		if (*text++ != '.')
			return 0;
	}
	return 0;
}

int lazycuda_read_driver(const char *text, int *version, int *branch)
{
	int cuda = LAZYCUDA_VERSION_NONE, own = 0;

	if (!text)
		return -1;
	if (!strcmp(text, "unknown"))
		cuda = LAZYCUDA_VERSION_UNKNOWN;
	else if (strcmp(text, "none")) {
		own = branch_of(text);
		cuda = lk_cuda_of_branch(own);
		if (own ? !cuda : !lk_version_parse(text, &cuda) ||
				  cuda >= LC_CUDA(FIRST_BRANCH, 0))
			return -1;
	}
	*version = cuda;
	*branch = own;
	return 0;
}

/* ---- which versions go together ---- */

enum lk_reading lk_linker_reads(enum lazycuda_kind kind, int producer, int linker,
				bool across_majors)
{
	if (producer > linker)
		return LK_TOO_NEW;
	if (kind != LAZYCUDA_KIND_LTOIR || LC_CUDA_MAJOR(producer) == LC_CUDA_MAJOR(linker))
		return LK_READS;
	return across_majors && producer >= LC_CUDA(12, 0) ? LK_READS : LK_CROSS_MAJOR;
}
