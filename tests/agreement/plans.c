/* SPDX-License-Identifier: MIT */
/*
 * plans.c - asks for many plans in one process: `plans < JOBS`
 *
 * A job is a line of tab-separated fields: the versions of driver and nvJitLink
 * (13000, 0 for none), the architecture, whether to optimise at link time, the
 * output and the flags (as numbers), a folder for what the backend would be
 * given or "-", the number of options, the options, and the input files.
 *
 * Prints a line for each, tab-separated: the code's name, the backend as a
 * number, the rule, the index of the offending input or -1, the options,
 * the steps as INPUT:ENTRY:FORM:KIND, and the message.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../include/lazycuda_link.h"

enum { MAX_FIELDS = 160, MAX_FILES = 1 << 14 };

/* Every file is read and inspected once. */
struct file {
	char *path;
	void *bytes;
	size_t length;
	struct lazycuda_inspection *inspection;
};

static struct file files[MAX_FILES];
static size_t file_count;

static void fail(const char *what)
{
	perror(what);
	exit(2);
}

static const struct file *find_file(const char *path)
{
	struct file *file = files;
	struct stat status;
	int opened;

	for (; file < files + file_count; file++)
		if (!strcmp(file->path, path))
			return file;
	opened = open(path, O_RDONLY);
	if (file_count == MAX_FILES || opened < 0 || fstat(opened, &status))
		fail(path);
	file->length = status.st_size;
	/* Exactly as long as the file, so that a sanitizer sees what is read behind. */
	file->bytes = malloc(file->length ? file->length : 1);
	if (!file->bytes || read(opened, file->bytes, file->length) != status.st_size)
		fail(path);
	close(opened);
	file->path = strdup(path);
	file->inspection = lazycuda_inspect(file->bytes, file->length, strrchr(path, '/') + 1,
					    LAZYCUDA_INSPECT_PAYLOADS);
	if (!file->inspection)
		fail("lazycuda_inspect");
	file_count++;
	return file;
}

/* What the backend would be given, as FOLDER/0.ptx, FOLDER/1.cubin, ... */
static const char *write_pieces(const struct lazycuda_plan *plan, const char *folder,
				const struct lazycuda_input *const *inputs)
{
	for (size_t i = 0; i < plan->step_count; i++) {
		const struct lazycuda_step *step = plan->steps[i];
		const struct lazycuda_inspection *inspection = inputs[step->input]->inspection;
		const char *error = NULL;
		size_t length;
		char path[4096];
		void *bytes = step->form == LAZYCUDA_FORM_FATBIN ?
			lazycuda_entry_fatbin(inspection, step->entry, &length, &error) :
			lazycuda_entry_payload(inspection, step->entry,
					       step->form == LAZYCUDA_FORM_UNPACKED, &length,
					       &error);
		FILE *out;

		if (!bytes)
			return error ? error : "no memory";
		snprintf(path, sizeof path, "%s/%zu.%s", folder, i,
			 lazycuda_kind_name(step->kind));
		out = fopen(path, "w");
		if (!out || (length && !fwrite(bytes, length, 1, out)) || fclose(out))
			fail(path);
		free(bytes);
	}
	return NULL;
}

static void print(const struct lazycuda_plan *plan, const char *trouble)
{
	printf("%s\t%d\t%s\t%d\t", lazycuda_code_name(plan->code), plan->backend,
	       plan->rule ? plan->rule : "-",
	       plan->input == LAZYCUDA_NO_INDEX ? -1 : (int)plan->input);
	for (size_t i = 0; i < plan->option_count; i++)
		printf("%s%s", i ? " " : "", plan->options[i]);
	putchar('\t');
	for (size_t i = 0; i < plan->step_count; i++)
		printf("%s%d:%d:%d:%s", i ? " " : "", (int)plan->steps[i]->input,
		       plan->steps[i]->entry == LAZYCUDA_NO_INDEX ? -1 : (int)plan->steps[i]->entry,
		       plan->steps[i]->form, lazycuda_kind_name(plan->steps[i]->kind));
	printf("\t%s%s\n", trouble ? "cannot write: " : "", trouble ? trouble :
	       plan->message ? plan->message : "");
}

static void run(char **fields, int count)
{
	int option_count = atoi(fields[7]), input_count = count - 8 - option_count;
	struct lazycuda_environment environment = {
		.size = sizeof environment,
		.driver = atoi(fields[0]),
		.nvjitlink = atoi(fields[1]),
	};
	struct lazycuda_request request = {
		.size = sizeof request,
		.arch = fields[2],
		.lto = atoi(fields[3]),
		.output = atoi(fields[4]),
		.policy = LAZYCUDA_POLICY_OFF,
		.flags = atoi(fields[5]),
		.options = (const char *const *)fields + 8,
		.option_count = option_count,
	};
	struct lazycuda_input inputs[MAX_FIELDS];
	const struct lazycuda_input *list[MAX_FIELDS];
	struct lazycuda_plan *plan;
	const char *trouble = NULL;

	for (int i = 0; i < input_count; i++) {
		const struct file *file = find_file(fields[8 + option_count + i]);

		inputs[i] = (struct lazycuda_input){
			.size = sizeof inputs[i],
			.name = file->path,
			.bytes = file->bytes,
			.length = file->length,
			.inspection = file->inspection,
		};
		list[i] = &inputs[i];
	}
	plan = lazycuda_plan(&environment, &request, list, input_count);
	if (!plan)
		fail("lazycuda_plan");
	if (plan->code == LAZYCUDA_CODE_OK && strcmp(fields[6], "-"))
		trouble = write_pieces(plan, fields[6], list);
	print(plan, trouble);
	fflush(stdout);
	lazycuda_plan_free(plan);
}

int main(void)
{
	char *line = NULL, *fields[MAX_FIELDS], *rest;
	size_t room = 0;

	while (getline(&line, &room, stdin) > 0) {
		int count = 0;

		for (char *field = strtok_r(line, "\t\n", &rest); field && count < MAX_FIELDS;
		     field = strtok_r(NULL, "\t\n", &rest))
			fields[count++] = field;
		if (count < 8 || atoi(fields[7]) > count - 8) {
			fprintf(stderr, "a job has eight fields or more\n");
			return 2;
		}
		run(fields, count);
	}
	free(line);
	for (size_t i = 0; i < file_count; i++) {
		lazycuda_inspection_free(files[i].inspection);
		free(files[i].bytes);
		free(files[i].path);
	}
	return 0;
}
