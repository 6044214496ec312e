/* SPDX-License-Identifier: MIT */
/* folders.c - which folders exist, and which are safe to search */
#include "folders.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "glibc.h"
#include "mounts.h"
#include "objects.h"

#define SMALL_FOLDER 4096	/* bytes, a block of most file systems: one call reads it */

/* The components in the texts of nested links.  Each takes stack and memory, and a stranger may
 * have made the links: the kernel follows 40 of them, with up to 2048 components each. */
#define MAX_STEPS 512

/* A path as it was written, of a folder or of a file in one. */
struct lc_way {
	const char *path;
	uint32_t hash;		/* of the path */
	struct lc_way *above;	/* the folder it is in; NULL for the root */
	struct lc_way *real;	/* the same with links resolved; NULL: not yet known */
	struct lc_way *leads;	/* what the text of a link names, once `real` is known */
	bool astray;		/* it does not lead to what its text names, or by too many steps */
	bool there, link;	/* of the path itself, by lstat(), as the next five */
	uid_t owner;
	dev_t device;
	ino_t inode;
	mode_t own_mode;
	struct timespec own_change;
	struct timespec change;	/* of what it leads to, by stat() */
	bool young;		/* `change` was recent when it was read: see is_young() */
	bool lacks;		/* something looked for in it was not there */
	bool asked;		/* somebody asked for a folder here, not only for what is below */
	size_t size;		/* of a link: room for its text */
	mode_t mode;		/* of what it leads to, as the next two; 0: nothing is there */
	dev_t real_device;
	ino_t real_inode;
	int error;		/* why it could not be examined, though it may exist */
	struct lc_folder *folder;
	const struct lc_way *open;	/* what is unsafe on the way, as written or as links lead */
	bool known;		/* `open` has been determined; NULL: nothing is unsafe */
	const char *mounted;	/* why what is mounted here is a stranger's; NULL: it is not */
	unsigned long held;	/* the last `time` of lc_folders_hold() at which it was unchanged */
	struct lc_way *next;
};

static struct lc_way **way_bucket(const struct lc_folders *folders, uint32_t hash)
{
	return &folders->ways[hash % folders->way_capacity];
}

/* Makes room for one more; returns false on allocation failure. */
static bool add_way_capacity(struct lc_folders *folders)
{
	const size_t old = folders->way_capacity, capacity = old ? 4 * old : 128;
	struct lc_way **const ways = folders->ways, **more;

	if (folders->way_count < old)
		return true;
	more = lc_alloc(folders->arena, capacity * sizeof(*more));
	if (!more)
		return false;
	folders->ways = more;
	folders->way_capacity = capacity;
	for (size_t i = 0; i < old; i++) {
		for (struct lc_way *way = ways[i], *next; way; way = next) {
			struct lc_way **first = way_bucket(folders, way->hash);

			next = way->next;
			way->next = *first;
			*first = way;
		}
	}
	return true;
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
	/* Some file systems report size 0 for every folder. */
	folder->small = st->st_size > 0 && st->st_size <= SMALL_FOLDER;
	return *first = folder;
}

/* The bit for a name.  It ignores case, as some file systems do. */
static size_t bit_of(const char *name)
{
	unsigned hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + ((unsigned char)*name | 0x20);
	return hash % LC_NAME_BITS;
}

static void add_to_listing(struct lc_listing *names, const char *name)
{
	const size_t bit = bit_of(name);

	names->bits[bit / 64] |= 1ull << bit % 64;
}

static bool may_list(const struct lc_listing *names, const char *name)
{
	const size_t bit = bit_of(name);

	return names->bits[bit / 64] >> bit % 64 & 1;
}

/* Returns the names in the folder; NULL if not all can be read, or if there are too many for the
 * bits to be of use. */
static struct lc_listing *read_names(struct lc_arena *arena, const char *path)
{
	struct lc_listing *names = lc_alloc(arena, sizeof(*names));
	DIR *directory = names ? LC_AGAIN_IF(opendir(path), !done) : NULL;
	struct dirent *entry = NULL;
	bool all;

