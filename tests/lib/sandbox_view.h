/* SPDX-License-Identifier: MIT */
/*
 * The view: what a command sees at which path, where nothing can be mounted.
 *
 * A view is a list of the paths at which the machine looks other than it is.  A
 * path of the view is looked up as the kernel looks up a path: component after
 * component, links followed.  What lies at a path is what the nearest node at
 * or above it says; without one, what the machine has there.
 *
 * What the machine lacks lies below `scratch` under its path in the view: the
 * folders on the way to a place, and copies of folders for those who list them.
 */
#ifndef SANDBOX_VIEW_H
#define SANDBOX_VIEW_H

#include "sandbox.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <limits.h>
#include <linux/types.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_openat2
#define SYS_openat2 437
#endif

static struct node {
	char *path;		/* in the view, without links */
	char *real;		/* where that really lies; NULL: it is hidden */
} *nodes;
static size_t node_count;

static char scratch[64];
static pid_t view_owner;

/* Where a look-up has come to. */
struct spot {
	int pid;		/* who asks: /proc/self is that one */
	int touched;		/* the view had a part in it */
	char path[PATH_MAX];	/* in the view; "" is the root */
	char real[PATH_MAX];
};

/* What stands at the end of a look-up that the kernel alone can make: a pipe
 * behind /proc/self/fd. */
enum { UNKNOWN = -1, LINKS = 40 };

/* ---- nodes ---- */

static void drop_nodes_in(const char *path)
{
	size_t kept = 0;

	for (size_t i = 0; i < node_count; i++) {
		if (!lies_in(nodes[i].path, path)) {
			nodes[kept++] = nodes[i];
			continue;
		}
		free(nodes[i].path);
		free(nodes[i].real);
	}
	node_count = kept;
}

/* What was there before, and what lay in it, is covered. */
static void set_node(const char *path, const char *real)
{
	drop_nodes_in(path);
	nodes = realloc(nodes, (node_count + 1) * sizeof *nodes);
	if (!nodes)
		fail(BROKEN, "no memory");
	nodes[node_count++] = (struct node){ strdup(path), real ? strdup(real) : NULL };
}

/* The nearest node at or above a path, or NULL. */
static const struct node *node_of(const char *path)
{
	const struct node *nearest = NULL;
	size_t longest = 0;

	for (size_t i = 0; i < node_count; i++) {
		size_t length = strlen(nodes[i].path);
		if (length > longest && lies_in(path, nodes[i].path)) {
			nearest = &nodes[i];
			longest = length;
		}
	}
	return nearest;
}

static int has_node_within(const char *folder)
{
	size_t length = strlen(folder);

	for (size_t i = 0; i < node_count; i++)
		if (lies_in(nodes[i].path, folder) && nodes[i].path[length] == '/' &&
		    !strchr(nodes[i].path + length + 1, '/'))
			return 1;
	return 0;
}

static int join(char *to, const char *one, const char *two)
{
	return snprintf(to, PATH_MAX, "%s%s", one, two) < PATH_MAX ? 0 : ENAMETOOLONG;
}

/* The path in the view of something that really lies at `real`.  Whether that
 * is another path. */
static int seen_at(const char *real, char *path)
{
	const struct node *nearest = NULL;
	size_t longest = 0;

	if (lies_in(real, scratch))
		return join(path, "", real + strlen(scratch)) == 0;
	for (size_t i = 0; i < node_count; i++) {
		size_t length = nodes[i].real ? strlen(nodes[i].real) : 0;
		if (length > longest && lies_in(real, nodes[i].real)) {
			nearest = &nodes[i];
			longest = length;
		}
	}
	return nearest && join(path, nearest->path, real + longest) == 0;
}

/* ---- looking up ---- */

/* Sets where spot->path really lies.  0, or an error. */
static int locate(struct spot *spot)
{
	const struct node *node = node_of(spot->path);

	if (!node)
		return join(spot->real, "", *spot->path ? spot->path : "/");
	spot->touched = 1;
	return node->real ? join(spot->real, node->real, spot->path + strlen(node->path)) : ENOENT;
}

/* A link in /proc may lead to what the view has elsewhere. */
static int proc_link(struct spot *spot, char *text)
{
	char real[PATH_MAX];

	if (*text != '/' && strchr(text, ':'))
		return UNKNOWN;
	strcpy(real, text);
	spot->touched |= *text == '/' && seen_at(real, text);
	return 0;
}

