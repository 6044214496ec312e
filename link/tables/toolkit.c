/* SPDX-License-Identifier: MIT */
/* toolkit.c - which toolkit a library file belongs to */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../stubs/base/arena.h"
#include "../../stubs/base/glibc.h"
#include "../../stubs/base/library_name.h"
#include "../../stubs/base/object.h"
#include "versions.h"

#define COUNT(table) (sizeof(table) / sizeof(*(table)))
#define MAX_LINE 1024		/* bytes of a line; the rest is skipped */
#define MAX_BYTES (64 << 20)	/* of a text file; the longest cuda.h has 1.2 MiB */
#define MAX_LEVELS 6		/* folders from a library up to its site-packages */

/* A file by its name, in a folder without links, and where its version came from. */
struct file {
	struct lc_arena *arena;
	const char *folder;	/* "/usr/lib" */
	const char *path;	/* "/usr/lib/libcudart.so.12" */
	const char *how;
};

/* Resolves a path; "" on failure. */
static const char *resolve(struct lc_arena *arena, const char *path)
{
	char *real = realpath(path, NULL);
	const char *copy = lc_format(arena, "%s", real ? real : "");

	free(real);
	return copy;
}

/* ---- the file's own answer ---- */

static int ask_cudart(void *library)
{
	int (*get)(int *) = NULL, version = 0;

	*(void **)&get = dlsym(library, "cudaRuntimeGetVersion");
	return get && !get(&version) ? version : 0;
}

static int ask_nvrtc(void *library)
{
	int (*get)(int *, int *) = NULL, major = 0, minor = 0;

	*(void **)&get = dlsym(library, "nvrtcVersion");
	return get && !get(&major, &minor) ? LK_CUDA(major, minor) : 0;
}

static int ask_nvjitlink(void *library)
{
	int (*get)(unsigned *, unsigned *) = NULL;
	unsigned major = 0, minor = 0;
	char name[32];

	*(void **)&get = dlsym(library, "nvJitLinkVersion");
	if (get)
		return !get(&major, &minor) && major < 1000 && minor < 100 ?
		       LK_CUDA((int)major, (int)minor) : 0;
	/* Before 12.3 only its exported names tell: each minor adds its own. */
	for (int i = 2; i >= 0; i--) {
		snprintf(name, sizeof(name), "__nvJitLinkCreate_12_%d", i);
		if (dlsym(library, name))
			return LK_CUDA(12, i);
	}
	return 0;
}

static const struct library {
	const char *name;	/* what its SONAME begins with */
	int (*ask)(void *library);
} libraries[] = {
	{ "libcudart", ask_cudart },
	{ "libnvrtc", ask_nvrtc },
	{ "libnvJitLink", ask_nvjitlink },
};

static const struct library *find_library(const char *soname)
{
	for (size_t i = 0; i < COUNT(libraries); i++) {
		size_t length = strlen(libraries[i].name);
		struct lc_ending ending;

		if (!strncmp(soname, libraries[i].name, length) &&
		    lc_read_ending(soname + length, &ending) && ending.numbers)
			return &libraries[i];
	}
	return NULL;
}

/* Loads only a file that is a CUDA library by its SONAME, since that runs its code. */
static int ask_file(struct file *file, const struct lc_elf *elf)
{
	const struct library *library = find_library(elf->soname);
	int version = 0;
	void *handle;

	if (!library)
		return 0;
	handle = dlopen(file->path, RTLD_LAZY | RTLD_LOCAL);
	if (!handle)
		return 0;
	version = library->ask(handle);
	/* The stubs would take a library that stays loaded for the one in use. */
	dlclose(handle);
	if (version)
		file->how = lc_format(file->arena, "%s says so itself", file->path);
	return version;
}

/* ---- reading text ---- */

/* Opens a regular file for reading; does not wait for the writer of a FIFO. */
static FILE *open_text(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	struct stat st;
	FILE *stream = NULL;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size <= MAX_BYTES)
		stream = fdopen(fd, "r");
	if (!stream)
		close(fd);
	return stream;
}

/* Reads a line without its newline, and only the beginning of a long line; false at
 * the end of the file. */
static bool read_line(FILE *stream, char line[MAX_LINE])
{
	size_t length = 0;
	int c;

	while ((c = getc(stream)) != EOF && c != '\n')
		if (length < MAX_LINE - 1)
			line[length++] = (char)c;
	line[length] = 0;
	return length || c != EOF;
}

/* ---- cuda.h ---- */

/* Reads "#define CUDA_VERSION 12090", however it is spaced; 0 for any other line. */
static int read_definition(const char *line)
{
	static const char *const words[] = { "#", "define", "CUDA_VERSION" };
	char *end;
	long version;

	for (size_t i = 0; i < COUNT(words); i++) {
		line += strspn(line, " \t");
		if (strncmp(line, words[i], strlen(words[i])))
			return 0;
		line += strlen(words[i]);
	}
	if (*line != ' ' && *line != '\t')
		return 0;
	version = strtol(line, &end, 10);
	return end != line && version >= LK_CUDA(1, 0) && version < LK_CUDA(1000, 0) ?
	       (int)version / 10 * 10 : 0;
}

static int read_header(const char *path)
{
	FILE *stream = open_text(path);
	char line[MAX_LINE];
	int version = 0;

	if (!stream)
		return 0;
	while (!version && read_line(stream, line))
		version = read_definition(line);
	fclose(stream);
	return version;
}

