/* SPDX-License-Identifier: MIT */
/* folders.c - which folders exist, and which are safe to search */
#include "folders.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "glibc.h"

/* A path as it was written, of a folder or of a file in one. */
struct lc_way {
	const char *path;
	struct lc_way *above;	/* the folder it is in; NULL for the root */
	struct lc_way *real;	/* the same with links resolved; NULL: not yet known */
	bool there, link;	/* of the path itself, which is not followed */
	uid_t owner;		/* likewise */
	size_t size;		/* if it is a link: room for the path in it */
	mode_t mode;		/* of what it leads to; 0: nothing is there */
	int error;		/* why it could not be examined, though it may exist */
	struct lc_folder *folder;
	const struct lc_way *open;	/* a world-writable folder on the way to it, as */
	bool known;			/* written, or NULL; `known`: that was examined */
	struct lc_way *next;
};

static size_t bucket(const char *path, size_t length)
{
	unsigned hash = 5381;

	for (size_t i = 0; i < length; i++)
		hash = hash * 33 + (unsigned char)path[i];
	return hash % LC_FOLDER_BUCKETS;
}

static struct lc_folder *folder_of(struct lc_folders *folders, const struct stat *st)
{
	struct lc_folder **first = &folders->folders[st->st_ino % LC_FOLDER_BUCKETS], *folder;

	for (folder = *first; folder; folder = folder->next)
		if (folder->inode == st->st_ino && folder->device == st->st_dev)
			return folder;
	folder = lc_alloc(folders->arena, sizeof(*folder));
	if (!folder)
		return NULL;
	*folder = (struct lc_folder){ .device = st->st_dev, .inode = st->st_ino, .next = *first };
	return *first = folder;
}

static bool lies_below(const char *path, const char *folder)
{
	size_t length = strlen(folder);

	return !strncmp(path, folder, length) && path[length] == '/';
}

const char *lc_this_file(void)
{
	static const char anchor = 0;
	Dl_info here;

	return dladdr(&anchor, &here) ? here.dli_fname : NULL;
}

/* Returns true if this library lies below the folder. */
static bool is_above_this(struct lc_folders *folders, const char *folder)
{
	const char *file = lc_this_file();

	return file && (lies_below(file, folder) || lies_below(lc_real_path(folders, file), folder));
}

/* Returns true if another user can replace `inside`, which lies in the folder. */
static bool is_open(const struct lc_way *folder, const struct lc_way *inside)
{
	if (!(folder->mode & S_IWOTH))
		return false;
	return !(folder->mode & S_ISVTX) || !inside->there ||
	       (inside->owner != 0 && inside->owner != geteuid());
}

/*
 * Returns true if whoever can change things below the folder could as well replace
 * this library: both lie below a world-writable folder that is not sticky.
 */
static bool is_beside_this(struct lc_folders *folders, const struct lc_way *way)
{
	for (; way; way = way->above)
		if ((way->mode & (S_IWOTH | S_ISVTX)) == S_IWOTH &&
		    is_above_this(folders, way->path))
			return true;
	return false;
}

/* Records why a path cannot be examined, which leaves it out of the search.  A path
 * that does not exist has no error. */
static void cannot_look(struct lc_folders *folders, struct lc_way *way)
{
	lc_arena_hinder(folders->arena, errno);
	if (errno != ENOENT && errno != ENOTDIR)
		way->error = errno;
}

static void look_at(struct lc_folders *folders, struct lc_way *way)
{
	struct stat st;

	if (lstat(way->path, &st)) {
		cannot_look(folders, way);
		return;
	}
	way->there = true;
	way->owner = st.st_uid;
	way->link = S_ISLNK(st.st_mode);
	/* Links in /proc have size 0. */
	way->size = st.st_size ? (size_t)st.st_size : PATH_MAX;
	if (way->link && stat(way->path, &st)) {
		cannot_look(folders, way);
		return;
	}
	way->mode = st.st_mode;
	if (S_ISDIR(st.st_mode))
		way->folder = folder_of(folders, &st);
}

/* The way of the first `length` bytes of an absolute path; NULL on allocation failure. */
static struct lc_way *way_to(struct lc_folders *folders, const char *path, size_t length)
{
	struct lc_way **first, *way, *above = NULL;
	size_t cut;

