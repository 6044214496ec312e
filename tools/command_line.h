/* SPDX-License-Identifier: MIT */
/* command_line.h - the table of a command's options: what is read, and what its help says */
#ifndef COMMAND_LINE_H
#define COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../stubs/base/arena.h"

struct option {
	const char *name;	/* "--lto"; with a short one "-o, --output" */
	const char *argument;	/* "OUT"; NULL if it has none */
	const char *help;	/* printed behind it, broken into lines */
	/* Takes a value into the command's data.  False if it cannot. */
	bool (*take)(void *data, const char *value);
	bool (*read)(const char *value, void *at);	/* does so for what is there alone */
	/* Without these: where it goes, a const char *; without an argument a bool, or these bits
	 * of an unsigned. */
	size_t at;
	unsigned bits;
	bool many;		/* the value goes to a struct lc_strings, which has room for all */
	bool with_name;		/* and so does the name, before it */
	const char *wants;	/* what to give instead of a value that is not taken */
};

struct command {
	const char *name;	/* "plan" */
	const char *usage;	/* printed before the options: its first line begins with "usage: " */
	const struct option *options, *shared;	/* each ends with a row without a name; or NULL */
	const char *end;	/* printed after the options */
	const char *words;	/* those that may be meant besides options */
};

/*
 * Reads the options in argv[1] and later.  Moves all other words to the beginning of argv and
 * returns their number; or gives each to `word`, if that is not NULL.  After --help, or after a
 * message about a wrong option, returns -1 and sets the exit status.
 */
int options_read(const struct command *command, void *data, int argc, char **argv,
		 void (*word)(void *data, const char *word), int *status);

/* Reads "4G", "512M", "64K" or "1000" into a uint64_t; false for anything else, and for 0. */
bool bytes_read(const char *text, void *bytes);

/* Says on standard error what is wrong with a word, what may be meant, and the first line of the
 * usage.  Returns the exit status. */
int options_wrong(const struct command *command, const char *what, const char *word);

#endif
