/* SPDX-License-Identifier: MIT */
/* process.c - what is loaded in this process */
#include "process.h"

#include <link.h>
#include <string.h>
#include <unistd.h>

#include "object.h"

const char *lc_basename(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_private_node(const char *node, void *data)
{
	(void)data;
	return !strcmp(node, LC_PRIVATE_NODE);
}

static bool is_stub(const struct lc_loaded *loaded)
{
	return lc_elf_loaded_node(loaded, is_private_node, NULL);
}

struct stub_walk {
	struct lc_arena *arena;
	struct lc_stub *stubs;
	size_t count;
};

static int visit_stub(struct dl_phdr_info *info, size_t size, void *data)
{
	struct stub_walk *walk = data;
	struct lc_loaded loaded;
	struct lc_stub *stub;

	(void)size;
	if (!lc_elf_loaded(info, &loaded) || !is_stub(&loaded))
		return 0;
	stub = lc_grow(walk->arena, &walk->stubs, &walk->count, sizeof(*stub));
	if (!stub)
		return 0;
	stub->path = lc_format(walk->arena, "%s", info->dlpi_name);
	stub->soname = loaded.soname ? lc_format(walk->arena, "%s", loaded.soname) :
				       lc_basename(stub->path);
	return 0;
}

size_t lc_process_stubs(struct lc_arena *arena, struct lc_stub **stubs)
{
	struct stub_walk walk = { .arena = arena };

	dl_iterate_phdr(visit_stub, &walk);
	*stubs = walk.stubs;
	return arena->failed ? 0 : walk.count;
}

struct walk {
	struct lc_arena *arena;
	const struct lc_stub *stubs;
	size_t stub_count;
	struct lc_process *process;
	bool callers;
	bool first;		/* the program itself comes first */
};

struct node_match {
	const struct lc_library *library;
	const struct lc_major *major;
};

/* Real libraries have one version node, named as their SONAME was before
 * auditwheel or anybody else renamed the file. */
static bool match_node(const char *node, void *data)
{
	struct node_match *match = data;

	for (size_t i = 0; i < match->library->major_count; i++) {
		if (!strcmp(node, match->library->majors[i].soname)) {
			match->major = &match->library->majors[i];
			return true;
		}
	}
	return false;
}

static void note_real(struct walk *walk, const struct lc_loaded *loaded, const char *path)
{
	for (size_t i = 0; i < walk->stub_count; i++) {
		struct node_match match = { .library = walk->stubs[i].library };
		struct lc_real *real;

		if (!lc_elf_loaded_node(loaded, match_node, &match))
			continue;
		real = lc_grow(walk->arena, &walk->process->reals,
			       &walk->process->real_count, sizeof(*real));
		if (real)
			*real = (struct lc_real){ match.library, match.major,
						  lc_format(walk->arena, "%s", path) };
		return;
	}
}

static bool match_needed(const char *soname, void *data)
{
	const struct lc_stub *stub = data;

	return !strcmp(soname, stub->soname) ||
	       !strcmp(lc_basename(soname), lc_basename(stub->path));
}

static void note_user(struct walk *walk, const struct lc_loaded *loaded, const char *path,
		      const struct lc_library *needs)
{
	struct lc_user *user = lc_grow(walk->arena, &walk->process->users,
				       &walk->process->user_count, sizeof(*user));

	if (!user)
		return;
	user->path = lc_format(walk->arena, "%s", path);
	user->needs = needs;
	if (loaded->runpath)	/* ld.so ignores DT_RPATH beside it */
		user->runpath = lc_format(walk->arena, "%s", loaded->runpath);
	else if (loaded->rpath)
		user->rpath = lc_format(walk->arena, "%s", loaded->rpath);
}

static void note_caller(struct walk *walk, const struct dl_phdr_info *info,
			const struct lc_loaded *loaded, const char *path,
			const struct lc_library *needs)
{
	struct lc_process *process = walk->process;
	size_t count = process->user_count;

	note_user(walk, loaded, path, needs);
	if (walk->callers && process->user_count > count)
		lc_callers_note(walk->arena, &process->callers, needs, info,
				process->users[count].path);
}

static int visit(struct dl_phdr_info *info, size_t size, void *data)
{
	struct walk *walk = data;
	const char *path = info->dlpi_name;
	bool program = walk->first;
	struct lc_loaded loaded;
	char exe[4096];

	(void)size;
	walk->first = false;
	if (!lc_elf_loaded(info, &loaded))
		return 0;
	if (program) {
		ssize_t length = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

		exe[length > 0 ? length : 0] = 0;
		path = exe;
		/* The program's DT_RPATH counts for every object it has. */
		if (loaded.rpath && !loaded.runpath)
			note_user(walk, &loaded, path, NULL);
	}
	if (is_stub(&loaded)) {
		note_user(walk, &loaded, path, NULL);
		return 0;
	}
	note_real(walk, &loaded, path);
	for (size_t i = 0; i < walk->stub_count; i++)
		if (lc_elf_loaded_needed(&loaded, match_needed, (void *)&walk->stubs[i]))
			note_caller(walk, info, &loaded, path, walk->stubs[i].library);
	return 0;
}

void lc_process_read(struct lc_arena *arena, const struct lc_stub *stubs, size_t stub_count,
		     bool callers, struct lc_process *process)
{
	struct walk walk = { arena, stubs, stub_count, process, callers, true };

	*process = (struct lc_process){ .real_count = 0 };
	dl_iterate_phdr(visit, &walk);
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
