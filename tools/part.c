/* SPDX-License-Identifier: MIT */
/* part.c - runs other programs, such as are installed together with this one */
#include "part.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "beside.h"
#include "output.h"
#include "say.h"

bool run_program(const char *command, const char *program, const char *const *arguments)
{
	extern char **environ;
	int status = -1, error;
	pid_t child;

	error = posix_spawn(&child, program, NULL, NULL, (char *const *)arguments, environ);
	if (error)
		complain(command, "%s cannot be run: %s", program, strerror(error));
	output_name_child(error ? 0 : child);
	while (!error && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	output_name_child(0);
	if (!error && !WIFEXITED(status) && !output_stops())
		complain(command, "%s was ended", program);
	return !error && WIFEXITED(status) && !WEXITSTATUS(status);
}

bool run_part(const char *command, const char *name, const char **arguments)
{
	char *program = beside(libexec_place, name);
	bool done;

	if (!program) {
		complain(command, "there is no %s in %s: it is a part of the installation", name,
			 libexec_place);
		return false;
	}
	arguments[0] = program;
	done = run_program(command, program, arguments);
	free(program);
	return done;
}
