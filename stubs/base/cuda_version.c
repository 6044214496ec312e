/* SPDX-License-Identifier: MIT */
/* cuda_version.c - which display drivers run newer toolkits of their major */
#include "cuda_version.h"

#include <stddef.h>

/* "Minor version compatibility" in NVIDIA's CUDA Compatibility guide. */
static const struct { int major, branch; } compatibilities[] = {
	{ 11, 450 },
	{ 12, 525 },
	{ 13, 580 },
};

int lc_compatible_branch(int major)
{
	for (size_t i = 0; i < sizeof(compatibilities) / sizeof(*compatibilities); i++)
		if (compatibilities[i].major == major)
			return compatibilities[i].branch;
	return 0;
}
