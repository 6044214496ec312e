/* SPDX-License-Identifier: MIT */
/* visitor.c - everything that is ever looked for */
#include "visitor.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <lazycuda.h>
#include <lazycuda_link.h>

/* Between these two lines on standard error nothing else happens. */
static void mark(const char *line)
{
	if (write(2, line, __builtin_strlen(line)) < 0)
		exit(99);
}

static void *open_library(const char *folder, const char *name)
{
	char path[4096];
	void *handle;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	handle = dlopen(path, RTLD_NOW);
	if (!handle) {
		puts(dlerror());
		exit(1);
	}
	return handle;
}

static void *find(void *library, const char *name)
{
	void *function = dlsym(library, name);

	if (!function) {
		puts(dlerror());
		exit(1);
	}
	return function;
}

static const char *const states[] = { "unknown", "usable", "missing", "refused", "broken",
					"hidden" };

/* Code that cannot be unpacked is an error of its entry. */
static void inspect(void *link, const char *path)
{
	struct lazycuda_inspection *(*look)(const char *, unsigned) =
		(struct lazycuda_inspection *(*)(const char *, unsigned))
		find(link, "lazycuda_inspect_file");
	struct lazycuda_inspection *inspection = look(path, LAZYCUDA_INSPECT_PAYLOADS);
	const char *error = inspection ? inspection->error : "no memory";

	for (size_t i = 0; inspection && i < inspection->entry_count && !error; i++)
		error = inspection->entries[i]->error;
	printf("code %s\n", error ? error : "unpacked");
}

void visit(const char *folder, char **code)
{
	static const char *const libraries[] = { "cudart", "nvrtc", "nvJitLink" };
	void *stub = open_library(folder, "libcudart_stub.so"), *link;
	struct lazycuda_driver driver;

	open_library(folder, "libnvrtc_stub.so");
	open_library(folder, "libnvJitLink_stub.so");
	link = open_library(folder, "liblazycuda_link.so");
	mark("begin\n");
	((int (*)(const char *))find(stub, "lazycuda_load"))(NULL);
	driver = ((struct lazycuda_driver (*)(void))find(stub, "lazycuda_get_driver"))();
	((struct lazycuda_environment (*)(void))find(link, "lazycuda_get_environment"))();
	while (*code)
		inspect(link, *code++);
	mark("end\n");
	for (int i = 0; i < 3; i++) {
		const struct lazycuda_status *status =
			((const struct lazycuda_status *(*)(const char *))
			 find(stub, "lazycuda_get_status"))(libraries[i]);

		printf("%s %s %s\n", libraries[i], states[status->state],
		       status->path ? status->path : "-");
	}
	printf("guard %s\n", ((const char *(*)(void))find(stub, "lazycuda_get_guard"))());
	printf("driver %d\n", driver.version);
	printf("branch %d\n", driver.branch);
}
