/* SPDX-License-Identifier: MIT */
/*
 * ask.c - asks the tables and rules about versions: `ask < QUESTIONS`
 *
 * A question is a line of tab-separated fields, as below; each gets a line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../link/tables/arch.h"
#include "../../link/tables/options.h"
#include "../../link/tables/setting_words.h"
#include "../../stubs/base/arena.h"
#include "../../link/tables/versions.h"

enum { MAX_FIELDS = 16 };

static const char *const fates[] = {
	[LK_OPTION_TAKEN] = "taken", [LK_OPTION_DROPPED] = "dropped",
	[LK_OPTION_REFUSED] = "refused", [LK_OPTION_RESERVED] = "reserved",
	[LK_OPTION_UNKNOWN] = "unknown", [LK_OPTION_MALFORMED] = "malformed",
};

static const char *const outcomes[] = {
	"compatible", "incompatible", "insufficient metadata", "driver too old"
};

static struct lk_arch arch(const char *text)
{
	struct lk_arch found;

	if (!lk_arch_parse(text, &found)) {
		fprintf(stderr, "%s is no architecture\n", text);
		exit(2);
	}
	return found;
}

/* parse TEXT: the version */
static void parse(char **fields)
{
	int version = -2;
	bool is_one = lk_version_parse(fields[1], &version);

	printf("%d %d\n", is_one, version);
}

static void text(char **fields)
{
	char text[LK_VERSION_TEXT];

	printf("%s\n", lk_version_text(atoi(fields[1]), text));
}

static void isa(char **fields)
{
	printf("%d\n", lk_cuda_of_isa(atoi(fields[1])));
}

static void newest_isa(char **fields)
{
	printf("%d\n", lk_isa_of_cuda(atoi(fields[1])));
}

/* ltoir CONTAINER IR */
static void ltoir(char **fields)
{
	printf("%d\n", lk_cuda_of_ltoir(atoi(fields[1]), atoi(fields[2])));
}

static void container(char **fields)
{
	int oldest, newest;

	lk_cuda_range_of_container(atoi(fields[1]), &oldest, &newest);
	printf("%d %d\n", oldest, newest);
}

static void branch(char **fields)
{
	printf("%d\n", lk_cuda_of_branch(atoi(fields[1])));
}

static void needed_branch(char **fields)
{
	printf("%d\n", lc_compatible_branch(atoi(fields[1])));
}

/* constraint VERSION TEXT: the answer, and where it is wrong */
static void constraint(char **fields)
{
	const char *wrong = fields[2];

	printf("%d", lc_constraint_holds(fields[2], atoi(fields[1]), &wrong));
	printf(" %td\n", wrong - fields[2]);
}

/* arch TEXT: its name, and whether it is known */
static void parse_arch(char **fields)
{
	char name[LK_ARCH_TEXT];
	struct lk_arch found;

	if (lk_arch_parse(fields[1], &found))
		printf("%s %d\n", lk_arch_text(&found, name), lk_arch_known(&found));
	else
		printf("none\n");
}

/* knows TOOL VERSION ARCH: whether it does, and since and until when */
static void knows(char **fields)
{
	enum lk_tool tool = (enum lk_tool)atoi(fields[1]);
	struct lk_arch of = arch(fields[3]);

	printf("%d %d %d\n", lk_arch_supported(&of, tool, atoi(fields[2])),
	       lk_arch_since(&of, tool), lk_arch_until(&of, tool));
}

/* fits KIND CODE TARGET LINKER */
static void fits(char **fields)
{
	struct lk_arch code = arch(fields[2]), target = arch(fields[3]);

	printf("%d\n", lk_arch_fits((enum lazycuda_kind)atoi(fields[1]), &code, &target,
				    atoi(fields[4])));
}

/* option BACKEND VERSION OPTION: fate, since, option, value, name, why */
static void option(char **fields)
{
	struct lk_option_verdict verdict = lk_option_judge(fields[3],
		(enum lazycuda_backend)atoi(fields[1]), atoi(fields[2]));

	printf("%s\t%d\t%d\t%u\t%s\t%s\n", fates[verdict.fate], verdict.since,
	       verdict.jit_option, verdict.jit_value, verdict.jit_name ? verdict.jit_name : "-",
	       verdict.why ? verdict.why : "-");
}

