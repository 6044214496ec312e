/* SPDX-License-Identifier: MIT */
/* places.c - where a real library may be */
#include "places.h"

#include <string.h>
#include <unistd.h>

#include "../base/auxiliary.h"
#include "../base/by_name.h"
#include "../base/count.h"
#include "dl.h"
#include "settings.h"

/* Debian's folder for the CPU's libraries, and those that NVIDIA's packages use. */
#if defined(__x86_64__)
# define MULTIARCH_FOLDER "/usr/lib/x86_64-linux-gnu"
static const char *const target_folders[] = { "targets/x86_64-linux/lib", NULL };
#elif defined(__aarch64__)
# define MULTIARCH_FOLDER "/usr/lib/aarch64-linux-gnu"
static const char *const target_folders[] = {
	"targets/sbsa-linux/lib", "targets/aarch64-linux/lib", NULL
};
#else
# define MULTIARCH_FOLDER "/usr/lib/unknown-linux-gnu"
static const char *const target_folders[] = { NULL };
#endif

static const char system_directories[][32] = {
	MULTIARCH_FOLDER, "/usr/lib64", "/usr/lib"
};

/* The list for one library while it is built. */
struct place_list {
	struct lc_arena *arena;
	struct lc_survey *survey;
	const struct lc_library *library;
	struct lc_places *places;
	enum lc_tier tier;	/* of what is added */
	const char *variable;	/* that names it */
};

struct lc_folder *lc_place_folder(struct lc_survey *survey, const struct lc_place *place,
				  const char *path)
{
	struct lc_folders *folders = &survey->folders;
	struct lc_folder *folder = lc_searchable(survey, path);
	uid_t owner, other;

	if (!folder || !place->object || !lc_owner_of(folders, path, &owner) || owner == 0 ||
	    owner == geteuid())
		return folder;
	if (lc_owner_of(folders, place->object, &other) && other == owner)
		return folder;
	lc_leave_out(survey, path, lc_format(folders->arena,
		     "it belongs to user %u, who is neither root nor you nor the owner of %s",
		     (unsigned)owner, lc_printable(folders->arena, place->object)));
	return NULL;
}

/* Notes in its folder that a library's list has a place, and where. */
static void mark_listed(const struct place_list *list, size_t position)
{
	const struct lc_place *place = &list->places->list[position];

	place->folder->listed[place->site] = list->library;
	place->folder->position[place->site] = position;
}

static void add_place(struct place_list *list, struct lc_place place)
{
	struct lc_folder *folder = place.site ? lc_searchable(list->survey, place.path) :
			   lc_place_folder(list->survey, &place, place.path);
	struct lc_places *places = list->places;
	struct lc_place *added;

	if (!folder)
		return;
	/* The order is that in which ld.so would come to it; whose it is, another matter. */
	if (folder->listed[place.site] == list->library) {
		added = &places->list[folder->position[place.site]];
		if (list->tier < added->tier)
			added->tier = list->tier;
		return;
	}
	added = lc_grow(list->arena, &places->list, &places->count, sizeof(*added));
	if (!added)
		return;
	*added = place;
	added->folder = folder;
	added->tier = list->tier;
	mark_listed(list, places->count - 1);
}

static void add_by_path(struct place_list *list, const char *path, bool site, const char *found_by)
{
	add_place(list, (struct lc_place){ .path = path, .site = site, .found_by = found_by });
}

/*
 * Returns what ld.so substitutes for $LIB.  It is compiled into ld.so: the folder that
 * ld.so and libc were built for, "lib64" on Fedora, "lib/x86_64-linux-gnu" on Debian.
 * So the first of ld.so's own folders shows it; where these are not known, as in Nix, libc's path.
 */
static const char *lib_token(struct lc_arena *arena, const Dl_serinfo *path, const char *libc)
{
	const unsigned first = lc_count_before_own(path);
	const char *lib = NULL, *slash, *next;

	if (path && first < path->dls_cnt) {
		lib = path->dls_serpath[first].dls_name;
		lib += strncmp(lib, "/usr/", 5) ? 1 : 5;
		return lc_copy(arena, lib, strlen(lib) - (lib[strlen(lib) - 1] == '/'));
	}
	for (const char *at = libc; at && (at = strchr(at, '/')); )
		if (!strncmp(++at, "lib", 3) && strchr(at, '/'))
			lib = at;
	if (!lib)
		return "lib";
	slash = strchr(lib, '/');
	next = strchr(slash + 1, '/');
	if (next && memmem(slash, (size_t)(next - slash), "-linux-gnu", 10))
		slash = next;
	return lc_copy(arena, lib, (size_t)(slash - lib));
}

