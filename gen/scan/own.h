/* SPDX-License-Identifier: MIT */
/* own.h - what the parts that derive the list of anybody's library share */
#ifndef SCAN_OWN_H
#define SCAN_OWN_H

#include "scan.h"

#define MAX_MAJOR 654	/* a version has 16 bits */

/* A --from, and what follows it. */
struct source {
	const char *path;
	int cuda;		/* its major of CUDA; 0: not said */
	int major;		/* what the list calls it */
	struct list headers, includes, defines, folders;
	struct exports exports;
};

struct own {
	struct scan *scan;
	struct library library;
	struct given given;
	struct list sources;
	struct source common;	/* what comes before the first --from */
	const char *output, *advice, *missing, *absent, *refused;
	struct list texts;	/* names: --text */
	struct list packages;	/* --package */
	struct list cuda;	/* majors of CUDA, as text, that other stubs know */
};

extern const char own_name[];	/* for messages: "lazycuda stub" */

/* Which version of the list a file is. */
int toolkit_of(const struct own *own, const struct source *source);

/* What hints would have given: rows of the list, */
void add_folders(struct own *own, const struct source *source);
void add_packages(struct own *own);
void add_nodes(struct own *own, const struct source *source);
void add_errors(struct own *own, const char *missing, const char *absent, const char *refused);

/* headers, and whether there are any. */
void add_headers(struct own *own, const struct source *source);
bool has_headers(const struct own *own);

/* Which functions say what a status means. */
void find_texts(struct own *own);

/* What has been found, on standard output. */
void say_own(const struct own *own);

#endif