/* The text of the link at spot->path; EINVAL if that is no link. */
static int link_at(struct spot *spot, char *text)
{
	if (!strcmp(spot->path, "/proc/self"))
		return snprintf(text, PATH_MAX, "%d", spot->pid) < 0;
	if (!strcmp(spot->path, "/proc/thread-self"))
		return snprintf(text, PATH_MAX, "%d/task/%d", spot->pid, spot->pid) < 0;
	ssize_t length = readlink(spot->real, text, PATH_MAX - 1);
	if (length < 0)
		return errno;
	text[length] = 0;
	return lies_in(spot->path, "/proc") ? proc_link(spot, text) : 0;
}

static int is_folder(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static int go_up(struct spot *spot)
{
	char *slash = strrchr(spot->path, '/');

	if (!is_folder(spot->real))
		return ENOTDIR;
	if (slash)
		*slash = 0;
	return locate(spot);
}

static int go_down(struct spot *spot, const char *name, size_t length)
{
	size_t old = strlen(spot->path);

	if (old + 1 + length >= PATH_MAX)
		return ENAMETOOLONG;
	spot->path[old] = '/';
	memcpy(spot->path + old + 1, name, length);
	spot->path[old + 1 + length] = 0;
	return locate(spot);
}

/* Puts a link's text before what is left of a path, and goes to where that
 * starts. */
static int go_along(struct spot *spot, const char *text, char *rest)
{
	size_t length = strlen(text), left = strlen(rest) + 1;

	if (length + left > PATH_MAX)
		return ENAMETOOLONG;
	memmove(rest + length, rest, left);
	memcpy(rest, text, length);
	if (*text == '/')
		spot->path[0] = 0;
	else
		*strrchr(spot->path, '/') = 0;
	return locate(spot);
}

/* Follows `path` from where the spot is.  The last component need not be
 * there; if it is a link, `follow` says whether that is followed.  0, an error,
 * or UNKNOWN. */
static int look_up(struct spot *spot, const char *path, int follow)
{
	char rest[PATH_MAX], text[PATH_MAX];
	int error = join(rest, "", path), links = 0;

	if (*path == '/')
		spot->path[0] = 0;
	if (!error)
		error = locate(spot);
	while (!error) {
		size_t start = strspn(rest, "/"), length = strcspn(rest + start, "/");
		char name[PATH_MAX];
		if (!length)
			return 0;
		memcpy(name, rest + start, length);
		memmove(rest, rest + start + length, strlen(rest + start + length) + 1);
		if (length == 1 && name[0] == '.')
			continue;
		if (length == 2 && name[0] == '.' && name[1] == '.') {
			error = go_up(spot);
			continue;
		}
		error = go_down(spot, name, length);
		if (error || (!*rest && !follow))
			return error;
		error = link_at(spot, text);
		if (!error)
			error = ++links > LINKS ? ELOOP : go_along(spot, text, rest);
		else if (error == EINVAL || (error != UNKNOWN && !rest[strspn(rest, "/")]))
			error = 0;
	}
	return error;
}

/* Whether a path is spelled as nodes are: from the root, nothing to skip. */
static int is_straight(const char *path)
{
	for (const char *slash = path; slash; slash = strchr(slash + 1, '/')) {
		const char *name = slash + 1 + strspn(slash + 1, ".");
		if (*slash != '/' || (name < slash + 4 && (!*name || *name == '/')))
			return 0;
	}
	return 1;
}

/* Whether the kernel meets no link on the way along a path, in one call where
 * look_up() makes one for each component. */
static int meets_no_link(const char *path)
{
	/* struct open_how, which older headers lack. */
	const __u64 how[] = { O_PATH | O_NOFOLLOW | O_CLOEXEC, 0, 4 /* RESOLVE_NO_SYMLINKS */ };
	struct stat status;
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, how, sizeof how);

	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == EACCES;
	int is_link = fstat(fd, &status) || S_ISLNK(status.st_mode);
	close(fd);
	return !is_link;
}

/* Whether the view has no part in a path; 0 if that takes a look-up to tell. */
static int is_untouched(const char *path)
{
	return is_straight(path) && !lies_in(path, "/proc") && !node_of(path) &&
	       !has_node_within(path) && meets_no_link(path);
}

/* ---- what the machine lacks ---- */

/* The path below scratch that stands for a path of the view, with the folders
 * above it. */
static void make_scratch(char *made, const char *path)
{
	if (join(made, scratch, path))
		fail(BROKEN, "%s is too long", path);
	for (char *slash = made + strlen(scratch); (slash = strchr(slash + 1, '/')); *slash = '/') {
		*slash = 0;
		if (mkdir(made, 0755) && errno != EEXIST)
			fail(BROKEN, "mkdir %s", made);
	}
}

/* Something of that type: a folder, a link to `text`, or an empty file. */
static void make_entry(const char *path, unsigned char type, const char *text)
{
	char made[PATH_MAX];

	make_scratch(made, path);
	if ((type == DT_DIR ? mkdir(made, 0755) : type == DT_LNK ? symlink(text, made) :
	     mknod(made, S_IFREG | 0644, 0)) && errno != EEXIST)
		fail(BROKEN, "cannot make %s", made);
}