	if (!directory)
		return NULL;
	for (size_t i = 0; i < LC_NAME_BITS / 16; i++) {
		errno = 0;
		entry = readdir(directory);
		if (!entry)
			break;
		add_to_listing(names, entry->d_name);
	}
	all = !entry && !errno;
	closedir(directory);
	return all ? names : NULL;
}

bool lc_folder_has_no(struct lc_folders *folders, struct lc_folder *folder, const char *path,
		      const char *name)
{
	if (folder->small && ++folder->asked > LC_ASKED_SINGLY) {
		folder->names = read_names(folders->arena, path);
		folder->small = false;
	}
	return folder->names && !may_list(folder->names, name);
}

/* A path that goes back out of the folder at once does not lie in it. */
static bool lies_below(const char *path, const char *folder)
{
	const size_t length = strlen(folder);
	const char *up;

	if (strncmp(path, folder, length) || path[length] != '/')
		return false;
	up = strstr(path + length, "/../");
	return !up || up + 3 > path + length + strspn(path + length, "/.");
}

/* Sets *data to the name of the object that this code is in. */
static int find_this(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	if (!lc_object_holds(info, (void *)find_this))
		return 0;
	*(const char **)data = info->dlpi_name;
	return 1;
}

/* dladdr() would look through all symbols of this library as well. */
const char *lc_this_file(void)
{
	const char *file = NULL;
	Dl_info here;

	lc_each_object(find_this, &file);
	if (file && *file)
		return file;
	/* It is the program, which has no name there. */
	return dladdr1((void *)find_this, &here, NULL, 0) ? here.dli_fname : NULL;
}

/* Returns true if this library lies below the folder. */
static bool is_above_this(struct lc_folders *folders, const char *folder)
{
	const char *file = lc_this_file();

	return file && (lies_below(file, folder) || lies_below(lc_real_path(folders, file), folder));
}

#ifndef SYS_statx
# ifdef __x86_64__
#  define SYS_statx 332
# else
#  define SYS_statx 291
# endif
#endif

/* Returns true if something is mounted at this path: nobody can put another thing there.  Linux
 * before 5.8 does not tell. */
static bool is_mounted(const char *path)
{
	uint64_t told[32] = { 0 };	/* a struct statx, which older headers lack */
	const uint64_t root = 0x2000;

	return !syscall(SYS_statx, AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, 0, told) &&
	       told[1] & told[7] & root;
}

/* Returns true if another user can replace `inside`, which lies in the folder; `..` nobody can. */
static bool is_open(const struct lc_way *folder, const struct lc_way *inside)
{
	if (!(folder->mode & S_IWOTH) || !strcmp(lc_basename(inside->path), ".."))
		return false;
	if (!(folder->mode & S_ISVTX) || !inside->there)
		return true;
	/* Whoever owns a sticky folder may replace what is in it.  In a user namespace root's files
	 * all have the owner that stands for none. */
	return inside->owner != 0 && inside->owner != geteuid() &&
	       (folder->link || inside->owner != folder->owner) && !is_mounted(inside->path);
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
	lc_arena_note_error(folders->arena, errno);
	if (errno != ENOENT && errno != ENOTDIR)
		way->error = errno;
}

/* Returns true if a change made now might give a file the time that it already has.  The
 * kernel takes the time from a clock that ticks; some file systems count in seconds. */
