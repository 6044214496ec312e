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

#include "../stubs/base/arena.h"
#include "../stubs/base/image.h"
#include "../stubs/base/regular.h"
#include "output.h"
#include "say.h"

/* Names each file that this command wrote, behind a sum of its bytes. */
#define MANIFEST "MANIFEST"

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

static bool have_same_bytes(const char *a, const char *b)
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

/* What is done with each file below a folder.  `name` begins there; "" is the folder itself. */
typedef bool visit(struct stub_folder *folder, const char *path, const char *name, bool is_folder);

/* Folders may lie in one another a thousand times: what a call keeps on the stack is little. */
static bool each_below(struct stub_folder *folder, const char *root, const char *name, visit *visit)
{
	const char *slash = *name ? "/" : "";
	struct dirent **list = NULL;
	char *path, *below = NULL;
	struct stat st;
	int count = 0;
	bool good;

	if (asprintf(&path, "%s%s%s", root, slash, name) < 0)
		return failed(root);
	good = (!lstat(path, &st) || failed(path)) && visit(folder, path, name, S_ISDIR(st.st_mode));
	/* By name, so that the same command writes the same list. */
	if (good && S_ISDIR(st.st_mode) && (count = scandir(path, &list, NULL, alphasort)) < 0)
		good = failed(path);
	for (int i = 0; i < count; i++) {
		const char *entry = list[i]->d_name;

		if (good && strcmp(entry, ".") && strcmp(entry, "..")) {
			good = asprintf(&below, "%s%s%s", name, slash, entry) >= 0;
			/* build/ is the output of make. */
			good = good && (!strcmp(below, "build") || each_below(folder, root, below, visit));
			free(below);
			below = NULL;
		}
		free(list[i]);
	}
	free(list);
	free(path);
	return good;
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

static bool path_in(const char *folder, const char *name, char *path)
{
	errno = ENAMETOOLONG;
	return snprintf(path, PATH_MAX, "%s/%s", folder, name) < PATH_MAX;
}

static bool copy_one(struct stub_folder *folder, const char *path, const char *name, bool is_folder)
{
	char to[PATH_MAX];

	if (!path_in(folder->parts, name, to))
		return failed(path);
	/* A link is followed: a package may have one in place of a file like another. */
	if (is_folder ? *name && mkdir(to, 0777) && errno != EEXIST : !copy_bytes(path, to))
		return failed(to);
	return true;
}

/* ---- may the folder be replaced? ---- */

/* A line of the manifest: "0123abcd stubs/base/text.c\n". */
static bool describe(const char *path, const char *name, char *line, size_t size)
{
	struct stat st;
	FILE *file = lc_stream_regular(path, &st);
	char bytes[4096];
	uint32_t sum = 0;
	size_t length;
	bool good;

	while (file && (length = fread(bytes, 1, sizeof(bytes), file)))
		sum = sum * 31 + lc_hash(bytes, length);
	good = file && !ferror(file);
	if (file)
		fclose(file);
	return good && snprintf(line, size, "%08x %s\n", sum, name) < (int)size;
}

static bool note_one(struct stub_folder *folder, const char *path, const char *name, bool is_folder)
{
	char line[PATH_MAX + 16];

	if (!is_folder && strcmp(name, MANIFEST) &&
	    (!describe(path, name, line, sizeof(line)) || fputs(line, folder->manifest) < 0))
		return failed(path);
	return true;
}

static bool write_manifest(struct stub_folder *folder)
{
	char path[PATH_MAX];
	bool good;

	if (!path_in(folder->parts, MANIFEST, path) || !(folder->manifest = fopen(path, "w")))
		return failed(path);
	good = each_below(folder, folder->parts, "", note_one);
	if (fclose(folder->manifest))
		good = failed(path);
	return good;
}

/* Returns true for a file that the last run wrote and nobody has changed; else complains. */
static bool is_ours(const struct stub_folder *folder, const char *path, const char *name)
{
	char line[PATH_MAX + 16];
	const char *listed = folder->known ? folder->known : "";

	if (!describe(path, name, line, sizeof(line)))
		snprintf(line, sizeof(line), "%08x %s\n", 0, name);
	if (strstr(listed, line))
		return true;
	/* Each line is 8 digits, a blank, a name. */
	if (strstr(listed, line + 8))
		complain("stub", "%s/%s was changed since this command made it: nothing was written;"
			 " keep it elsewhere", folder->shown, name);
	else
		complain("stub", "%s holds %s, which this command did not make: nothing was written",
			 folder->shown, name);
	return false;
}

/* A file that is there already: the new folder has it, too, or it was made by this command. */
static bool judge_old(struct stub_folder *folder, const char *path, const char *name, bool is_folder)
{
	char other[PATH_MAX];

	errno = ENOTDIR;
	if (!*name)
		return is_folder || failed(folder->shown);
	if (is_folder || (path_in(folder->parts, name, other) && have_same_bytes(path, other)))
		return true;
	folder->changed = true;
	return !strcmp(name, MANIFEST) || is_ours(folder, path, name);
}

static bool judge_new(struct stub_folder *folder, const char *path, const char *name, bool is_folder)
{
	char other[PATH_MAX];

	(void)path, (void)is_folder;
	if (!path_in(folder->path, name, other) || access(other, F_OK))
		folder->changed = true;
	return true;
}

/* Returns true if all that is there may be replaced. */
static bool may_replace(struct stub_folder *folder)
{
	struct lc_arena *arena = lc_arena_new();
	struct stat st;
	char path[PATH_MAX];
	bool good;

	if (arena && path_in(folder->path, MANIFEST, path))
		folder->known = lc_read_regular(arena, path, 1 << 20, &st);
	folder->changed = access(folder->path, F_OK) != 0;
	good = folder->changed || (each_below(folder, folder->path, "", judge_old) &&
				   each_below(folder, folder->parts, "", judge_new));
	lc_arena_free(arena);
	folder->known = NULL;
	return good;
}

/* ---- the folder ---- */

/* Makes the folders above a path that are not there.  If that fails, making the folder itself
 * fails, too. */
static void make_parents(struct stub_folder *folder)
{
	for (char *slash = folder->path; (slash = strchr(slash + 1, '/'));) {
		*slash = 0;
		if (!mkdir(folder->path, 0777) && !folder->made)
			folder->made = strlen(folder->path);
		*slash = '/';
	}
}

/* Removes those again, if there is nothing in them. */
static void remove_parents(struct stub_folder *folder)
{
	for (char *slash; folder->made && (slash = strrchr(folder->path, '/'));) {
		*slash = 0;
		if (strlen(folder->path) < folder->made || rmdir(folder->path))
			break;
	}
}

bool stub_folder_begin(struct stub_folder *folder, const char *path)
{
	mode_t mask = umask(0), mode = 0777 & ~mask;
	struct stat old;

	umask(mask);
	*folder = (struct stub_folder){ .shown = path, .path = output_path("stub", path) };
	if (!folder->path)
		return false;
	make_parents(folder);
	if (asprintf(&folder->parts, "%s.XXXXXX", folder->path) < 0)
		folder->parts = NULL;
	if (!folder->parts)
		return failed(path);
	/* What was there keeps its rights. */
	if (!stat(folder->path, &old))
		mode = old.st_mode & 07777;
	if (mkdtemp(folder->parts))
		return !chmod(folder->parts, mode) || failed(path);
	free(folder->parts);
	folder->parts = NULL;
	return failed(path);
}

bool stub_folder_copy(const struct stub_folder *folder, const char *from, const char *name)
{
	char to[PATH_MAX];

	return (path_in(folder->parts, name, to) && copy_bytes(from, to)) || failed(from);
}

bool stub_folder_copy_all(struct stub_folder *folder, const char *from)
{
	return each_below(folder, from, "", copy_one);
}

/* Moves the output of make from one folder into another. */
static bool move_build(const char *from, const char *to)
{
	char old[PATH_MAX], new[PATH_MAX];

	return path_in(from, "build", old) && path_in(to, "build", new) &&
	       (!rename(old, new) || errno == ENOENT);
}

bool stub_folder_finish(struct stub_folder *folder)
{
	int error;

	if (!write_manifest(folder) || !may_replace(folder) || output_stops())
		return false;
	if (!folder->changed)
		return true;
	if (!rename(folder->parts, folder->path)) {
		free(folder->parts);
		folder->parts = NULL;
		return true;
	}
	if (!move_build(folder->path, folder->parts))
		return failed(folder->shown);
	if (!syscall(SYS_renameat2, AT_FDCWD, folder->parts, AT_FDCWD, folder->path, EXCHANGE))
		return true;
	error = errno;
	move_build(folder->parts, folder->path);
	errno = error;
	return failed(folder->shown);
}

void stub_folder_end(struct stub_folder *folder)
{
	if (folder->parts)
		remove_tree(folder->parts);
	if (folder->path)
		remove_parents(folder);
	free(folder->parts);
	free(folder->path);
}
