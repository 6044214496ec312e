/* SPDX-License-Identifier: MIT */
/*
 * retarget_command.c - `lazycuda retarget`: repoints binaries from the real libraries to the stubs
 *
 * The command itself is in Python, which can read and write wheels.  This finds and
 * executes it.
 */
#include "commands.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "beside.h"
#include "say.h"
#include "tables.h"

/* Returns the folder of the Python code, or NULL. */
static char *find_code(void)
{
	char *file = beside(python_place, "lazycuda/retarget.py");

	if (!file)	/* in the Python package */
		file = beside("..", "retarget.py");
	if (file)
		*strrchr(file, '/') = 0;
	return file;
}

/* Returns --stubs=FOLDER for the stubs that this program runs with, or NULL. */
static char *stubs_option(void)
{
	void *stub = dlopen(STUB_SONAME("cudart"), RTLD_LAZY | RTLD_NOLOAD);
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
	char *code = find_code(), *stubs = stubs_option();
	char **words = calloc((size_t)argc + 7, sizeof(*words));
	size_t count = 0;
	sigset_t interrupt;

	if (!words || !code) {
		complain("retarget", "there is no %s/lazycuda/retarget.py: install lazycuda's Python"
			 " module", python_place);
		free(words);
		free(code);
		free(stubs);
		return 2;
	}
	/* -I: modules come neither from the current folder nor from folders that the
	 * environment names.  -B: Python writes no bytecode beside the code. */
	words[count++] = "python3";
	words[count++] = "-I";
	words[count++] = "-B";
	words[count++] = code;
	words[count++] = "retarget";
	if (stubs)
		words[count++] = stubs;
	for (int i = 1; i < argc; i++)
		words[count++] = argv[i];
	/* While Python loads modules it answers ^C with a traceback: the code unblocks it later. */
	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	sigprocmask(SIG_BLOCK, &interrupt, NULL);
	execvp(words[0], words);
	fprintf(stderr, "lazycuda retarget: python3 cannot be run: %s; retarget needs Python 3.8"
		" or later on PATH\n", strerror(errno));
	free(words);
	free(code);
	free(stubs);
	return 2;
}
