/* SPDX-License-Identifier: MIT */
/* components.c - the parts of a toolkit that go with a library of it, and where they are */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../stubs/base/count.h"
#include "../../stubs/base/glibc.h"
#include "../../stubs/base/library_name.h"
#include "text.h"
#include "toolkit.h"
#include "versions.h"

/* What has to hold of a component's version. */
enum fitting {
	SAME,		/* it is the library's own, and is in the name of the file */
	NOT_NEWER,	/* of its major, and not newer */
	NOT_OLDER,	/* of its major, and not older: it reads what the library writes */
	SAME_MAJOR,
	OWN		/* made for its major, with versions of its own */
};

static const struct component_row {
	const char *name;
	const char *of;		/* what the file name of its library begins with; NULL: any */
	enum fitting relation;
	const char *packages[3];	/* of PyPI that have it for 11, 12 and 13; NULL: none has */
	int first;		/* the first CUDA whose package has it; 0: all have */
	const char *wheel;	/* its folder in the wheels of 12; NULL: it has none of its own */
	const char *beside[3];	/* files in the folder of the library, or below it */
	const char *files[3];	/* files in one of lk_toolkit_roots, or in the folder of the wheel */
} rows[] = {
	{ "nvrtc-builtins", "libnvrtc.", SAME,
	  { "nvidia-cuda-nvrtc-cu11", "nvidia-cuda-nvrtc-cu12", "nvidia-cuda-nvrtc" }, 0, NULL,
	  { NULL }, { NULL } },
	{ "headers", NULL, NOT_NEWER,
	  { "nvidia-cuda-runtime-cu11", "nvidia-cuda-runtime-cu12", "nvidia-cuda-runtime" }, 0,
	  "cuda_runtime", { NULL }, { "include/cuda.h" } },
	{ "cccl", NULL, NOT_NEWER,
	  { "nvidia-cuda-cccl-cu11", "nvidia-cuda-cccl-cu12", "nvidia-cuda-cccl" }, 0,
	  "cuda_cccl", { NULL }, { "include/cccl/cub/version.cuh", "include/cub/version.cuh" } },
	{ "cudadevrt", NULL, NOT_NEWER,
	  { NULL, "nvidia-cuda-runtime-cu12", "nvidia-cuda-runtime" }, LC_CUDA(12, 9),
	  "cuda_runtime", { "libcudadevrt.a" }, { "lib/libcudadevrt.a" } },
	/* Debian's, and that beside a toolkit's libnvvm */
	{ "libdevice", NULL, SAME_MAJOR,
	  { "nvidia-cuda-nvcc-cu11", "nvidia-cuda-nvcc-cu12", "nvidia-nvvm" }, 0, "cuda_nvcc",
	  { "../nvidia-cuda-toolkit/libdevice/libdevice.10.bc", "../libdevice/libdevice.10.bc" },
	  { "nvvm/libdevice/libdevice.10.bc" } },
	{ "libnvvm", NULL, NOT_NEWER,
	  { "nvidia-cuda-nvcc-cu11", "nvidia-cuda-nvcc-cu12", "nvidia-nvvm" }, 0, "cuda_nvcc",
	  { "libnvvm.so.4" }, { "nvvm/lib64/libnvvm.so.4", "nvvm/lib64/libnvvm.so" } },
	{ "nvcc", NULL, NOT_NEWER, { NULL, NULL, "nvidia-cuda-nvcc" }, 0, "cuda_nvcc",
	  { NULL }, { "bin/nvcc" } },
	{ "tileiras", "libnvrtc.", NOT_OLDER, { NULL, NULL, "nvidia-cuda-tileiras" }, 0, NULL,
	  { NULL }, { "bin/tileiras" } },
	{ "nccl_device", NULL, OWN, { NULL, "nvidia-nccl-cu12", "nvidia-nccl-cu13" }, 0, "nccl",
	  { "libnccl_device.bc" }, { "lib/libnccl_device.bc" } },
	/* From 3.5 on there is a file for each of some architectures, this one among them. */
	{ "nvshmem_device", NULL, OWN,
	  { "nvidia-nvshmem-cu11", "nvidia-nvshmem-cu12", "nvidia-nvshmem-cu13" }, 0, "nvshmem",
	  { "libnvshmem_device.bc", "libnvshmem_device_sm_90.bc" },
	  { "lib/libnvshmem_device.bc", "lib/libnvshmem_device_sm_90.bc" } },
};

