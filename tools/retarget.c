/* SPDX-License-Identifier: MIT */
/*
 * retarget.c - `lazycuda retarget`: from the real libraries to the stubs
 *
 * It is written in Python, which reads and writes wheels; this finds it.
 */
#include "retarget.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Where the Python code is, seen from the folder of this program: installed, in
 * the Python package, in the source tree.  So an install tree can be moved.
 */
static const char *const places[] = {
	"../share/lazycuda/python/lazycuda", "..", "../../packaging/python/lazycuda",
};

static bool join(char *path, const char *folder, const char *rest)
{
	return snprintf(path, PATH_MAX, "%s/%s", folder, rest) < PATH_MAX;
}

/* The folder of this program. */
static bool own_folder(char *folder)
{
	ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);
	char *slash;

	if (length <= 0)
		return false;
	folder[length] = 0;
	slash = strrchr(folder, '/');
	if (!slash)
		return false;
	*slash = 0;
	return true;
}

static bool find_code(char *path)
{
	char folder[PATH_MAX], place[PATH_MAX], file[PATH_MAX];

	if (!own_folder(folder))
		return false;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		if (join(place, folder, places[i]) && join(file, place, "retarget.py") &&
		    !access(file, R_OK))
			return realpath(place, path);
	return false;
}

/* --stubs=FOLDER, of the stubs that this program runs with; NULL: not found. */
static char *stubs_option(void)
{
	void *stub = dlopen("libcudart_stub.so", RTLD_LAZY | RTLD_NOLOAD);
	void *symbol = stub ? dlsym(stub, "lazycuda_version") : NULL;
	Dl_info found;
	const char *slash;
	char *option;

	if (!symbol || !dladdr(symbol, &found))
		return NULL;
	slash = strrchr(found.dli_fname, '/');
	if (!slash || asprintf(&option, "--stubs=%.*s", (int)(slash - found.dli_fname),
			       found.dli_fname) < 0)
		return NULL;
	return option;
}

int retarget_main(int argc, char **argv)
{
	char code[PATH_MAX], *stubs = stubs_option();
	char **words = calloc((size_t)argc + 7, sizeof(*words));
	size_t count = 0;

	if (!words || !find_code(code)) {
		fputs("lazycuda retarget: its Python code is not beside this program:"
		      " share/lazycuda/python is a part of the installation\n", stderr);
		free(words);
		free(stubs);
		return 2;
	}
	/* Isolated: modules come neither from the folder it is called in, nor
	 * from what the environment names.  -B: nothing is written beside the code. */
	words[count++] = "python3";
	words[count++] = "-I";
	words[count++] = "-B";
	words[count++] = code;
	words[count++] = "retarget";
	if (stubs)
		words[count++] = stubs;
	for (int i = 1; i < argc; i++)
		words[count++] = argv[i];
	execvp(words[0], words);
	fprintf(stderr, "lazycuda retarget: python3 cannot be run: %s; retarget needs Python 3.8"
		" or later on PATH\n", strerror(errno));
	free(words);
	free(stubs);
	return 2;
}