/* Where the headers of a toolkit may lie, seen from its libraries. */
static const char *const headers[] = {
	"../include/cuda.h",		/* a toolkit, conda, a wheel of the runtime or of 13 */
	"../../include/cuda.h",		/* lib/x86_64-linux-gnu */
	"../../../include/cuda.h",	/* targets/x86_64-linux/lib */
	"../targets/x86_64-linux/include/cuda.h",
	"../targets/sbsa-linux/include/cuda.h",
	"../targets/aarch64-linux/include/cuda.h",
	"../../cuda_runtime/include/cuda.h",	/* the wheel beside an nvrtc's or nvJitLink's */
};

/* The major in a SONAME or file name, 12 for "libcudart.so.12"; 0 if there is none. */
static int major_of_name(const char *name)
{
	struct lc_ending ending;

	return lc_read_name(name, &ending) && ending.numbers ? ending.number : 0;
}

static int ask_header(struct file *file, const char *soname)
{
	const char *name = strrchr(file->path, '/') + 1;
	int major = major_of_name(*soname ? soname : name);

	for (size_t i = 0; i < COUNT(headers); i++) {
		const char *path = lc_format(file->arena, "%s/%s", file->folder, headers[i]);
		int version = read_header(path);

		/* The headers of another toolkit may lie there as well. */
		if (!version || (major && LK_CUDA_MAJOR(version) != major))
			continue;
		file->how = lc_format(file->arena, "CUDA_VERSION in %s",
				      resolve(file->arena, path));
		return version;
	}
	return 0;
}

/* ---- wheels ---- */

/* NVIDIA's wheels of these libraries have the toolkit's version and a third number
 * as their version; the version of any other wheel means something else. */
static const char *const wheels[] = {
	"nvidia_cuda_runtime", "nvidia_cuda_nvrtc", "nvidia_nvjitlink"
};

/* 12.9 for "nvidia_nvjitlink_cu12-12.9.86.dist-info"; 0 for any other name. */
static int version_of_wheel(const char *name)
{
	for (size_t i = 0; i < COUNT(wheels); i++) {
		size_t length = strlen(wheels[i]);
		int version, numbers;
		const char *end;

		if (strncmp(name, wheels[i], length))
			continue;
		name += length;
		if (!strncmp(name, "_cu", 3))
			name += 3 + strspn(name + 3, "0123456789");
		end = *name == '-' ? lk_version_scan(name + 1, &version, &numbers) : NULL;
		return end && numbers >= 2 && strstr(end, ".dist-info") ? version : 0;
	}
	return 0;
}

/* Returns true if a RECORD lists a file, given by its path from site-packages. */
static bool lists(const char *record, const char *relative)
{
	FILE *stream = open_text(record);
	size_t length = strlen(relative);
	char line[MAX_LINE];
	bool found = false;

	if (!stream)
		return false;
	while (!found && read_line(stream, line))
		found = !strncmp(line, relative, length) && line[length] == ',';
	fclose(stream);
	return found;
}

static int ask_wheels_in(struct file *file, const char *folder)
{
	const char *relative = file->path + strlen(folder) + 1;
	DIR *stream = opendir(folder);
	struct dirent *entry;
	int version = 0;

	while (stream && !version && (entry = readdir(stream))) {
		int found = version_of_wheel(entry->d_name);
		const char *record;

		if (!found)
			continue;
		record = lc_format(file->arena, "%s/%s/RECORD", folder, entry->d_name);
		if (!lists(record, relative))
			continue;
		version = found;
		file->how = lc_format(file->arena, "%s lists it", record);
	}
	if (stream)
		closedir(stream);
	return version;
}

static int ask_wheels(struct file *file)
{
	char *folder = lc_format(file->arena, "%s", file->folder);
	int version = 0;

	for (int level = 0; level < MAX_LEVELS && !version; level++) {
		char *slash = strrchr(folder, '/');

		if (!slash || slash == folder)
			break;
		version = ask_wheels_in(file, folder);
		*slash = 0;
	}
	return version;
}

/* ---- the answer ---- */

/* Locates a file by its own name or, if links are followed, by that of its target. */
static bool place(struct lc_arena *arena, const char *path, bool follow, struct file *file)
{
	const char *target = follow ? resolve(arena, path) : path, *name = strrchr(target, '/');
	const char *folder = name ? lc_copy(arena, target, (size_t)(name - target) + 1) : "./";

	name = name ? name + 1 : target;
	*file = (struct file){ .arena = arena, .folder = resolve(arena, folder ? folder : "") };
	file->path = lc_format(arena, "%s/%s", file->folder, name);
	return !arena->failed && *file->folder && *name;
}

static int ask(struct lc_arena *arena, const char *path, const char **how)
{
	static const struct lc_library none;
	struct lc_elf elf;
	struct file file;
	int version = 0;

	*how = lc_elf_file(path, &none, &elf);
	if (elf.stub) {
		*how = "it is a stub, which belongs to none";
		return 0;
	}
	bool loadable = !*how;
	if (access(path, F_OK)) {
		*how = "there is no such file";
		return 0;
	}
	for (int follow = 0; follow < 2 && !version; follow++) {
		if (!place(arena, path, follow, &file))
			continue;
		if (loadable && !follow)
			version = ask_file(&file, &elf);
		if (!version)
			version = ask_header(&file, elf.soname);
	}
	for (int follow = 0; follow < 2 && !version; follow++)
		if (place(arena, path, follow, &file))
			version = ask_wheels(&file);
	*how = version ? file.how : "neither the file, nor a cuda.h, nor a wheel tells";
	return version;
}

int lazycuda_toolkit_version(const char *path, char *how, size_t size)
{
	struct lc_arena arena = { 0 };
	const char *text;
	int version = ask(&arena, path, &text);

	text = lc_printable(&arena, text);
	if (arena.failed) {
		version = LAZYCUDA_VERSION_NONE;
		text = "out of memory";
	}
	if (how && size)
		snprintf(how, size, "%s", text);
	lc_arena_free(&arena);
	return version;
}
