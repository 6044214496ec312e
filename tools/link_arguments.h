/* SPDX-License-Identifier: MIT */
/* link_arguments.h - reads the options that `plan` and `link` share */
#ifndef LINK_ARGUMENTS_H
#define LINK_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "../include/lazycuda_link.h"

struct link_arguments {
	struct lazycuda_environment environment;	/* as given, else as installed */
	bool environment_given;	/* at least one version was given */
	struct lazycuda_others others;	/* as installed, but for what was given */
	int nvvm;		/* the one that was given */
	struct lazycuda_request request;
	struct lazycuda_input *inputs;	/* only paths; inspection and bytes are NULL */
	size_t input_count;
	bool json;
	/* The arrays that the request points to. */
	const char **options, **compile_options, **symbols;
	struct lazycuda_setting *settings;
	/* What --header gives all inputs: names, each in one block with its "=FILE", and texts. */
	const char **include_names, **headers;
	size_t header_count;
};

/* Reads "12.9", "none" or "unknown"; false for any other text. */
bool link_arguments_version(const char *text, int *version);

/* The usage text of the shared options. */
extern const char link_arguments_usage[];

/* A command that has the shared options. */
struct link_command {
	const char *name;	/* "plan" */
	const char *usage;	/* link_arguments_usage is printed after it */
	/*
	 * Takes an option of the command's own; NULL if it has none.  `words` are
	 * the option and all that follows, up to NULL.  Returns how many words it
	 * used, 0 if there is no such option, -1 if its value is wrong.
	 */
	int (*take)(void *data, char **words);
	void *data;
};

/*
 * Reads a command line; argv[0] is the command's name.  Returns -1 to go on, else
 * the exit status, after all messages are printed.  Versions that were not given
 * are those installed here.  The caller frees the arguments in either case.
 */
int link_arguments_read(struct link_arguments *arguments, const struct link_command *command,
			int argc, char **argv);

/* Returns true if all files can be read; otherwise reports the first that cannot. */
bool link_arguments_readable(const struct link_arguments *arguments,
			     const struct link_command *command);

void link_arguments_free(struct link_arguments *arguments);

/* Prints one line and the usage to stderr; returns 2. */
int link_arguments_wrong(const struct link_command *command, const char *what, const char *word);

#endif