/* Wheels of CUDA 12 and 11 with headers of their own, by their folders beside that of the library's. */
static const char *const wheels_of_12[] = {
	"cublas", "cuda_cupti", "cuda_nvcc", "cuda_nvcc/nvvm", "cuda_nvml_dev", "cuda_nvrtc", "cuda_nvtx",
	"cuda_profiler_api", "cufft", "cufile", "curand", "cusolver", "cusparse", "cusparselt", "npp",
	"nvfatbin", "nvjitlink", "nvjpeg", "cu12",
};
/* Of whichever CUDA: some are not NVIDIA's own folder's. */
static const char *const wheels_of_any[] = {
	"cudnn", "nccl", "nvshmem", "../cutensor", "../cuquantum", "../cutlass_library/source",
};
static const char *const wheels_of_programs[] = { "cuda_nvcc", "nsight_compute", "nsight_systems" };

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

/* The path of a file in a folder that is given from that of the library, if it can be read; else NULL. */
static const char *readable(const struct component_home *home, const char *folder, const char *file)
{
	const char *path = lc_format(home->arena, "%s/%s/%s", home->folder, folder, file);

	path = access(path, R_OK) ? "" : lk_resolve(home->arena, path);
	return *path ? path : NULL;
}

/* The first of a component's places where there is a file, or NULL. */
static const char *find_component(const struct component_home *home,
				  const struct component_row *row)
{
	const char *path = row->relation != SAME ? NULL :
		readable(home, ".", lc_format(home->arena, "libnvrtc-builtins.so.%s", number_of(home)));

	for (size_t i = 0; !path && row->beside[i]; i++)
		path = readable(home, ".", row->beside[i]);
	for (const char *const *root = lk_toolkit_roots; *root; root++)
		for (size_t i = 0; !path && row->files[i]; i++)
			path = readable(home, *root, row->files[i]);
	for (size_t i = 0; !path && row->wheel && row->files[i]; i++)
		path = readable(home, lc_format(home->arena, "../../%s", row->wheel), row->files[i]);
	return path;
}

/* The version of a component; NONE if nothing tells. */
static int version_of(const struct component_home *home, const struct component_row *row,
		      const char *path)
{
	if (row->relation == SAME)
		return home->version;
	if (row->relation == OWN)
		return LAZYCUDA_VERSION_NONE;
	return !strcmp(row->name, "headers") ? lk_header_version(path) :
					       lk_toolkit_of_part(home->arena, path);
}

/* A program that nobody may run is no use. */
static bool can_run(const struct component_row *row, const char *path)
{
	return !row->files[0] || strncmp(row->files[0], "bin/", 4) || !access(path, X_OK);
}

static bool holds(enum fitting relation, int version, int library)
{
	if (LC_CUDA_MAJOR(version) != LC_CUDA_MAJOR(library))
		return false;
	return relation == SAME_MAJOR || (relation == SAME ? version == library :
					  relation == NOT_OLDER ? version >= library :
								  version <= library);
}

/* The package of PyPI that has it for a library of this version; NULL: none has. */
static const char *package_of(const struct component_row *row, int version)
{
	const int major = LC_CUDA_MAJOR(version), last = (int)LC_COUNT(row->packages) - 1;

	if (major < 11 || version < row->first)
		return NULL;
	return row->packages[major - 11 < last ? major - 11 : last];
}

/* "12.9", "12, not newer than 12.9" or "12" */
static const char *demand(const struct component_home *home, enum fitting relation)
{
	const char *number = number_of(home);

	switch (relation) {
	case SAME:
		return number;
	case NOT_NEWER:
	case NOT_OLDER:
		return lc_format(home->arena, "%d, and not %s than %s", LC_CUDA_MAJOR(home->version),
				 relation == NOT_NEWER ? "newer" : "older", number);
	default:
		return lc_format(home->arena, "%d", LC_CUDA_MAJOR(home->version));
	}
}

static void judge_component(const struct component_home *home, const struct component_row *row,
			    struct lazycuda_component *component)
{
	const char *needed = demand(home, row->relation);
	const char *package = package_of(row, home->version);
	char text[LK_VERSION_TEXT];

