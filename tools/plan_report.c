/* SPDX-License-Identifier: MIT */
/* plan_report.c - prints a plan as text or JSON */
#include "plan_report.h"

#include <stdio.h>

#include "../link/tables/versions.h"
#include "../stubs/base/guard.h"
#include "json.h"
#include "say.h"

static const char *const backends[] = {
	[LAZYCUDA_BACKEND_NONE] = "refused", [LAZYCUDA_BACKEND_NVJITLINK] = "nvjitlink",
	[LAZYCUDA_BACKEND_DRIVER] = "driver", [LAZYCUDA_BACKEND_NVRTC] = "nvrtc",
	[LAZYCUDA_BACKEND_TILEIRAS] = "tileiras",
};

static const char *const forms[] = {
	[LAZYCUDA_FORM_AS_IS] = "as_is", [LAZYCUDA_FORM_UNPACKED] = "unpacked",
	[LAZYCUDA_FORM_FATBIN] = "fatbin", [LAZYCUDA_FORM_COMPILED] = "compiled",
};

/* ---- words ---- */

static void print_line(const char *head, const char *text)
{
	if (!text)
		return;
	printf("%-11s ", head);
	say(text);
	putchar('\n');
}

static void print_decision(const char *head, const char *verdict, bool good)
{
	printf("%-11s ", head);
	say_verdict(verdict, good);
	putchar('\n');
}

static void print_words(const char *head, const char *const *words, size_t count)
{
	if (!count)
		return;
	printf("%-11s", head);
	for (size_t i = 0; i < count; i++) {
		putchar(' ');
		say(words[i]);
	}
	putchar('\n');
}

static void print_step(const struct lazycuda_step *step)
{
	printf("input       ");
	say(step->name);
	fputs(": ", stdout);
	say(step->reason);
	if (step->form == LAZYCUDA_FORM_UNPACKED)
		fputs("; unpacked", stdout);
	else if (step->form == LAZYCUDA_FORM_FATBIN)
		fputs("; in a fatbin of its own", stdout);
	putchar('\n');
}

static void print_refusal(const struct lazycuda_plan *plan)
{
	print_decision("refused", lazycuda_code_name(plan->code), false);
	if (plan->message) {
		printf("%-11s ", "because");
		say_message(stdout, plan->message, TEXT_COLUMN);
	}
	print_line("rule", plan->rule);
	print_line("have", plan->have);
	print_line("need", plan->need);
}

void plan_print(const struct link_arguments *arguments, const struct lazycuda_plan *plan)
{
	if (plan->code != LAZYCUDA_CODE_OK) {
		print_refusal(plan);
		return;
	}
	print_decision("decision", backends[plan->backend], true);
	print_line("because", plan->message);
	if (plan->rule)
		printf("rule        %s of the policy %s\n", plan->rule,
		       lc_guard_name((enum lc_guard)arguments->request.policy));
	print_line("choice", plan->choice);
	print_words("compile", plan->compile_options, plan->compile_option_count);
	print_words("libnvvm", plan->nvvm_options, plan->nvvm_option_count);
	print_words("options", plan->options, plan->option_count);
	for (size_t i = 0; i < plan->step_count; i++)
		print_step(plan->steps[i]);
	for (size_t i = 0; i < plan->note_count; i++)
		print_line("note", plan->notes[i]);
}

/* ---- JSON ---- */

static void json_index(const char *key, size_t index)
{
	if (index == LAZYCUDA_NO_INDEX)
		json_null(key);
	else
		json_size(key, index);
}

void plan_json_version(const char *key, int version)
{
	char text[LK_VERSION_TEXT];

	json_text(key, version == LAZYCUDA_VERSION_UNKNOWN ? NULL : lk_version_text(version, text));
}

/* The versions that are installed besides. */
static void json_versions(const char *key, const int *versions, size_t count)
{
	char text[LK_VERSION_TEXT];

	json_open(key, '[');
	for (size_t i = 0; i < count; i++)
		json_text(NULL, lk_version_text(versions[i], text));
	json_close(']');
}

