/* SPDX-License-Identifier: MIT */
/* status_command.c - `lazycuda status`: tells which library each stub uses, and why */
#include "commands.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../include/lazycuda.h"
#include "../link/tables/versions.h"
#include "json.h"
#include "command_line.h"
#include "plan_report.h"
#include "ready.h"
#include "say.h"
#include "tables.h"

#define OF_DRIVER 3	/* the first library that comes with the driver; so do the rest */
#define FILES 64	/* other stubs on the command line */

static const char *const libraries[LIBRARIES] = {
	"cudart", "nvrtc", "nvJitLink", "cuda", "nvml"
};

static struct {
	bool components, json;
} wanted;

/* What goes with a library in use does not go with its version. */
static bool misfit;

static const char usage[] =
"usage: lazycuda status [--json] [--components] [LIBRARY | STUB]...\n"
"\n"
"Loads the real library behind each stub as a program would, and says which\n"
"file it is and why, with every other candidate and the reason against it.\n"
"LIBRARY is cudart, nvrtc, nvJitLink, cuda or nvml; all of them if none is given.\n"
"The first three agree on one CUDA major, whichever are asked about; the other two\n"
"come with the driver.  Ask about CUDA's other libraries by name, such as cublas, if\n"
"their stubs are installed.  STUB is the path of any stub, such as `lazycuda stub` makes.\n"
"\n";

static const char end[] =
"\n"
"Exit status: 0 all libraries are usable, 1 one is not, 2 wrong usage.  The driver's\n"
"libraries count only if they are given by name; with LAZYCUDA_GUARD=strict, components that\n"
"do not fit count, too.\n"
"LAZYCUDA_* variables have their effect; LAZYCUDA_DEBUG=1 shows the search.\n";

static const struct option options[] = {
	{ "--components", NULL, "also what goes with cudart, nvrtc and nvJitLink, and where it"
	  " is: nvrtc's builtins, headers, compilers and libraries for device code",
	  .at = offsetof(__typeof__(wanted), components) },
	{ "--json", NULL, "print JSON", .at = offsetof(__typeof__(wanted), json) },
	{ .name = NULL },
};

static const struct command command = {
	.name = "status", .usage = usage, .options = options, .end = end,
	.words = "cudart nvrtc nvJitLink cuda nvml",
};

static const char *const states[] = {
	[LAZYCUDA_STATE_UNKNOWN] = "missing", [LAZYCUDA_STATE_USABLE] = "usable",
	[LAZYCUDA_STATE_MISSING] = "missing", [LAZYCUDA_STATE_REFUSED] = "refused",
	[LAZYCUDA_STATE_BROKEN] = "broken", [LAZYCUDA_STATE_HIDDEN] = "hidden",
};

/* Others are causes of single calls. */
static const char *const causes[LAZYCUDA_CAUSE_ENDING + 1] = {
	[LAZYCUDA_CAUSE_NO_LIBRARY] = "library missing",
	[LAZYCUDA_CAUSE_DRIVER_TOO_OLD] = "driver too old",
	[LAZYCUDA_CAUSE_INCOHERENT] = "incoherent majors",
	[LAZYCUDA_CAUSE_EXCLUDED] = "excluded by a constraint",
};

static void print_driver(void)
{
	struct lazycuda_driver driver = lazycuda_get_driver();
	char version[LK_VERSION_TEXT];

	printf("driver      %s%s", driver.version ? "CUDA " : "", lk_version_text(driver.version, version));
	if (driver.version && driver.branch)
		printf(" (display driver %d)", driver.branch);
	putchar('\n');
}

/* "not /usr/lib/libcudart.so.12: why", below the library. */
static void print_reason(const char *head, const char *path, const char *reason)
{
	printf("%*s%s ", TEXT_COLUMN, "", head);
	say(path);
	fputs(": ", stdout);
	say(reason);
	putchar('\n');
}

static void print_json_left_out(const struct lazycuda_status *status)
{
	json_open("left_out", '[');
	for (size_t i = 0; i < status->left_out_count; i++) {
		json_open(NULL, '{');
		json_text("path", status->left_out[i].path);
		json_text("reason", status->left_out[i].reason);
		json_close('}');
	}
	json_close(']');
}

/* What goes with the library in use, if that was asked for and it is a toolkit's.  The
 * caller frees it; NULL: nothing. */
static struct lazycuda_components *components_of(const struct lazycuda_status *status)
{
	struct lazycuda_components *found;
	bool of_toolkit = false;

	for (int i = 0; i < OF_DRIVER; i++)
		of_toolkit |= !strcmp(status->library, libraries[i]);
	if (!wanted.components || !of_toolkit || !status->path)
		return NULL;
	found = lazycuda_find_components(status->path);
	for (size_t i = 0; found && i < found->count; i++)
		misfit |= found->list[i].fits == 0;
	return found;
}

static void print_components(const struct lazycuda_status *status)
{
	struct lazycuda_components *found = components_of(status);

	for (size_t i = 0; found && i < found->count; i++) {
		const struct lazycuda_component *component = &found->list[i];

		printf("            %s %s", component->fits == 0 ? "not with" :
		       component->path ? "with" : "without", component->name);
		if (component->path) {
			putchar(' ');
			say(component->path);
		}
		printf(": %s\n", component->relation);
	}
	lazycuda_components_free(found);
}

