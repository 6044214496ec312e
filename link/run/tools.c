/* SPDX-License-Identifier: MIT */
/* tools.c - the nvJitLinks, nvrtcs, libnvvms and tileirases that are installed, ready to be called */
#include "tools.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../include/lazycuda.h"
#include "../../stubs/base/count.h"
#include "../../stubs/base/folders.h"
#include "../../stubs/base/glibc.h"
#include "../../stubs/base/object.h"
#include "../tables/toolkit.h"
#include "../tables/versions.h"
#include "environment.h"

#define MAX_TOOLS 8		/* of each kind, beside the stub's own */
#define STUB_SYMBOL "lazycuda_stub_1"

/* ---- through the stubs ---- */

static const struct lk_nvjitlink own_nvjitlink = {
	.create = nvJitLinkCreate,
	.destroy = nvJitLinkDestroy,
	.add = nvJitLinkAddData,
	.complete = nvJitLinkComplete,
	.info_log = LK_GETTER(nvJitLinkGetInfoLog),
	.error_log = LK_GETTER(nvJitLinkGetErrorLog),
	.images = {
		[LAZYCUDA_OUTPUT_CUBIN] = LK_GETTER(nvJitLinkGetLinkedCubin),
		[LAZYCUDA_OUTPUT_RELOCATABLE] = LK_GETTER(nvJitLinkGetLinkedCubin),
		[LAZYCUDA_OUTPUT_PTX] = LK_GETTER(nvJitLinkGetLinkedPtx),
		[LAZYCUDA_OUTPUT_LTOIR] = LK_GETTER(nvJitLinkGetLinkedLTOIR),
	},
};

static const struct lk_nvrtc own_nvrtc = {
	.create = nvrtcCreateProgram,
	.destroy = nvrtcDestroyProgram,
	.compile = nvrtcCompileProgram,
	.add_expression = nvrtcAddNameExpression,
	.lowered_name = nvrtcGetLoweredName,
	.error_string = nvrtcGetErrorString,
	.pch_status = nvrtcGetPCHCreateStatus,
	.pch_heap_required = nvrtcGetPCHHeapSizeRequired,
	.set_pch_heap = nvrtcSetPCHHeapSize,
	.log = LK_GETTER(nvrtcGetProgramLog),
	.images = {
		[LAZYCUDA_KIND_PTX] = LK_GETTER(nvrtcGetPTX),
		[LAZYCUDA_KIND_CUBIN] = LK_GETTER(nvrtcGetCUBIN),
		[LAZYCUDA_KIND_LTOIR] = LK_GETTER(nvrtcGetLTOIR),
		[LAZYCUDA_KIND_TILEIR] = LK_GETTER(nvrtcGetTileIR),
	},
};

/* ---- opened aside ---- */

/* The status of functions that a version lacks, as the stubs return it; no plan needs them. */
enum { LACKS = 6 };

static int lacks_size(void *handle, size_t *size)
{
	(void)handle;
	*size = 0;
	return LACKS;
}

static int lacks_bytes(void *handle, void *into)
{
	(void)handle;
	(void)into;
	return LACKS;
}

/* Before 12.3 nvJitLink's names have its version: __nvJitLinkCreate_12_0. */
static void *find(void *library, const char *name, int version)
{
	void *found = dlsym(library, name);
	char old[64];

	if (found || version >= LK_NVJITLINK_OLDEST || strlen(name) > sizeof(old) - 16)
		return found;
	snprintf(old, sizeof(old), "__%s_%d_%d", name, LC_CUDA_MAJOR(version),
		 LC_CUDA_MINOR(version));
	return dlsym(library, old);
}

static void bind_getter(struct lk_getter *getter, void *library, int version)
{
	if (!getter->name)
		return;
	if (!lk_bind(&getter->size, find(library, getter->size_name, version)))
		getter->size = lacks_size;
	if (!lk_bind(&getter->get, find(library, getter->name, version)))
		getter->get = lacks_bytes;
}

#define BIND(member, name) lk_bind(&tool->member, find(library, name, tool->version))