void plan_json_environment(const struct link_arguments *arguments)
{
	const struct lazycuda_environment *environment = &arguments->environment;

	json_open("environment", '{');
	plan_json_version("driver", environment->driver);
	json_known("branch", environment->branch, environment->branch);
	plan_json_version("nvjitlink", environment->nvjitlink);
	plan_json_version("nvrtc", environment->nvrtc);
	json_versions("nvjitlinks", arguments->others.nvjitlinks,
		      arguments->others.nvjitlink_count);
	json_versions("nvrtcs", arguments->others.nvrtcs, arguments->others.nvrtc_count);
	json_versions("nvvms", arguments->others.nvvms, arguments->others.nvvm_count);
	json_versions("tileirases", arguments->others.tileirases, arguments->others.tileiras_count);
	json_close('}');
}

static void json_symbol_error(const struct lazycuda_symbol_error *error)
{
	json_open(NULL, '{');
	json_text("name", error->name);
	json_text("is", error->twice ? "defined twice" : "undefined");
	json_index("input", error->input);
	json_index("other", error->other);
	json_close('}');
}

static void json_step(const struct link_arguments *arguments, const struct lazycuda_step *step)
{
	json_open(NULL, '{');
	json_text("file", arguments->inputs[step->input].path);
	json_text("name", step->name);
	json_text("kind", lazycuda_kind_name(step->kind));
	json_index("input", step->input);
	json_index("entry", step->entry);
	json_text("form", forms[step->form]);
	json_text("reason", step->reason);
	json_close('}');
}

/* UNKNOWN: nothing is compiled. */
static void json_compilation(const char *key, enum lazycuda_kind to, const char *const *options,
			     size_t count)
{
	if (to == LAZYCUDA_KIND_UNKNOWN) {
		json_null(key);
		return;
	}
	json_open(key, '{');
	json_text("to", lazycuda_kind_name(to));
	json_words("options", options, count);
	json_close('}');
}

void plan_json(const struct link_arguments *arguments, const struct lazycuda_plan *plan)
{
	const char *code = plan->code == LAZYCUDA_CODE_OK ? NULL : lazycuda_code_name(plan->code);

	json_text("decision", backends[plan->backend]);
	json_text("code", code);
	json_index("input", plan->input);
	json_text("have", plan->have);
	json_text("need", plan->need);
	json_text("message", plan->message);
	json_text("rule", plan->rule);
	json_text("arch", plan->arch);
	json_text("policy", lc_guard_name((enum lc_guard)arguments->request.policy));
	plan_json_environment(arguments);
	plan_json_version("nvjitlink", plan->nvjitlink);
	plan_json_version("nvrtc", plan->nvrtc);
	plan_json_version("nvvm", plan->nvvm);
	plan_json_version("tileiras", plan->tileiras);
	json_text("choice", plan->choice);
	json_boolean("lto", plan->lto);
	json_words("options", plan->options, plan->option_count);
	json_compilation("compile", plan->compile_to, plan->compile_options,
			 plan->compile_option_count);
	json_compilation("compile_ir", plan->nvvm == LAZYCUDA_VERSION_NONE ? LAZYCUDA_KIND_UNKNOWN :
			 plan->nvvm_to, plan->nvvm_options, plan->nvvm_option_count);
	json_open("inputs", '[');
	for (size_t i = 0; i < plan->step_count; i++)
		json_step(arguments, plan->steps[i]);
	json_close(']');
	json_words("notes", plan->notes, plan->note_count);
	json_open("symbol_errors", '[');
	for (size_t i = 0; i < plan->symbol_error_count; i++)
		json_symbol_error(plan->symbol_errors[i]);
	json_close(']');
}

void plan_print_json(const struct link_arguments *arguments, const struct lazycuda_plan *plan)
{
	json_open(NULL, '{');
	plan_json(arguments, plan);
	json_close('}');
}
