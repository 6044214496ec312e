/* SPDX-License-Identifier: MIT */
/* companions.c - what a real library opens by name, where it would not find that itself */
#include "companions.h"

#include <string.h>

#include "belongs.h"
#include "../base/cuda_version.h"
#include "../base/glibc.h"
#include "unknown.h"

static bool is_searchable(struct lc_survey *survey, struct lc_folders *folders, const char *folder)
{
	const char *why;
	bool is = lc_folder_to_search(folders, folder, &why);

	if (why)
		lc_leave_out(survey, folder, why);
	return is;
}

static void bring(struct lc_arena *arena, struct lc_survey *survey, struct lc_folders *folders,
		  const char *site, const struct lc_opened *row, struct lc_companions *brought)
{
	/* The survey may keep it. */
	const char *folder = lc_path(survey->folders.arena, site, row->folder);
	const char *path = lc_path(arena, folder, row->soname);
	const char *why;
	void **handle;

	if (lc_process_has_soname(row->soname) || !is_searchable(survey, folders, folder) ||
	    !lc_file_is_safe(folders, path, &why))
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
	const char *site, *name;

	if (!library->opens || file->path[0] != '/')
		return;
	if (!library->own_majors)
		cuda = option->major;
	else if (lc_only_cuda(option->cuda))
		cuda = lc_only_cuda(option->cuda);
	site = lc_site_of(arena, major, file->path, &name);
	survey = lc_known_survey(known);
	/* What an earlier search saw of these folders was not compared: its library is another. */
	for (const struct lc_opened *row = library->opens; site && row->soname; row++)
		if (row->cuda == cuda)
			bring(arena, survey, known->fresh ? &survey->folders : &now, site, row,
			      brought);
}

void lc_drop_companions(struct lc_companions *brought)
{
	for (size_t i = 0; i < brought->count; i++)
		if (brought->handles[i])
			dlclose(brought->handles[i]);
	*brought = (struct lc_companions){ .count = 0 };
}
