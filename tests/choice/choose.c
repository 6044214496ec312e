/* SPDX-License-Identifier: MIT */
/*
 * choose.c - makes choices: set(), voter() and candidate() say what there is to choose from, choose()
 * what was chosen.  Linked with nothing of the loader but the choice.
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
	LIBRARY("cusparse", .own_majors = 1, .cuda = cuda), LIBRARY("cublas"),
};

static const char *const guards[] = { "best_effort", "strict", "off" };
static const char *const orders[] = { "near", "highest", "own" };
static const char *const refusals[] = {
	[LC_NONE] = "taken", [LC_MISSING] = "missing", [LC_DRIVER] = "driver",
	[LC_INCOHERENT] = "incoherent", [LC_EXCLUDED] = "excluded",
};

static struct lc_circumstances at;
static struct lc_voter voters[MAX_SEATS];
static struct lc_candidate candidates[MAX_SEATS][MAX_OPTIONS];

static const struct lc_library *library(const char *name)
{
	for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++)
		if (!strcmp(libraries[i].name, name))
			return &libraries[i];
	exit(2);
}

/* Begins anew. */
void set(const char *guard, int major, int driver, int branch, int process_major, int self,
	 const char *users, const char *program, int forward, const char *order)
{
	memset(voters, 0, sizeof(voters));
	memset(candidates, 0, sizeof(candidates));
	at = (struct lc_circumstances){
		.settings.major = major, .driver = driver, .branch = branch,
		.process_major = process_major, .self = (size_t)self, .voters = voters,
		.settings.constraint = users, .settings.program = program,
		.settings.forward = forward,
	};
	while (strcmp(guards[at.settings.guard], guard))
		at.settings.guard++;
	while (strcmp(orders[at.settings.order], order))
		at.settings.order++;
}

void voter(const char *name, int loaded, int callers)
{
	voters[at.voter_count] = (struct lc_voter){
		.library = library(name), .loaded = (lc_version)loaded,
		.candidates = candidates[at.voter_count], .callers = (uint32_t)callers,
	};
	at.voter_count++;
}

/* Of the last voter. */
void candidate(int origin, int major, int version, int refuses, const char *unusable, int latest,
	       int cuda_of, int tier, const char *lacks)
{
	struct lc_voter *last = &voters[at.voter_count - 1];

	last->candidates[last->candidate_count++] = (struct lc_candidate){
		.origin = (enum lc_origin)origin, .major = major, .version = (lc_version)version,
		.refuses = (size_t)refuses, .refused = "cudaThis", .importer = "/app.so",
		.unusable = unusable, .latest = (lc_version)latest, .cuda = (uint32_t)cuda_of,
		.cuda_reason = cuda_of ? "that is told" : NULL, .tier = (enum lc_tier)tier, .lacks = lacks,
	};
}

/* A line for the choice, and one for each of the candidates. */
const char *choose(void)
{
	struct lc_arena arena = { .failed = false };
	struct lc_choice choice = lc_choose(&arena, &at);
	static char *said;
	size_t length;
	FILE *out;

	free(said);
	out = open_memstream(&said, &length);
	fprintf(out, "%d\t%d\t%s\t%s\t%d%d\n", choice.common, choice.candidate,
		refusals[choice.refusal], choice.reason ? choice.reason : "",
		lc_choice_needs_driver(&at, false), at.driver && lc_choice_needs_driver(&at, true));
	for (size_t i = 0; i < at.voters[at.self].candidate_count; i++)
		fprintf(out, "%s\n", choice.reasons[i]);
	fclose(out);
	lc_arena_free(&arena);
	return said;
}
