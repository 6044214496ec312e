/* SPDX-License-Identifier: MIT */
/*
 * producer.c - compiles with one nvrtc: `producer LIBNVRTC < JOBS`
 *
 * A job is a line of tab-separated fields, SOURCE OUTPUT ptx|cubin|ltoir|optixir OPTION...,
 * where SOURCE and OUTPUT are files.  Prints a line for each, "ok" or what failed.
 * No header of CUDA's is needed.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FIELDS = 32 };

static void *library;
static int (*create)(void **, const char *, const char *, int, const char *const *,
		     const char *const *);
static int (*compile)(void *, int, const char *const *);
static int (*destroy)(void **);

typedef int size_function(void *, size_t *);
typedef int data_function(void *, char *);

static void *find(const char *name)
{
	void *found = dlsym(library, name);

	if (!found) {
		fprintf(stderr, "%s\n", dlerror());
		exit(2);
	}
	return found;
}

static char *read_file(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = calloc(1, 1 << 20);

	if (!file || !text || !fread(text, 1, (1 << 20) - 1, file)) {
		perror(path);
		exit(2);
	}
	fclose(file);
	return text;
}

/* CUDA 11 calls LTO-IR NVVM. */
static const char *what(const char *kind)
{
	if (!strcmp(kind, "ptx"))
		return "PTX";
	if (!strcmp(kind, "cubin"))
		return "CUBIN";
	if (!strcmp(kind, "optixir"))
		return "OptiXIR";
	return dlsym(library, "nvrtcGetLTOIR") ? "LTOIR" : "NVVM";
}

static int save(void *program, const char *kind, const char *path)
{
	char get_size[64], get[64], *data;
	size_t size = 0;
	FILE *file;

	snprintf(get_size, sizeof get_size, "nvrtcGet%sSize", what(kind));
	snprintf(get, sizeof get, "nvrtcGet%s", what(kind));
	if (((size_function *)find(get_size))(program, &size) || size < 2)
		return -1;
	data = malloc(size);
	if (!data || ((data_function *)find(get))(program, data))
		return -1;
	file = fopen(path, "w");
	/* The size of PTX counts its NUL, which a file of PTX does not have. */
	if (!file || !fwrite(data, size - !strcmp(kind, "ptx"), 1, file) || fclose(file)) {
		perror(path);
		exit(2);
	}
	free(data);
	return 0;
}

static int run(char *line)
{
	char *fields[MAX_FIELDS], *rest, *source;
	int count = 0, result;
	void *program = NULL;

	for (char *field = strtok_r(line, "\t\n", &rest); field && count < MAX_FIELDS;
	     field = strtok_r(NULL, "\t\n", &rest))
		fields[count++] = field;
	if (count < 3)
		return printf("a job has three fields or more\n");
	source = read_file(fields[0]);
	result = create(&program, source, fields[0], 0, NULL, NULL);
	if (!result)
		result = compile(program, count - 3, (const char *const *)fields + 3);
	if (result)
		printf("nvrtcCompileProgram: %d\n", result);
	else
		puts(save(program, fields[2], fields[1]) ? "nothing came out" : "ok");
	if (program)
		destroy(&program);
	free(source);
	return fflush(stdout);
}

int main(int argc, char **argv)
{
	static char line[1 << 14];

	library = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
	if (!library) {
		fprintf(stderr, "%s\n", argc == 2 ? dlerror() : "usage: producer LIBNVRTC < JOBS");
		return 2;
	}
	create = find("nvrtcCreateProgram");
	compile = find("nvrtcCompileProgram");
	destroy = find("nvrtcDestroyProgram");
	while (fgets(line, sizeof line, stdin))
		run(line);
	return 0;
}