/* For some of Intel's CPUs, glibc up to 2.36 substitutes a platform of its own and does not report
 * it. */
const char *lc_expand(struct lc_arena *arena, const struct lc_survey *survey, const char *entry,
		      size_t length, const char *origin)
{
	const struct { const char *name, *value; } tokens[] = {
		{ "ORIGIN", origin }, { "LIB", survey->lib },
		{ "PLATFORM", (const char *)lc_auxval(AT_PLATFORM) },
	};
	const char *end = entry + length, *result = "";

	if (!memchr(entry, '$', length))
		return lc_copy(arena, entry, length);
	while (entry < end) {
		const char *dollar = memchr(entry, '$', (size_t)(end - entry)), *value = "$";
		size_t plain = (size_t)((dollar ? dollar : end) - entry), used = 0;

		result = lc_format(arena, "%s%s", result, lc_copy(arena, entry, plain));
		if (!dollar)
			break;
		for (size_t i = 0; i < LC_COUNT(tokens) && !used; i++) {
			used = lc_token_length(dollar, end, tokens[i].name);
			if (used)
				value = tokens[i].value;
		}
		if (!value)
			return NULL;
		result = lc_format(arena, "%s%s", result, value);
		entry = dollar + (used ? used : 1);
	}
	return result;
}

bool lc_leads_to_its_library(struct lc_arena *arena, const struct lc_survey *survey,
			     const struct lc_user *user)
{
	const char *at = user->runpath ? user->runpath : user->rpath, *entry;
	const char *slash = lc_is_privileged() ? NULL : strrchr(user->path, '/');
	/* The path may be relative: ld.so, which knows to what, is not asked. */
	const char *origin = slash ? lc_copy(arena, user->path, (size_t)(slash - user->path)) : NULL;
	size_t length;

	while (user->needs && (entry = lc_next_entry(&at, ":", &length))) {
		const char *folder = lc_expand(arena, survey, entry, length, origin), *file;

		if (folder && lc_is_left_out(survey, folder))
			folder = NULL;
		for (size_t m = 0; folder && m < user->needs->major_count; m++) {
			file = lc_path(arena, folder, user->needs->majors[m].soname);
			if (file && !access(file, F_OK))
				return true;
		}
	}
	return false;
}

/* Adds an entry of a search path of ld.so's, which would search a relative one, too. */
static void add_entry(struct place_list *list, const char *directory, const char *found_by)
{
	if (*directory == '/')
		add_by_path(list, directory, false, found_by);
	else if (*directory)
		lc_leave_out(list->survey, directory,
			     "it is relative, and another folder once the program goes elsewhere");
}

/* Adds the entries of a search path of ld.so's; each character of `between` is a separator. */
static void add_path(struct place_list *list, const char *path, const char *between,
		     const char *origin, const char *found_by)
{
	const char *entry;
	size_t length;

	while ((entry = lc_next_entry(&path, between, &length))) {
		const char *directory = lc_expand(list->arena, list->survey, entry, length,
						  origin);

		if (directory)
			add_entry(list, directory, found_by);
	}
}

/* The next entry of a variable such as PATH, as it is written; NULL: there is none. */
static const char *next_entry(struct place_list *list, const char **at)
{
	size_t length;
	const char *entry = lc_next_entry(at, ":", &length);

	return entry ? lc_copy(list->arena, entry, length) : NULL;
}

static bool concerns(const struct lc_user *user, const struct lc_library *library)
{
	return !user->needs || !strcmp(user->needs->name, library->name);
}

/* What $ORIGIN stands for in an object. */
static const char *origin_of(const struct place_list *list, const struct lc_user *user)
{
	return lc_is_privileged() ? NULL : lc_folder_of(list->arena, user->path);
}

/* Adds the DT_RUNPATH of an object that needs the library, or its DT_RPATH. */
static void add_run_path(struct place_list *list, const struct lc_user *user, const char *path)
{
	if (path && concerns(user, list->library))
		add_path(list, path, ":", origin_of(list, user), "rpath");
}

