/* SPDX-License-Identifier: MIT */
/* planner.c - answers a question (scene.h) with the plan, a line a field */
#include <assert.h>
#include <stdio.h>

#include "scene.h"

static void words(const char *key, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		printf("%s\t%s\n", key, list[i]);
}

static void field(const char *key, const char *value)
{
	if (value)
		printf("%s\t%s\n", key, value);
}

static void print_step(const struct lazycuda_step *step)
{
	static const char *const forms[] = { "as_is", "unpacked", "fatbin", "compiled" };

	assert(step->size == sizeof(*step));
	printf("step\t");
	if (step->input == LAZYCUDA_NO_INDEX)
		printf("support %zu", step->support);
	else
		printf("input %zu", step->input);
	if (step->entry == LAZYCUDA_NO_INDEX)
		printf(" whole");
	else
		printf(" entry %zu", step->entry);
	printf(" %s %s\n", lazycuda_kind_name(step->kind), forms[step->form]);
	printf("name\t%s\nreason\t%s\n", step->name, step->reason);
}

int main(int argc, char **argv)
{
	static const char *const backends[] = { "refused", "nvjitlink", "driver", "nvrtc" };
	struct scene scene = scene_read(argv + 1, argc - 1);
	struct lazycuda_plan *plan;

	scene.request.options = scene.options;
	scene.request.compile_options = scene.compile_options;
	scene.request.support = scene.support;
	scene.request.others = scene_others(&scene);
	plan = lazycuda_plan(&scene.environment, &scene.request, scene.inputs, scene.count);
	if (!plan)
		return 4;
	field("decision", backends[plan->backend]);
	field("code", lazycuda_code_name(plan->code));
	field("rule", plan->rule);
	field("arch", plan->arch);
	if (plan->input != LAZYCUDA_NO_INDEX)
		printf("input\t%zu\n", plan->input);
	field("have", plan->have);
	field("need", plan->need);
	field("message", plan->message);
	printf("lto\t%d\n", plan->lto);
	printf("nvjitlink\t%d\nnvrtc\t%d\n", plan->nvjitlink, plan->nvrtc);
	field("choice", plan->choice);
	words("option", plan->options, plan->option_count);
	for (size_t i = 0; i < plan->jit_option_count; i++)
		printf("jit\t%s %d %u\n", plan->jit_options[i].name, plan->jit_options[i].option,
		       plan->jit_options[i].value);
	field("compile_to", plan->compile_to ? lazycuda_kind_name(plan->compile_to) : NULL);
	words("compile", plan->compile_options, plan->compile_option_count);
	if (plan->nvvm)
		printf("nvvm\t%d\n", plan->nvvm);
	words("ir", plan->nvvm_options, plan->nvvm_option_count);
	for (size_t i = 0; i < plan->step_count; i++)
		print_step(plan->steps[i]);
	words("note", plan->notes, plan->note_count);
	for (size_t i = 0; i < plan->symbol_error_count; i++)
		assert(plan->symbol_errors[i]->size == sizeof(**plan->symbol_errors));
	lazycuda_plan_free(plan);
	return 0;
}
