/* SPDX-License-Identifier: MIT */
/* components.c - the parts of a toolkit that go with a library of it, and where they are */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../stubs/base/count.h"
#include "../../stubs/base/glibc.h"
#include "../../stubs/base/library_name.h"
#include "components.h"
#include "toolkit.h"
#include "versions.h"

/* What has to hold of a component's version. */
enum fitting {
	SAME,		/* it is the library's own */
	NOT_NEWER,	/* of its major, and not newer */
	NOT_OLDER,	/* of its major, and not older: it reads what the library writes */
	SAME_MAJOR,
	OWN		/* made for its major, with versions of its own */
};

/* Places are relative to the folder of the library. */
static const char *const builtins_places[] = { "libnvrtc-builtins.so.%s", NULL };
static const char *const cccl_places[] = {
	"../include/cccl/cub/version.cuh",		/* a toolkit or a wheel of 13 */
	"../include/cub/version.cuh",			/* a toolkit of 12, conda */
	"../../include/cccl/cub/version.cuh",		/* lib/x86_64-linux-gnu */
	"../../include/cub/version.cuh",
	"../../../include/cccl/cub/version.cuh",	/* targets/x86_64-linux/lib */
	"../../../include/cub/version.cuh",
	"../targets/x86_64-linux/include/cccl/cub/version.cuh",	/* conda */
	"../targets/x86_64-linux/include/cub/version.cuh",
	"../targets/sbsa-linux/include/cccl/cub/version.cuh",
	"../targets/sbsa-linux/include/cub/version.cuh",
	"../../cuda_cccl/include/cub/version.cuh",	/* the wheel of 12 */
	NULL
};
static const char *const device_runtime_places[] = {
	"libcudadevrt.a",			/* a toolkit, conda, a wheel of the runtime or of 13 */
	"../../cuda_runtime/lib/libcudadevrt.a",	/* beside another wheel of 12 */
	NULL
};
static const char *const libdevice_places[] = {
	"../nvvm/libdevice/libdevice.10.bc",		/* a toolkit, conda, a wheel of 13 */
	"../../nvvm/libdevice/libdevice.10.bc",		/* lib/x86_64-linux-gnu */
	"../../../nvvm/libdevice/libdevice.10.bc",	/* targets/x86_64-linux/lib */
	"../../cuda_nvcc/nvvm/libdevice/libdevice.10.bc",	/* the wheel of 12 */
	"../nvidia-cuda-toolkit/libdevice/libdevice.10.bc",	/* Debian's */
	"../libdevice/libdevice.10.bc",			/* beside a toolkit's libnvvm */
	NULL
};
static const char *const nvvm_places[] = {
	"../nvvm/lib64/libnvvm.so.4",			/* a toolkit, conda */
	"../../nvvm/lib64/libnvvm.so.4",		/* lib/x86_64-linux-gnu */
	"../../../nvvm/lib64/libnvvm.so.4",		/* targets/x86_64-linux/lib */
	"../../cuda_nvcc/nvvm/lib64/libnvvm.so.4",	/* the wheel of 12 */
	"../../cuda_nvcc/nvvm/lib64/libnvvm.so",
	"libnvvm.so.4",					/* a wheel of 13, Debian */
	NULL
};
static const char *const nvcc_places[] = {
	"../bin/nvcc", "../../bin/nvcc", "../../../bin/nvcc", "../../cuda_nvcc/bin/nvcc", NULL
};
static const char *const tileiras_places[] = {
	"../bin/tileiras", "../../bin/tileiras", "../../../bin/tileiras", NULL
};
static const char *const nccl_places[] = {
	"libnccl_device.bc",				/* a toolkit, conda */
	"../../nccl/lib/libnccl_device.bc",		/* its wheel */
	NULL
};
static const char *const nvshmem_places[] = {
	"libnvshmem_device.bc", "../../nvshmem/lib/libnvshmem_device.bc",
	/* From 3.5 on there is a file for each of some architectures, this one among them. */
	"libnvshmem_device_sm_90.bc", "../../nvshmem/lib/libnvshmem_device_sm_90.bc", NULL
};

