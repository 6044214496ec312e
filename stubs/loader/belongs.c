/* SPDX-License-Identifier: MIT */
/* belongs.c - which CUDA a file belongs to if its SONAME does not tell */
#include "belongs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unknown.h"
#include "../base/count.h"
#include "../base/cuda_version.h"
#include "../base/glibc.h"
#include "../base/packages.h"
#include "../base/regular.h"

#define MAX_RECORD (1 << 20)	/* bytes; those of NVIDIA's packages have some KiB */
#define MAX_BELOW 3		/* folders: cuda-13.0/targets/x86_64-linux/lib */

/* A file, and what is known of it. */
struct owned {
	struct lc_arena *arena;
	struct lc_survey *survey;
	const struct lc_library *library;
	const struct lc_major *major;
	uint32_t may;		/* majors of CUDA that its SONAME is in */
	off_t size;
};

/* ---- sets of majors ---- */

static uint32_t possible_majors(const struct lc_library *library, const struct lc_major *major)
{
	return library->cuda[major - library->majors];
}

/* Returns the set of this major alone; 0 if a name that tells it is not to be believed.  A name may
 * tell a CUDA that is later than all in the list, but no other that the SONAME is not in. */
static uint32_t believed_major(const struct lc_library *library, uint32_t may, int major)
{
	uint32_t listed = 0, one = major > 0 && major <= LC_MAX_CUDA ? 1u << major : 0;

	for (size_t i = 0; i < library->major_count; i++)
		listed |= library->cuda[i];
	return one & may || one > listed ? one : 0;
}

/* "12 or 13" */
static const char *alternatives(struct lc_arena *arena, uint32_t set)
{
	const char *text = "";

	for (int major = 1; major <= LC_MAX_CUDA; major++)
		if (set >> major & 1)
			text = lc_format(arena, "%s%s%d", text, !*text ? "" :
					 set >> major == 1 ? " or " : ", ", major);
	return text;
}

/* ---- the folder ---- */

/* "cu13" as 13; 0 for anything else. */
static int wheel_major(const char *name)
{
	char *end;
	long major;

	if (strncmp(name, "cu", 2) || name[2] < '1' || name[2] > '9')
		return 0;
	major = strtol(name + 2, &end, 10);
	return *end || major > LC_MAX_CUDA ? 0 : (int)major;
}

/* The major in the name of a folder, such as nvidia/cu13, cuda-13.0 or, in NVIDIA's HPC SDK,
 * math_libs/12.4; 0: none. */
static int major_in_name(struct lc_arena *arena, const char *folder)
{
	static const char *const of_sdk[] = { "cuda", "math_libs", "comm_libs" };
	const char *path = lc_folder_of(arena, folder), *above = path ? lc_basename(path) : "";
	const char *name = lc_basename(folder);

	if (!strcmp(above, "nvidia") && wheel_major(name))
		return wheel_major(name);
	for (size_t i = 0; i < LC_COUNT(of_sdk); i++)
		if (!strcmp(above, of_sdk[i]))
			name = lc_format(arena, "cuda-%s", name);
	return LC_MAJOR(lc_toolkit_version(name));
}

/*
 * The major that the nearest folder above a file tells.  A folder far above the file does not
 * count, nor one above its site-packages: what is installed in somebody's folder cuda-13.0 need
 * not be of CUDA 13.
 */
static int major_of_folder(struct lc_arena *arena, const char *path, const char *site,
			   const char **folder)
{
	*folder = lc_folder_of(arena, path);
	for (int i = 0; i <= MAX_BELOW && *folder && (*folder)[1]; i++) {
		int major = site && !strcmp(*folder, site) ? -1 : major_in_name(arena, *folder);

		if (major)
			return major;
		*folder = lc_folder_of(arena, *folder);
	}
	return 0;
}

/* ---- the package that has it ---- */

/* Returns the text of a RECORD; NULL if there is none, or if the file cannot be one. */
static const char *read_record(struct lc_arena *arena, const char *path)
{
	struct stat st;
	const char *text = lc_read_regular(arena, path, MAX_RECORD, &st);

	return text && !(st.st_mode & S_IWOTH) && st.st_size <= MAX_RECORD ? text : NULL;
}

/* Whether all files that a RECORD has in the folder of this one are there, and of that size. */
static bool has_folder(struct lc_arena *arena, const char *record, const char *site,
		       const char *name)
{
	size_t folder = (size_t)(strrchr(name, '/') + 1 - name), length;
	const char *listed;
	struct stat st;
	off_t size;

	while (lc_record_next(&record, &listed, &length, &size)) {
		if (size < 0 || length <= folder || memcmp(listed, name, folder) ||
		    memchr(listed + folder, '/', length - folder))
			continue;
		if (stat(lc_path(arena, site, lc_copy(arena, listed, length)), &st)) {
			lc_arena_note_error(arena, errno);
			return false;
		}
		if (st.st_size != size)
			return false;
	}
	return true;
}

