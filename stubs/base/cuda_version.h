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

#include <stdbool.h>

#include "../entry/stub.h"

#define LC_CUDA(major, minor) (1000 * (major) + 10 * (minor))
#define LC_CUDA_MAJOR(number) ((number) / 1000)
#define LC_CUDA_MINOR(number) ((number) % 1000 / 10)

/* 1209 for 12090.  0 for a number that is no version of CUDA. */
static inline lc_version lc_version_of_number(int number)
{
	if (number < LC_CUDA(1, 0) || LC_CUDA_MAJOR(number) >= UINT16_MAX / 100)
		return 0;
	return LC_VERSION(LC_CUDA_MAJOR(number), LC_CUDA_MINOR(number));
}

/* 12090 for 1209. */
static inline int lc_number_of_version(lc_version version)
{
	return LC_CUDA(LC_MAJOR(version), LC_MINOR(version));
}

/* Reads the version at the start of a text: one to three numbers, of which the third
 * is not kept.  *numbers is how many there are.  Returns the text after the version,
 * or NULL if there is none; a version is at most 999.99. */
const char *lc_version_scan(const char *text, int *version, int *numbers);

/* The branch of the display driver from which a driver of a CUDA major runs all toolkits of
 * that major, 525 for 12; 0 for a major that is not in the table. */
int lc_compatible_branch(int major);

/* Whether a driver runs a runtime, or loads a cubin, of a toolkit. */
enum lc_running {
	LC_DRIVER_RUNS,
	LC_MAJOR_TOO_OLD,	/* the driver is for an older CUDA major */
	LC_BRANCH_TOO_OLD,	/* for minor-version compatibility */
	LC_BRANCH_UNKNOWN	/* it depends on the branch, and the driver's branch or the one
				   that the major needs is not known */
};

/* `branch` is 0 where it is not known. */
enum lc_running lc_driver_runs(int driver, int branch, int toolkit);

/* A set of CUDA majors has a bit for each of 1 to this. */
#define LC_MAX_CUDA 31

/* The only major in a set; 0 if the set has none or several. */
static inline int lc_only_cuda(uint32_t set)
{
	return set && !(set & (set - 1)) ? __builtin_ctz(set) : 0;
}

/* The set of the one CUDA major that a SONAME implies, 13 for libcublas.so.13; 0 if it implies
 * none, as libcusparse.so.12 does. */
uint32_t lc_cuda_of_soname(const char *soname);

/* The folder below nvidia/ where pip puts a library of CUDA 11 or 12, "cublas" for libcublasLt.so.12;
 * NULL: it is no library of CUDA's.  Any of libcudnn's parts is one. */
const char *lc_cuda_folder(const char *soname);

/* A bit for the libraries whose names begin like this one, of cuDNN for each of its parts; 0: it is
 * no library of CUDA's. */
uint32_t lc_cuda_kind(const char *soname);

#endif
