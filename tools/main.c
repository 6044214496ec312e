/* SPDX-License-Identifier: MIT */
/* main.c - the command-line tool */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "../include/lazycuda.h"
#include "../link/tables/child_command.h"
#include "../stubs/base/count.h"
#include "commands.h"
#include "command_line.h"
#include "say.h"

static const struct {
	const char *name;
	int (*main)(int argc, char **argv);
	const char *summary;
} commands[] = {
	{ "status", status_main, "which library each stub uses here, and why" },
	{ "audit", audit_main, "on which CUDA versions a binary, wheel or folder runs" },
	{ "retarget", python_main, "repoint binaries and wheels from the real libraries" },
	{ "inspect", inspect_main, "what device code a file holds" },
	{ "plan", plan_main, "which linker takes which code, or why none does" },
	{ "link", link_main, "link device code as planned" },
	{ "embed", embed_main, "write stubs as one C file for your own library" },
	{ "stub", stub_main, "make a stub for a library of your own" },
	{ "toolkit", python_main, "make a folder that build systems take for a CUDA toolkit" },
};

#define COMMANDS LC_COUNT(commands)

static const char usage[] = "usage: lazycuda COMMAND [OPTION...]\n";

static int help(FILE *stream)
{
	fprintf(stream, "%s\n", usage);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(stream, "  %-8s  %s\n", commands[i].name, commands[i].summary);
	fputs("\n`lazycuda help COMMAND` says more; `-V` or `--version` gives the version.\n"
	      "Exit status: 0 yes, 1 no, with the reason, 2 wrong usage or unreadable input.\n", stream);
	return stream == stdout ? 0 : 2;
}

static int wrong(const char *what, const char *word)
{
	char names[256] = "--version help version";

	for (size_t i = 0; i < COMMANDS; i++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), " %s",
			 commands[i].name);
	return options_wrong(&(struct command){ .usage = usage, .words = names }, what, word);
}

static bool is_one_of(const char *word, const char *long_option, const char *short_option)
{
	return !strcmp(word, long_option) || !strcmp(word, long_option + 2) || !strcmp(word, short_option);
}

static int take_command(int argc, char **argv)
{
	/* `help COMMAND` is `COMMAND --help`. */
	char *asked[] = { argv[argc > 2 ? 2 : 0], (char *)"--help", NULL };
	bool is_help = argc > 1 && is_one_of(argv[1], "--help", "-h");
	bool is_version = argc > 1 && is_one_of(argv[1], "--version", "-V");

	if (argc < 2)
		return help(stderr);
	if (argc > 2 + is_help && (is_help || is_version))
		return wrong("unexpected word ", argv[2 + is_help]);
	if (is_help && (argc == 2 || is_one_of(argv[2], "--help", "-h")))
		return help(stdout);
	/* A part of liblazycuda_link: it starts this program, and nobody else does. */
	if (!strcmp(argv[1], "--link-worker"))
		return lazycuda_link_worker(argv + 2);
	if (is_version) {
		printf("lazycuda %s\n", lazycuda_version());
		return 0;
	}
	argv = is_help ? asked : argv + 1;
	argc = is_help ? 2 : argc - 1;
	for (size_t i = 0; i < COMMANDS; i++)
		if (!strcmp(argv[0], commands[i].name))
			return commands[i].main(argc, argv);
	return wrong(!*argv[0] ? "an argument is empty" : argv[0][0] == '-' ? "unknown option " : "unknown command ",
		     argv[0]);
}

/* No file that is opened later becomes a standard stream that is closed.  Standard output still takes
 * nothing, which is an error, and of standard error nobody can be told. */
static void fill_streams(void)
{
	for (int stream = 0; stream < 3; stream++)
		if (fcntl(stream, F_GETFD) < 0)
			open("/dev/null", stream == 1 ? O_RDONLY : O_WRONLY);
}

/* What could not be written was not answered. */
int main(int argc, char **argv)
{
	const char *name = argc > 1 && argv[1][0] != '-' ? argv[1] : NULL;
	int status;

	fill_streams();
	status = take_command(argc, argv);
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	complain(name, "standard output: %s", strerror(errno));
	return 2;
}
