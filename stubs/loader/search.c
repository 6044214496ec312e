/* SPDX-License-Identifier: MIT */
/* search.c - finds everything that could be loaded, for every stub of the process */
#include "search.h"

#include <errno.h>
#include <link.h>
#include <string.h>

#include "specifics.h"
#include "unknown.h"
#include "../base/glibc.h"

static struct lc_option *add_option(struct lc_arena *arena, struct lc_search *search, size_t seat,
				    const char *path, const char *found_by, enum lc_origin origin)
{
	struct lc_seat *s = &search->seats[seat];
	size_t files = s->option_count;
	struct lc_file *file = lc_grow(arena, &search->files[seat], &files, sizeof(*file));
	struct lc_option *option = lc_grow(arena, &s->options, &s->option_count, sizeof(*option));

	if (!file || !option) {
		s->option_count = 0;	/* the arena has failed: the search is dropped */
		return NULL;
	}
	*file = (struct lc_file){ .path = path, .found_by = found_by };
	option->origin = origin;
	return option;
}

/* Reads a file, sets what is known of it, and returns why it is not usable, or NULL. */
static const char *read_option(struct lc_arena *arena, const struct lc_library *library,
			       const struct lc_major *expected, struct lc_file *file,
			       struct lc_option *option)
{
	struct lc_elf elf;
	const char *why = lc_elf_file(file->path, library, &elf);
	int unknown;

	if (elf.identity.inode)
		file->identity = elf.identity;
	option->major = expected ? expected->major : 0;
	lc_arena_hinder(arena, elf.error);
	if (why)
		return elf.error ? lc_format(arena, "%s: %s", why, strerror(elf.error)) : why;
	file->stub = elf.stub;
	if (elf.stub)
		return "is a lazycuda stub itself";
	if (elf.major) {
		option->major = elf.major->major;
		option->version = elf.version;
		/* libcudart.so.13 may be a link to libcudart.so.12, for instance. */
		return !expected || elf.major == expected ? NULL :
		       "is of another major than its name says";
	}
	if (!lc_has_majors(library))
		return "is not this library: it has another SONAME, or not its functions";
	unknown = lc_unknown_major(library, elf.soname);
	if (unknown) {
		option->major = unknown;
		return lc_unknown_reason(arena, library, unknown);
	}
	return lc_has_nodes(library) ? "is not this library, or of a CUDA that is not supported:"
				       " it has none of the version nodes" :
				       "is not this library: it has another SONAME";
}

/* The same for the option that was added last. */
static void examine(struct lc_arena *arena, struct lc_search *search, size_t seat,
		    const struct lc_major *expected)
{
	size_t last = search->seats[seat].option_count - 1;
	struct lc_option *option = &search->seats[seat].options[last];

	option->unusable = read_option(arena, search->seats[seat].library, expected,
				       &search->files[seat][last], option);
}

static void add_override(struct lc_arena *arena, struct lc_search *search, size_t seat)
{
	const struct lc_library *library = search->seats[seat].library;
	const char *path = lc_variable(library->variable);
	struct lc_option *option;

	if (!path)
		return;
	path = lc_format(arena, "%s", path);
	option = add_option(arena, search, seat, path, "override", LC_BY_OVERRIDE);
	if (!option)
		return;
	if (path[0] != '/') {
		option->unusable = lc_format(arena, "%s must be an absolute path", library->variable);
		return;
	}
	examine(arena, search, seat, NULL);
	if (option->unusable)
		option->unusable = lc_format(arena, "%s names a file that %s", library->variable,
					     option->unusable);
}

static void add_reals(struct lc_arena *arena, struct lc_search *search, size_t seat,
		      const struct lc_process *process)
{
	for (size_t i = 0; i < process->real_count; i++) {
		const struct lc_real *real = &process->reals[i];
		struct lc_option *option;

		if (strcmp(real->library->name, search->seats[seat].library->name))
			continue;
		option = add_option(arena, search, seat, real->path, "process", LC_BY_PROCESS);
		if (!option)
			continue;
		option->major = real->major;
		option->version = real->version;
		if (!lc_listed_major(real->library, real->major))
			option->unusable = lc_unknown_reason(arena, real->library, real->major);
	}
}

static bool known_file(const struct lc_search *search, size_t seat, const struct stat *st)
{
	for (size_t i = 0; i < search->seats[seat].option_count; i++)
		if (search->files[seat][i].identity.inode == st->st_ino &&
		    search->files[seat][i].identity.device == st->st_dev)
			return true;
	return false;
}

/* Reports the file's folder unless the file is simply absent: the file may be there, and
 * others beside it. */
static void cannot_look(struct lc_arena *arena, struct lc_search *search, const char *path)
{
	int error = errno;

	lc_arena_hinder(arena, error);
	if (error != ENOENT && error != ENOTDIR)
		lc_leave_out(&search->survey, lc_folder_of(arena, path),
			     lc_format(arena, "what is in it cannot be looked at: %s",
				       strerror(error)));
}

