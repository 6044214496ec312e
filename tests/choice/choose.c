/* SPDX-License-Identifier: MIT */
/*
 * choose.c - makes choices: `choose < QUESTIONS`
 *
 * Lines of tab-separated fields describe what there is to choose from, as below.  The
 * last, `choose`, is answered with a line for the choice and one for each of its
 * options.  Linked with nothing of the loader but the choice.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loader/choice.h"

enum { MAX_SEATS = 4, MAX_OPTIONS = 8 };

static const uint16_t known_majors[] = { 13, 12, 11 };

#define LIBRARY(library, ...) \
	{ .name = library, .known_majors = known_majors, .known_major_count = 3, __VA_ARGS__ }

static const uint32_t cuda[1];	/* that there is one is what counts here */

static const struct lc_library libraries[] = {
	LIBRARY("cudart"), LIBRARY("nvrtc"), LIBRARY("nvJitLink"),
	LIBRARY("cuda", .witness = "cuInit"), LIBRARY("foreign", .own_majors = 1),
	LIBRARY("cudnn", .own_majors = 1, .cuda = cuda),
	LIBRARY("cusparse", .own_majors = 1, .cuda = cuda),
};

static const char *const guards[] = { "best_effort", "strict", "off" };
static const char *const refusals[] = {
	[LC_NONE] = "taken", [LC_MISSING] = "missing", [LC_DRIVER] = "driver",
	[LC_INCOHERENT] = "incoherent", [LC_EXCLUDED] = "excluded",
};

static struct lc_circumstances at;
static struct lc_seat seats[MAX_SEATS];
static struct lc_option options[MAX_SEATS][MAX_OPTIONS];

static const char *text(const char *field)
{
	return *field ? strdup(field) : NULL;
}

static const struct lc_library *library(const char *name)
{
	for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++)
		if (!strcmp(libraries[i].name, name))
			return &libraries[i];
	exit(2);
}

/* constraints USERS PROGRAMS FORWARD */
static void constrain(char **fields)
{
	at.settings.constraint = text(fields[1]);
	at.settings.program = text(fields[2]);
	at.settings.forward = atoi(fields[3]);
}

/* at GUARD MAJOR DRIVER BRANCH PROCESS_MAJOR SELF: begins anew */
static void set(char **fields)
{
	memset(seats, 0, sizeof(seats));
	memset(options, 0, sizeof(options));
	at = (struct lc_circumstances){
		.settings.major = atoi(fields[2]), .driver = atoi(fields[3]),
		.branch = atoi(fields[4]), .process_major = atoi(fields[5]),
		.self = (size_t)atoi(fields[6]), .seats = seats,
	};
	while (strcmp(guards[at.settings.guard], fields[1]))
		at.settings.guard++;
}

/* seat LIBRARY LOADED */
static void seat(char **fields)
{
	seats[at.seat_count] = (struct lc_seat){
		.library = library(fields[1]), .loaded = (lc_version)atoi(fields[2]),
		.options = options[at.seat_count],
	};
	at.seat_count++;
}

/* option ORIGIN MAJOR VERSION REFUSES UNUSABLE LATEST CUDA: of the last seat */
static void option(char **fields)
{
	struct lc_seat *last = &seats[at.seat_count - 1];
	uint32_t cuda_of = (uint32_t)atoi(fields[7]);

	last->options[last->option_count++] = (struct lc_option){
		.origin = (enum lc_origin)atoi(fields[1]), .major = atoi(fields[2]),
		.version = (lc_version)atoi(fields[3]), .refuses = (size_t)atoi(fields[4]),
		.refused = "cudaThis", .importer = "/app.so", .unusable = text(fields[5]),
		.latest = (lc_version)atoi(fields[6]),
		.cuda = cuda_of, .told = cuda_of ? "that is told" : NULL,
	};
}

static void choose(char **fields)
{
	struct lc_arena arena = { .failed = false };
	struct lc_choice choice;

	(void)fields;
	choice = lc_choose(&arena, &at);
	printf("%d\t%d\t%s\t%s\t%d%d\n", choice.common, choice.option, refusals[choice.refusal],
	       choice.reason ? choice.reason : "", lc_choice_needs_driver(&at),
	       lc_choice_needs_branch(&at));
	for (size_t i = 0; i < at.seats[at.self].option_count; i++)
		printf("%s\n", choice.reasons[i]);
	lc_arena_free(&arena);
}

static const struct { const char *name; void (*act)(char **fields); } lines[] = {
	{ "at", set }, { "constraints", constrain }, { "seat", seat }, { "option", option }, { "choose", choose },
};

int main(void)
{
	char line[1024], *fields[8], *rest;

	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = 0;
		rest = line;
		for (size_t i = 0; i < 8; i++)
			fields[i] = rest ? strsep(&rest, "\t") : NULL;
		for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
			if (!strcmp(lines[i].name, fields[0]))
				lines[i].act(fields);
	}
	return 0;
}
