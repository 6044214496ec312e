/* SPDX-License-Identifier: MIT */
/* companions.c - loads what a real library opens by name and would not find */
#include "companions.h"

#include <string.h>

#include "belongs.h"
#include "../base/cuda_version.h"
#include "../base/glibc.h"
#include "places.h"
#include "settings.h"
#include "unknown.h"

static bool is_searchable(struct lc_survey *survey, struct lc_folders *folders, const char *folder)
{
	const char *why;
	bool is = lc_folder_to_search(folders, folder, &why);

	if (why)
		lc_leave_out(survey, folder, why);
	return is;
}

/* Returns true if ld.so would find another file of this name: it asks LD_LIBRARY_PATH first. */
static bool is_hidden(struct lc_arena *arena, const char *path, const char *soname)
{
	const char *at = lc_variable("LD_LIBRARY_PATH");
	struct stat own, first;

	while (at && *at) {
		size_t length = strcspn(at, ":;");
		/* An empty one is the current folder. */
		const char *folder = length ? lc_copy(arena, at, length) : ".";

		if (folder && !stat(lc_path(arena, folder, soname), &first))
			return stat(path, &own) || own.st_dev != first.st_dev ||
			       own.st_ino != first.st_ino;
		at += length + (at[length] != 0);
	}
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
