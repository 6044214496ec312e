/* SPDX-License-Identifier: MIT */
/*
 * packages.h - what the names and RECORDs of installed Python packages say of files
 *
 *	nvidia_cudnn_cu12-9.1.0.70.dist-info	a folder of site-packages
 *	nvidia/cudnn/lib/libcudnn.so.9,sha256=...,104664	a line of RECORD in it
 */
#ifndef PACKAGES_H
#define PACKAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Returns true if this is the name of such a folder. */
bool lc_package_is(const char *folder);

/* The CUDA major in which the name of a package ends, 12 for the one above; 0 if it ends in none,
 * or if this is not the name of such a folder. */
int lc_package_cuda(const char *folder);

/* Returns true if this is such a folder of a package that NVIDIA publishes, for whatever CUDA. */
bool lc_package_is_nvidias(const char *folder);

/* Returns true if the package, which is for one CUDA major, is named like the beginning of a file's
 * path below site-packages: then it may have the file. */
bool lc_package_is_called(const char *folder, const char *file);

/* Returns true if the text of a RECORD, or a part of it, has this file; *size is as lc_record_next()
 * has it. */
bool lc_record_find(const char *record, const char *file, off_t *size);

/* Returns true if the text of a RECORD has this file with this size. */
bool lc_record_has(const char *record, const char *file, off_t size);

/* Reads the next file of a RECORD.  *record is where to go on; *file is not terminated; *size is -1
 * if it tells none.  Returns false if there is no more. */
bool lc_record_next(const char **record, const char **file, size_t *length, off_t *size);

#endif
