/* SPDX-License-Identifier: MIT */
/* include_path.c - CUDA's headers for source that is compiled */
#include "include_path.h"

#include <string.h>

#include "../../stubs/base/count.h"
#include "../../stubs/base/cuda_version.h"
#include "../tables/components.h"
#include "../tables/toolkit.h"
#include "../tables/versions.h"

/* A part with headers, and the file of it that is looked for, below the folder. */
static const struct { const char *name, *file; } parts[] = {
	{ "headers", "/cuda.h" },
	{ "cccl", "/cub/version.cuh" },
};

const char *const *lk_options_with_headers(struct lc_arena *arena, const struct lazycuda_plan *plan,
					   const char *nvrtc, int version, size_t *count)
{
	const char **options = lc_alloc(arena, (plan->compile_option_count + LC_COUNT(parts)) *
					sizeof(*options));

	*count = plan->compile_option_count;
	if (!options)
		return NULL;
	memcpy(options, plan->compile_options, *count * sizeof(*options));
	for (size_t i = 0; nvrtc && i < LC_COUNT(parts); i++) {
		const char *file = lk_fitting_component(arena, nvrtc, version, parts[i].name);

		if (file)
			options[(*count)++] = lc_format(arena, "-I%.*s", (int)(strlen(file) -
							strlen(parts[i].file)), file);
	}
	return options;
}

const char *lk_header_advice(struct lc_arena *arena, const char *log, int version)
{
	if (!log || !strstr(log, "open source file"))
		return "";
	return lc_format(arena, "; CUDA's headers are looked for beside nvrtc (pip install"
			 " %s, and %s for CCCL), and where -I says%s",
			 lk_component_package(arena, "headers", version),
			 lk_component_package(arena, "cccl", version), version < LC_CUDA(13, 3) ? "" :
			 "; --use-bundled-headers=FOLDER unpacks those that this nvrtc has");
}

/* The folder that option `i` adds to the include path, or NULL. */
static const char *included(const struct lazycuda_plan *plan, size_t i)
{
	static const char *const words[] = { "-I", "--include-path" };
	const char *option = plan->compile_options[i];

	for (size_t w = 0; w < LC_COUNT(words); w++) {
		size_t length = strlen(words[w]);

		if (strncmp(option, words[w], length))
			continue;
		option += length + (option[length] == '=');
		return *option ? option : i + 1 < plan->compile_option_count ?
		       plan->compile_options[i + 1] : NULL;
	}
	return NULL;
}

const char *lk_other_headers(struct lc_arena *arena, const struct lazycuda_plan *plan)
{
	for (size_t i = 0; i < plan->compile_option_count; i++) {
		const char *folder = included(plan, i);
		int found = folder ? lk_header_version(lc_format(arena, "%s/cuda.h", folder)) : 0;
		char headers[LK_VERSION_TEXT], nvrtc[LK_VERSION_TEXT];

		if (found && found != plan->nvrtc)
			return lc_format(arena, "CUDA's headers in %s are of %s, and nvrtc is of %s",
					 lc_printable(arena, folder),
					 lk_version_text(found, headers),
					 lk_version_text(plan->nvrtc, nvrtc));
	}
	return NULL;
}
