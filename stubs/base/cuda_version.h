/* SPDX-License-Identifier: MIT */
/*
 * cuda_version.h - the two numbers of a CUDA version, and minor-version compatibility
 *
 * Tables and stubs hold an lc_version, 1209 for 12.9, which fits in 16 bits.  CUDA's
 * functions, the public headers and the dispatch module speak CUDA's own number, 12090.
 * Stubs of several releases read each other's lc_version, and programs were compiled with
 * the other number, so neither can change.  Only this header converts.
 */
#ifndef CUDA_VERSION_H
#define CUDA_VERSION_H

#include "../entry/stub.h"

#define LC_NUMBER(major, minor) (1000 * (major) + 10 * (minor))
#define LC_NUMBER_MAJOR(number) ((number) / 1000)
#define LC_NUMBER_MINOR(number) ((number) % 1000 / 10)

/* 1209 for 12090.  0 for a number that is no version of CUDA. */
static inline lc_version lc_version_of_number(int number)
{
	if (number < LC_NUMBER(1, 0) || LC_NUMBER_MAJOR(number) >= UINT16_MAX / 100)
		return 0;
	return LC_VERSION(LC_NUMBER_MAJOR(number), LC_NUMBER_MINOR(number));
}

/* 12090 for 1209. */
static inline int lc_number_of_version(lc_version version)
{
	return LC_NUMBER(LC_MAJOR(version), LC_MINOR(version));
}

/* The branch of the display driver from which a driver of a CUDA major runs all toolkits of
 * that major, 525 for 12; 0 for a major that is not in the table. */
int lc_compatible_branch(int major);

#endif
