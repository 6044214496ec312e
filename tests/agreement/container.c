/* SPDX-License-Identifier: MIT */
/*
 * container.c - makes fatbins with one nvFatbin: `container LIBNVFATBIN < JOBS`
 *
 * A job is a line of tab-separated fields: the file to make, the number of
 * options, the options, and KIND:ARCH:FILE for each entry (ptx:80:k.ptx).
 * Prints a line for each, "ok" or what failed.  No header of CUDA's is needed.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FIELDS = 64 };

static void *library;

static void *find(const char *name)
{
	void *found = dlsym(library, name);

	if (!found) {
		fprintf(stderr, "%s\n", dlerror());
		exit(2);
	}
	return found;
}

/* nvFatbin keeps what it is given until it is destroyed. */
static char *given[MAX_FIELDS];
static int given_count;

static void free_given(void)
{
	while (given_count)
		free(given[--given_count]);
}

static char *read_file(const char *path, size_t *length)
{
	FILE *file = fopen(path, "r");
	char *bytes = given[given_count++] = calloc(1, 1 << 20);

	if (!file || !bytes) {
		perror(path);
		exit(2);
	}
	*length = fread(bytes, 1, (1 << 20) - 1, file);
	fclose(file);
	return bytes;
}

static int add(void *handle, char *entry)
{
	char *kind = strtok(entry, ":"), *arch = strtok(NULL, ":"), *path = strtok(NULL, "");
	size_t length;
	char *bytes;

	if (!path)
		return -1;
	bytes = read_file(path, &length);
	if (!strcmp(kind, "cubin")) {
		int (*cubin)(void *, const void *, size_t, const char *, const char *) =
			find("nvFatbinAddCubin");

		return cubin(handle, bytes, length, arch, "sample");
	}
	int (*text)(void *, const void *, size_t, const char *, const char *, const char *) =
		find(strcmp(kind, "ptx") ? "nvFatbinAddLTOIR" : "nvFatbinAddPTX");

	/* The NUL behind PTX belongs to it. */
	return text(handle, bytes, length + !strcmp(kind, "ptx"), arch, "sample", "");
}

static int save(void *handle, const char *path)
{
	int (*get_size)(void *, size_t *) = find("nvFatbinSize");
	int (*get)(void *, void *) = find("nvFatbinGet");
	size_t size = 0;
	int result = get_size(handle, &size);
	char *bytes = result ? NULL : malloc(size);
	FILE *file;

	result = bytes ? get(handle, bytes) : result;
	if (result || !bytes)
		return result ? result : -1;
	file = fopen(path, "w");
	if (!file || !fwrite(bytes, size, 1, file) || fclose(file)) {
		perror(path);
		exit(2);
	}
	free(bytes);
	return 0;
}

static void run(char **fields, int count)
{
	int (*create)(void **, const char **, size_t) = find("nvFatbinCreate");
	int (*destroy)(void **) = find("nvFatbinDestroy");
	int option_count = atoi(fields[1]), result;
	void *handle = NULL;

	result = create(&handle, (const char **)fields + 2, option_count);
	for (int i = 2 + option_count; !result && i < count; i++)
		result = add(handle, fields[i]);
	if (!result)
		result = save(handle, fields[0]);
	if (result)
		printf("failed: %d\n", result);
	else
		puts("ok");
	fflush(stdout);
	if (handle)
		destroy(&handle);
	free_given();
}

int main(int argc, char **argv)
{
	static char line[1 << 14];
	char *fields[MAX_FIELDS], *rest;

	library = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
	if (!library) {
		fprintf(stderr, "%s\n", argc == 2 ? dlerror() : "usage: container LIB < JOBS");
		return 2;
	}
	while (fgets(line, sizeof line, stdin)) {
		int count = 0;

		for (char *field = strtok_r(line, "\t\n", &rest); field && count < MAX_FIELDS;
		     field = strtok_r(NULL, "\t\n", &rest))
			fields[count++] = field;
		if (count >= 2 && atoi(fields[1]) <= count - 2)
			run(fields, count);
		else
			puts("a job has two fields or more");
	}
	return 0;
}
