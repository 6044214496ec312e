/* SPDX-License-Identifier: MIT */
/* process.c - what is loaded in this process */
#include "process.h"

#include <link.h>
#include <string.h>
#include <unistd.h>

#include "../base/image.h"
#include "../base/object.h"
#include "unknown.h"

const char *lc_basename(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The `data` of the callbacks for image.h, which search until something matches. */
struct match {
	const void *wanted;
	bool found;
	int major;	/* set by match_real(); below 0: no match */
};

static bool match_private(const struct lc_node *node, void *data)
{
	struct match *match = data;

	return match->found = !strcmp(node->name, LC_PRIVATE_NODE);
}

static bool is_stub(const struct lc_image *image)
{
	struct match match = { .found = false };

	lc_image_nodes(image, match_private, &match);
	return match.found;
}

/* Returns false for an object that is not well-formed ELF; such an object is ignored. */
static bool read_loaded(const struct dl_phdr_info *info, struct lc_image *image)
{
	return !lc_image_loaded(image, info) && image->dynamic_count;
}

/*
 * Visits every loaded object, in load order.  ld.so holds a lock meanwhile, so the
 * results go into memory allocated in advance: the program may have replaced
 * malloc(), with a lock that another thread holds while it calls ld.so.  If the
 * memory is too small, the walk starts again with more.
 */
static void walk_loaded(struct lc_arena *arena, void (*begin)(void *walk),
			int (*visit)(struct dl_phdr_info *info, size_t size, void *walk), void *walk)
{
	for (size_t room = 32 * 1024; ; room *= 4) {
		begin(walk);
		if (!lc_close(arena, room))
			return;
		dl_iterate_phdr(visit, walk);
		if (lc_open(arena))
			return;
	}
}

struct stub_walk {
	struct lc_arena *arena;
	struct lc_stub *stubs;
	size_t count;
};

static void begin_stubs(void *data)
{
	struct stub_walk *walk = data;

	*walk = (struct stub_walk){ .arena = walk->arena };
}

static int visit_stub(struct dl_phdr_info *info, size_t size, void *data)
{
	struct stub_walk *walk = data;
	struct lc_image image;
	struct lc_stub *stub;
	const char *soname;

	(void)size;
	if (!read_loaded(info, &image) || !is_stub(&image))
		return 0;
	stub = lc_grow(walk->arena, &walk->stubs, &walk->count, sizeof(*stub));
	if (!stub)
		return 0;
	stub->path = lc_format(walk->arena, "%s", info->dlpi_name);
	soname = lc_image_string(&image, DT_SONAME);
	stub->soname = soname ? lc_format(walk->arena, "%s", soname) : lc_basename(stub->path);
	return 0;
}

size_t lc_process_stubs(struct lc_arena *arena, struct lc_stub **stubs)
{
	struct stub_walk walk = { .arena = arena };

	walk_loaded(arena, begin_stubs, visit_stub, &walk);
	*stubs = walk.stubs;
	return arena->failed ? 0 : walk.count;
}

struct walk {
	struct lc_arena *arena;
	const struct lc_stub *stubs;
	size_t stub_count;
	struct lc_process *process;
	bool callers;
};

static void begin(void *data)
{
	struct walk *walk = data;

	*walk->process = (struct lc_process){ .real_count = 0 };
}

/* A real library has one version node.  It is named like the SONAME that the file had
 * before auditwheel or anybody else renamed it. */
static bool match_real(const struct lc_node *node, void *data)
{
	struct match *match = data;
	const struct lc_library *library = match->wanted;

	int unknown;

	for (size_t i = 0; i < library->major_count; i++)
		if (!strcmp(node->name, library->majors[i].soname))
			match->major = library->majors[i].major;
	unknown = match->major < 0 ? lc_unknown_major(library, node->name) : 0;
	if (unknown)
		match->major = unknown;
	return match->found = match->major >= 0;
}

/* Returns the major of an object; below 0: the object is not this library. */
static int major_of(const struct lc_image *image, const struct lc_library *library)
{
	struct match match = { .wanted = library, .major = -1 };
	const char *soname;

	if (lc_has_nodes(library)) {
		lc_image_nodes(image, match_real, &match);
		return match.major;
	}
	soname = lc_image_string(image, DT_SONAME);
	for (size_t i = 0; soname && i < library->major_count; i++)
		if (!strcmp(soname, library->majors[i].soname))
			return library->majors[i].major;
	return -1;
}

/* Judges by the names in memory: the file may have been replaced by now. */
static lc_version version_of(const struct lc_image *image, const struct lc_library *library,
			     int number)
{
	const struct lc_major *major = lc_listed_major(library, number);

	return lc_has_majors(library) && major && image->strings ?
		lc_proven_version(library, major, image->strings, image->strings_size) : 0;
}

static void note_real(struct walk *walk, const struct lc_image *image, const char *path)
{
	for (size_t i = 0; i < walk->stub_count; i++) {
		const struct lc_library *library = walk->stubs[i].library;
		int major = major_of(image, library);
		struct lc_real *real;

		if (major < 0)
			continue;
		real = lc_grow(walk->arena, &walk->process->reals,
			       &walk->process->real_count, sizeof(*real));
		if (real)
			*real = (struct lc_real){ library, major, version_of(image, library, major),
						  lc_format(walk->arena, "%s", path) };
		return;
	}
}

static bool match_needed(const char *soname, void *data)
{
	struct match *match = data;
	const struct lc_stub *stub = match->wanted;

	return match->found = !strcmp(soname, stub->soname) ||
			      !strcmp(lc_basename(soname), lc_basename(stub->path));
}

static bool needs(const struct lc_image *image, const struct lc_stub *stub)
{
	struct match match = { .wanted = stub };

	lc_image_needed(image, match_needed, &match);
	return match.found;
}

static void note_user(struct walk *walk, const struct lc_image *image, const char *path,
		      const struct lc_library *needs)
{
	const char *rpath = lc_image_string(image, DT_RPATH);
	const char *runpath = lc_image_string(image, DT_RUNPATH);
	struct lc_user *user = lc_grow(walk->arena, &walk->process->users,
				       &walk->process->user_count, sizeof(*user));

	if (!user)
		return;
	user->path = lc_format(walk->arena, "%s", path);
	user->needs = needs;
	if (runpath)	/* ld.so ignores DT_RPATH then */
		user->runpath = lc_format(walk->arena, "%s", runpath);
	else if (rpath)
		user->rpath = lc_format(walk->arena, "%s", rpath);
}

static void note_caller(struct walk *walk, const struct lc_image *image, const char *path,
			const struct lc_library *library)
{
	struct lc_process *process = walk->process;
	size_t count = process->user_count;

	note_user(walk, image, path, library);
	if (walk->callers && process->user_count > count)
		lc_callers_note(walk->arena, &process->callers, library, image,
				process->users[count].path);
}

static int visit(struct dl_phdr_info *info, size_t size, void *data)
{
	struct walk *walk = data;
	const char *path = info->dlpi_name;
	struct lc_image image;
	char exe[4096];

	(void)size;
	if (!read_loaded(info, &image))
		return 0;
	if (!path[0]) {		/* the program; a namespace of dlmopen() has none */
		ssize_t length = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

		exe[length > 0 ? length : 0] = 0;
		path = exe;
		/* The program's DT_RPATH applies to every object in the process. */
		if (lc_image_string(&image, DT_RPATH) && !lc_image_string(&image, DT_RUNPATH))
			note_user(walk, &image, path, NULL);
	}
	if (is_stub(&image)) {
		note_user(walk, &image, path, NULL);
		return 0;
	}
	if (!strcmp(lc_basename(path), "libc.so.6"))
		walk->process->libc = lc_format(walk->arena, "%s", path);
	note_real(walk, &image, path);
	for (size_t i = 0; i < walk->stub_count; i++)
		if (needs(&image, &walk->stubs[i]))
			note_caller(walk, &image, path, walk->stubs[i].library);
	return 0;
}

void lc_process_read(struct lc_arena *arena, const struct lc_stub *stubs, size_t stub_count,
		     bool callers, struct lc_process *process)
{
	struct walk walk = { arena, stubs, stub_count, process, callers };

	walk_loaded(arena, begin, visit, &walk);
}

struct real_walk {
	const struct lc_library *library;
	const struct link_map *map;	/* the object to judge; NULL: searches for any */
	int major;	/* below 0: none was found */
};

static int visit_real(struct dl_phdr_info *info, size_t size, void *data)
{
	struct real_walk *walk = data;
	struct lc_image image;

	(void)size;
	if (walk->map && (info->dlpi_addr != walk->map->l_addr ||
			  strcmp(info->dlpi_name, walk->map->l_name)))
		return 0;
	if (read_loaded(info, &image) && !is_stub(&image))
		walk->major = major_of(&image, walk->library);
	return walk->map || lc_listed_major(walk->library, walk->major);
}

bool lc_process_has(const struct lc_library *library)
{
	struct real_walk walk = { .library = library, .major = -1 };

	return dl_iterate_phdr(visit_real, &walk);
}

int lc_process_major(const struct link_map *map, const struct lc_library *library)
{
	struct real_walk walk = { .library = library, .map = map, .major = -1 };

	dl_iterate_phdr(visit_real, &walk);
	return walk.major;
}

static int first_loads(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	*(unsigned long long *)data = info->dlpi_adds;
	return 1;
}

unsigned long long lc_process_loads(void)
{
	unsigned long long loads = 0;

	dl_iterate_phdr(first_loads, &loads);
	return loads;
}