/* Adds an option for this file if it exists and is new. */
static void add_if_there(struct lc_arena *arena, struct lc_search *search, size_t seat,
			 const char *path, const char *found_by, const struct lc_major *major)
{
	struct stat st;

	if (lstat(path, &st)) {
		cannot_look(arena, search, path);
		return;
	}
	/* A dangling link exists, and is worth reporting. */
	if (S_ISLNK(st.st_mode) && stat(path, &st)) {
		lc_arena_hinder(arena, errno);
		st = (struct stat){ .st_ino = 0 };
	}
	/* Links may lead to the same file from several places. */
	if (st.st_ino && known_file(search, seat, &st))
		return;
	if (!add_option(arena, search, seat, path, found_by, LC_BY_SEARCH))
		return;
	search->files[seat][search->seats[seat].option_count - 1].identity = lc_identity(&st);
	examine(arena, search, seat, major);
}

/* Looks for one major in a folder, once in each round. */
static void add_in_folder(struct lc_arena *arena, struct lc_search *search, size_t seat,
			  const char *path, struct lc_folder *folder, const char *found_by,
			  const struct lc_major *major)
{
	if (!folder || folder->searched == search->rounds)
		return;
	folder->searched = search->rounds;
	add_if_there(arena, search, seat, lc_format(arena, "%s/%s", path, major->soname), found_by,
		     major);
}

/* Looks for one major in all places. */
static void add_major(struct lc_arena *arena, struct lc_search *search, size_t seat,
		      const struct lc_places *places, const struct lc_major *major)
{
	search->rounds++;
	for (size_t p = 0; p < places->count; p++) {
		const struct lc_place *place = &places->list[p];
		const char *below = place->site ? major->folder : NULL;

		if (!place->site)
			add_in_folder(arena, search, seat, place->path, place->folder,
				      place->found_by, major);
		while (below) {
			size_t length = strcspn(below, ":");
			const char *path = lc_format(arena, "%s/%.*s", place->path, (int)length,
						     below);

			add_in_folder(arena, search, seat, path,
				      lc_searchable(&search->survey, path), place->found_by, major);
			below = below[length] ? below + length + 1 : NULL;
		}
	}
}

static bool has_usable(const struct lc_seat *seat)
{
	for (size_t i = 0; i < seat->option_count; i++)
		if (!seat->options[i].unusable)
			return true;
	return false;
}

static void add_found(struct lc_arena *arena, struct lc_search *search, size_t seat)
{
	const struct lc_library *library = search->seats[seat].library;
	const struct lc_major *newest = &library->majors[0], *later;
	struct lc_places places;

	lc_places_of(arena, &search->survey, library, &places);
	if (seat == search->at.self)
		search->looked = places;
	for (size_t m = 0; m < library->major_count; m++)
		add_major(arena, search, seat, &places, &library->majors[m]);
	if (seat != search->at.self || has_usable(&search->seats[seat]))
		return;
	for (int number = newest->major + 1; number <= newest->major + LC_LATER_MAJORS; number++) {
		later = lc_later_major(arena, newest, number);
		if (later)
			add_major(arena, search, seat, &places, later);
	}
}

static void trace_found(const struct lc_search *search, size_t seat)
{
	for (size_t i = 0; i < search->seats[seat].option_count; i++) {
		const struct lc_option *option = &search->seats[seat].options[i];

		lc_trace("%s: found %s by %s%s%s", search->seats[seat].library->name,
			 search->files[seat][i].path, search->files[seat][i].found_by,
			 option->unusable ? ": " : "", option->unusable ? option->unusable : "");
	}
}

/* Adds a seat for each library that has a stub in the process. */
static void seat_peers(struct lc_search *search, const struct lc_peers *peers)
{
	for (size_t i = 0; i < peers->count; i++) {
		struct lc_peer *peer = peers->peers[i];
		size_t seat;

		/* Another copy of this stub looks for the same library. */
		if (peer != &lc_self && !strcmp(peer->library->name, lc_library.name))
			continue;
		/* A library without a CUDA major is chosen independently of all others. */
		if (peer != &lc_self &&
		    !(lc_is_coordinated(peer->library) && lc_is_coordinated(&lc_library)))
			continue;
		seat = search->at.seat_count++;
		if (peer == &lc_self)
			search->at.self = seat;
		search->adaptors[seat] = peer->specifics->adaptors;
		search->seats[seat].library = peer->library;
		search->seats[seat].loaded = (lc_version)atomic_load(&peer->loaded);
	}
}

/* Returns true if the callers' imports can change the choice. */
static bool callers_matter(const struct lc_search *search)
{
	const struct lc_settings *settings = &search->at.settings;

	return lc_has_majors(&lc_library) && settings->guard != LC_OFF && !settings->major &&
	       !search->at.process_major;
}

/* Sets for each option how many imports of the loaded objects it would refuse. */
static void judge_found(struct lc_search *search, size_t seat, const struct lc_callers *callers)
{
	for (size_t i = 0; i < search->seats[seat].option_count; i++) {
		struct lc_option *option = &search->seats[seat].options[i];
		struct lc_unserved unserved;

		if (option->origin == LC_BY_OVERRIDE || option->unusable)
			continue;
		unserved = lc_callers_unserved(callers, search->seats[seat].library,
					       search->adaptors[seat], option->version);
		option->refuses = unserved.count;
		option->refused = unserved.name;
		option->importer = unserved.importer;
	}
}

