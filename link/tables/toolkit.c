/* SPDX-License-Identifier: MIT */
/* toolkit.c - which toolkit a library file belongs to */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../stubs/base/arena.h"
#include "../../stubs/base/constraint.h"
#include "../../stubs/base/cuda_version.h"
#include "../../stubs/base/glibc.h"
#include "../../stubs/base/library_name.h"
#include "../../stubs/base/object.h"
#include "../../stubs/base/packages.h"
#include "../../stubs/base/regular.h"
#include "requirement.h"
#include "toolkit.h"
#include "versions.h"
#include "../../stubs/base/count.h"

#define LINE_ROOM 8192		/* bytes of a line; the rest is skipped */
#define MAX_FILE_BYTES (64 << 20)	/* of a text file; the longest cuda.h has 1.2 MiB */
#define JSON_ROOM 65536		/* bytes of a version.json that are read; it has 4 KiB */
#define MAX_LEVELS 6		/* folders from a library up to its site-packages */

/* A file by its name, in a folder without links, and where its version came from. */
struct dated {
	struct lc_arena *arena;
	const char *folder;	/* "/usr/lib" */
	const char *path;	/* "/usr/lib/libcudart.so.12" */
	const char *how;
};

const char *lk_resolve(struct lc_arena *arena, const char *path)
{
	char *real = realpath(path, NULL);
	const char *copy = lc_format(arena, "%s", real ? real : "");

	arena->failed |= !real && errno == ENOMEM;
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
	return get && !get(&major, &minor) ? LC_CUDA(major, minor) : 0;
}

static int ask_nvjitlink(void *library)
{
	int (*get)(unsigned *, unsigned *) = NULL;
	unsigned major = 0, minor = 0;
	char name[32];

	*(void **)&get = dlsym(library, "nvJitLinkVersion");
	if (get)
		return !get(&major, &minor) && major < 1000 && minor < 100 ?
		       LC_CUDA((int)major, (int)minor) : 0;
	/* Before 12.3 only its exported names tell: each minor adds its own. */
	for (int i = 2; i >= 0; i--) {
		snprintf(name, sizeof(name), "__nvJitLinkCreate_12_%d", i);
		if (dlsym(library, name))
			return LC_CUDA(12, i);
	}
	return 0;
}

static const struct asked_library {
	const char *name;	/* what its SONAME begins with */
	int (*ask)(void *library);
} libraries[] = {
	{ "libcudart", ask_cudart },
	{ "libnvrtc", ask_nvrtc },
	{ "libnvJitLink", ask_nvjitlink },
};

static const struct asked_library *find_library(const char *soname)
{
	for (size_t i = 0; i < LC_COUNT(libraries); i++) {
		size_t length = strlen(libraries[i].name);
		struct lc_ending ending;

		if (!strncmp(soname, libraries[i].name, length) &&
		    lc_read_ending(soname + length, &ending) && ending.numbers)
			return &libraries[i];
	}
	return NULL;
}

int lk_library_version(const char *name, void *library)
{
	for (size_t i = 0; i < LC_COUNT(libraries); i++)
		if (!strcmp(name, libraries[i].name))
			return libraries[i].ask(library);
	return 0;
}

