/* SPDX-License-Identifier: MIT */
/*
 * requirement.h - the lines of a wheel's METADATA that require other packages
 *
 *	Requires-Dist: cuda-toolkit[nvrtc]==13.2.*; sys_platform == "linux"
 */
#ifndef LINK_REQUIREMENT_H
#define LINK_REQUIREMENT_H

#include <stdbool.h>
#include <stddef.h>

/* Machines on which a requirement counts. */
enum {
	LK_ON_X86_64 = 1,
	LK_ON_AARCH64 = 2,
	LK_ON_ALL = LK_ON_X86_64 | LK_ON_AARCH64,
#ifdef __aarch64__
	LK_ON_THIS = LK_ON_AARCH64
#else
	LK_ON_THIS = LK_ON_X86_64
#endif
};

struct lk_requirement {
	char text[8192];	/* a longer line requires nothing */
	const char *version;	/* in it: what follows the name and its extras, without the marker */
	unsigned machines;	/* on which it counts always, by its marker */
};

/* Reads a line.  False if it does not require this package, named like "cuda-toolkit". */
bool lk_requirement_read(const char *line, size_t size, const char *package,
			 struct lk_requirement *requirement);

#endif