static void add_run_paths(struct place_list *list)
{
	const struct lc_process *process = list->survey->process;

	for (size_t i = 0; i < process->user_count; i++)
		add_run_path(list, &process->users[i], process->users[i].runpath);
}

/* Adds the run paths of objects that need other libraries: each may lead to a CUDA of its own, and
 * then no major would be there for all stubs. */
static void add_other_run_paths(struct place_list *list)
{
	const struct lc_process *process = list->survey->process;

	for (size_t i = 0; i < process->user_count; i++) {
		const struct lc_user *user = &process->users[i];
		const char *path = user->runpath ? user->runpath : user->rpath;

		if (path && !concerns(user, list->library))
			add_path(list, path, ":", origin_of(list, user), "rpath");
	}
}

/* Returns true if ld.so would look at DT_RPATHs: it does not for an object with a DT_RUNPATH. */
static bool rpaths_count(const struct place_list *list)
{
	const struct lc_process *process = list->survey->process;
	bool any = false;

	for (size_t i = 0; i < process->user_count; i++) {
		const struct lc_user *user = &process->users[i];

		if (!user->needs || !concerns(user, list->library))
			continue;
		if (!user->runpath)
			return true;
		any = true;
	}
	return !any;
}

/* Returns true if ld.so ignores, for what a stub needs, who has loaded it. */
static bool stub_has_runpath(const struct lc_process *process)
{
	for (size_t i = 0; i < process->user_count; i++)
		if (!process->users[i].needs && process->users[i].runpath)
			return true;
	return false;
}

/* How many folders one of ld.so's lists has before what both lists end with. */
static unsigned count_before_common(const Dl_serinfo *path, const Dl_serinfo *other)
{
	unsigned count = path ? path->dls_cnt : 0, rest = other ? other->dls_cnt : 0;

	while (count && rest && !strcmp(path->dls_serpath[count - 1].dls_name,
					other->dls_serpath[rest - 1].dls_name)) {
		count--;
		rest--;
	}
	return count;
}

static void add_searched(struct place_list *list, const Dl_serinfo *path, unsigned from, unsigned to,
			 const char *found_by)
{
	for (unsigned i = from; path && i < to; i++)
		add_entry(list, path->dls_serpath[i].dls_name, found_by);
}

/* The program, if it has a DT_RPATH, which applies to objects that need the library; or NULL. */
static const struct lc_user *program_with_rpath(const struct lc_process *process)
{
	for (size_t i = 0; i < process->user_count; i++)
		if (process->users[i].program)
			return &process->users[i];
	return NULL;
}

/*
 * Adds the DT_RPATHs in ld.so's order: of the object that needs the library, of what loaded it and
 * so on, and of the program.  Only ld.so knows what loaded what.  It tells what applies to the
 * stub, which the first of these objects has loaded.
 */
static void add_rpaths(struct place_list *list)
{
	const struct lc_process *process = list->survey->process;
	const struct lc_user *program = program_with_rpath(process);
	const Dl_serinfo *path = list->places->loader_path;

	if (!rpaths_count(list))
		return;
	if (!stub_has_runpath(process))
		add_searched(list, path, 0,
			     count_before_common(path, list->survey->library_path), "rpath");
	for (size_t i = 0; i < process->user_count; i++)
		if (&process->users[i] != program)
			add_run_path(list, &process->users[i], process->users[i].rpath);
	if (program)
		add_run_path(list, program, program->rpath);
}

static void add_all_above(struct place_list *list, bool site)
{
	const struct lc_survey *survey = list->survey;

	for (size_t i = 0; survey->above && i < survey->process->user_count; i++) {
		const struct lc_strings *above = site ? &survey->above[i].sites :
							&survey->above[i].condas;

		if (!concerns(&survey->process->users[i], list->library))
			continue;
		for (size_t j = 0; j < above->count; j++)
			add_place(list, (struct lc_place){
				  .path = above->list[j], .site = site,
				  .found_by = site ? "site-packages" : "conda",
				  .object = survey->process->users[i].path });
	}
}

static void add_above(struct place_list *list)
{
	add_all_above(list, true);
	add_all_above(list, false);
}