static bool is_young(const struct timespec *changed)
{
	const long long second = 1000000000;
	struct timespec now;

	if (clock_gettime(CLOCK_REALTIME_COARSE, &now))
		return true;
	return (now.tv_sec - changed->tv_sec) * second + now.tv_nsec - changed->tv_nsec <
	       (changed->tv_nsec ? second / 50 : 2 * second);
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static bool way_holds(const struct lc_way *way)
{
	struct stat st;

	if (lstat(way->path, &st) || st.st_ino != way->inode || st.st_dev != way->device ||
	    st.st_mode != way->own_mode || st.st_uid != way->owner ||
	    (way->link && !same_time(&st.st_ctim, &way->own_change)))
		return false;
	if (!way->lacks && (way->folder || !way->asked))
		return true;
	/* A path that led to no folder holds as long as it leads to none. */
	if (way->link && stat(way->path, &st))
		return !way->folder;
	return way->folder ? same_time(&st.st_ctim, &way->change) : !S_ISDIR(st.st_mode);
}

/* A folder below a link is unchanged if the link is, which is in the list itself, and if the
 * folder's real way is. */
static struct lc_way *to_compare(struct lc_way *way)
{
	return !way->link && way->real ? way->real : way;
}

bool lc_folders_hold(const struct lc_folders *folders, bool nothing, unsigned long time)
{
	for (size_t i = 0; i < folders->there_count; i++) {
		struct lc_way *way = folders->there[i];

		/* A plain file is judged by its folder. */
		if ((nothing || !way->folder) && !way->asked && !way->lacks && !way->link)
			continue;
		way = to_compare(way);
		if (way->held != time && !way_holds(way))
			return false;
		way->held = time;
	}
	return true;
}

/* What lstat() and stat() say of a path. */
struct look {
	struct stat itself, behind;
};

/* `look` is what the two calls said if they have been made already; NULL: not yet. */
static void look_at(struct lc_folders *folders, struct lc_way *way, const struct look *look)
{
	struct lc_way **slot;
	struct stat st;

	if (look) {
		st = look->itself;
	} else if (lstat(way->path, &st)) {
		cannot_look(folders, way);
		return;
	}
	way->there = true;
	way->device = st.st_dev;
	way->inode = st.st_ino;
	way->own_mode = st.st_mode;
	way->own_change = st.st_ctim;
	way->owner = st.st_uid;
	way->link = S_ISLNK(st.st_mode);
	/* Links in /proc have size 0. */
	way->size = st.st_size ? (size_t)st.st_size : PATH_MAX;
	slot = lc_grow(folders->arena, &folders->there, &folders->there_count, sizeof(*slot));
	if (slot)
		*slot = way;
	if (look) {
		st = look->behind;
	} else if (way->link && stat(way->path, &st)) {
		cannot_look(folders, way);
		return;
	}
	way->mode = st.st_mode;
	/* Images keep the modes of what they were made from. */
	if ((way->mode & S_IWOTH) && lc_is_read_only(folders->arena, way->path, st.st_dev))
		way->mode &= ~(mode_t)S_IWOTH;
	way->real_device = st.st_dev;
	way->real_inode = st.st_ino;
	way->change = st.st_ctim;
	way->young = is_young(&st.st_ctim);
	if (S_ISDIR(st.st_mode))
		way->folder = folder_of(folders, &st);
}

static struct lc_way *real_way(struct lc_folders *folders, struct lc_way *way);

/* Records that something looked for in this folder is not there.  The ctime of the real folder
 * shows when it may have appeared. */
static void miss_in(struct lc_folders *folders, struct lc_way *way)
{
	if (way->mode)
		way = real_way(folders, way);
	way->lacks = true;
	folders->young |= way->folder && way->young;
}

/* The way of the first `length` bytes of an absolute path; NULL on allocation failure.  `look`:
 * see look_at(). */
static struct lc_way *way_to(struct lc_folders *folders, const char *path, size_t length,
			     const struct look *look)
{
	struct lc_way **first, *way, *above = NULL;
	uint32_t hash;
	size_t cut;

	while (length > 1 && path[length - 1] == '/')
		length--;
	hash = lc_hash(path, length);
	if (!add_way_capacity(folders))
		return NULL;
	for (way = *way_bucket(folders, hash); way; way = way->next)
		if (way->hash == hash && !strncmp(way->path, path, length) && !way->path[length])
			return way;
	for (cut = length; cut > 1 && path[cut - 1] != '/'; cut--)
		;
	if (length > 1 && !(above = way_to(folders, path, cut, NULL)))
		return NULL;
	way = lc_alloc(folders->arena, sizeof(*way));
	if (!way || !(way->path = lc_copy(folders->arena, path, length)))
		return NULL;
	way->hash = hash;
	way->above = above;
	/* Nothing below a folder that failed is examined: a dead mount is tried once. */
	if (above && above->error)
		way->error = above->error;
	else if (!above || above->mode)
		look_at(folders, way, look);
	if (above && !way->there)
		miss_in(folders, above);
	/* The path behind ".." does not tell whether `above` is still the same folder. */
	if (above && length - cut == 2 && !memcmp(path + cut, "..", 2))
		above->asked = true;
	first = way_bucket(folders, hash);
	way->next = *first;
	folders->way_count++;
	return *first = way;
}

/* The way of an absolute path, or of one relative to the folder. */
static struct lc_way *way_from(struct lc_folders *folders, const struct lc_way *folder,
			       const char *path)
{
	if (path[0] != '/')
		path = lc_path(folders->arena, folder->above ? folder->path : "", path);
	return path[0] == '/' ? way_to(folders, path, strlen(path), NULL) : NULL;
}

static int count_steps(const char *path)
{
	int steps = 1;

	for (; *path; path++)
		steps += *path == '/';
	return steps;
}

static bool leads_to_same(const struct lc_way *a, const struct lc_way *b)
{
	return a->mode && b->mode && a->real_inode == b->real_inode &&
	       a->real_device == b->real_device;
}

static struct lc_way *follow_way(struct lc_folders *folders, struct lc_way *link,
				 const struct lc_way *above)
{
	char *target = lc_alloc(folders->arena, link->size + 1);
	struct lc_way *real = NULL;
	ssize_t length;
	int steps;

	/* A link that stat() could not follow leads nowhere. */
	if (!link->mode)
		return NULL;
	length = target ? LC_AGAIN(readlink(link->path, target, link->size)) : 0;
	/* Then what stat() says of it has to do. */
	if (length < 0 && lc_is_filtered())
		return NULL;
	if (length > 0 && (steps = count_steps(target)) <= MAX_STEPS - folders->links) {
		folders->links += steps;
		link->leads = way_from(folders, above, target);
		if (link->leads)
			real = real_way(folders, link->leads);
		folders->links -= steps;
	}
	/* A link in /proc may lead elsewhere than its text says, as may one just replaced. */
	link->astray = !real || !leads_to_same(real, link);
	return real;
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
		real = follow_way(folders, way, above);
	else
		real = above == way->above ? way : way_from(folders, above, name);
	return way->real = real ? real : way;
}

static struct lc_way *way_of(struct lc_folders *folders, const char *path)
{
	size_t length = strlen(path);

	return path[0] == '/' && length < PATH_MAX ? way_to(folders, path, length, NULL) : NULL;
}

/* The way to a path that should be a folder, and may become one. */
static struct lc_way *ask_for(struct lc_folders *folders, const char *path)
{
	struct lc_way *way = way_of(folders, path);

	if (way)
		way->asked = true;
	return way;
}

struct lc_folder *lc_folder(struct lc_folders *folders, const char *path)
{
	const struct lc_way *way = ask_for(folders, path);

	return way ? way->folder : NULL;
}

void lc_folder_lacks(struct lc_folders *folders, const char *path)
{
	struct lc_way *way = ask_for(folders, path);

	if (way)
		miss_in(folders, way);
}

bool lc_folder_may_be_there(struct lc_folders *folders, const char *path)
{
	const struct lc_way *way = ask_for(folders, path);

	return way && (way->folder || way->error);
}

static const struct lc_way *open_behind(struct lc_folders *folders, struct lc_way *link);

/* A folder on the way in which another user can replace things, or a link that leads astray;
 * NULL if none. */
static const struct lc_way *open_on(struct lc_folders *folders, struct lc_way *way)
{
	if (way->known || !way->above)
		return way->open;
	way->known = true;
	if (way->there && way->device != way->above->real_device && !is_above_this(folders, way->path))
		way->mounted = lc_strangers_mount(folders->arena, way->path, way->device,
						  real_way(folders, way->above)->owner);
	if (!is_open(way->above, way))
		way->open = way->mounted ? way : open_on(folders, way->above);
	else if (!is_above_this(folders, way->path) && !is_beside_this(folders, way->above))
		way->open = way->above;
	if (!way->open && way->link)
		way->open = open_behind(folders, way);
	return way->open;
}

/* The folder of that kind on the way that a link's text names. */
static const struct lc_way *open_behind(struct lc_folders *folders, struct lc_way *link)
{
	real_way(folders, link);
	if (link->astray)
		return link;
	return link->leads ? open_on(folders, link->leads) : NULL;
}

/* `on_way`: the way goes on from there. */
static const char *say_open(struct lc_folders *folders, const struct lc_way *open, bool on_way)
{
	if (open->mounted)
		return open->mounted;
	return lc_format(folders->arena, open->astray ?
			 "%s leads elsewhere than its text says, or by a way that is too long" :
			 on_way && (open->mode & S_ISVTX) ?
			 "anybody may write to %s, and what is next on the way is another user's" :
			 "anybody may write to %s", lc_printable(folders->arena, open->path));
}

/* Why a folder is not safe, in a sentence without its path; NULL if it is safe. */
static const char *why_unsafe(struct lc_folders *folders, struct lc_way *way)
{
	const struct lc_way *open;

	if (way->error)
		return lc_format(folders->arena, "it cannot be looked at: %s", strerror(way->error));
	open = (way->mode & S_IWOTH) && !is_beside_this(folders, real_way(folders, way)) ? way : NULL;
	if (!open)
		open = open_on(folders, way);
	if (!open)
		open = open_on(folders, real_way(folders, way));
	return open ? say_open(folders, open, open != way) : NULL;
}

struct lc_folder *lc_folder_to_search(struct lc_folders *folders, const char *path,
				      const char **why)
{
	struct lc_way *way = ask_for(folders, path);

	*why = way && (way->folder || way->error) ? why_unsafe(folders, way) : NULL;
	return way && !*why ? way->folder : NULL;
}

bool lc_folder_is_safe(struct lc_folders *folders, const char *path)
{
	struct lc_way *way = ask_for(folders, path);

	return way && !why_unsafe(folders, way);
}

bool lc_follow_file(struct lc_folders *folders, const char *path, struct stat *st,
		    const char **why)
{
	struct look look = { .itself = *st };
	const struct lc_way *open;
	struct lc_way *way;

	*why = NULL;
	if (stat(path, st))
		return false;
	look.behind = *st;
	way = path[0] == '/' ? way_to(folders, path, strlen(path), &look) : NULL;
	open = way ? open_on(folders, way) : NULL;
	if (open)
		*why = say_open(folders, open, true);
	return true;
}

bool lc_file_is_safe(struct lc_folders *folders, const char *path, const char **why)
{
	struct stat st;

	*why = NULL;
	if (lstat(path, &st) || (S_ISLNK(st.st_mode) && !lc_follow_file(folders, path, &st, why)))
		return false;
	return !*why && S_ISREG(st.st_mode);
}

bool lc_owner_of(struct lc_folders *folders, const char *path, uid_t *owner)
{
	struct lc_way *way = way_of(folders, path);

	if (!way || !way->mode)
		return false;
	*owner = real_way(folders, way)->owner;
	return true;
}

const char *lc_real_path(struct lc_folders *folders, const char *path)
{
	struct lc_way *way = way_of(folders, path);

	return way ? real_way(folders, way)->path : path;
}
