/* SPDX-License-Identifier: MIT */
/* link_arguments.h - reads the options that `plan` and `link` share */
#ifndef LINK_ARGUMENTS_H
#define LINK_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "../include/lazycuda_link.h"
#include "command_line.h"

struct link_arguments {
	struct lc_arena arena;	/* of the arrays; for the command to free */
	struct lazycuda_environment environment;	/* as given, else as installed */
	bool environment_given;	/* at least one version was given */
	struct lazycuda_others others;	/* as installed, but for what was given */
	int nvvm;		/* the one that was given */
	struct lazycuda_request request;
	struct lazycuda_input *inputs;	/* only paths; inspection and bytes are NULL */
	size_t input_count;
	bool json, lto;
	unsigned outputs;	/* bits of enum lazycuda_output */
	/* What the request points to. */
	struct lc_strings options, compile_options, symbols;
	struct lazycuda_setting *settings;
	/* What --header gives all inputs: names, each in one block with its "=FILE", and texts. */
	const char **include_names, **headers;
	size_t header_count;
};

/* A value that no version has. */
#define NOT_GIVEN (LAZYCUDA_VERSION_UNKNOWN - 1)

/* Reads "12.9", "none" or "unknown" into an int; false for any other text. */
bool link_arguments_version(const char *text, void *at);
#define LINK_VERSION_WANTS "a version of CUDA such as 12.9, none or unknown"

/* The options that both commands have; their data begins with a struct link_arguments. */
extern const struct option link_arguments_options[];

/*
 * Reads a command line into the command's data.  Returns -1 to go on, else the exit status, after
 * all messages are printed.  Versions that were not given are those installed here.  The caller
 * frees the arguments in either case.
 */
int link_arguments_read(struct link_arguments *arguments, const struct command *command, int argc,
			char **argv);

/* Returns true if all files can be read; otherwise reports the first that cannot. */
bool link_arguments_readable(const struct link_arguments *arguments,
			     const struct command *command);

#endif