/* The folders in which ld.so's cache has the library. */
static void add_cached(struct place_list *list)
{
	const struct lc_library *library = list->library;
	const struct lc_ldcache *ldcache = &list->survey->ldcache;
	const char **sonames = lc_alloc(list->arena, library->major_count * sizeof(*sonames));
	const char **files;
	size_t count;

	if (!sonames)
		return;
	lc_survey_ldcache(list->survey);
	for (size_t i = 0; i < library->major_count; i++)
		sonames[i] = library->majors[i].soname;
	count = lc_ldcache_parse(list->arena, ldcache->bytes, ldcache->size,
				 sonames, library->major_count, &files);
	for (size_t i = 0; i < count; i++) {
		const char *directory = lc_folder_of(list->arena, files[i]);

		if (directory)
			add_by_path(list, directory, false, "loader");
	}
}

/* LD_LIBRARY_PATH as ld.so has it, from when the process was started. */
static void add_library_path(struct place_list *list)
{
	const Dl_serinfo *path = list->survey->library_path;
	const struct lc_user *program = program_with_rpath(list->survey->process);

	/* ld.so's list for libc begins with the program's DT_RPATH. */
	if (program && !rpaths_count(list))
		path = NULL;
	if (path)
		add_searched(list, path, 0, lc_count_before_own(path), "loader");
	else
		add_path(list, lc_variable_at_start(list->arena, "LD_LIBRARY_PATH"), ":;",
			 program ? origin_of(list, program) : NULL, "loader");
}

/* ld.so's cache, and the rest that dlinfo() reports. */
static void add_loader(struct place_list *list)
{
	const Dl_serinfo *path = list->places->loader_path;

	add_cached(list);
	add_searched(list, path, 0, path ? path->dls_cnt : 0, "loader");
}

static void add_neighbours(struct place_list *list, size_t from, size_t to)
{
	const struct lc_neighbour *neighbours = list->survey->process->neighbours;

	for (size_t i = from; i < to && !lc_is_privileged(); i++)
		add_place(list, (struct lc_place){ .path = neighbours[i].site, .site = true,
						   .found_by = "site-packages",
						   .object = neighbours[i].object });
}

/* Adds the rest of Python's path, where wheels look for libraries that ld.so does not find.
 * PYTHONPATH goes before what Python itself adds. */
static void add_other_sites(struct place_list *list)
{
	struct lc_process *process = list->survey->process;

	lc_process_read_python(list->arena, process);
	add_neighbours(list, 0, process->loaded_neighbour_count);
	for (const char *entry, *at = list->survey->python; (entry = next_entry(list, &at)); )
		add_by_path(list, entry, true, "site-packages");
	add_neighbours(list, process->loaded_neighbour_count, process->neighbour_count);
}

/* The folders of a toolkit as NVIDIA installs it. */
static void add_toolkit(struct place_list *list, const char *base, const char *found_by)
{
	add_by_path(list, lc_path(list->arena, base, "lib64"), false, found_by);
	add_by_path(list, lc_path(list->arena, base, "lib"), false, found_by);
	for (size_t i = 0; target_folders[i]; i++)
		add_by_path(list, lc_path(list->arena, base, target_folders[i]), false, found_by);
}

/* NVIDIA's HPC SDK has what belongs to .../cuda/12.4 in .../math_libs/12.4 and so on. */
static void add_hpc_sdk(struct place_list *list, const char *base)
{
	static const char *const beside[] = { "math_libs/%s/lib64", "comm_libs/%s/nccl/lib",
					      "comm_libs/%s/nvshmem/lib" };
	const char *version, *above, *root;
	size_t length = strlen(base);

	while (length > 1 && base[length - 1] == '/')
		length--;
	base = lc_copy(list->arena, base, length);
	if (!base)
		return;
	version = lc_basename(base);
	above = lc_folder_of(list->arena, base);
	if (above && !strcmp(lc_basename(above), "cuda"))
		root = lc_folder_of(list->arena, above);
	else
		root = !strcmp(version, "cuda") ? above : NULL;
	if (root == above)
		version = ".";
	for (size_t i = 0; root && i < LC_COUNT(beside); i++)
		add_by_path(list, lc_path(list->arena, root, lc_format(list->arena, beside[i], version)),
			    false, "environment");
}

static void add_conda(struct place_list *list)
{
	const char *conda = list->survey->conda;

	if (!conda)
		return;
	add_by_path(list, lc_path(list->arena, conda, "lib"), false, "conda");
	for (size_t i = 0; target_folders[i]; i++)
		add_by_path(list, lc_path(list->arena, conda, target_folders[i]), false, "conda");
}

