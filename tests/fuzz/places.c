/* SPDX-License-Identifier: MIT */
/*
 * places.c - fuzzing the places that run paths and the environment name
 *
 * An input is texts, one behind the other, each with a NUL: run paths and the
 * path of an object, then the values of variables.  It is compiled with opendir
 * replaced by the one here.
 */
#include "../../stubs/loader/places.h"

#include <dirent.h>

#include "../../stubs/loader/peers.h"
#include "../../stubs/loader/settings.h"
#include "fuzzing.h"

const struct lc_library lc_library = FUZZ_LIBRARY("cudart");
struct lc_peer lc_self = { .library = &lc_library };

enum { PATH, RPATH, RUNPATH, LIBRARY_PATH, CUDA_PATH, CONDA_PREFIX, OWN_PATH, PYTHONPATH, TEXTS };
static char *texts[TEXTS];

/* What the machine says is the same each time, and not asked. */
const char *lc_variable(const char *name)
{
	const char *value = !strcmp(name, "LD_LIBRARY_PATH") ? texts[LIBRARY_PATH] :
			    !strcmp(name, "CUDA_PATH") ? texts[CUDA_PATH] :
			    !strcmp(name, "CONDA_PREFIX") ? texts[CONDA_PREFIX] :
			    !strcmp(name, "LAZYCUDA_PATH") ? texts[OWN_PATH] :
			    !strcmp(name, "PYTHONPATH") ? texts[PYTHONPATH] : NULL;

	return value && *value ? value : NULL;
}

const char *lc_variable_at_start(struct lc_arena *arena, const char *name)
{
	const char *value = lc_variable(name);

	return value ? lc_text(arena, value) : NULL;
}

void lc_process_read_python(struct lc_arena *arena, struct lc_process *process)
{
	(void)arena;
	(void)process;
}

void lc_trace(const struct lc_library *library, const char *format, ...)
{
	(void)library, (void)format;
}

void lc_ldcache_open(struct lc_arena *arena, struct lc_ldcache *cache)
{
	(void)arena;
	*cache = (struct lc_ldcache){ NULL, 0, true };
}

void lc_ldcache_close(struct lc_ldcache *cache)
{
	(void)cache;
}

size_t lc_ldcache_parse(struct lc_arena *arena, const char *cache, size_t size,
			const char *const *sonames, size_t soname_count, const char ***files)
{
	(void)arena, (void)cache, (void)size, (void)sonames, (void)soname_count;
	*files = NULL;
	return 0;
}

const Dl_serinfo *lc_loader_path(struct lc_arena *arena, const char *file)
{
	(void)arena, (void)file;
	return NULL;
}

unsigned lc_count_before_own(const Dl_serinfo *path)
{
	return path ? path->dls_cnt : 0;
}

bool lc_owner_of(struct lc_folders *folders, const char *path, uid_t *owner)
{
	(void)folders;
	*owner = (uid_t)strlen(path) % 3;
	return true;
}

DIR *fuzz_opendir(const char *path)
{
	(void)path;
	return NULL;
}

/* Every absolute path leads to a folder, which is another one for each length. */
static struct lc_folder all[64];

struct lc_folder *lc_folder(struct lc_folders *folders, const char *path)
{
	(void)folders;
	return path[0] == '/' ? &all[strlen(path) % COUNT(all)] : NULL;
}

void lc_folder_lacks(struct lc_folders *folders, const char *path)
{
	(void)folders, (void)path;
}

/* Every second folder, by its length. */
bool lc_folder_is_safe(struct lc_folders *folders, const char *path)
{
	(void)folders;
	must(path[0] == '/');
	return strlen(path) % 2;
}

struct lc_folder *lc_folder_to_search(struct lc_folders *folders, const char *path,
				      const char **why)
{
	struct lc_folder *folder = lc_folder(folders, path);

	*why = folder && !lc_folder_is_safe(folders, path) ? "may be written by others" : NULL;
	return *why ? NULL : folder;
}

const char *lc_real_path(struct lc_folders *folders, const char *path)
{
	return lc_format(folders->arena, "/real%s", path);
}

static void see_places(struct lc_arena *arena)
{
	struct lc_user user = { .path = texts[PATH], .needs = &lc_library,
				.rpath = *texts[RPATH] ? texts[RPATH] : NULL,
				.runpath = texts[RUNPATH] };
	struct lc_process process = { .users = &user, .user_count = 1 };
	struct lc_survey survey;
	struct lc_places places;

	memset(all, 0, sizeof(all));
	lc_survey_begin(arena, &process, &survey);
	lc_places_of(arena, &survey, 0, LC_KINDS / 2, &lc_library, NULL, &places);
	lc_places_of(arena, &survey, LC_KINDS / 2, LC_KINDS, &lc_library, NULL, &places);
	for (size_t i = 0; i < places.count; i++) {
		must(places.list[i].path[0] == '/');
		must(lc_folder_is_safe(&survey.folders, places.list[i].path));
		touch_text(places.list[i].path);
		for (size_t k = 0; k < i; k++)
			must(places.list[i].site != places.list[k].site ||
			     places.list[i].folder != places.list[k].folder);
	}
	lc_survey_end(&survey);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lc_arena arena = { .failed = false };

	for (size_t i = 0; i < TEXTS; i++)
		texts[i] = next_text(&data, &size);
	see_places(&arena);
	lc_arena_free(&arena);
	for (size_t i = 0; i < TEXTS; i++)
		free(texts[i]);
	return 0;
}
