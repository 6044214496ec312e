/* SPDX-License-Identifier: MIT */
/* main.c - the command-line tool */
#include <stdio.h>
#include <string.h>

#include "../include/lazycuda.h"
#include "../include/lazycuda_link.h"
#include "commands.h"
#include "say.h"

static const struct {
	const char *name;
	int (*main)(int argc, char **argv);
	const char *summary;
} commands[] = {
	{ "status", status_main, "which library each stub uses here, and why" },
	{ "audit", audit_main, "on which CUDA versions a binary, wheel or folder runs" },
	{ "retarget", retarget_main, "repoint binaries and wheels from the real libraries" },
	{ "inspect", inspect_main, "what device code a file holds" },
	{ "plan", plan_main, "which linker takes which code, or why none does" },
	{ "link", link_main, "link device code as planned" },
	{ "stub", stub_main, "make a stub for a library of your own" },
};

#define COMMANDS (sizeof(commands) / sizeof(*commands))

static void print_usage(FILE *stream)
{
	fputs("usage: lazycuda COMMAND [OPTION...]\n\n", stream);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(stream, "  %-8s  %s\n", commands[i].name, commands[i].summary);
	fputs("\n`lazycuda COMMAND --help` says more; `lazycuda --version` gives the version.\n"
	      "Exit status: 0 yes, 1 a typed no, 2 wrong usage or unreadable input.\n", stream);
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		print_usage(stderr);
		return 2;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		print_usage(stdout);
		return 0;
	}
	/* A part of liblazycuda_link: it starts this program, and nobody else does. */
	if (!strcmp(argv[1], "--link-worker"))
		return lazycuda_link_worker();
	if (!strcmp(argv[1], "--version")) {
		printf("lazycuda %s\n", lazycuda_version());
		return 0;
	}
	for (size_t i = 0; i < COMMANDS; i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].main(argc - 1, argv + 1);
	complain(NULL, "unknown command %s", argv[1]);
	print_usage(stderr);
	return 2;
}