static void add_named_toolkit(struct place_list *list)
{
	const char *base = lc_variable(list->variable);

	if (!base)
		return;
	add_toolkit(list, base, "environment");
	add_hpc_sdk(list, base);
}

/* LAZYCUDA_PATH: folders with libraries, or toolkits, or site-packages. */
static void add_own_path(struct place_list *list)
{
	const char *at = lc_variable("LAZYCUDA_PATH"), *entry;

	while ((entry = next_entry(list, &at))) {
		add_by_path(list, entry, false, "environment");
		if (!lc_has_majors(list->library))
			continue;
		add_by_path(list, entry, true, "environment");
		add_toolkit(list, entry, "environment");
	}
}

/* The system's folders, where the driver's libraries are.  Toolkits are not searched for
 * those: a toolkit's copy is only for linking, or for a user to name. */
static void add_system(struct place_list *list)
{
	for (size_t i = 0; i < LC_COUNT(system_directories); i++)
		add_by_path(list, system_directories[i], false, "system");
	for (size_t i = 0; list->library->homes && list->library->homes[i]; i++)
		add_by_path(list, list->library->homes[i], false, "system");
	if (!lc_has_majors(list->library))
		return;
	add_toolkit(list, "/usr/local/cuda", "system");
	lc_survey_toolkits(list->survey);
	for (size_t i = 0; i < list->survey->toolkits.count; i++)
		add_toolkit(list, list->survey->toolkits.list[i], "system");
	add_toolkit(list, "/opt/cuda", "system");
}

/* The places in ld.so's order, with what it knows nothing of in between, and for whom they are: each
 * tier after the nearer ones, but that of the caller's and the shell's ld.so tells which comes first. */
static const struct {
	void (*add)(struct place_list *list);
	enum lc_tier tier;
	bool of_driver;		/* the driver's libraries are looked for there, too */
	const char variable[10];
} kinds[LC_KINDS] = {
	{ add_own_path, LC_OF_CALLER, true, "" },
	{ add_rpaths, LC_OF_CALLER, true, "" },
	{ add_library_path, LC_OF_SHELL, true, "" },
	{ add_run_paths, LC_OF_CALLER, true, "" },
	{ add_above, LC_OF_CALLER, false, "" },
	{ add_other_sites, LC_OF_PROCESS, false, "" },
	{ add_other_run_paths, LC_OF_PROCESS, false, "" },
	{ add_loader, LC_OF_MACHINE, true, "" },
	{ add_conda, LC_OF_MACHINE, false, "" },
	{ add_named_toolkit, LC_OF_MACHINE, false, "CUDA_PATH" },
	{ add_named_toolkit, LC_OF_MACHINE, false, "CUDA_HOME" },
	{ add_system, LC_OF_MACHINE, true, "" },
};

size_t lc_kinds_after(size_t count, bool singly)
{
	do
		count++;
	while (count < LC_KINDS && (kinds[count].tier <= LC_OF_SHELL ||
				    (!singly && kinds[count].tier == kinds[count - 1].tier)));
	return count;
}

enum lc_tier lc_tier_after(size_t count)
{
	return count < LC_KINDS ? kinds[count].tier : LC_TIERS;
}

void lc_places_of(struct lc_arena *arena, struct lc_survey *survey, size_t from, size_t end,
		  const struct lc_library *library, const char *stub, struct lc_places *places)
{
	struct place_list list = { .arena = arena, .survey = survey, .library = library,
				   .places = places };

	if (!survey->lib) {
		survey->library_path = lc_loader_path(arena, survey->process->libc);
		survey->lib = lib_token(arena, survey->library_path, survey->process->libc);
		survey->conda = lc_variable_at_start(arena, "CONDA_PREFIX");
		survey->python = lc_variable_at_start(arena, "PYTHONPATH");
	}
	if (!from)
		*places = (struct lc_places){ .loader_path = lc_loader_path(arena, stub) };
	/* Meanwhile the same folders may have been listed for another library. */
	for (size_t i = 0; i < places->count; i++)
		mark_listed(&list, i);
	for (size_t i = from; i < end; i++) {
		list.tier = kinds[i].tier;
		list.variable = kinds[i].variable;
		if (kinds[i].of_driver || lc_has_majors(library))
			kinds[i].add(&list);
	}
}
