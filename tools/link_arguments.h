/* SPDX-License-Identifier: MIT */
/* link_arguments.h - the command line that `plan` and `link` have in common */
#ifndef LINK_ARGUMENTS_H
#define LINK_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "../include/lazycuda_link.h"

struct link_arguments {
	struct lazycuda_environment environment;	/* what is installed, or what was given */
	bool environment_given;	/* some of it was given: it is not what is installed */
	struct lazycuda_request request;
	struct lazycuda_input *inputs;	/* paths only; inspection and bytes are NULL */
	size_t input_count;
	bool json;
	/* What the pointers of the request point to. */
	const char **options, **compile_options, **symbols;
};

/* What the common options do, for a usage text. */
extern const char link_arguments_usage[];

/* A command that has them. */
struct link_command {
	const char *name;	/* "plan" */
	const char *usage;	/* all of it, but for link_arguments_usage, which follows */
	/*
	 * An option of its own; NULL: it has none.  `words` are it and what
	 * follows, up to NULL.  Returns how many it took, 0 if there is no such
	 * option, -1 if its value is wrong.
	 */
	int (*take)(void *data, char **words);
	void *data;
};

/*
 * Reads a command line, argv[0] being the command's name.  -1: go on; else the
 * exit status, everything having been said.  What was not given of the
 * environment is what is installed here.  To be freed in either case.
 */
int link_arguments_read(struct link_arguments *arguments, const struct link_command *command,
			int argc, char **argv);

/* Whether all files can be read; says which cannot. */
bool link_arguments_readable(const struct link_arguments *arguments,
			     const struct link_command *command);

void link_arguments_free(struct link_arguments *arguments);

/* One line on stderr and the usage; returns 2. */
int link_arguments_wrong(const struct link_command *command, const char *what, const char *word);

#endif