/* Adds the options for a stub, in order of preference. */
static void add_options(struct lc_arena *arena, struct lc_search *search, size_t seat,
			bool process_only)
{
	if (lc_hidden_by(search->seats[seat].library))
		return;
	add_override(arena, search, seat);
	add_reals(arena, search, seat, &search->process);
	/* A stub that has its library will not load another. */
	if (!process_only && !search->seats[seat].loaded)
		add_found(arena, search, seat);
}

void lc_search_run(struct lc_arena *arena, struct lc_search *search, bool process_only)
{
	struct lc_process *process = &search->process;
	struct lc_peers peers;

	lc_peers_read(arena, &peers);
	*search = (struct lc_search){ .first = peers.peers[0],
				      .hidden = lc_hidden_by(&lc_library) };
	lc_settings_read(arena, &search->at.settings);
	search->at.seats = search->seats;
	if (lc_is_coordinated(&lc_library))
		search->at.process_major = (int)atomic_load(&search->first->process_major);
	else
		search->at.settings.major = 0;
	seat_peers(search, &peers);
	if (search->hidden)
		return;
	lc_process_read(arena, peers.stubs, peers.count, callers_matter(search), process);
	search->resorted = process_only;
	if (!process_only)
		lc_survey_begin(arena, process, &search->survey);
	for (size_t seat = 0; seat < search->at.seat_count; seat++) {
		add_options(arena, search, seat, process_only);
		if (!arena->failed)
			judge_found(search, seat, &process->callers);
		if (!arena->failed)
			trace_found(search, seat);
	}
	lc_survey_end(&search->survey);
}

void lc_search_real(struct lc_arena *arena, struct lc_search *search,
		    const struct lc_library *library)
{
	const struct lc_stub stub = { "", library->stub, library };

	*search = (struct lc_search){ .at.seat_count = 1, .seats[0].library = library };
	search->at.seats = search->seats;
	lc_process_read(arena, &stub, 1, false, &search->process);
	lc_survey_begin(arena, &search->process, &search->survey);
	add_override(arena, search, 0);
	add_reals(arena, search, 0, &search->process);
	add_found(arena, search, 0);
	if (!arena->failed)
		trace_found(search, 0);
	lc_survey_end(&search->survey);
}

bool lc_search_found_any(const struct lc_search *search)
{
	size_t self = search->at.self;

	for (size_t i = 0; i < search->seats[self].option_count; i++)
		if (search->seats[self].options[i].origin == LC_BY_OVERRIDE ||
		    !search->files[self][i].stub)
			return true;
	return false;
}

/* Returns true if anything was found for this stub except stubs under real names and
 * libraries of majors that are not listed. */
static bool found_any(const struct lc_search *search)
{
	size_t self = search->at.self;
	const struct lc_library *library = search->seats[self].library;

	for (size_t i = 0; i < search->seats[self].option_count; i++) {
		const struct lc_option *option = &search->seats[self].options[i];

		if (option->origin == LC_BY_OVERRIDE)
			return true;
		if (lc_listed_major(library, option->major) &&
		    (option->origin == LC_BY_PROCESS || !search->files[self][i].stub))
			return true;
	}
	return false;
}

/* Returns true if a stub was found under the SONAME of this major. */
static bool stub_has_name(const struct lc_search *search, const struct lc_major *major)
{
	size_t self = search->at.self;

	for (size_t i = 0; i < search->seats[self].option_count; i++)
		if (search->files[self][i].stub && search->seats[self].options[i].major == major->major)
			return true;
	return false;
}

bool lc_search_last_resort(struct lc_arena *arena, struct lc_search *search)
{
	size_t self = search->at.self, before = search->seats[self].option_count;
	const struct lc_library *library = search->seats[self].library;

	if (search->resorted || found_any(search))
		return false;
	search->resorted = true;
	if (!lc_loader_path_is_safe(&search->survey.folders, search->survey.loader_path)) {
		lc_trace("dlopen() is not asked: it would search where anybody may write");
		return false;
	}
	for (size_t m = 0; m < library->major_count; m++) {
		const struct lc_major *major = &library->majors[m];
		struct lc_option *option;
		struct link_map *map;
		void *handle;

		if (stub_has_name(search, major))
			continue;
		handle = dlopen(major->soname, RTLD_NOW | RTLD_LOCAL);
		if (!handle)
			continue;
		if (!dlinfo(handle, RTLD_DI_LINKMAP, &map) && map->l_name[0] == '/') {
			const char *path = lc_format(arena, "%s", map->l_name);

			option = add_option(arena, search, self, path, "loader", LC_BY_SEARCH);
			if (option)
				examine(arena, search, self, major);
		}
		/* If the option is chosen, it is opened again. */
		dlclose(handle);
	}
	return search->seats[self].option_count > before;
}
