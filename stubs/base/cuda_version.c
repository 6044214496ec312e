/* SPDX-License-Identifier: MIT */
/* cuda_version.c - versions as text, and what depends on a major of CUDA */
#include "cuda_version.h"

#include <stddef.h>
#include <string.h>

#include "count.h"
#include "library_name.h"

/* "Minor version compatibility" in NVIDIA's CUDA Compatibility guide. */
static const struct { int major, branch; } compatibilities[] = {
	{ 11, 450 },
	{ 12, 525 },
	{ 13, 580 },
};

int lc_compatible_branch(int major)
{
	for (size_t i = 0; i < LC_COUNT(compatibilities); i++)
		if (compatibilities[i].major == major)
			return compatibilities[i].branch;
	return 0;
}

enum lc_running lc_driver_runs(int driver, int branch, int toolkit)
{
	int needed = lc_compatible_branch(LC_CUDA_MAJOR(toolkit));

	if (driver >= toolkit)
		return LC_DRIVER_RUNS;
	if (LC_CUDA_MAJOR(driver) < LC_CUDA_MAJOR(toolkit))
		return LC_MAJOR_TOO_OLD;
	if (!branch || !needed)
		return LC_BRANCH_UNKNOWN;
	return branch >= needed ? LC_DRIVER_RUNS : LC_BRANCH_TOO_OLD;
}

const char *lc_version_scan(const char *text, int *version, int *numbers)
{
	static const int limits[] = { 999, 99, 999999 };
	int parts[LC_COUNT(limits)] = { 0 };
	size_t count = 0;

	do {
		/* A point without a digit after it is not part of the version: ".*". */
		const char *digits = count ? text + 1 : text;
		int value = 0;

		if (*digits < '0' || *digits > '9')
			break;
		for (; *digits >= '0' && *digits <= '9'; digits++) {
			value = 10 * value + *digits - '0';
			if (value > limits[count])
				return NULL;
		}
		parts[count++] = value;
		text = digits;
	} while (*text == '.' && count < LC_COUNT(parts));
	if (!count || !parts[0])
		return NULL;
	*version = LC_CUDA(parts[0], parts[1]);
	*numbers = (int)count;
	return text;
}

/* Libraries whose SONAMEs have CUDA's major as their number. */
static const char *const telling[] = {
	"libcudart", "libnvrtc", "libnvJitLink", "libcublas", "libcublasLt", "libnvblas", "libcupti",
	"libnvjpeg", "libnvfatbin", "libnppc", "libnppial", "libnppicc", "libnppidei", "libnppif",
	"libnppig", "libnppim", "libnppist", "libnppisu", "libnppitc", "libnpps",
};

uint32_t lc_cuda_of_soname(const char *soname)
{
	struct lc_ending ending;
	size_t length = lc_read_name(soname, &ending);

	if (!length || ending.number < 1 || ending.number > LC_MAX_CUDA)
		return 0;
	for (size_t i = 0; i < LC_COUNT(telling); i++)
		if (length == strlen(telling[i]) && !memcmp(soname, telling[i], length))
			return 1u << ending.number;
	return 0;
}

/* What the names of CUDA's libraries begin with. */
static const struct { const char *name, *folder; } begins[] = {
	{ "libcudart.", "cuda_runtime" }, { "libnvrtc.", "cuda_nvrtc" },
	{ "libnvJitLink.", "nvjitlink" }, { "libnvfatbin.", "nvfatbin" },
	{ "libcublas", "cublas" }, { "libnvblas.", "cublas" }, { "libcufft", "cufft" },
	{ "libcurand.", "curand" }, { "libcusolver", "cusolver" }, { "libcusparse.", "cusparse" },
	{ "libcusparseLt.", "cusparselt" }, { "libcudnn", "cudnn" }, { "libcufile", "cufile" },
	{ "libcupti.", "cuda_cupti" }, { "libnpp", "npp" }, { "libnvjpeg.", "nvjpeg" },
	{ "libnccl.", "nccl" }, { "libnvshmem_", "nvshmem" }, { "libcutensor", "cutensor" },
};

/* An index in `begins`; below 0: none. */
static int begin_of(const char *soname)
{
	/* Most names are of none, such as libpthread.so.0. */
	if (strncmp(soname, "libcu", 5) && strncmp(soname, "libn", 4))
		return -1;
	for (size_t i = 0; i < LC_COUNT(begins); i++)
		if (!strncmp(soname, begins[i].name, strlen(begins[i].name)))
			return (int)i;
	return -1;
}

const char *lc_cuda_folder(const char *soname)
{
	int i = begin_of(soname);

	return i < 0 ? NULL : begins[i].folder;
}

uint32_t lc_cuda_kind(const char *soname)
{
	int i = begin_of(soname);

	return i < 0 ? 0 : (uint32_t)1 << i;
}
