/* SPDX-License-Identifier: MIT */
/* survey.c - what a search reads only once, however many libraries it looks for */
#include "survey.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/auxiliary.h"
#include "../base/glibc.h"
#include "../base/packages.h"
#include "peers.h"
#include "settings.h"

int lc_toolkit_version(const char *name)
{
	char *end;
	long major, minor = 0;

	if (strncmp(name, "cuda-", 5))
		return 0;
	major = strtol(name + 5, &end, 10);
	if (end == name + 5 || major < 1 || major > 99)
		return 0;
	if (*end == '.')
		minor = strtol(end + 1, &end, 10);
	return *end || minor < 0 || minor > 99 ? 0 : LC_VERSION((int)major, (int)minor);
}

bool lc_is_left_out(const struct lc_survey *survey, const char *folder)
{
	for (size_t i = 0; i < survey->left_out_count; i++)
		if (!strcmp(survey->left_out[i].path, folder))
			return true;
	return false;
}

void lc_leave_out(struct lc_survey *survey, const char *path, const char *why)
{
	struct lazycuda_folder *folder;

	if (lc_is_left_out(survey, path))
		return;
	lc_trace(lc_self.library, "%s: not searched, %s", path, why);
	folder = lc_grow(survey->folders.arena, &survey->left_out, &survey->left_out_count,
			 sizeof(*folder));
	if (folder)
		*folder = (struct lazycuda_folder){ path, why };
}

struct lc_folder *lc_searchable(struct lc_survey *survey, const char *path)
{
	const char *why;
	struct lc_folder *folder = lc_folder_to_search(&survey->folders, path, &why);

	if (why)
		lc_leave_out(survey, path, why);
	return folder;
}

/* /usr/local/cuda-X.Y, the newest first. */
void lc_survey_toolkits(struct lc_survey *survey)
{
	struct lc_arena *arena = survey->folders.arena;
	int versions[32], count = 0;
	struct dirent *entry;
	DIR *directory;

	if (survey->toolkits_read)
		return;
	survey->toolkits_read = true;
	lc_folder_lacks(&survey->folders, "/usr/local");
	directory = LC_AGAIN_IF(opendir("/usr/local"), !done);
	if (!directory) {
		lc_arena_note_error(arena, errno);
		if (errno != ENOENT)
			lc_leave_out(survey, "/usr/local", lc_format(arena,
				     "what is in it cannot be listed: %s", strerror(errno)));
		return;
	}
	while ((entry = readdir(directory)) && count < 32) {
		int version = lc_toolkit_version(entry->d_name), i;

		if (!version)
			continue;
		for (i = count++; i > 0 && versions[i - 1] < version; i--)
			versions[i] = versions[i - 1];
		versions[i] = version;
	}
	closedir(directory);
	for (int i = 0; i < count; i++) {
		int major = LC_MAJOR(versions[i]), minor = LC_MINOR(versions[i]);

		lc_add_string(arena, &survey->toolkits,
			   lc_format(arena, "/usr/local/cuda-%d.%d", major, minor));
		if (!minor)
			lc_add_string(arena, &survey->toolkits,
				   lc_format(arena, "/usr/local/cuda-%d", major));
	}
}

const struct lc_site *lc_site(struct lc_survey *survey, const char *path)
{
	struct lc_arena *arena = survey->folders.arena;
	struct lc_site *site;
	struct dirent *entry;
	DIR *directory;

	for (size_t i = 0; i < survey->site_count; i++)
		if (!strcmp(survey->sites[i].path, path))
			return &survey->sites[i];
	site = lc_grow(arena, &survey->sites, &survey->site_count, sizeof(*site));
	if (!site)
		return NULL;
	site->path = lc_text(arena, path);
	/* A package that is installed later counts. */
	lc_folder_lacks(&survey->folders, path);
	directory = lc_searchable(survey, path) ? LC_AGAIN_IF(opendir(path), !done) : NULL;
	if (!directory) {
		lc_arena_note_error(arena, errno);
		return site;
	}
	while ((entry = readdir(directory))) {
		site->nvidias |= lc_package_is_nvidias(entry->d_name);
		if (lc_package_cuda(entry->d_name))
			lc_add_string(arena, &site->packages, lc_text(arena, entry->d_name));
	}
	closedir(directory);
	return site;
}

/*
 * A site-packages has that name, or Debian's.  `pip --target` gives it any: then a package of
 * NVIDIA's is recorded in it.  A folder "nvidia" alone proves nothing: it may be a user's home.
 */
static bool is_site(struct lc_arena *arena, struct lc_survey *survey, const char *folder)
{
	const char *name = lc_basename(folder);
	const struct lc_site *site;

	if (!lc_folder(&survey->folders, lc_path(arena, folder, "nvidia")))
		return false;
	if (!strcmp(name, "site-packages") || !strcmp(name, "dist-packages"))
		return true;
	site = lc_site(survey, folder);
	return site && site->nvidias;
}

/* Environments of conda lie in the folder envs of another, whose libraries are none of theirs. */
static void look_above(struct lc_arena *arena, struct lc_survey *survey, const char *path,
		       struct lc_above *above)
{
	const char *folder = lc_folder_of(arena, path);
	bool site = false, conda = false;

	for (; folder && folder[0] && folder[1]; folder = lc_folder_of(arena, folder)) {
		if (!site && is_site(arena, survey, folder)) {
			lc_add_string(arena, &above->sites, folder);
			site = true;
		}
		if (!conda && lc_folder(&survey->folders, lc_path(arena, folder, "conda-meta"))) {
			lc_add_string(arena, &above->condas, lc_path(arena, folder, "lib"));
			conda = true;
		}
	}
}

static void look_above_users(struct lc_arena *arena, struct lc_survey *survey)
{
	const struct lc_process *process = survey->process;

	survey->above = lc_alloc(arena, (process->user_count + 1) * sizeof(*survey->above));
	if (lc_is_privileged())
		return;
	for (size_t i = 0; survey->above && i < process->user_count; i++) {
		const char *path = process->users[i].path, *real;

		/* A relative path depends on the current directory at the time
		 * when the object was loaded. */
		if (path[0] != '/')
			continue;
		look_above(arena, survey, path, &survey->above[i]);
		real = lc_real_path(&survey->folders, path);
		if (strcmp(path, real))
			look_above(arena, survey, real, &survey->above[i]);
	}
}

void lc_survey_begin(struct lc_arena *arena, struct lc_process *process, struct lc_survey *survey)
{
	*survey = (struct lc_survey){ .process = process, .folders = { .arena = arena } };
	look_above_users(arena, survey);
}

void lc_survey_ldcache(struct lc_survey *survey)
{
	const struct lc_ldcache *ldcache = &survey->ldcache;

	if (survey->ldcache_read && (ldcache->bytes || !ldcache->size))
		return;
	survey->ldcache_read = true;
	lc_folder_lacks(&survey->folders, LC_LDCACHE_FOLDER);
	lc_ldcache_open(survey->folders.arena, &survey->ldcache);
}

void lc_survey_end(struct lc_survey *survey)
{
	lc_ldcache_close(&survey->ldcache);
}