/* The majors of the packages that have a file, and if `whole` all else that they have in its
 * folder; *owner is one of them. */
static uint32_t packages_with(const struct owned *file, const char *site, const char *name, bool whole,
			      const char **owner)
{
	const struct lc_site *known = lc_site(file->survey, site);
	uint32_t found = 0;

	for (size_t i = 0; known && i < known->packages.count; i++) {
		const char *package = known->packages.list[i], *record;
		struct lc_arena arena = { .failed = false };
		const char *path = lc_path(file->arena, site, package);

		if (!lc_package_is_called(package, name) || !lc_searchable(file->survey, path))
			continue;
		lc_folder_lacks(&file->survey->folders, path);	/* pip writes RECORD last */
		record = read_record(&arena, lc_path(file->arena, path, "RECORD"));
		if (record && lc_record_has(record, name, file->size) &&
		    (!whole || has_folder(&arena, record, site, name))) {
			found |= believed_major(file->library, file->may, lc_package_cuda(package));
			*owner = package;
		}
		file->survey->folders.arena->starved |= arena.starved || arena.failed;
		lc_arena_free(&arena);
	}
	return found;
}

/* If packages were installed over each other, only the last has all its files: cuDNN 9.28 has a
 * libcudnn.so.9 of the same size for CUDA 12 and 13, and the libraries beside it differ. */
static uint32_t owning_packages(const struct owned *file, const char *site, const char *name,
				const char **owner)
{
	uint32_t found = packages_with(file, site, name, false, owner);

	return !found || lc_only_cuda(found) ? found : packages_with(file, site, name, true, owner);
}

const char *lc_site_of(struct lc_arena *arena, const struct lc_major *major, const char *path,
		       const char **name)
{
	size_t end = (size_t)(strrchr(path, '/') - path), longest = 0;

	/* cusparselt/lib ends nvidia/cusparselt/lib, too. */
	for (const char *folder = major->folder; folder; ) {
		size_t length = strcspn(folder, ":");
		const char *at = path + end - length;

		if (length > longest && end > length + 1 && at[-1] == '/' &&
		    !memcmp(at, folder, length))
			longest = length;
		folder = folder[length] ? folder + length + 1 : NULL;
	}
	*name = longest ? path + end - longest : NULL;
	return longest ? lc_copy(arena, path, end - longest - 1) : NULL;
}

/* ---- all of it ---- */

static bool note_cuda(struct lc_candidate *candidate, uint32_t cuda, const char *reason)
{
	candidate->cuda = cuda;
	candidate->cuda_reason = reason;
	return true;
}

/* Judges the file by one of its paths. */
static bool told_by_path(const struct owned *file, const char *path, struct lc_candidate *candidate)
{
	struct lc_arena *arena = file->arena;
	const char *name, *folder, *owner = "";
	const char *site = lc_site_of(arena, file->major, path, &name);
	uint32_t cuda = believed_major(file->library, file->may,
				       major_of_folder(arena, path, site, &folder));

	candidate->by_folder = cuda;
	if (cuda)
		return note_cuda(candidate, cuda,
				 lc_format(arena, "it belongs to CUDA %d, as it lies in %s",
					   lc_only_cuda(cuda), lc_printable(arena, folder)));
	cuda = site ? owning_packages(file, site, name, &owner) : 0;
	if (!lc_only_cuda(cuda))
		return false;
	return note_cuda(candidate, cuda, lc_format(arena, "it belongs to CUDA %d, as %s says",
						    lc_only_cuda(cuda), lc_printable(arena, owner)));
}

/* The path with its links resolved says more than the other, and comes first. */
static bool told_by_places(const struct owned *file, const char *path, struct lc_candidate *candidate)
{
	const char *real;

	if (path[0] != '/')
		return false;
	real = lc_real_path(&file->survey->folders, path);
	if (real[0] != '/')
		return false;	/* memory ran out */
	return told_by_path(file, real, candidate) ||
	       (strcmp(path, real) && told_by_path(file, path, candidate));
}

void lc_belongs(struct lc_arena *arena, struct lc_survey *survey,
		const struct lc_library *library, const char *path, off_t size, uint32_t needs,
		struct lc_candidate *candidate)
{
	const struct lc_major *major = lc_listed_major(library, candidate->major);
	const struct owned file = { arena, survey, library, major, possible_majors(library, major), size };

	if (lc_only_cuda(needs))
		note_cuda(candidate, needs,
			  lc_format(arena, "it belongs to CUDA %d, of which it needs libraries",
				    lc_only_cuda(needs)));
	else if (lc_only_cuda(file.may))
		note_cuda(candidate, file.may, lc_format(arena, "%s is in CUDA %d alone", major->soname,
							 lc_only_cuda(file.may)));
	else if (!told_by_places(&file, path, candidate))
		note_cuda(candidate, file.may,
			  lc_format(arena, "nothing tells whether it belongs to CUDA %s",
				    alternatives(arena, file.may)));
}
