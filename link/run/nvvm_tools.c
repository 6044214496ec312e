/* SPDX-License-Identifier: MIT */
/* nvvm_tools.c - the libnvvms that are installed, and the libdevice of each; the tileirases */
#include "nvvm_tools.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../stubs/base/folders.h"
#include "../../stubs/base/glibc.h"
#include "../../stubs/base/object.h"
#include "../tables/components.h"
#include "../tables/toolkit.h"
#include "../tables/versions.h"
#include "environment.h"

/* Tools beside whose candidates a libnvvm is looked for: nvJitLink first, with which the libnvvm
 * of its own toolkit goes best. */
static const enum lk_tool leading[] = { LK_NVJITLINK, LK_NVRTC };

/* What was found when LAZYCUDA_NVVM named this file, NULL: none, and the stubs had these
 * statuses. */
struct nvvm_list {
	struct lk_nvvms public;
	const char *named;
	const struct lazycuda_status *led_by[2];
	struct nvvm_list *older;	/* never freed: somebody may be using it */
	struct lc_arena *arena;
};

static struct nvvm_list *nvvms;
static pthread_mutex_t listing = PTHREAD_MUTEX_INITIALIZER;

/* ---- what is there ---- */

/* Returns NULL, or why no code of this file is run. */
static const char *why_not_safe(struct lc_arena *arena, const char *path)
{
	struct lc_folders folders = { .arena = arena };
	const char *slash = strrchr(path, '/'), *why = NULL;

	if (path[0] != '/')
		return "it is not an absolute path";
	if (access(path, R_OK))
		return "there is no such file";
	if (!lc_folder_to_search(&folders, lc_copy(arena, path, (size_t)(slash - path)), &why))
		return why ? why : "there is no such folder";
	if (!lc_file_is_safe(&folders, path, &why))
		return why ? lc_format(arena, "it is a link, and where it leads, %s", why) :
			     "it is not a regular file";
	return NULL;
}

/* The same for a library. */
static const char *why_not(struct lc_arena *arena, const char *path)
{
	static const struct lc_library none;
	const char *why = why_not_safe(arena, path);
	struct lc_elf elf;

	if (!why)
		why = lc_elf_file(path, &none, &elf);
	return why ? why : elf.stub ? "it is a stub" : NULL;
}

static bool is_listed(const struct lk_nvvms *list, int version)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->versions[i] == version)
			return true;
	return false;
}

static void add_nvvm(struct nvvm_list *list, const char *path, bool named)
{
	struct lk_nvvms *all = &list->public;
	size_t at = all->count;
	int version = lk_toolkit_of_part(list->arena, path), libdevice = 0;
	const char *device;

	if (version <= 0)
		version = LAZYCUDA_VERSION_UNKNOWN;
	if (at == LK_MAX_NVVMS || is_listed(all, version) || why_not(list->arena, path) ||
	    (!named && version > 0 && !lazycuda_is_allowed(version)))
		return;
	device = lk_component_path(list->arena, path, "libdevice");
	if (device)
		libdevice = lk_toolkit_of_part(list->arena, device);
	/* A libdevice of any toolkit of the major will do; one of another major does not count. */
	if (libdevice > 0 && version > 0 && LC_CUDA_MAJOR(libdevice) != LC_CUDA_MAJOR(version))
		device = NULL;
	all->versions[at] = version;
	all->libdevices[at] = !device ? LAZYCUDA_VERSION_NONE :
			      libdevice ? libdevice : LAZYCUDA_VERSION_UNKNOWN;
	all->paths[at] = path;
	all->libdevice_paths[at] = device;
	all->count++;
}

static void add_tileiras(struct nvvm_list *list, const char *path)
{
	struct lk_nvvms *all = &list->public;
	int version = lk_toolkit_of_part(list->arena, path);

	if (version <= 0)
		version = LAZYCUDA_VERSION_UNKNOWN;
	for (size_t i = 0; i < all->tileiras_count; i++)
		if (all->tileirases[i] == version)
			return;
	if (all->tileiras_count == LK_MAX_NVVMS || access(path, X_OK) ||
	    why_not_safe(list->arena, path) || (version > 0 && !lazycuda_is_allowed(version)))
		return;
	all->tileirases[all->tileiras_count] = version;
	all->tileiras_paths[all->tileiras_count++] = path;
}

static void list_beside(struct nvvm_list *list, const struct lazycuda_status *status)
{
	for (size_t i = 0; status && i < status->candidate_count; i++) {
		const char *library = status->candidates[i].path, *path;

		if (library[0] != '/')
			continue;
		path = list->named ? NULL : lk_component_path(list->arena, library, "libnvvm");
		if (path)
			add_nvvm(list, path, false);
		path = lk_component_path(list->arena, library, "tileiras");
		if (path)
			add_tileiras(list, path);
	}
}

/* The file that LAZYCUDA_NVVM names, beside which no other counts; "none" hides all.  NULL if it
 * names none. */
static const char *named_nvvm(void)
{
	const char *named = secure_getenv(LK_NVVM_VARIABLE);

	return named && *named ? named : NULL;
}

static struct nvvm_list *list_nvvms(const struct lazycuda_status *const led_by[2])
{
	const char *named = named_nvvm();
	struct lc_arena *arena = lc_arena_new();
	struct nvvm_list *list = arena ? lc_alloc(arena, sizeof(*list)) : NULL;