static const struct component_row {
	const char *name;
	const char *of;		/* what the file name of its library begins with; NULL: any */
	enum fitting relation;
	const char *const *places;
	const char *package;	/* of PyPI: its wheels of 12, without the major; NULL: 12 has none */
	const char *since_13;	/* the wheel of 13; NULL: `package` */
} rows[] = {
	{ "nvrtc-builtins", "libnvrtc.", SAME, builtins_places, "nvidia-cuda-nvrtc", NULL },
	{ "headers", NULL, NOT_NEWER, lk_header_places, "nvidia-cuda-runtime", NULL },
	{ "cccl", NULL, NOT_NEWER, cccl_places, "nvidia-cuda-cccl", NULL },
	{ "cudadevrt", NULL, NOT_NEWER, device_runtime_places, "nvidia-cuda-runtime", NULL },
	{ "libdevice", NULL, SAME_MAJOR, libdevice_places, "nvidia-cuda-nvcc", "nvidia-nvvm" },
	{ "libnvvm", NULL, NOT_NEWER, nvvm_places, "nvidia-cuda-nvcc", "nvidia-nvvm" },
	{ "nvcc", NULL, NOT_NEWER, nvcc_places, "nvidia-cuda-nvcc", NULL },
	{ "tileiras", "libnvrtc.", NOT_OLDER, tileiras_places, NULL, "nvidia-cuda-tileiras" },
	{ "nccl_device", NULL, OWN, nccl_places, "nvidia-nccl", "nvidia-nccl-cu13" },
	{ "nvshmem_device", NULL, OWN, nvshmem_places, "nvidia-nvshmem", "nvidia-nvshmem-cu13" },
};

/* What the caller gets, and all that it points to. */
struct components_found {
	struct lazycuda_components public;
	struct lc_arena arena;
	struct lazycuda_component list[LC_COUNT(rows)];
};

/* A library, and where its companions are looked for. */
struct component_home {
	struct lc_arena *arena;
	const char *folder, *name;
	int version;
};

/* The library's version as in a file name, "12.9". */
static const char *number_of(const struct component_home *home)
{
	char text[LK_VERSION_TEXT];

	return lc_format(home->arena, "%s", lk_version_text(home->version, text));
}

/* The first of a component's places where there is a file, or NULL. */
static const char *find_component(const struct component_home *home,
				  const struct component_row *row)
{
	const char *number = number_of(home);

	for (const char *const *place = row->places; *place; place++) {
		const char *mark = strstr(*place, "%s");
		const char *path = mark ?
			lc_format(home->arena, "%s/%.*s%s", home->folder, (int)(mark - *place),
				  *place, number) :
			lc_format(home->arena, "%s/%s", home->folder, *place);

		path = access(path, R_OK) ? "" : lk_resolve(home->arena, path);
		if (*path)
			return path;
	}
	return NULL;
}

/* The version of a component; NONE if nothing tells. */
static int version_of(const struct component_home *home, const struct component_row *row,
		      const char *path)
{
	if (row->relation == SAME)	/* the version is in the file's name */
		return home->version;
	if (row->relation == OWN)
		return LAZYCUDA_VERSION_NONE;
	return row->places == lk_header_places ? lk_header_version(path) :
						 lk_toolkit_of_part(home->arena, path);
}

static bool holds(enum fitting relation, int version, int library)
{
	if (LC_CUDA_MAJOR(version) != LC_CUDA_MAJOR(library))
		return false;
	return relation == SAME_MAJOR || (relation == SAME ? version == library :
					  relation == NOT_OLDER ? version >= library :
								  version <= library);
}

static const char *package_of(struct lc_arena *arena, const struct component_row *row, int version)
{
	const int major = LC_CUDA_MAJOR(version);

	if (major >= 13 || !row->package)
		return row->since_13 ? row->since_13 : row->package;
	return major > 0 ? lc_format(arena, "%s-cu%d", row->package, major) : row->package;
}