/* The same, to be seen at `path` in place of what the machine has there. */
static void put_new(const char *path, unsigned char type, const char *text)
{
	char made[PATH_MAX];

	make_entry(path, type, text);
	make_scratch(made, path);
	set_node(path, made);
}

/* What a folder of the machine lists in this view: a copy below scratch, made
 * when it is first asked for. */
static void list_folder(struct spot *spot)
{
	static char **listed;
	static size_t count;
	char real[PATH_MAX], path[PATH_MAX];
	struct dirent *entry;
	DIR *folder;

	strcpy(real, spot->real);
	make_entry(spot->path, DT_DIR, NULL);
	make_scratch(spot->real, spot->path);
	for (size_t i = 0; i < count; i++)
		if (!strcmp(listed[i], spot->path))
			return;
	if (!(folder = opendir(real)))
		return;
	while ((entry = readdir(folder))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
		    snprintf(path, sizeof path, "%s/%s", spot->path, entry->d_name) >= PATH_MAX)
			continue;
		const struct node *node = node_of(path);
		if (!node || node->real)
			make_entry(path, entry->d_type, "/");
	}
	closedir(folder);
	listed = realloc(listed, (count + 1) * sizeof *listed);
	listed[count++] = strdup(spot->path);
}

/* ---- setting up ---- */

static int look_up_from_root(struct spot *spot, const char *path, int follow)
{
	*spot = (struct spot){ .pid = getpid() };
	return look_up(spot, path, follow);
}

/* Makes the folders above `path`, and says where that is.  Returns -1 if it is
 * outside of the overlays; there nothing is made. */
static int make_way(struct spot *spot, const char *path, int follow)
{
	char part[PATH_MAX];

	if (overlay_of(path) < 0 && !lies_in(path, MODULES))
		return look_up_from_root(spot, path, 1) || access(spot->real, F_OK) ?
			fail(BROKEN, "%s", path), -1 : -1;
	for (const char *slash = path; (slash = strchr(slash + 1, '/'));) {
		snprintf(part, sizeof part, "%.*s", (int)(slash - path), path);
		if (look_up_from_root(spot, part, 1) || !is_folder(spot->real))
			put_new(spot->path, DT_DIR, NULL);
	}
	look_up_from_root(spot, path, follow);
	return 0;
}

static void hide(const char *path)
{
	struct spot spot;

	if (look_up_from_root(&spot, path, 0) == 0)
		set_node(spot.path, NULL);
}

static void prepare_place(const struct place *place)
{
	struct spot spot;

	if (make_way(&spot, place->to, place->option == 'b'))
		return;
	if (place->option == 's')
		put_new(spot.path, DT_LNK, place->from);
	else if (access(place->from, F_OK))
		fail(BROKEN, "%s", place->from);
	else
		put_new(spot.path, is_folder(place->from) ? DT_DIR : DT_REG, NULL);
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
	(void)status, (void)type, (void)where;
	return remove(path);
}

/* By the process that has made it: a command, too, ends or fails to start. */
static void remove_view(void)
{
	if (getpid() == view_owner)
		nftw(scratch, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* A bare root may have no SCRATCH that everybody can write to. */
static void make_scratch_folder(void)
{
	static const char *const folders[] = { SCRATCH, "/tmp" };

	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		snprintf(scratch, sizeof scratch, "%s/lazycuda-sandbox-XXXXXX", folders[i]);
		if (mkdtemp(scratch))
			return;
	}
	fail(SKIP, "no folder in " SCRATCH " or in /tmp");
}

/* All but what --bind asks for: that comes once it is certain that there is no
 * CUDA. */
static void prepare_view(void)
{
	make_scratch_folder();
	view_owner = getpid();
	atexit(remove_view);
	chmod(scratch, 0755);
	for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++) {
		glob_t found;
		if (glob(hidden[i], GLOB_BRACE, NULL, &found) == 0)
			for (size_t j = 0; j < found.gl_pathc; j++)
				hide(found.gl_pathv[j]);
		globfree(&found);
	}
	if (!access(MODULES, F_OK))
		put_new(MODULES, DT_DIR, NULL);
	for (size_t i = 0; i < place_count; i++)
		prepare_place(&places[i]);
}

static void bind_places(void)
{
	struct spot spot;
	char source[PATH_MAX];

	for (size_t i = 0; i < place_count; i++)
		if (places[i].option == 'b' && realpath(places[i].from, source) &&
		    look_up_from_root(&spot, places[i].to, 1) == 0)
			set_node(spot.path, source);
}

#endif