static void print_json_components(const struct lazycuda_status *status)
{
	struct lazycuda_components *found = components_of(status);

	if (wanted.components)
		json_open("components", '[');
	for (size_t i = 0; found && i < found->count; i++) {
		const struct lazycuda_component *component = &found->list[i];

		json_open(NULL, '{');
		json_text("name", component->name);
		json_text("path", component->path);
		plan_json_version("version", component->version);
		if (component->fits < 0)
			json_null("fits");
		else
			json_boolean("fits", component->fits);
		json_text("relation", component->relation);
		json_close('}');
	}
	if (wanted.components)
		json_close(']');
	lazycuda_components_free(found);
}

static void print_library(const struct lazycuda_status *status)
{
	printf("%-11s ", status->library);
	if (status->state == LAZYCUDA_STATE_USABLE) {
		say_verdict(status->version, true);
		fputs("  ", stdout);
		say(status->path);
		printf("\n            found by %s: ", status->found_by);
	} else {
		say_verdict(states[status->state], false);
		fputs(": ", stdout);
	}
	say_message(stdout, status->reason, TEXT_COLUMN);
	for (size_t i = 0; i < status->candidate_count; i++) {
		const struct lazycuda_candidate *candidate = &status->candidates[i];

		if (!candidate->taken)
			print_reason("not", candidate->path, candidate->reason);
	}
	for (size_t i = 0; i < status->left_out_count; i++)
		print_reason("left out", status->left_out[i].path, status->left_out[i].reason);
	print_components(status);
}

static void print_json_library(const struct lazycuda_status *status)
{
	json_open(NULL, '{');
	json_text("name", status->library);
	json_text("state", states[status->state]);
	json_text("cause", causes[status->cause]);
	json_text("path", status->path);
	json_text("version", status->version);
	json_text("found_by", status->found_by);
	json_text("reason", status->reason);
	json_open("candidates", '[');
	for (size_t i = 0; i < status->candidate_count; i++) {
		const struct lazycuda_candidate *candidate = &status->candidates[i];

		json_open(NULL, '{');
		json_text("path", candidate->path);
		json_text("version", candidate->version);
		json_text("found_by", candidate->found_by);
		json_boolean("taken", candidate->taken);
		json_text("reason", candidate->reason);
		json_close('}');
	}
	json_close(']');
	print_json_left_out(status);
	print_json_components(status);
	json_close('}');
}

static void print_status_json(const int *asked, const struct lc_peer *const *others, int major)
{
	struct lazycuda_driver driver = lazycuda_get_driver();
	char version[LK_VERSION_TEXT];

	json_open(NULL, '{');
	json_text("lazycuda", lazycuda_version());
	json_text("guard", lazycuda_get_guard());
	json_known("major", major, major);
	if (driver.version) {
		json_open("driver", '{');
		json_text("version", lk_version_text(driver.version, version));
		json_known("branch", driver.branch, driver.branch);
		json_close('}');
	} else {
		json_null("driver");
	}
	json_open("libraries", '[');
	for (int i = 0; i < LIBRARIES; i++)
		if (asked[i])
			print_json_library(lazycuda_get_status(libraries[i]));
	for (; *others; others++)
		print_json_library((*others)->status());
	json_close(']');
	json_close('}');
}

/* Opens another stub, by its path or by the name of its library. */
static const struct lc_peer *other_stub(const char *word)
{
	char *path = strchr(word, '/') ? NULL : ready_stub(word);
	const struct lc_peer *peer = NULL;

	if (path || strchr(word, '/'))
		peer = own_stub_open("status", path ? path : word);
	else
		complain("status", "the stub of %s is not installed; `make ALL_STUBS=yes install` does"
			 " it, and the package of PyPI has it", word);
	free(path);
	return peer;
}

int status_main(int argc, char **argv)
{
	int asked[LIBRARIES] = { 0 }, any = 0, major = 0, unusable = 0, status;
	int count = options_read(&command, &wanted, argc, argv, NULL, &status);
	const struct lc_peer *others[FILES + 1] = { NULL };	/* stubs opened by path or name */
	size_t other_count = 0;

	if (count < 0)
		return status;
	for (int i = 0; i < count; i++) {
		int known = 0;

		if (strchr(argv[i], '/') || ready_known(argv[i])) {
			const struct lc_peer *peer = NULL;

			if (other_count == FILES)
				complain("status", "%s: too many stubs: at most %d can be asked",
					 argv[i], FILES);
			else
				peer = other_stub(argv[i]);
			if (!peer)
				return 2;
			others[other_count++] = peer;
			any = 1;
			continue;
		}
		for (int k = 0; k < LIBRARIES; k++) {
			if (!strcmp(argv[i], libraries[k]))
				asked[k] = any = known = 1;
		}
		if (!known)
			return options_wrong(&command, "unknown library ", argv[i]);
	}
	tables_look_everywhere();
	/* The driver's libraries come first: a search for the others looks at the driver and
	 * would load them. */
	for (int k = 0; k < LIBRARIES; k++) {
		int i = (k + OF_DRIVER) % LIBRARIES;

		asked[i] |= !any;
		if (!asked[i])
			continue;
		if (lazycuda_load(libraries[i]) && (any || i < OF_DRIVER))
			unusable++;
		if (!major && i < OF_DRIVER)
			major = lazycuda_get_status(libraries[i])->major;
	}
	for (size_t i = 0; i < other_count; i++)
		unusable += !others[i]->load();
	if (wanted.json) {
		print_status_json(asked, others, major);
	} else {
		printf("lazycuda    %s, guard %s\n", lazycuda_version(), lazycuda_get_guard());
		print_driver();
		for (int i = 0; i < LIBRARIES; i++)
			if (asked[i])
				print_library(lazycuda_get_status(libraries[i]));
		for (size_t i = 0; i < other_count; i++)
			print_library(others[i]->status());
	}
	return unusable || (misfit && !strcmp(lazycuda_get_guard(), "strict"));
}
