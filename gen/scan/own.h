/* SPDX-License-Identifier: MIT */
/* own.h - shared by own.c and given.c, which derive the list of any library */
#ifndef SCAN_OWN_H
#define SCAN_OWN_H

#include "scanner.h"

/* A --from option, and the options that follow it. */
struct source {
	const char *path;
	int cuda, minor;	/* the CUDA that --from gives; 0 if none */
	const char *version;	/* its own, as text; or NULL */
	int major;		/* its major in the list */
	struct list headers, includes, defines, folders;
	struct exports exports;
};

struct own {
	struct scan *scan;
	struct subject library;
	struct given given;
	struct list sources;
	struct source common;	/* the options before the first --from */
	const char *output, *advice, *missing, *absent, *refused;
	struct list texts;	/* --text: function names */
	struct list negatives;	/* --negative: function names */
	struct list statuses;	/* --int-status: patterns of function names */
	struct list aparts;	/* --apart: patterns of function names */
	struct list handles;	/* --handle: STRUCT or STRUCT=PATTERN */
	struct list mangled;	/* --mangled: names of functions of C++ */
	struct list variables;	/* --data: names of variables */
	struct list packages;	/* --package */
	struct list cuda;	/* --cuda-major: CUDA majors that lazycuda's stubs know, as text */
};

version source_version(const struct source *source);
/* The index of a file's version in the list. */
int source_toolkit(const struct own *own, const struct source *source);

/* These add the rows of the list that hints give for CUDA's libraries. */
void add_folders(struct own *own, const struct source *source);
void add_packages(struct own *own);
void add_nodes(struct own *own, const struct source *source);
struct hint *add_hint(struct list *list, const char *first, const char *second);

/* Adds the headers to parse for a file; has_headers() returns true if there are any. */
void add_headers(struct own *own, const struct source *source);
bool has_headers(const struct own *own);

/* Finds the functions that return the meaning of a status. */
void find_texts(struct own *own);

/* Takes the functions whose result is a number that is negative where they fail. */
void take_negatives(struct own *own);

/* Takes the functions whose result is an int, and a status. */
void take_statuses(struct own *own);

/* Takes the functions that are forwarded to the caller's major alone, and the structs that the
 * library makes and frees. */
void take_aparts(struct own *own);
void take_handles(struct own *own);

/* Finds the enumerations that mean something else in another major. */
void find_changed(struct own *own);

/* Prints what was found to standard output. */
void say_own(const struct own *own);

#endif