	component->fits = -1;
	if (home->version <= 0) {
		component->relation = "the version of the library is not known";
	} else if (!component->path) {
		component->relation = lc_format(home->arena, "is not there; has to be of CUDA %s;"
						" %s of PyPI has it", needed,
						package ? package : "no package");
	} else if (!can_run(row, component->path)) {
		component->fits = 0;
		component->relation = "cannot be run: let it have the mode 755";
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
	/* tileiras: before 13 there is none. */
	if (row->relation == NOT_OLDER && home->version > 0 && LC_CUDA_MAJOR(home->version) < 13)
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
		judge_component(home, &rows[i], component);
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

const char *lk_component_package(const char *name, int version)
{
	return package_of(component_called(name), version);
}

/* Returns false if there is no such file. */
static bool open_home(struct component_home *home, struct lc_arena *arena, const char *library, int version)
{
	const char *real = lk_resolve(arena, library);

	*home = (struct component_home){ .arena = arena, .name = lc_basename(real), .version = version };
	if (*real)
		home->folder = lc_format(arena, "%.*s", (int)(strrchr(real, '/') - real), real);
	return home->folder;
}

const char *lk_component_path(struct lc_arena *arena, const char *library, const char *name)
{
	struct component_home home;

	return open_home(&home, arena, library, 0) ? find_component(&home, component_called(name)) : NULL;
}

static const char *fitting(const struct component_home *home, const char *name)
{
	const struct component_row *row = component_called(name);
	const char *path = find_component(home, row);

	return path && can_run(row, path) &&
	       holds(row->relation, version_of(home, row, path), home->version) ? path : NULL;
}

const char *lk_fitting_component(struct lc_arena *arena, const char *library, int version,
				 const char *name)
{
	struct component_home home;

	return open_home(&home, arena, library, version) ? fitting(&home, name) : NULL;
}

/* ---- folders ---- */

static void add_folder(const struct component_home *home, struct lc_strings *list, const char *where,
		       const char *name)
{
	const char *path = readable(home, where, name);

	if (path && !lc_is_among(path, list->list, list->count))
		lc_add_string(home->arena, list, path);
}

static void add_wheels(const struct component_home *home, struct lc_strings *list,
		       const char *const *wheels, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		add_folder(home, list, LK_CONCAT(home->arena, "../../", wheels[i]), name);
}

/* The folder of a component's file, if that goes with the library. */
static void add_fitting(const struct component_home *home, struct lc_strings *list, const char *name,
			const char *file)
{
	const char *path = fitting(home, name);

	if (path)
		lc_add_string(home->arena, list, lc_format(home->arena, "%.*s", (int)(strlen(path) -
							   strlen(file)), path));
}

/* A toolkit has all headers in one folder, conda those of other libraries in another, and wheels of 12
 * have one each. */
static struct lc_strings find_headers(const struct component_home *home)
{
	const char *wheel = strstr(home->folder, "/nvidia/"), *next;
	struct lc_strings list = { NULL, 0 };

	while (wheel && (next = strstr(wheel + 1, "/nvidia/")))
		wheel = next;
	add_fitting(home, &list, "headers", "/cuda.h");
	add_fitting(home, &list, "cccl", "/cub/version.cuh");
	for (const char *const *root = lk_toolkit_roots; *root; root++) {
		add_folder(home, &list, *root, "nvvm/include");
		if (readable(home, *root, "conda-meta"))
			add_folder(home, &list, *root, "include");
	}
	if (wheel && strncmp(wheel, "/nvidia/cu1", 11))
		add_wheels(home, &list, wheels_of_12, LC_COUNT(wheels_of_12), "include");
	if (wheel)
		add_wheels(home, &list, wheels_of_any, LC_COUNT(wheels_of_any), "include");
	return list;
}

static struct lc_strings find_programs(const struct component_home *home)
{
	struct lc_strings list = { NULL, 0 };

	for (const char *const *root = lk_toolkit_roots; *root; root++)
		add_folder(home, &list, *root, "bin");
	add_wheels(home, &list, wheels_of_programs, LC_COUNT(wheels_of_programs), "bin");
	return list;
}

struct lc_strings lk_header_folders(struct lc_arena *arena, const char *library, int version)
{
	struct component_home home;

	return open_home(&home, arena, library, version) ? find_headers(&home) :
							   (struct lc_strings){ NULL, 0 };
}

struct lazycuda_components *lazycuda_find_components(const char *path)
{
	struct components_found *found = calloc(1, sizeof(*found));
	struct lc_arena *arena = found ? &found->arena : NULL;
	struct lc_strings includes = { NULL, 0 }, bins = { NULL, 0 };
	struct component_home home;
	const char *how;
	int version;

	if (!found)
		return NULL;
	found->public.size = sizeof(found->public);
	found->public.list = found->list;
	version = lk_toolkit_of(arena, path, &how);
	if (open_home(&home, arena, path, version)) {
		find_all(found, &home);
		includes = find_headers(&home);
		bins = find_programs(&home);
		found->public.library = lk_resolve(arena, path);
	}
	found->public.includes = includes.list;
	found->public.include_count = includes.count;
	found->public.bins = bins.list;
	found->public.bin_count = bins.count;
	found->public.version = version;
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
