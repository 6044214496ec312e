/* SPDX-License-Identifier: MIT */
/*
 * python_command.c - `lazycuda retarget` and `lazycuda toolkit`
 *
 * They are in Python: one reads and writes wheels, one looks for what pip has installed.  This
 * finds and executes them.
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

int python_main(int argc, char **argv)
{
	char *code = find_code(), *stubs = stubs_option();
	char **words = calloc((size_t)argc + 7, sizeof(*words));
	size_t count = 0;
	sigset_t interrupt;

	if (!words || !code) {
		complain(argv[0], "there is no %s/lazycuda/retarget.py: install lazycuda's Python"
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
	words[count++] = argv[0];
	if (stubs)
		words[count++] = stubs;
	for (int i = 1; i < argc; i++)
		words[count++] = argv[i];
	/* While Python loads modules it answers ^C with a traceback: the code unblocks it later. */
	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	sigprocmask(SIG_BLOCK, &interrupt, NULL);
	execvp(words[0], words);
	complain(argv[0], "python3 cannot be run: %s; %s needs Python 3.8 or later on PATH",
		 strerror(errno), argv[0]);
	free(words);
	free(code);
	free(stubs);
	return 2;
}
