/* SPDX-License-Identifier: MIT */
/* companions.c - loads what a real library opens by name and would not find */
#include "companions.h"

#include <string.h>

#include "belongs.h"
#include "../base/by_name.h"
#include "../base/count.h"
#include "../base/cuda_version.h"
#include "../base/glibc.h"
#include "places.h"
#include "unknown.h"

#if defined(__x86_64__)
# define CPU "x86_64"
#else
# define CPU "aarch64"
#endif

static bool is_searchable(struct lc_survey *survey, struct lc_folders *folders, const char *folder)
{
	const char *why;
	bool is = lc_folder_to_search(folders, folder, &why);

	if (why)
		lc_leave_out(survey, folder, why);
	return is;
}

/* Returns which of the folders it is that ld.so was compiled with and searches last, such as
 * /usr/lib64 or Debian's /lib/x86_64-linux-gnu; below 0: none. */
static int last_folder(const char *path)
{
	static const char *const endings[] = { "/lib", "/lib64", "/lib/" CPU "-linux-gnu" };
	const int usr = !strncmp(path, "/usr/", 5) ? 1 : 0;
	size_t length = strlen(path += 4 * usr);

	length -= length > 1 && path[length - 1] == '/';
	for (size_t i = 0; i < LC_COUNT(endings); i++)
		if (length == strlen(endings[i]) && !memcmp(path, endings[i], length))
			return (int)(2 * i) + usr;
	return -1;
}

/* Returns how many folders ld.so searches before those that it was compiled with, of which each
 * is there once. */
static unsigned count_first(const Dl_serinfo *searched)
{
	unsigned count = searched->dls_cnt, seen = 0;
	int which;

	while (count && (which = last_folder(searched->dls_serpath[count - 1].dls_name)) >= 0 &&
	       !(seen >> which & 1)) {
		seen |= 1u << which;
		count--;
	}
	return count;
}

/* Returns true if ld.so might find another file of this name before the library's RUNPATH leads
 * it to its own: in the LD_LIBRARY_PATH that the program was started with, whatever has become
 * of the variable since. */
static bool is_hidden(struct lc_arena *arena, const char *path, const char *soname)
{
	const Dl_serinfo *searched = lc_loader_path(arena, NULL);
	struct stat own, other;

	if (!searched || stat(path, &own))
		return false;
	for (unsigned i = 0; i < count_first(searched); i++)
		if (!stat(lc_path(arena, searched->dls_serpath[i].dls_name, soname), &other) &&
		    !lc_same_file(lc_identity(&own), lc_identity(&other)))
			return true;
	return false;
}

static void bring(struct lc_arena *arena, struct lc_survey *survey, struct lc_folders *folders,
		  const char *folder, const struct lc_opened *row, struct lc_companions *brought)
{
	const char *path = lc_path(arena, folder, row->soname);
	const char *why;
	void **handle;

	if (lc_process_has_soname(row->soname) || !is_searchable(survey, folders, folder) ||
	    !lc_file_is_safe(folders, path, &why) ||
	    (!row->cuda && !is_hidden(arena, path, row->soname)))
		return;
	handle = lc_grow(arena, &brought->handles, &brought->count, sizeof(*handle));
	if (!handle)
		return;
	*handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	lc_trace("%s: %s", path, *handle ? "loaded first, as the library opens it by name" :
					   "cannot be loaded");
}

void lc_bring_companions(struct lc_arena *arena, struct lc_search *search,
			 const struct lc_option *option, const struct lc_file *file, int cuda,
			 struct lc_companions *brought)
{
	const struct lc_library *library = search->seats[search->at.self].library;
	const struct lc_major *major = lc_listed_major(library, option->major);
	struct lc_known *known = search->known;
	struct lc_survey *survey;
	struct lc_folders now = { .arena = &known->arena };
	struct lc_arena *kept;
	const char *site, *own, *name;

	if (!library->opens || file->path[0] != '/')
		return;
	if (!library->own_majors)
		cuda = option->major;
	else if (lc_only_cuda(option->cuda))
		cuda = lc_only_cuda(option->cuda);
	site = lc_site_of(arena, major, file->path, &name);
	survey = lc_known_survey(known);
	kept = survey->folders.arena;	/* the survey may keep the name of a folder */
	own = lc_folder_of(kept, file->path);
	/* Nobody has checked whether these folders are still as an earlier search saw them: they
	 * are not of the library that is searched for. */
	for (const struct lc_opened *row = library->opens; row->soname; row++) {
		const char *folder = !row->cuda ? own : site && row->cuda == cuda ?
				     lc_path(kept, site, row->folder) : NULL;

		if (folder)
			bring(arena, survey, known->fresh ? &survey->folders : &now, folder, row,
			      brought);
	}
}

void lc_drop_companions(struct lc_companions *brought)
{
	for (size_t i = 0; i < brought->count; i++)
		if (brought->handles[i])
			dlclose(brought->handles[i]);
	*brought = (struct lc_companions){ .count = 0 };
}
