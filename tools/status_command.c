/* SPDX-License-Identifier: MIT */
/* status_command.c - `lazycuda status`: tells which library each stub uses, and why */
#include "commands.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

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

/* The stubs that are asked about. */
struct asked {
	bool own[LIBRARIES], any;
	const struct lc_peer *others[FILES];	/* opened by path or name */
	size_t other_count;
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

/* "not /usr/lib/libcudart.so.12: why", below the library whose own reason does not say so already. */
static void print_reason(const char *head, const char *path, const char *reason, const char *own)
{
	char *line;

	if (asprintf(&line, "%s: %s", path, reason) < 0)
		return;
	if (!strstr(own, line) && strcmp(own, reason)) {
		printf("%*s%s ", TEXT_COLUMN, "", head);
		say(line);
		putchar('\n');
	}
	free(line);
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
			print_reason("not", candidate->path, candidate->reason, status->reason);
	}
	for (size_t i = 0; i < status->left_out_count; i++)
		print_reason("left out", status->left_out[i].path, status->left_out[i].reason,
			     status->reason);
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

static void print_status_json(const struct asked *asked, int major)
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
		if (asked->own[i])
			print_json_library(lazycuda_get_status(libraries[i]));
	for (size_t i = 0; i < asked->other_count; i++)
		print_json_library(asked->others[i]->status());
	json_close(']');
	json_close('}');
}

/* Opens another stub, by its path or by the name of its library.  False after a message. */
static bool ask_other(struct asked *asked, const char *word, const char *library)
{
	char *path = library ? ready_stub(library) : NULL;
	const struct lc_peer *peer = NULL;

	if (asked->other_count == FILES)
		complain("status", "%s: too many stubs: at most %d can be asked", word, FILES);
	else if (library && !path)
		complain("status", "the stub of %s is not installed; `make ALL_STUBS=yes install` does"
			 " it, and the package of PyPI has it", library);
	else
		peer = own_stub_open("status", path ? path : word);
	free(path);
	if (peer)
		asked->others[asked->other_count++] = peer;
	return peer;
}

/* Takes a path, a name in whatever case, or a file name such as libcudart.so.12.  Returns 0, or 2
 * after a message. */
static int ask(struct asked *asked, const char *word)
{
	char of_file[64];
	const char *name = ready_library_of(word, of_file, sizeof(of_file)) ? of_file : word;
	const char *other = ready_named(name);

	asked->any = true;
	if (other || strchr(word, '/'))
		return ask_other(asked, word, strchr(word, '/') ? NULL : other) ? 0 : 2;
	if (!strcasecmp(name, "nvidia-ml"))
		name = "nvml";
	for (int i = 0; i < LIBRARIES; i++) {
		if (!strcasecmp(name, libraries[i])) {
			asked->own[i] = true;
			return 0;
		}
	}
	return options_wrong(&command, access(word, F_OK) ? "unknown library " : "a path has a slash: ./", word);
}

/* Loads what is asked about.  Returns how many cannot be used; sets the major that the toolkit's
 * libraries have. */
static int load(struct asked *asked, int *major)
{
	int unusable = 0;

	tables_look_everywhere();
	/* The driver's libraries come first: a search for the others looks at the driver and
	 * would load them. */
	for (int k = 0; k < LIBRARIES; k++) {
		int i = (k + OF_DRIVER) % LIBRARIES;

		asked->own[i] |= !asked->any;
		if (!asked->own[i])
			continue;
		if (lazycuda_load(libraries[i]) && (asked->any || i < OF_DRIVER))
			unusable++;
		if (!*major && i < OF_DRIVER)
			*major = lazycuda_get_status(libraries[i])->major;
	}
	for (size_t i = 0; i < asked->other_count; i++)
		unusable += !asked->others[i]->load();
	return unusable;
}

static void print_status(const struct asked *asked)
{
	printf("lazycuda    %s, guard %s\n", lazycuda_version(), lazycuda_get_guard());
	print_driver();
	for (int i = 0; i < LIBRARIES; i++)
		if (asked->own[i])
			print_library(lazycuda_get_status(libraries[i]));
	for (size_t i = 0; i < asked->other_count; i++)
		print_library(asked->others[i]->status());
}

int status_main(int argc, char **argv)
{
	struct asked asked = { .any = false };
	int major = 0, unusable, status = 0;
	int count = options_read(&command, &wanted, argc, argv, NULL, &status);

	for (int i = 0; i < count && !status; i++)
		status = ask(&asked, argv[i]);
	if (count < 0 || status)
		return status;
	unusable = load(&asked, &major);
	if (wanted.json)
		print_status_json(&asked, major);
	else
		print_status(&asked);
	return unusable || (misfit && !strcmp(lazycuda_get_guard(), "strict"));
}
