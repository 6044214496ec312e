/* SPDX-License-Identifier: MIT */
/* tools.c - the nvJitLinks and nvrtcs that are installed, ready to be called */
#include "tools.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../include/lazycuda.h"
#include "../../stubs/base/glibc.h"
#include "../tables/versions.h"
#include "environment.h"
#include "nvvm_tools.h"

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
	for (size_t i = 0; i < sizeof(tool->images) / sizeof(*tool->images); i++)
		bind_getter(&tool->images[i], library, tool->version);
	return BIND(create, "nvJitLinkCreate") && BIND(destroy, "nvJitLinkDestroy") &&
	       BIND(add, "nvJitLinkAddData") && BIND(complete, "nvJitLinkComplete");
}

static bool bind_nvrtc(struct lk_nvrtc *tool, void *library)
{
	bind_getter(&tool->log, library, tool->version);
	for (size_t i = 0; i < sizeof(tool->images) / sizeof(*tool->images); i++)
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

static bool is_known(const struct tools *tools, int version)
{
	for (size_t i = 0; i < tools->count; i++)
		if (tools->versions[i] == version)
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
	if (version <= 0 || version == lk_loaded_version(tool) || is_known(tools, version) ||
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

/* ---- for the link ---- */

const struct lazycuda_others *lazycuda_get_others(void)
{
	static const struct lazycuda_others *found;
	const struct tools *linkers = tools_of(LK_NVJITLINK), *compilers = tools_of(LK_NVRTC);
	const struct lk_nvvms *nvvms = lk_installed_nvvms();
	const struct lazycuda_others *known = __atomic_load_n(&found, __ATOMIC_ACQUIRE);
	struct lazycuda_others others = { .size = sizeof(others) }, *copy;

	others.nvjitlinks = linkers ? linkers->versions : NULL;
	others.nvjitlink_count = linkers ? linkers->count : 0;
	others.nvrtcs = compilers ? compilers->versions : NULL;
	others.nvrtc_count = compilers ? compilers->count : 0;
	others.nvvms = nvvms ? nvvms->versions : NULL;
	others.libdevices = nvvms ? nvvms->libdevices : NULL;
	others.nvvm_count = nvvms ? nvvms->count : 0;
	others.tileirases = nvvms ? nvvms->tileirases : NULL;
	others.tileiras_count = nvvms ? nvvms->tileiras_count : 0;
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