	while (length > 1 && path[length - 1] == '/')
		length--;
	first = &folders->ways[bucket(path, length)];
	for (way = *first; way; way = way->next)
		if (!strncmp(way->path, path, length) && !way->path[length])
			return way;
	for (cut = length; cut > 1 && path[cut - 1] != '/'; cut--)
		;
	if (length > 1 && !(above = way_to(folders, path, cut)))
		return NULL;
	way = lc_alloc(folders->arena, sizeof(*way));
	if (!way || !(way->path = lc_copy(folders->arena, path, length)))
		return NULL;
	way->above = above;
	/* Nothing below a folder that failed is examined: a dead mount is asked once. */
	if (above && above->error)
		way->error = above->error;
	else if (!above || above->mode)
		look_at(folders, way);
	way->next = *first;
	return *first = way;
}

/* The way of an absolute path, or of one relative to the folder. */
static struct lc_way *from(struct lc_folders *folders, const struct lc_way *folder,
			   const char *path)
{
	if (path[0] != '/')
		path = lc_format(folders->arena, "%s/%s", folder->above ? folder->path : "", path);
	return path[0] == '/' ? way_to(folders, path, strlen(path)) : NULL;
}

static struct lc_way *real_way(struct lc_folders *folders, struct lc_way *way);

static struct lc_way *follow(struct lc_folders *folders, const struct lc_way *link,
			     const struct lc_way *above)
{
	char *target = lc_alloc(folders->arena, link->size + 1);
	struct lc_way *way;

	/* A link that stat() could not follow leads nowhere. */
	if (!target || !link->mode || readlink(link->path, target, link->size) <= 0)
		return NULL;
	way = from(folders, above, target);
	return way ? real_way(folders, way) : NULL;
}

static struct lc_way *real_way(struct lc_folders *folders, struct lc_way *way)
{
	const char *name = strrchr(way->path, '/') + 1;
	struct lc_way *above, *real;

	if (!way->above)
		return way;
	if (way->real)
		return way->real;
	way->real = way;	/* for now: a link may lead back to itself */
	above = real_way(folders, way->above);
	if (!strcmp(name, "."))
		real = above;
	else if (!strcmp(name, ".."))
		real = above->above ? above->above : above;
	else if (way->link)
		real = follow(folders, way, above);
	else
		real = above == way->above ? way : from(folders, above, name);
	return way->real = real ? real : way;
}

static struct lc_way *way_of(struct lc_folders *folders, const char *path)
{
	size_t length = strlen(path);

	return path[0] == '/' && length < PATH_MAX ? way_to(folders, path, length) : NULL;
}

struct lc_folder *lc_folder(struct lc_folders *folders, const char *path)
{
	const struct lc_way *way = way_of(folders, path);

	return way ? way->folder : NULL;
}

bool lc_folder_may_be_there(struct lc_folders *folders, const char *path)
{
	const struct lc_way *way = way_of(folders, path);

	return way && (way->folder || way->error);
}

/* A folder on the way in which another user can replace things; NULL if none. */
static const struct lc_way *open_on(struct lc_folders *folders, struct lc_way *way)
{
	if (!way->known && way->above) {
		if (!is_open(way->above, way))
			way->open = open_on(folders, way->above);
		else if (!is_above_this(folders, way->above->path) &&
			 !is_beside_this(folders, way->above))
			way->open = way->above;
	}
	way->known = true;
	return way->open;
}

const char *lc_folder_objection(struct lc_folders *folders, const char *path)
{
	struct lc_way *way = way_of(folders, path);
	const struct lc_way *open;

	if (!way)
		return path[0] == '/' ? "its path is too long" : "its path is not absolute";
	if (way->error)
		return lc_format(folders->arena, "it cannot be looked at: %s", strerror(way->error));
	open = (way->mode & S_IWOTH) && !is_beside_this(folders, way) ? way : NULL;
	if (!open)
		open = open_on(folders, way);
	if (!open)
		open = open_on(folders, real_way(folders, way));
	return open ? lc_format(folders->arena, "anybody may write to %s",
				lc_printable(folders->arena, open->path)) : NULL;
}

bool lc_folder_is_safe(struct lc_folders *folders, const char *path)
{
	return !lc_folder_objection(folders, path);
}

const char *lc_real_path(struct lc_folders *folders, const char *path)
{
	struct lc_way *way = way_of(folders, path);

	return way ? real_way(folders, way)->path : path;
}