/* setting TOOL NAME=VALUE: why it is none, or its first nvrtc and its words */
static void setting(char **fields)
{
	const char *words[LK_SETTING_WORDS], *why;
	struct lc_arena *arena = lc_arena_new();
	struct lazycuda_setting read;
	size_t count;

	why = lk_setting_read(fields[2], &read);
	printf(why ? "%s" : "%.0s%d", why ? why : "", why ? 0 : lk_setting_since(&read));
	count = why ? 0 : lk_setting_words(arena, &read, (enum lk_tool)atoi(fields[1]), words);
	for (size_t i = 0; i < count; i++)
		printf("\t%s", words[i]);
	putchar('\n');
	lc_arena_free(arena);
}

/* combine DRIVER BRANCH CUDART NVRTC NVJITLINK CARRIES POLICY FLAGS [CONSTRAINT] */
static void combine(char **fields)
{
	struct lazycuda_combination question = {
		.size = sizeof(question),
		.driver = atoi(fields[1]), .branch = atoi(fields[2]), .cudart = atoi(fields[3]),
		.nvrtc = atoi(fields[4]), .nvjitlink = atoi(fields[5]),
		.carries = (enum lazycuda_kind)atoi(fields[6]),
		.policy = (enum lazycuda_policy)atoi(fields[7]),
		.flags = (unsigned)atoi(fields[8]), .constraint = fields[9],
	};
	char message[1024] = "";
	enum lazycuda_outcome outcome = lazycuda_combine(&question, message, sizeof(message));

	if (lazycuda_combine(&question, NULL, 0) != outcome)
		outcome = (enum lazycuda_outcome)-1;
	printf("%s\t%s\n", outcomes[outcome], message);
}

/* toolkit PATH */
static void toolkit(char **fields)
{
	char how[1024] = "";
	int version = lazycuda_toolkit_version(fields[1], how, sizeof(how));

	printf("%d\t%s\n", version, how);
}

/* components PATH: the library's version, then five fields of each */
static void components(char **fields)
{
	struct lazycuda_components *found = lazycuda_find_components(fields[1]);

	printf("%d", found->version);
	for (size_t i = 0; i < found->count; i++)
		printf("\t%s\t%s\t%d\t%d\t%s", found->list[i].name,
		       found->list[i].path ? found->list[i].path : "", found->list[i].version,
		       found->list[i].fits, found->list[i].relation);
	printf("\n");
	lazycuda_components_free(found);
}

static const struct {
	const char *name;
	void (*answer)(char **fields);
	int fields;		/* behind the name */
} questions[] = {
	{ "parse", parse, 1 }, { "text", text, 1 }, { "isa", isa, 1 },
	{ "newest-isa", newest_isa, 1 }, { "ltoir", ltoir, 2 }, { "container", container, 1 },
	{ "branch", branch, 1 }, { "needed-branch", needed_branch, 1 },
	{ "constraint", constraint, 2 }, { "arch", parse_arch, 1 },
	{ "knows", knows, 3 }, { "fits", fits, 4 }, { "option", option, 3 },
	{ "setting", setting, 2 },
	{ "combine", combine, 8 }, { "toolkit", toolkit, 1 },
	{ "components", components, 1 },
};

static void answer(char *line)
{
	char *fields[MAX_FIELDS + 1] = { 0 };
	int count = 0;

	for (char *field; count < MAX_FIELDS && (field = strsep(&line, "\t")); )
		fields[count++] = field;
	for (size_t i = 0; i < sizeof(questions) / sizeof(*questions); i++) {
		if (!strcmp(questions[i].name, fields[0]) && count > questions[i].fields) {
			questions[i].answer(fields);
			return;
		}
	}
	fprintf(stderr, "%s: no such question\n", fields[0]);
	exit(2);
}

int main(void)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t length;

	while ((length = getline(&line, &room, stdin)) > 0) {
		line[length - 1] = 0;
		answer(line);
		fflush(stdout);
	}
	free(line);
	return 0;
}
