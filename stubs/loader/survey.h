/* SPDX-License-Identifier: MIT */
/* survey.h - what a search reads only once, however many libraries it looks for */
#ifndef SURVEY_H
#define SURVEY_H

#include "../../include/lazycuda.h"
#include "../base/folders.h"
#include "../base/ldcache.h"
#include "process.h"

/* The nearest folders above a file, by each of its paths: the site-packages, and the lib of the
 * conda prefix. */
struct lc_above {
	struct lc_strings sites, condas;
};

/* A folder that may be a site-packages, and the packages in it that are for one CUDA: names of
 * dist-info folders. */
struct lc_site {
	const char *path;
	struct lc_strings packages;
	bool nvidias;		/* it has a package of NVIDIA's */
};

struct lc_survey {
	struct lc_process *process;
	struct lc_folders folders;
	struct lc_above *above;		/* parallel to the process's users */
	struct lc_ldcache ldcache;
	const char *lib;		/* ld.so's value of $LIB; NULL: not known yet */
	const Dl_serinfo *library_path;	/* begins with LD_LIBRARY_PATH; NULL: ld.so does not tell */
	const char *conda, *python;	/* CONDA_PREFIX and PYTHONPATH, or NULL */
	struct lc_strings toolkits;	/* below /usr/local, the newest first */
	struct lc_site *sites;		/* that were listed */
	size_t site_count;
	struct lazycuda_folder *left_out;	/* folders that are not searched, and why */
	size_t left_out_count;
	bool ldcache_read, toolkits_read;
};

void lc_survey_begin(struct lc_arena *arena, struct lc_process *process, struct lc_survey *survey);

/* Reads ld.so's cache, or opens it again. */
void lc_survey_ldcache(struct lc_survey *survey);

/* Reads which toolkits lie below /usr/local. */
void lc_survey_toolkits(struct lc_survey *survey);
void lc_survey_end(struct lc_survey *survey);

/* The folder's packages, which are listed once; NULL if memory ran out. */
const struct lc_site *lc_site(struct lc_survey *survey, const char *path);

/* "cuda-12.9" as 1209; 0 for anything else. */
int lc_toolkit_version(const char *name);

/* Records a folder that exists but is not searched, and why. */
void lc_leave_out(struct lc_survey *survey, const char *path, const char *why);
bool lc_is_left_out(const struct lc_survey *survey, const char *path);

/* The folder at this path if it exists and is safe (see folders.h), else NULL. */
struct lc_folder *lc_searchable(struct lc_survey *survey, const char *path);

#endif