	if (!list) {
		lc_arena_free(arena);
		return NULL;
	}
	*list = (struct nvvm_list){ .arena = arena, .led_by = { led_by[0], led_by[1] },
				    .older = nvvms };
	list->named = named ? lc_copy(arena, named, strlen(named)) : NULL;
	if (list->named && strcmp(list->named, "none"))
		add_nvvm(list, list->named, true);
	for (size_t i = 0; i < 2; i++)
		list_beside(list, led_by[i]);
	if (!arena->failed)
		return list;
	lc_arena_free(arena);
	return NULL;
}

static bool is_current(const struct nvvm_list *list, const struct lazycuda_status *const led_by[2])
{
	const char *named = named_nvvm();

	return list && (named ? list->named && !strcmp(list->named, named) : !list->named) &&
	       list->led_by[0] == led_by[0] && list->led_by[1] == led_by[1];
}

const struct lk_nvvms *lk_installed_nvvms(void)
{
	const struct lazycuda_status *led_by[2] = { NULL, NULL };
	struct nvvm_list *list = __atomic_load_n(&nvvms, __ATOMIC_ACQUIRE);

	for (size_t i = 0; i < 2; i++)
		led_by[i] = lk_tool_status(leading[i]);
	if (is_current(list, led_by))
		return &list->public;
	pthread_mutex_lock(&listing);
	list = nvvms;
	if (!is_current(list, led_by)) {
		list = list_nvvms(led_by);
		if (list)
			__atomic_store_n(&nvvms, list, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&listing);
	return list ? &list->public : NULL;
}

static const char *file_of_version(int version, bool libdevice)
{
	const struct lk_nvvms *all = lk_installed_nvvms();

	for (size_t i = 0; all && i < all->count; i++)
		if (all->versions[i] == version)
			return libdevice ? all->libdevice_paths[i] : all->paths[i];
	return NULL;
}

const char *lk_nvvm_file(int version)
{
	return file_of_version(version, false);
}

const char *lk_libdevice_of(int version)
{
	return file_of_version(version, true);
}

const char *lk_tileiras_file(int version)
{
	const struct lk_nvvms *all = lk_installed_nvvms();

	for (size_t i = 0; all && i < all->tileiras_count; i++)
		if (all->tileirases[i] == version)
			return all->tileiras_paths[i];
	return NULL;
}

/* "12.9, 13.0", or NULL if there is none. */
static const char *list_versions(struct lc_arena *arena)
{
	const struct lk_nvvms *all = lk_installed_nvvms();
	const char *text = NULL;
	char version[LK_VERSION_TEXT];

	for (size_t i = 0; all && i < all->count; i++)
		text = lc_format(arena, "%s%s%s", text ? text : "", text ? ", " : "",
				 lk_version_text(all->versions[i], version));
	return text;
}

const char *lk_why_no_nvvm(struct lc_arena *arena, int version)
{
	const char *named = named_nvvm(), *why, *others = NULL;

	if (version != LAZYCUDA_VERSION_NONE)
		others = list_versions(arena);
	if (others && named)
		return lc_format(arena, LK_NVVM_VARIABLE "=%s is the only one here, of version %s",
				 lc_printable(arena, named), others);
	if (others)
		return lc_format(arena, "what is here is %s", others);
	if (!named)
		return "none lies where the toolkit or the packages of an nvJitLink or nvrtc that was"
		       " found have it";
	if (!strcmp(named, "none"))
		return LK_NVVM_VARIABLE "=none hides it";
	why = why_not(arena, named);
	return lc_format(arena, LK_NVVM_VARIABLE "=%s cannot be used: %s",
			 lc_printable(arena, named), why ? why : "it was set too late");
}

/* ---- ready to be called ---- */

#define BIND_NVVM(member, name) lk_bind(&nvvm->member, dlsym(library, name))

static bool bind_nvvm(struct lk_nvvm *nvvm, void *library)
{
	nvvm->log = (struct lk_getter){ .size_name = "nvvmGetProgramLogSize",
					.name = "nvvmGetProgramLog" };
	nvvm->image = (struct lk_getter){ .size_name = "nvvmGetCompiledResultSize",
					  .name = "nvvmGetCompiledResult" };
	return BIND_NVVM(create, "nvvmCreateProgram") && BIND_NVVM(destroy, "nvvmDestroyProgram") &&
	       BIND_NVVM(add, "nvvmAddModuleToProgram") &&
	       BIND_NVVM(add_lazily, "nvvmLazyAddModuleToProgram") &&
	       BIND_NVVM(verify, "nvvmVerifyProgram") && BIND_NVVM(compile, "nvvmCompileProgram") &&
	       BIND_NVVM(error_string, "nvvmGetErrorString") &&
	       BIND_NVVM(log.size, nvvm->log.size_name) && BIND_NVVM(log.get, nvvm->log.name) &&
	       BIND_NVVM(image.size, nvvm->image.size_name) && BIND_NVVM(image.get, nvvm->image.name);
}

const char *lk_load_nvvm(struct lc_arena *arena, int version, struct lk_nvvm *nvvm)
{
	char text[LK_VERSION_TEXT];
	void *library;

	*nvvm = (struct lk_nvvm){ .version = version, .path = lk_nvvm_file(version) };
	if (!nvvm->path)
		return lc_format(arena, "no libnvvm %s is here: %s",
				 lk_version_text(version, text), lk_why_no_nvvm(arena, version));
	/* It stays loaded. */
	library = dlopen(nvvm->path, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return lc_format(arena, "%s cannot be loaded: %s", lc_printable(arena, nvvm->path),
				 lc_printable(arena, dlerror()));
	return bind_nvvm(nvvm, library) ? NULL :
	       lc_format(arena, "%s is not a libnvvm: it lacks functions",
			 lc_printable(arena, nvvm->path));
}