/* Loads only a file that is a CUDA library by its SONAME, since that runs its code. */
static int ask_file(struct dated *file, const struct lc_elf *elf)
{
	const struct asked_library *library = find_library(elf->soname);
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

static FILE *open_text(const char *path)
{
	struct stat st;
	FILE *stream = lc_stream_regular(path, &st);

	if (!stream || st.st_size <= MAX_FILE_BYTES)
		return stream;
	fclose(stream);
	return NULL;
}

/* Reads a line without its newline, and only the beginning of a long line; false at
 * the end of the file. */
static bool read_line(FILE *stream, char line[LINE_ROOM])
{
	size_t length = 0;
	int c;

	while ((c = getc(stream)) != EOF && c != '\n')
		if (length < LINE_ROOM - 1)
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

	for (size_t i = 0; i < LC_COUNT(words); i++) {
		line += strspn(line, " \t");
		if (strncmp(line, words[i], strlen(words[i])))
			return 0;
		line += strlen(words[i]);
	}
	if (*line != ' ' && *line != '\t')
		return 0;
	version = strtol(line, &end, 10);
	return end != line && version >= LC_CUDA(1, 0) && version < LC_CUDA(1000, 0) ?
	       (int)version / 10 * 10 : 0;
}

int lk_header_version(const char *path)
{
	FILE *stream = open_text(path);
	char line[LINE_ROOM];
	int version = 0;

	if (!stream)
		return 0;
	while (!version && read_line(stream, line))
		version = read_definition(line);
	fclose(stream);
	return version;
}

const char *const lk_toolkit_roots[] = {
	"..",				/* lib64, lib; conda, a wheel of 13 */
	"../..",			/* lib/x86_64-linux-gnu */
	"../../..",			/* targets/x86_64-linux/lib */
	"../targets/x86_64-linux",	/* conda */
	"../targets/sbsa-linux",
	"../targets/aarch64-linux",
	NULL
};

/* A wheel of 12: the runtime's is the one with headers. */
#define RUNTIME_WHEEL "../../cuda_runtime"

/* The major in a SONAME or file name, 12 for "libcudart.so.12"; 0 if there is none. */
static int major_of_name(const char *name)
{
	struct lc_ending ending;

	return lc_read_name(name, &ending) && ending.numbers ? ending.number : 0;
}

static const char *name_of(const struct dated *file, const char *soname)
{
	return *soname ? soname : lc_basename(file->path);
}

/* The major that a file's toolkit has to be of; 0: any.  libcufft.so.11 is of CUDA 12. */
static int major_of(const struct dated *file, const char *soname)
{
	return lc_only_cuda(lc_cuda_of_soname(name_of(file, soname)));
}

/* What a cuda.h in a folder says; 0 if there is none, or if it is of another major, since the headers
 * of another toolkit may lie there as well. */
static int ask_header_in(struct dated *file, const char *root, int major)
{
	const char *path = lc_format(file->arena, "%s/%s/include/cuda.h", file->folder, root);
	int version = lk_header_version(path);

	if (!version || (major && LC_CUDA_MAJOR(version) != major))
		return 0;
	file->how = lc_format(file->arena, "CUDA_VERSION in %s", lk_resolve(file->arena, path));
	return version;
}

static int ask_header(struct dated *file, const char *soname)
{
	int major = major_of(file, soname), version = 0;

	for (const char *const *root = lk_toolkit_roots; *root && !version; root++)
		version = ask_header_in(file, *root, major);
	/* Another wheel's header tells only of a library whose major can be compared with it. */
	if (!version && (major || !major_of_name(name_of(file, soname))))
		version = ask_header_in(file, RUNTIME_WHEEL, major);
	return version;
}

/* ---- version.json ---- */

/* The text after a quoted key and its colon; NULL if it is not there. */
static const char *after_key(const char *text, const char *key)
{
	while (text && (text = strstr(text, key))) {
		text += strlen(key);
		text += strspn(text, " \t\r\n");
		if (*text == ':')
			return text + 1 + strspn(text + 1, " \t\r\n");
	}
	return NULL;
}

/* Reads {"cuda": {"version": "12.9.1"}}, whatever else there is. */
static int read_version_json(const char *text)
{
	const char *cuda = after_key(text, "\"cuda\"");
	const char *said = cuda && *cuda == '{' ? after_key(cuda, "\"version\"") : NULL;
	const char *end = cuda ? strchr(cuda, '}') : NULL;
	int version, numbers;

	if (!said || !end || said > end || *said != '"')
		return 0;
	return lc_version_scan(said + 1, &version, &numbers) && numbers >= 2 ? version : 0;
}

static int ask_version_json(struct dated *file, const char *soname)
{
	int major = major_of(file, soname);

	for (const char *const *root = lk_toolkit_roots; *root; root++) {
		const char *path = lc_format(file->arena, "%s/%s/version.json", file->folder, *root);
		FILE *stream = open_text(path);
		char text[JSON_ROOM + 1];
		int version;

		if (!stream)
			continue;
		text[fread(text, 1, JSON_ROOM, stream)] = 0;
		fclose(stream);
		version = read_version_json(text);
		if (!version || (major && LC_CUDA_MAJOR(version) != major))
			continue;
		file->how = lc_format(file->arena, "\"cuda\" in %s", lk_resolve(file->arena, path));
		return version;
	}
	return 0;
}

/* ---- wheels ---- */

/* NVIDIA's wheels of these libraries have the toolkit's version and a third number
 * as their version; the version of any other wheel means something else. */
static const char *const wheels[] = {
	"nvidia_cuda_runtime", "nvidia_cuda_nvrtc", "nvidia_nvjitlink", "nvidia_cuda_nvcc",
	"nvidia_nvvm", "nvidia_cuda_cccl", "nvidia_cuda_tileiras"
};

/* 12.9 for "nvidia_nvjitlink_cu12-12.9.86.dist-info"; 0 for any other name. */
static int version_of_wheel(const char *name)
{
	for (size_t i = 0; i < LC_COUNT(wheels); i++) {
		size_t length = strlen(wheels[i]);
		int version, numbers;
		const char *end, *number;

		if (strncmp(name, wheels[i], length))
			continue;
		end = name + length;
		if (!strncmp(end, "_cu", 3))
			end += 3 + strspn(end + 3, "0123456789");
		number = end + 1;
		end = *end == '-' ? lc_version_scan(number, &version, &numbers) : NULL;
		/* From 13.3 on CCCL's version is behind the major, and has CUDA's minor: 13.3.5.0.6 is of 13.5. */
		if (end && !strcmp(wheels[i], "nvidia_cuda_cccl") && *end == '.' && end[1] >= '0' && end[1] <= '9')
			version = LC_CUDA(LC_CUDA_MAJOR(version), atoi(strchr(strchr(number, '.') + 1, '.') + 1));
		return end && numbers >= 2 && lc_package_is(name) ? version : 0;
	}
	return 0;
}

/* Returns true if a RECORD lists a file, given by its path from site-packages. */
static bool lists(const char *record, const char *relative)
{
	FILE *stream = open_text(record);
	char line[LINE_ROOM];
	bool found = false;
	off_t size;

	while (stream && !found && read_line(stream, line))
		found = lc_record_find(line, relative, &size);
	if (stream)
		fclose(stream);
	return found;
}

/* The only version that fulfils "Requires-Dist: cuda-toolkit[nvrtc]>=13.2,<13.3"; 0 if several do, for
 * any other line, and for a requirement that may not be one here: of an extra, of another system. */
static int version_of_requirement(const char *line)
{
	struct lk_requirement required;
	int version = 0;

	if (!lk_requirement_read(line, strlen(line), "cuda-toolkit", &required) ||
	    !(required.machines & LK_ON_THIS))
		return 0;
	line = required.version + strspn(required.version, " \t(");
	line += !strncmp(line, "===", 3);
	required.text[line - required.text + (ptrdiff_t)strcspn(line, ")")] = 0;
	for (int major = 1; major <= LC_MAX_CUDA; major++)
		for (int minor = 0; minor < 100; minor++) {
			if (lc_constraint_holds(line, LC_CUDA(major, minor), NULL) <= 0)
				continue;
			if (version)
				return 0;
			version = LC_CUDA(major, minor);
		}
	return version;
}

/* The toolkit that the wheel with this metadata requires; 0 if it requires none exactly, UNKNOWN
 * if it requires several. */
static int version_of_metadata(const char *path)
{
	FILE *stream = open_text(path);
	char line[LINE_ROOM];
	int version = 0;

	/* The description follows the first empty line. */
	while (stream && read_line(stream, line) && *line && *line != '\r') {
		int required = version_of_requirement(line);

		if (required && version && required != version)
			version = LAZYCUDA_VERSION_UNKNOWN;
		else if (required)
			version = required;
	}
	if (stream)
		fclose(stream);
	return version;
}

/* The version of a cuda-toolkit in this folder, cuda_toolkit-13.2.2, that pins this version of this wheel,
 * "nvidia_cufft-12.2.0.57.dist-info"; *metadata is where.  0: there is none. */
static int version_of_bundle(struct dated *file, const char *folder, const char *wheel,
			     const char **metadata)
{
	static const char toolkit[] = "cuda_toolkit-";
	const char *number = wheel + strcspn(wheel, "-") + 1;
	const size_t length = strlen(number) - strlen(".dist-info");
	char *name = lc_format(file->arena, "%.*s", (int)(number - 1 - wheel), wheel);
	DIR *stream = *number >= '0' && *number <= '9' ? opendir(folder) : NULL;
	struct dirent *entry;
	int version = 0;

	for (char *c = name; *c; c++)
		*c = *c == '_' ? '-' : *c;
	while (stream && !version && (entry = readdir(stream))) {
		struct lk_requirement required;
		char line[LINE_ROOM];
		FILE *text;
		int numbers;

		if (strncmp(entry->d_name, toolkit, strlen(toolkit)))
			continue;
		*metadata = lc_format(file->arena, "%s/%s/METADATA", folder, entry->d_name);
		text = open_text(*metadata);
		while (text && !version && read_line(text, line) && *line && *line != '\r')
			if (lk_requirement_read(line, strlen(line), name, &required) &&
			    !strncmp(required.version, "==", 2) &&
			    !strncmp(required.version + 2, number, length) &&
			    (!required.version[2 + length] || !strcmp(required.version + 2 + length, ".*")))
				lc_version_scan(entry->d_name + strlen(toolkit), &version, &numbers);
		if (text)
			fclose(text);
	}
	if (stream)
		closedir(stream);
	return version;
}

/* A wheel that lists the file, and what it says of the toolkit. */
struct owner {
	int version;
	const char *how;
};

/* Returns false if this folder of site-packages is not of such a wheel. */
static bool read_owner(struct dated *file, const char *folder, const char *name,
		       struct owner *owner)
{
	const char *record = lc_format(file->arena, "%s/%s/RECORD", folder, name);
	const char *metadata = lc_format(file->arena, "%s/%s/METADATA", folder, name);
	const char *relative = file->path + strlen(folder) + 1;
	int version = version_of_wheel(name);

	*owner = (struct owner){ version, lc_format(file->arena, "%s lists it", record) };
	if (!version && lc_package_is(name)) {
		owner->version = version_of_metadata(metadata);
		owner->how = lc_format(file->arena, owner->version == LAZYCUDA_VERSION_UNKNOWN ?
				       "insufficient metadata, %s requires several versions of"
				       " cuda-toolkit, and its RECORD lists it" :
				       "%s requires that cuda-toolkit, and its RECORD lists it",
				       metadata);
	}
	if (owner->version || !lc_package_is_nvidias(name) || !lists(record, relative))
		return owner->version && lists(record, relative);
	owner->version = version_of_bundle(file, folder, name, &metadata);
	owner->how = lc_format(file->arena, "%s requires that version of its wheel", metadata);
	return owner->version;
}

/* What the wheels that list the file say; UNKNOWN if they say different versions. */
static int ask_wheels_in(struct dated *file, const char *folder)
{
	struct owner first = { 0, NULL }, owner;
	DIR *stream = opendir(folder);
	struct dirent *entry;

	while (stream && first.version >= 0 && (entry = readdir(stream))) {
		char one[LK_VERSION_TEXT], other[LK_VERSION_TEXT];

		if (!read_owner(file, folder, entry->d_name, &owner) ||
		    owner.version == first.version)
			continue;
		if (!first.version) {
			first = owner;
			continue;
		}
		lk_version_text(first.version, one);
		lk_version_text(owner.version, other);
		first.how = lc_format(file->arena, "insufficient metadata, its owners disagree: %s"
				      " (%s); %s (%s)", first.how, one, owner.how, other);
		first.version = LAZYCUDA_VERSION_UNKNOWN;
	}
	if (stream)
		closedir(stream);
	if (first.version)
		file->how = first.how;
	return first.version;
}

static int ask_wheels(struct dated *file)
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
static bool place(struct lc_arena *arena, const char *path, bool follow, struct dated *file)
{
	const char *target = follow ? lk_resolve(arena, path) : path, *name = lc_basename(target);
	const char *folder = name > target ? lc_copy(arena, target, (size_t)(name - target)) : "./";

	*file = (struct dated){ .arena = arena, .folder = lk_resolve(arena, folder ? folder : "") };
	file->path = lc_format(arena, "%s/%s", file->folder, name);
	return !arena->failed && *file->folder && *name;
}

int lk_toolkit_of(struct lc_arena *arena, const char *path, const char **how)
{
	static const struct lc_library none;
	struct lc_elf elf;
	struct dated file;
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
	if (loadable && place(arena, path, false, &file))
		version = ask_file(&file, &elf);
	/* pip installs any versions beside each other: a cuda.h is that of its own wheel. */
	for (int follow = 0; follow < 2 && !version; follow++)
		if (place(arena, path, follow, &file))
			version = ask_wheels(&file);
	for (int follow = 0; follow < 2 && !version; follow++) {
		if (!place(arena, path, follow, &file))
			continue;
		version = ask_header(&file, elf.soname);
		if (!version)
			version = ask_version_json(&file, elf.soname);
	}
	*how = version ? file.how : "neither the file, nor a wheel, nor a cuda.h, nor a"
			       " version.json tells";
	return version;
}

int lk_toolkit_of_part(struct lc_arena *arena, const char *path)
{
	struct dated file;
	int version;

	if (!place(arena, path, true, &file))
		return LAZYCUDA_VERSION_NONE;
	version = ask_wheels(&file);
	if (!version)
		version = ask_header(&file, "");
	return version ? version : ask_version_json(&file, "");
}

int lazycuda_toolkit_version(const char *path, char *how, size_t size)
{
	struct lc_arena arena = { 0 };
	const char *text;
	int version = lk_toolkit_of(&arena, path, &text);

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