static bool bind_nvjitlink(struct lk_nvjitlink *tool, void *library)
{
	bind_getter(&tool->info_log, library, tool->version);
	bind_getter(&tool->error_log, library, tool->version);
	for (size_t i = 0; i < LC_COUNT(tool->images); i++)
		bind_getter(&tool->images[i], library, tool->version);
	return BIND(create, "nvJitLinkCreate") && BIND(destroy, "nvJitLinkDestroy") &&
	       BIND(add, "nvJitLinkAddData") && BIND(complete, "nvJitLinkComplete");
}

static bool bind_nvrtc(struct lk_nvrtc *tool, void *library)
{
	bind_getter(&tool->log, library, tool->version);
	BIND(pch_status, "nvrtcGetPCHCreateStatus");
	BIND(pch_heap_required, "nvrtcGetPCHHeapSizeRequired");
	BIND(set_pch_heap, "nvrtcSetPCHHeapSize");
	for (size_t i = 0; i < LC_COUNT(tool->images); i++)
		bind_getter(&tool->images[i], library, tool->version);
	return BIND(create, "nvrtcCreateProgram") && BIND(destroy, "nvrtcDestroyProgram") &&
	       BIND(compile, "nvrtcCompileProgram") && BIND(error_string, "nvrtcGetErrorString") &&
	       BIND(add_expression, "nvrtcAddNameExpression") &&
	       BIND(lowered_name, "nvrtcGetLoweredName");
}

/* What was found of one kind when its stub had this status. */
struct tools {
	const struct lazycuda_status *status;
	struct tools *older;	/* never freed: somebody may be using it */
	int versions[MAX_TOOLS];
	size_t count;
	struct lk_nvjitlink nvjitlinks[MAX_TOOLS];
	struct lk_nvrtc nvrtcs[MAX_TOOLS];
};

static struct tools *installed[LK_NVJITLINK + 1];
static pthread_mutex_t installing = PTHREAD_MUTEX_INITIALIZER;

static bool is_among(const int *versions, size_t count, int version)
{
	for (size_t i = 0; i < count; i++)
		if (versions[i] == version)
			return true;
	return false;
}

static void add_installed(struct tools *tools, enum lk_tool tool,
			  const struct lazycuda_candidate *candidate)
{
	struct lk_nvjitlink *nvjitlink = &tools->nvjitlinks[tools->count];
	struct lk_nvrtc *nvrtc = &tools->nvrtcs[tools->count];
	void *library;
	int version;

	if (tools->count == MAX_TOOLS || candidate->taken || candidate->path[0] != '/')
		return;
	library = lazycuda_open_aside(lk_tool_name(tool), candidate->path);
	if (!library || dlsym(library, STUB_SYMBOL))
		return;
	version = lk_library_version(tool == LK_NVRTC ? "libnvrtc" : "libnvJitLink", library);
	if (version <= 0 || version == lk_loaded_version(tool) || is_among(tools->versions, tools->count, version) ||
	    !lazycuda_is_allowed(version))
		return;
	*nvjitlink = own_nvjitlink;
	*nvrtc = own_nvrtc;
	nvjitlink->version = nvrtc->version = version;
	nvjitlink->path = nvrtc->path = candidate->path;
	if (tool == LK_NVRTC ? bind_nvrtc(nvrtc, library) : bind_nvjitlink(nvjitlink, library))
		tools->versions[tools->count++] = version;
}

/* If a variable names the file, no other counts. */
static bool is_named(const struct lazycuda_status *status)
{
	for (size_t i = 0; i < status->candidate_count; i++)
		if (!strcmp(status->candidates[i].found_by, "override"))
			return true;
	return false;
}

static struct tools *install(enum lk_tool tool, const struct lazycuda_status *status)
{
	struct tools *tools = calloc(1, sizeof(*tools));

	if (!tools)
		return NULL;
	tools->status = status;
	tools->older = installed[tool];
	for (size_t i = 0; !is_named(status) && i < status->candidate_count; i++)
		add_installed(tools, tool, &status->candidates[i]);
	return tools;
}

