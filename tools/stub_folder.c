/* SPDX-License-Identifier: MIT */
/* stub_folder.c - makes the folder of `lazycuda stub` completely or leaves it as it was */
#include "stub_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../stubs/base/count.h"
#include "../stubs/base/regular.h"
#include "say.h"

/* A line of the Makefile in every folder that this command made. */
static const char mark[] = "# Made by `lazycuda stub`";

#define EXCHANGE 2	/* RENAME_EXCHANGE; old headers lack it */

static bool failed(const char *path)
{
	complain("stub", "%s: %s", path, strerror(errno));
	return false;
}

/* ---- trees ---- */

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *at)
{
	(void)status, (void)type, (void)at;
	return remove(path);
}

static void remove_tree(const char *path)
{
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static bool same_bytes(FILE *a, FILE *b)
{
	char one[4096], other[4096];
	size_t length;

	do {
		length = fread(one, 1, sizeof(one), a);
		if (fread(other, 1, sizeof(other), b) != length || memcmp(one, other, length))
			return false;
	} while (length);
	return !ferror(a) && !ferror(b);
}

static bool same_file(const char *a, const char *b)
{
	struct stat st;
	FILE *one = lc_stream_regular(a, &st), *other = lc_stream_regular(b, &st);
	bool same = one && other && same_bytes(one, other);

	if (one)
		fclose(one);
	if (other)
		fclose(other);
	return same;
}

/* The context of a walk, which nftw() does not pass: both trees, and the result. */
static struct {
	const char *root, *other;
	int failure;		/* errno */
	bool differs;
} walk;

/* Builds the corresponding path in the other tree; false if it is too long. */
static bool opposite(const char *path, char *other)
{
	const char *below = path + strlen(walk.root);

	return snprintf(other, PATH_MAX, "%s%s", walk.other, below) < PATH_MAX;
}

static bool copy_bytes(const char *from, const char *to)
{
	struct stat st;
	FILE *in = lc_stream_regular(from, &st), *out = in ? fopen(to, "wx") : NULL;
	char bytes[4096];
	bool good = out;
	size_t length;

	while (good && (length = fread(bytes, 1, sizeof(bytes), in)))
		good = fwrite(bytes, 1, length, out) == length;
	good = good && !ferror(in);
	if (out && fclose(out))
		good = false;
	if (in)
		fclose(in);
	return good;
}

static int copy_one(const char *path, const struct stat *status, int type, struct FTW *at)
{
	char to[PATH_MAX];

	(void)status;
	walk.failure = 0;
	errno = 0;
	if (!opposite(path, to))
		walk.failure = ENAMETOOLONG;
	else if (type == FTW_D && at->level && mkdir(to, 0777) && errno != EEXIST)
		walk.failure = errno;
	else if (type != FTW_D && !copy_bytes(path, to))
		walk.failure = errno ? errno : EIO;
	return walk.failure != 0;
}

static int compare_one(const char *path, const struct stat *status, int type, struct FTW *at)
{
	char other[PATH_MAX];
	struct stat there;

	(void)status, (void)at;
	if (!opposite(path, other) || lstat(other, &there))
		walk.differs = true;
	else if (type == FTW_D)
		walk.differs = !S_ISDIR(there.st_mode);
	else
		walk.differs = !S_ISREG(there.st_mode) || !same_file(path, other);
	return walk.differs;
}

/* Returns true if the other tree has all of this tree, with equal contents. */
static bool contains(const char *tree, const char *other)
{
	walk.root = tree;
	walk.other = other;
	walk.differs = false;
	return !nftw(tree, compare_one, 16, FTW_PHYS) && !walk.differs;
}

/* ---- may the folder be replaced? ---- */

static bool is_marked(const char *folder)
{
	char path[PATH_MAX], line[256];
	bool found = false;
	struct stat st;
	FILE *file;

	if (snprintf(path, sizeof(path), "%s/Makefile", folder) >= PATH_MAX)
		return false;
	file = lc_stream_regular(path, &st);
	while (file && !found && fgets(line, sizeof(line), file))
		found = !strncmp(line, mark, strlen(mark));
	if (file)
		fclose(file);
	return found;
}

/* Returns true for a name that such a folder has. */
static bool is_ours(const char *name)
{
	static const char *const names[] = {
		".", "..", "LICENSE", "Makefile", "flags.mk", "stub.pc.in",
		"folders.sh",	/* of an older lazycuda */
		"config.cmake.in", "config-version.cmake.in", "build", "generated", "include",
		"stubs"
	};
	size_t length = strlen(name);

	return lc_is_among(name, names, LC_COUNT(names)) ||
	       (length > 4 && !strcmp(name + length - 4, ".txt"));
}

/* Returns true if nothing is there, or an empty folder, or one that this command made. */
static bool may_replace(const char *path)
{
	DIR *folder = opendir(path);
	bool empty = true, ours = true;
	struct dirent *entry;

	if (!folder)
		return errno == ENOENT || failed(path);
	while (ours && (entry = readdir(folder))) {
		empty &= entry->d_name[0] == '.' && strspn(entry->d_name, ".") == strlen(entry->d_name);
		ours = is_ours(entry->d_name);
		if (!ours)
			complain("stub", "%s holds %s, which this command did not make: nothing was"
				 " written", path, entry->d_name);
	}
	closedir(folder);
	if (!ours || empty || is_marked(path))
		return ours;
	complain("stub", "%s was not made by this command: nothing was written", path);
	return false;
}

/* ---- the folder ---- */

/* Returns the resolved path if it exists, else the path without trailing slashes. */
static char *plain_path(const char *path)
{
	char *real = realpath(path, NULL), *copy;
	size_t length = strlen(path);

	if (real)
		return real;
	copy = strdup(path);
	while (copy && length > 1 && copy[length - 1] == '/')
		copy[--length] = 0;
	return copy;
}

/* Makes the folders above a path that are not there.  If that fails, making the folder itself
 * fails, too. */
static void make_parents(char *path)
{
	for (char *slash = path; (slash = strchr(slash + 1, '/'));) {
		*slash = 0;
		mkdir(path, 0777);
		*slash = '/';
	}
}

bool stub_folder_begin(struct stub_folder *folder, const char *path)
{
	mode_t mask = umask(0);

	umask(mask);
	*folder = (struct stub_folder){ .path = plain_path(path) };
	if (!folder->path)
		return failed(path);
	if (!may_replace(folder->path))
		return false;
	make_parents(folder->path);
	if (asprintf(&folder->parts, "%s.XXXXXX", folder->path) < 0)
		folder->parts = NULL;
	if (!folder->parts)
		return failed(path);
	if (mkdtemp(folder->parts))
		return !chmod(folder->parts, 0777 & ~mask) || failed(path);
	free(folder->parts);
	folder->parts = NULL;
	return failed(path);
}

bool stub_folder_copy(const struct stub_folder *folder, const char *from, const char *name)
{
	char to[PATH_MAX];

	if (snprintf(to, sizeof(to), "%s/%s", folder->parts, name) >= PATH_MAX)
		errno = ENAMETOOLONG;
	else if (copy_bytes(from, to))
		return true;
	return failed(from);
}

bool stub_folder_copy_all(const struct stub_folder *folder, const char *from)
{
	walk.root = from;
	walk.other = folder->parts;
	walk.failure = 0;
	/* Links are followed: a package may have one in place of a file like another. */
	if (!nftw(from, copy_one, 16, 0))
		return true;
	errno = walk.failure ? walk.failure : errno;
	return failed(from);
}

/* Returns true if the existing folder equals the new one.  build/ does not count: it is
 * the output of make. */
static bool is_the_same(const struct stub_folder *folder)
{
	static const char *const folders[] = { "generated", "include", "stubs" };
	char mine[PATH_MAX], there[PATH_MAX];

	if (!contains(folder->parts, folder->path))
		return false;
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		snprintf(mine, sizeof(mine), "%s/%s", folder->parts, folders[i]);
		snprintf(there, sizeof(there), "%s/%s", folder->path, folders[i]);
		if (!contains(there, mine))
			return false;
	}
	return true;
}

/* Moves the output of make into the new folder. */
static void keep_build(const struct stub_folder *folder)
{
	char from[PATH_MAX], to[PATH_MAX];

	snprintf(from, sizeof(from), "%s/build", folder->parts);
	snprintf(to, sizeof(to), "%s/build", folder->path);
	rename(from, to);
}

bool stub_folder_finish(struct stub_folder *folder, bool *changed)
{
	*changed = !is_the_same(folder);
	if (!*changed)
		return true;
	if (!rename(folder->parts, folder->path)) {
		free(folder->parts);
		folder->parts = NULL;
		return true;
	}
	if (syscall(SYS_renameat2, AT_FDCWD, folder->parts, AT_FDCWD, folder->path, EXCHANGE))
		return failed(folder->path);
	keep_build(folder);
	return true;
}

void stub_folder_end(struct stub_folder *folder)
{
	if (folder->parts)
		remove_tree(folder->parts);
	free(folder->parts);
	free(folder->path);
}