/* "12.9", "12, not newer than 12.9" or "12" */
static const char *demand(const struct component_home *home, enum fitting relation)
{
	const char *number = number_of(home);

	switch (relation) {
	case SAME:
		return number;
	case NOT_NEWER:
		return lc_format(home->arena, "%d, and not newer than %s",
				 LC_CUDA_MAJOR(home->version), number);
	case NOT_OLDER:
		return lc_format(home->arena, "%d, and not older than %s",
				 LC_CUDA_MAJOR(home->version), number);
	default:
		return lc_format(home->arena, "%d", LC_CUDA_MAJOR(home->version));
	}
}

static void judge(const struct component_home *home, const struct component_row *row,
		  struct lazycuda_component *component)
{
	const char *needed = demand(home, row->relation);
	char text[LK_VERSION_TEXT];

	component->fits = -1;
	if (home->version <= 0) {
		component->relation = "the version of the library is not known";
	} else if (!component->path) {
		component->relation = lc_format(home->arena, "is not there; has to be of CUDA %s;"
						" package %s has it", needed,
						package_of(home->arena, row, home->version));
	} else if (component->version <= 0) {
		component->relation = lc_format(home->arena, "has to be of CUDA %s; which it is of is"
						" not known", needed);
	} else {
		component->fits = holds(row->relation, component->version, home->version);
		component->relation = lc_format(home->arena, "has to be of CUDA %s; is of %s", needed,
						lk_version_text(component->version, text));
	}
}

static bool is_asked(const struct component_row *row, const struct component_home *home)
{
	if (!row->package && home->version > 0 && LC_CUDA_MAJOR(home->version) < 13)
		return false;
	return !row->of || !strncmp(home->name, row->of, strlen(row->of));
}

static void find_all(struct components_found *found,
		     const struct component_home *home)
{
	for (size_t i = 0; i < LC_COUNT(rows); i++) {
		struct lazycuda_component *component = &found->list[found->public.count];

		if (!is_asked(&rows[i], home))
			continue;
		component->name = rows[i].name;
		component->path = find_component(home, &rows[i]);
		component->version = component->path ?
				     version_of(home, &rows[i], component->path) :
				     LAZYCUDA_VERSION_NONE;
		judge(home, &rows[i], component);
		found->public.count++;
	}
}

static const struct component_row *component_called(const char *name)
{
	const struct component_row *row = rows;

	while (strcmp(row->name, name))
		row++;
	return row;
}

const char *lk_component_package(struct lc_arena *arena, const char *name, int version)
{
	return package_of(arena, component_called(name), version);
}

const char *lk_component_path(struct lc_arena *arena, const char *library, const char *name)
{
	struct component_home home = { .arena = arena };
	const char *real = lk_resolve(arena, library);

	if (!*real)
		return NULL;
	home.folder = lc_format(arena, "%.*s", (int)(strrchr(real, '/') - real), real);
	return find_component(&home, component_called(name));
}

const char *lk_fitting_component(struct lc_arena *arena, const char *library, int version,
				 const char *name)
{
	const struct component_home home = { .arena = arena, .version = version };
	const char *path = lk_component_path(arena, library, name);
	const struct component_row *row = component_called(name);

	return path && holds(row->relation, version_of(&home, row, path), version) ? path : NULL;
}

struct lazycuda_components *lazycuda_find_components(const char *path)
{
	struct components_found *found = calloc(1, sizeof(*found));
	struct lc_arena *arena = found ? &found->arena : NULL;
	struct component_home home = { .arena = arena };
	const char *how, *real;

	if (!found)
		return NULL;
	found->public.size = sizeof(found->public);
	found->public.list = found->list;
	real = lk_resolve(arena, path);
	home.version = lk_toolkit_of(arena, path, &how);
	if (*real) {
		home.name = lc_format(arena, "%s", strrchr(real, '/') + 1);
		home.folder = lc_format(arena, "%.*s", (int)(strrchr(real, '/') - real), real);
		find_all(found, &home);
	}
	found->public.library = *real ? real : NULL;
	found->public.version = home.version;
	if (!arena->failed)
		return &found->public;
	lazycuda_components_free(&found->public);
	return NULL;
}

void lazycuda_components_free(struct lazycuda_components *components)
{
	struct components_found *found = (struct components_found *)components;

	if (found)
		lc_arena_free(&found->arena);
	free(found);
}