/* NULL if memory ran out or there is no stub. */
static const struct tools *tools_of(enum lk_tool tool)
{
	const struct lazycuda_status *status = lk_tool_status(tool);
	struct tools *tools = __atomic_load_n(&installed[tool], __ATOMIC_ACQUIRE);

	if (!status || (tools && tools->status == status))
		return status ? tools : NULL;
	pthread_mutex_lock(&installing);
	tools = installed[tool];
	if (!tools || tools->status != status) {
		tools = install(tool, status);
		if (tools)
			__atomic_store_n(&installed[tool], tools, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&installing);
	return tools;
}

/* ---- libnvvm and tileiras ---- */

/* Tools beside whose candidates a libnvvm is looked for: nvJitLink first, with which the libnvvm
 * of its own toolkit goes best. */
static const enum lk_tool leading[] = { LK_NVJITLINK, LK_NVRTC };

/* What was found when LAZYCUDA_NVVM named this file, NULL: none, and the stubs had these
 * statuses. */
struct nvvm_list {
	struct lazycuda_others others;	/* lists of these */
	int versions[MAX_TOOLS], libdevices[MAX_TOOLS], tileirases[MAX_TOOLS];
	const char *paths[MAX_TOOLS], *libdevice_paths[MAX_TOOLS], *tileiras_paths[MAX_TOOLS];
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

/* Returns why a library may not be loaded; NULL: it may. */
static const char *why_not(struct lc_arena *arena, const char *path)
{
	static const struct lc_library none;
	const char *why = why_not_safe(arena, path);
	struct lc_elf elf;

	if (!why)
		why = lc_elf_file(path, &none, &elf);
	return why ? why : elf.stub ? "it is a stub" : NULL;
}

static void add_nvvm(struct nvvm_list *list, const char *path, bool named)
{
	size_t at = list->others.nvvm_count;
	int version = lk_toolkit_of_part(list->arena, path), libdevice = 0;
	const char *device;

	if (version <= 0)
		version = LAZYCUDA_VERSION_UNKNOWN;
	if (at == MAX_TOOLS || is_among(list->versions, at, version) || why_not(list->arena, path) ||
	    (!named && version > 0 && !lazycuda_is_allowed(version)))
		return;
	device = lk_component_path(list->arena, path, "libdevice");
	if (device)
		libdevice = lk_toolkit_of_part(list->arena, device);
	/* A libdevice of any toolkit of the major will do; one of another major does not count. */
	if (libdevice > 0 && version > 0 && LC_CUDA_MAJOR(libdevice) != LC_CUDA_MAJOR(version))
		device = NULL;
	list->versions[at] = version;
	list->libdevices[at] = !device ? LAZYCUDA_VERSION_NONE :
			       libdevice ? libdevice : LAZYCUDA_VERSION_UNKNOWN;
	list->paths[at] = path;
	list->libdevice_paths[at] = device;
	list->others.nvvm_count++;
}

/* LAZYCUDA_NVVM does not hide them. */
static void add_tileiras(struct nvvm_list *list, const char *path)
{
	size_t at = list->others.tileiras_count;
	int version = lk_toolkit_of_part(list->arena, path);

	if (version <= 0)
		version = LAZYCUDA_VERSION_UNKNOWN;
	if (at == MAX_TOOLS || access(path, X_OK) || is_among(list->tileirases, at, version) ||
	    why_not_safe(list->arena, path) || (version > 0 && !lazycuda_is_allowed(version)))
		return;
	list->tileirases[at] = version;
	list->tileiras_paths[at] = path;
	list->others.tileiras_count++;
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
				    .older = nvvms, .others = {
			.size = sizeof(list->others), .nvvms = list->versions,
			.libdevices = list->libdevices, .tileirases = list->tileirases } };
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
	       !memcmp(list->led_by, led_by, sizeof(list->led_by));
}

/* NULL if memory ran out. */
static const struct nvvm_list *installed_nvvms(void)
{
	const struct lazycuda_status *led_by[2];
	struct nvvm_list *list = __atomic_load_n(&nvvms, __ATOMIC_ACQUIRE);

	for (size_t i = 0; i < 2; i++)
		led_by[i] = lk_tool_status(leading[i]);
	if (is_current(list, led_by))
		return list;
	pthread_mutex_lock(&listing);
	list = nvvms;
	if (!is_current(list, led_by)) {
		list = list_nvvms(led_by);
		if (list)
			__atomic_store_n(&nvvms, list, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&listing);
	return list;
}

const struct lazycuda_others *lk_installed_nvvms(void)
{
	const struct nvvm_list *list = installed_nvvms();

	return list ? &list->others : NULL;
}

static const char *path_of(const int *versions, const char *const *paths, size_t count, int version)
{
	for (size_t i = 0; i < count; i++)
		if (versions[i] == version)
			return paths[i];
	return NULL;
}

const char *lk_nvvm_file(int version)
{
	const struct nvvm_list *list = installed_nvvms();

	return list ? path_of(list->versions, list->paths, list->others.nvvm_count, version) : NULL;
}

const char *lk_libdevice_of(int version)
{
	const struct nvvm_list *list = installed_nvvms();

	return list ? path_of(list->versions, list->libdevice_paths, list->others.nvvm_count, version) : NULL;
}

const char *lk_tileiras_file(int version)
{
	const struct nvvm_list *list = installed_nvvms();

	return list ? path_of(list->tileirases, list->tileiras_paths, list->others.tileiras_count, version) :
		      NULL;
}

/* "12.9, 13.0", or NULL if there is none. */
static const char *list_versions(struct lc_arena *arena)
{
	const struct lazycuda_others *all = lk_installed_nvvms();
	const char *text = NULL;
	char version[LK_VERSION_TEXT];

	for (size_t i = 0; all && i < all->nvvm_count; i++)
		text = lc_format(arena, "%s%s%s", text ? text : "", text ? ", " : "",
				 lk_version_text(all->nvvms[i], version));
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

/* ---- for the link ---- */

const struct lazycuda_others *lazycuda_get_others(void)
{
	static const struct lazycuda_others *found;
	const struct tools *linkers = tools_of(LK_NVJITLINK), *compilers = tools_of(LK_NVRTC);
	const struct lazycuda_others *nvvms = lk_installed_nvvms();
	const struct lazycuda_others *known = __atomic_load_n(&found, __ATOMIC_ACQUIRE);
	struct lazycuda_others others = { .size = sizeof(others) }, *copy;

	if (nvvms)
		others = *nvvms;
	others.nvjitlinks = linkers ? linkers->versions : NULL;
	others.nvjitlink_count = linkers ? linkers->count : 0;
	others.nvrtcs = compilers ? compilers->versions : NULL;
	others.nvrtc_count = compilers ? compilers->count : 0;
	if (known && !memcmp(known, &others, sizeof(others)))
		return known;
	/* A caller may still read what was returned before. */
	copy = malloc(sizeof(*copy));
	if (!copy)
		return NULL;
	*copy = others;
	__atomic_store_n(&found, copy, __ATOMIC_RELEASE);
	return copy;
}

/* The index of a version among those opened aside; false if it is the stub's or is not here. */
static bool is_aside(enum lk_tool tool, int version, const struct tools **tools, size_t *index)
{
	if (version <= 0 || version == lk_loaded_version(tool))
		return false;
	*tools = tools_of(tool);
	for (*index = 0; *tools && *index < (*tools)->count; ++*index)
		if ((*tools)->versions[*index] == version)
			return true;
	return false;
}

const struct lk_nvjitlink *lk_nvjitlink_of(int version)
{
	const struct tools *tools;
	size_t index;

	return is_aside(LK_NVJITLINK, version, &tools, &index) ? &tools->nvjitlinks[index] :
								 &own_nvjitlink;
}

const struct lk_nvrtc *lk_nvrtc_of(int version)
{
	const struct tools *tools;
	size_t index;

	return is_aside(LK_NVRTC, version, &tools, &index) ? &tools->nvrtcs[index] : &own_nvrtc;
}
