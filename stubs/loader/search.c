/* SPDX-License-Identifier: MIT */
/* search.c - finds everything that could be loaded, for every stub of the process */
#include "search.h"

#include <errno.h>
#include <link.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "aside.h"
#include "belongs.h"
#include "dl.h"
#include "specifics.h"
#include "unknown.h"
#include "../base/count.h"
#include "../base/glibc.h"

/* How many minors are tried of an nvrtc that is newer than what is known. */
#define LC_LATER_MINORS 10

/* Adds an option and its file to two parallel arrays. */
static struct lc_option *add_to(struct lc_arena *arena, struct lc_option **options,
			     struct lc_file **files, size_t *count, const struct lc_file *file,
			     enum lc_origin origin)
{
	size_t file_count = *count;
	struct lc_file *new_file = lc_grow(arena, files, &file_count, sizeof(*new_file));
	struct lc_option *option = lc_grow(arena, options, count, sizeof(*option));

	if (!new_file || !option) {
		*count = 0;	/* the arena has failed: the search is dropped */
		return NULL;
	}
	*new_file = *file;
	option->origin = origin;
	return option;
}

static struct lc_option *add_option(struct lc_arena *arena, struct lc_search *search, size_t seat,
				    const struct lc_file *file, enum lc_origin origin)
{
	return add_to(arena, &search->seats[seat].options, &search->files[seat],
		   &search->seats[seat].option_count, file, origin);
}

/* Reads a file, sets what is known of it, and returns why it is not usable, or NULL. */
static const char *read_option(struct lc_arena *arena, const struct lc_library *library,
			       const struct lc_major *expected, struct lc_file *file,
			       struct lc_option *option)
{
	struct lc_elf elf;
	const char *why = lc_elf_file(file->path, library, &elf), *older;
	int unknown;

	if (elf.identity.inode)
		file->identity = elf.identity;
	option->major = expected ? expected->major : 0;
	lc_arena_note_error(arena, elf.error);
	if (why)
		return elf.error ? lc_format(arena, "%s: %s", why, strerror(elf.error)) : why;
	file->stub = elf.stub;
	file->siblings = elf.siblings;
	option->cuda = elf.needs;
	if (elf.stub)
		return "is a lazycuda stub itself";
	if (!lc_dlopen_name(arena, file->path))
		return "has $LIB, $ORIGIN or $PLATFORM in its path, which dlopen() would replace";
	if (elf.major) {
		option->major = elf.major->major;
		option->version = elf.version;
		option->latest = lc_latest_version(library, elf.version);
		/* libcudart.so.13 may be a link to libcudart.so.12, for instance. */
		file->misnamed = expected && elf.major->major != expected->major;
		return file->misnamed ? "is of another major than its name says" : NULL;
	}
	if (!lc_has_majors(library))
		return "is not this library: its SONAME or its functions are another's";
	unknown = lc_unknown_major(library, elf.soname);
	if (unknown) {
		option->major = unknown;
		return lc_unknown_reason(arena, library, unknown);
	}
	older = lc_older_reason(arena, library, elf.soname);
	if (older) {
		option->major = 0;	/* not a sign that a usable one is here */
		return older;
	}
	return lc_has_nodes(library) ? "is not this library, or of a CUDA that is not supported;"
				       " it has none of the version nodes" :
				       "is not this library: it has another SONAME";
}

/* Finds out which CUDA a file belongs to; option->cuda says what it needs. */
static void place_option(struct lc_arena *arena, struct lc_known *known,
			 const struct lc_library *library, const struct lc_file *file,
			 struct lc_option *option)
{
	uint32_t needs = option->cuda;

	option->cuda = 0;
	if (!option->unusable && library->own_majors && library->cuda)
		lc_belongs(arena, lc_known_survey(known), library, file->path, file->identity.size,
			   needs, option);
}

/* Reads and places the option that was added last. */
static void examine(struct lc_arena *arena, struct lc_search *search, size_t seat,
		    const struct lc_major *expected)
{
	size_t last = search->seats[seat].option_count - 1;
	const struct lc_library *library = search->seats[seat].library;
	struct lc_option *option = &search->seats[seat].options[last];
	struct lc_file *file = &search->files[seat][last];

	option->unusable = read_option(arena, library, expected, file, option);
	place_option(arena, search->known, library, file, option);
}

static void add_override(struct lc_arena *arena, struct lc_search *search, size_t seat)
{
	const struct lc_library *library = search->seats[seat].library;
	const char *path = lc_variable(library->variable);
	struct lc_option *option;

	if (!path)
		return;
	path = lc_text(arena, path);
	option = add_option(arena, search, seat, &(struct lc_file){
				.path = path, .found_by = "override",
			    }, LC_BY_OVERRIDE);
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

static struct lc_identity identity_of(const struct lc_library *library, const char *path)
{
	struct stat st;

	/* Only belongs.c needs it: the SONAMEs of other libraries tell their CUDA. */
	if (!library->own_majors || !library->cuda || path[0] != '/' || stat(path, &st))
		return (struct lc_identity){ .inode = 0 };
	return lc_identity(&st);
}

const char *lc_companion_name(struct lc_arena *arena, const struct lc_library *library, lc_version version)
{
	const char *name = "";

	for (const char *pattern = library->companion; *pattern; pattern++)
		if (pattern[0] == '%' && (pattern[1] == 'M' || pattern[1] == 'm'))
			name = lc_format(arena, "%s%d", name,
					 *++pattern == 'M' ? LC_MAJOR(version) : LC_MINOR(version));
		else
			name = lc_format(arena, "%s%c", name, *pattern);
	return name;
}

/* Returns what an nvrtc lacks: the file with its functions for device code, which lies beside it and
 * has its minor in its name.  Without that it compiles nothing. */
static const char *companion_lacked(struct lc_arena *arena, const struct lc_library *library,
				    const struct lc_option *option, const char *path)
{
	const int major = LC_MAJOR(option->version), first = LC_MINOR(option->version);
	const char *folder = lc_folder_of(arena, path), *name;

	if (!library->companion || !option->version || !folder)
		return NULL;
	for (int minor = first; minor <= LC_MINOR(option->latest) && minor < first + LC_LATER_MINORS; minor++) {
		name = lc_companion_name(arena, library, LC_VERSION(major, minor));
		if (!access(lc_path(arena, folder, name), F_OK))
			return NULL;
	}
	return lc_format(arena, "%s is not beside %s", lc_companion_name(arena, library, option->version),
			 lc_printable(arena, path));
}

/* Sets how many imports of the loaded objects an option would refuse, and what it lacks. */
static void judge_option(struct lc_search *search, size_t seat, struct lc_option *option,
			 const struct lc_file *file)
{
	const struct lc_library *library = search->seats[seat].library;
	struct lc_unserved unserved;

	if (option->unusable)
		return;
	unserved = lc_callers_unserved(&search->known->process.callers, library, search->adaptors[seat],
				       option->version);
	option->refuses = unserved.count;
	option->refused = unserved.name;
	option->importer = unserved.importer;
	if (option->origin == LC_BY_SEARCH)
		option->lacks = companion_lacked(&search->known->arena, library, option, file->path);
}

static void add_reals(struct lc_arena *arena, struct lc_search *search, size_t seat)
{
	const struct lc_process *process = &search->known->process;
	/* real->library may be of another copy of the stub, and end before `cuda`. */
	const struct lc_library *library = search->seats[seat].library;

	for (size_t i = 0; i < process->real_count; i++) {
		const struct lc_real *real = &process->reals[i];
		const struct lc_file *file;
		struct lc_option *option;

		if (strcmp(real->library->name, library->name))
			continue;
		option = add_option(arena, search, seat, &(struct lc_file){
					.path = real->path, .found_by = "process",
					.identity = identity_of(library, real->path),
				    }, LC_BY_PROCESS);
		if (!option)
			continue;
		option->major = real->major;
		option->version = real->version;
		option->latest = real->version ? lc_latest_version(real->library, real->version) : 0;
		option->cuda = real->needs;
		option->private = real->private;
		if (!lc_listed_major(real->library, real->major))
			option->unusable = lc_unknown_reason(arena, real->library, real->major);
		file = &search->files[seat][search->seats[seat].option_count - 1];
		place_option(arena, search->known, library, file, option);
		judge_option(search, seat, option, file);
	}
}

/* Unsafe links do not count: another path to the same file may be safe.  Nor do wrong names. */
static struct lc_file *same_file(struct lc_file *files, size_t count, dev_t device, ino_t inode)
{
	for (size_t i = 0; i < count; i++)
		if (!files[i].astray && !files[i].misnamed && files[i].identity.inode == inode &&
		    files[i].identity.device == device)
			return &files[i];
	return NULL;
}

static void add_link(struct lc_arena *arena, struct lc_file *file, const char *path,
		     const char *found_by)
{
	struct lc_link *link = lc_alloc(arena, sizeof(*link)), **last = &file->links;

	while (*last)
		last = &(*last)->next;
	*last = link;
	if (link)
		*link = (struct lc_link){ path, found_by, NULL };
}

/* Reports the folder unless a file in it is simply absent: the file may be there, and
 * others beside it. */
static void cannot_look_in(struct lc_known *known, const char *folder, int error)
{
	lc_arena_note_error(&known->arena, error);
	if (error != ENOENT && error != ENOTDIR)
		lc_leave_out(&known->survey, folder,
			     lc_format(&known->arena, "what is in it cannot be looked at: %s",
				       strerror(error)));
}

/* Adds an option for this file, if it is new. */
static void add_file(struct lc_known *known, struct lc_sought *sought, const char *path,
		     struct stat st, const struct lc_place *place, const struct lc_major *major)
{
	struct lc_arena *arena = &known->arena;
	struct lc_option *option;
	const char *why = NULL, *left = NULL;
	struct lc_file *same;

	/* A dangling link exists, and is worth reporting. */
	if (S_ISLNK(st.st_mode) && !lc_follow_file(&known->survey.folders, path, &st, &why)) {
		lc_arena_note_error(arena, errno);
		left = errno == ENOENT ? "is a link that leads nowhere" : NULL;
		st = (struct stat){ .st_ino = 0 };
	} else if (S_ISREG(st.st_mode) && !st.st_size) {
		left = "is empty";
	}
	/* Links may lead to the same file from several places. */
	same = st.st_ino ? same_file(sought->files, sought->count, st.st_dev, st.st_ino) : NULL;
	if (same) {
		option = &sought->options[same - sought->files];
		if (place->tier < option->tier)
			option->tier = place->tier;
		if (!why)
			add_link(arena, same, path, place->found_by);
		return;
	}
	option = add_to(arena, &sought->options, &sought->files, &sought->count,
		     &(struct lc_file){ path, place->found_by, .left = left, .astray = why,
					.identity = lc_identity(&st) }, LC_BY_SEARCH);
	if (!option)
		return;
	option->tier = place->tier;
	if (why || left) {
		option->major = major->major;
		option->unusable = why ? lc_format(arena, "is a link, and where it leads, %s", why) : left;
		return;
	}
	option->unusable = read_option(arena, sought->library, major,
				       &sought->files[sought->count - 1], option);
	place_option(arena, known, sought->library, &sought->files[sought->count - 1], option);
}

/* Looks for one major in a folder, once in each round. */
static void seek_in(struct lc_known *known, struct lc_sought *sought, const char *path,
		    struct lc_folder *folder, const struct lc_place *place,
		    const struct lc_major *major)
{
	struct lc_folders *folders = &known->survey.folders;
	struct stat st;

	if (!folder || folder->searched == known->rounds)
		return;
	folder->searched = known->rounds;
	if (!lc_folder_has_no(folders, folder, path, major->soname)) {
		const char *file = lc_path(&known->arena, path, major->soname);

		if (!lstat(file, &st)) {
			add_file(known, sought, file, st, place, major);
			return;
		}
		cannot_look_in(known, path, errno);
	}
	if (folder->lacking != sought)
		lc_folder_lacks(folders, path);
	folder->lacking = sought;
}

/* Looks for one major in the places from some index on. */
static void seek_major(struct lc_known *known, struct lc_sought *sought, size_t from,
		       const struct lc_major *major)
{
	known->rounds++;
	for (size_t p = from; p < sought->places.count; p++) {
		const struct lc_place *place = &sought->places.list[p];
		const char *below = place->site ? major->folder : NULL, *entry;
		size_t length;

		if (!place->site)
			seek_in(known, sought, place->path, place->folder, place, major);
		while ((entry = lc_next_entry(&below, ":", &length))) {
			const char *path = lc_format(&known->arena, "%s/%.*s", place->path,
						     (int)length, entry);

			seek_in(known, sought, path, lc_place_folder(&known->survey, place, path),
				place, major);
		}
	}
}

/* The file of the library's stub; NULL if there is none here. */
static const char *stub_of(const struct lc_known *known, const struct lc_library *library)
{
	for (size_t i = 0; i < known->peers.count; i++)
		if (!strcmp(known->peers.stubs[i].library->name, library->name))
			return known->peers.stubs[i].path;
	return NULL;
}

/* Recalls what was found for a library, or begins. */
static struct lc_sought *sought_of(struct lc_known *known, const struct lc_library *library)
{
	struct lc_sought *sought = lc_known_sought(known, library), **slot;

	if (sought)
		return sought;
	sought = lc_alloc(&known->arena, sizeof(*sought));
	slot = lc_grow(&known->arena, &known->sought, &known->sought_count, sizeof(*slot));
	if (!sought || !slot) {
		known->sought_count = 0;	/* the arena has failed: this is given back as spent */
		return NULL;
	}
	*slot = sought;
	sought->library = library;
	return sought;
}

/* Looks for a library in so many kinds of places. */
static struct lc_sought *seek(struct lc_known *known, const struct lc_library *library, size_t kinds)
{
	struct lc_sought *sought = sought_of(known, library);
	size_t from = sought ? sought->places.count : 0;

	if (!sought || sought->kinds >= kinds)
		return sought;
	lc_places_of(&known->arena, lc_known_survey(known), sought->kinds, kinds, library,
		     stub_of(known, library), &sought->places);
	sought->kinds = kinds;
	for (size_t m = 0; m < library->major_count; m++)
		seek_major(known, sought, from, &library->majors[m]);
	return sought;
}

/* Looks for earlier SONAMEs of the majors, and for majors after the newest one, for a library
 * of which nothing else is usable. */
static void seek_later(struct lc_known *known, struct lc_sought *sought)
{
	const struct lc_major *newest = &sought->library->majors[0];

	sought->later = true;
	for (int number = newest->major + 1; number <= newest->major + LC_LATER_MAJORS; number++) {
		const struct lc_major *later = lc_later_major(&known->arena, newest, number);

		if (later)
			seek_major(known, sought, 0, later);
	}
	for (size_t m = 0; m < sought->library->major_count; m++) {
		const struct lc_major *older = &sought->library->majors[m];

		while ((older = lc_older_soname(&known->arena, older)))
			seek_major(known, sought, 0, older);
	}
}

/* Adds what was found and is not there yet, without the file that a variable names. */
static void add_sought(struct lc_arena *arena, struct lc_search *search, size_t seat,
		       const struct lc_sought *sought)
{
	for (size_t i = search->taken[seat]; i < sought->count; i++) {
		const struct lc_file *file = &sought->files[i];
		struct lc_option *option;

		if (file->identity.inode &&
		    same_file(search->files[seat], search->seats[seat].option_count,
			     file->identity.device, file->identity.inode))
			continue;
		option = add_option(arena, search, seat, file, LC_BY_SEARCH);
		if (!option)
			return;
		*option = sought->options[i];
		judge_option(search, seat, option, file);
		lc_trace(search->seats[seat].library, "found %s by %s%s%s", file->path, file->found_by,
			 option->unusable ? ": " : "", option->unusable ? option->unusable : "");
	}
	search->taken[seat] = sought->count;
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
	struct lc_sought *sought = seek(search->known, search->seats[seat].library, search->kinds);

	if (!sought)
		return;
	add_sought(arena, search, seat, sought);
	if (seat != search->at.self)
		return;
	search->looked = &sought->places;
	if (search->kinds < LC_KINDS || sought->later || has_usable(&search->seats[seat]))
		return;
	seek_later(search->known, sought);
	add_sought(arena, search, seat, sought);
}

/* Returns true if a stub's library takes part in this choice. */
static bool has_seat(const struct lc_search *search, const struct lc_peer *peer)
{
	const struct lc_library *library = search->self->library;

	if (peer == search->self)
		return true;
	/* Another copy of this stub looks for the same library. */
	if (!strcmp(peer->library->name, library->name))
		return false;
	/* A library that goes with any CUDA is chosen independently of all others. */
	return lc_is_coordinated(peer->library) && lc_is_coordinated(library);
}

/* The major of a stub with the name of a real library, which is to be taken, as its callers would,
 * unless somebody said otherwise; 0: it has a name of its own. */
static uint32_t major_by_name(struct lc_search *search, const struct lc_stub *stub)
{
	const struct lc_library *library = stub->library;

	for (size_t m = 0; m < library->major_count && lc_has_majors(library); m++) {
		if (strcmp(stub->soname, library->majors[m].soname))
			continue;
		if (!search->at.settings.ordered)
			search->at.settings.order = LC_OWN;
		return 1u << library->majors[m].major;
	}
	return 0;
}

/* Sets the majors that callers were compiled for. */
static void add_callers(struct lc_search *search)
{
	const struct lc_process *process = &search->known->process;

	for (size_t s = 0; s < search->at.seat_count; s++)
		for (size_t i = 0; i < process->user_count; i++)
			if (process->users[i].needs && !strcmp(process->users[i].needs->name,
							       search->seats[s].library->name))
				search->seats[s].callers |= process->users[i].majors;
}

/* Adds a seat for each library that has a stub in the process. */
static void seat_peers(struct lc_search *search)
{
	const struct lc_peers *peers = &search->known->peers;

	for (size_t i = 0; i < peers->count; i++) {
		struct lc_peer *peer = peers->list[i];
		size_t seat;

		if (!has_seat(search, peer))
			continue;
		seat = search->at.seat_count++;
		if (peer == search->self)
			search->at.self = seat;
		search->adaptors[seat] = peer->specifics->adaptors;
		search->seats[seat].library = peer->library;
		search->seats[seat].callers = major_by_name(search, &peers->stubs[i]);
		search->seats[seat].loaded = (lc_version)atomic_load(&peer->loaded);
	}
	if (search->at.settings.order == LC_OWN)
		add_callers(search);
}

/* Allocates this many seats. */
static bool make_seats(struct lc_arena *arena, struct lc_search *search, size_t seats)
{
	search->seats = lc_alloc(arena, seats * sizeof(*search->seats));
	search->files = lc_alloc(arena, seats * sizeof(*search->files));
	search->adaptors = lc_alloc(arena, seats * sizeof(*search->adaptors));
	search->taken = lc_alloc(arena, seats * sizeof(*search->taken));
	search->at.seats = search->seats;
	return !arena->failed;
}

void lc_search_add(struct lc_arena *arena, struct lc_search *search, const char *path,
		   const char *found_by, enum lc_tier tier, const struct lc_major *major)
{
	size_t self = search->at.self;
	struct lc_option *option = add_option(arena, search, self, &(struct lc_file){
					.path = path, .found_by = found_by }, LC_BY_SEARCH);

	if (!option)
		return;
	option->tier = tier;
	examine(arena, search, self, major);
	judge_option(search, self, option, &search->files[self][search->seats[self].option_count - 1]);
}

/* If reading what is known failed or ran short, so did the search. */
static void inherit_failure(struct lc_arena *arena, const struct lc_known *known)
{
	arena->failed |= !known || known->arena.failed;
	arena->starved |= known && known->arena.starved;
}

bool lc_search_farther(struct lc_arena *arena, struct lc_search *search)
{
	const struct lc_circumstances *at = &search->at;

	if (search->kinds == LC_KINDS || search->hidden)
		return false;
	do {
		search->kinds = lc_kinds_after(search->kinds, at->process_major || at->settings.major);
		/* A stub that has its library will not load another. */
		for (size_t seat = 0; seat < at->seat_count && !arena->failed; seat++)
			if (!search->seats[seat].loaded && !lc_hidden_by(search->seats[seat].library))
				add_found(arena, search, seat);
		inherit_failure(arena, search->known);
	} while (search->kinds < LC_KINDS && !has_usable(&search->seats[at->self]));
	return !arena->failed;
}

/* Adds what is named or in the process for each seat. */
static void search_seats(struct lc_arena *arena, struct lc_search *search)
{
	for (size_t seat = 0; seat < search->at.seat_count && !search->hidden; seat++) {
		if (lc_hidden_by(search->seats[seat].library))
			continue;
		add_override(arena, search, seat);
		add_reals(arena, search, seat);
	}
	inherit_failure(arena, search->known);
}

void lc_search_run(struct lc_arena *arena, struct lc_search *search, struct lc_peer *self, bool process_only)
{
	const struct lc_library *library = self->library;
	struct lc_settings settings;
	struct lc_known *known;

	*search = (struct lc_search){ .self = self, .hidden = lc_hidden_by(library),
				      .kinds = process_only ? LC_KINDS : 0, .last_resort_done = process_only };
	lc_settings_read(arena, &settings, library, false);
	known = lc_known_take(lc_has_majors(library) && settings.guard != LC_OFF &&
			      !search->hidden);
	search->known = known;
	inherit_failure(arena, known);
	if (arena->failed || !make_seats(arena, search, known->peers.count))
		return;
	search->first = known->peers.list[0];
	search->at.settings = settings;
	lc_peers_settings(&known->peers, &search->at.settings);
	if (lc_is_coordinated(library))
		search->at.process_major = (int)atomic_load(&search->first->process_major);
	else
		search->at.settings.major = 0;
	seat_peers(search);
	search_seats(arena, search);
	if (!has_usable(&search->seats[search->at.self]))
		lc_search_farther(arena, search);
	while (search->at.settings.everywhere && lc_search_farther(arena, search))
		;
}

void lc_search_real(struct lc_arena *arena, struct lc_search *search, struct lc_known *known,
		    const struct lc_library *library)
{
	*search = (struct lc_search){ .at.seat_count = 1, .known = known };
	if (!make_seats(arena, search, 1))
		return;
	search->seats[0].library = library;
	search_seats(arena, search);
}

/* Returns true if a file is a sign that a real library is here. */
static bool is_sign(const struct lc_file *file)
{
	return !file->stub && !file->left;
}

bool lc_search_found_any(const struct lc_search *search, bool listed)
{
	const struct lc_seat *own = &search->seats[search->at.self];

	for (size_t i = 0; i < own->option_count; i++)
		if (own->options[i].origin == LC_BY_OVERRIDE ||
		    (is_sign(&search->files[search->at.self][i]) &&
		     (!listed || lc_listed_major(own->library, own->options[i].major))))
			return true;
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

/* Returns true if the path begins with the folder of a system's libraries. */
static bool is_of_system(const char *path)
{
	return path && (!strncmp(path, "/lib", 4) || !strncmp(path, "/usr/lib", 8));
}

/*
 * Returns true if dlopen() of a plain name would look nowhere else than lc_places_of() did, for
 * hundreds of system calls.  A glibc that is not the system's may have another cache, and a
 * folder may have folders for some CPUs below it.
 */
static bool looked_everywhere(struct lc_arena *arena, struct lc_search *search)
{
	const struct lc_process *process = &search->known->process;
	struct lc_survey *survey = &search->known->survey;
	const Dl_serinfo *path = search->looked->loader_path;

	if (process->audited || !process->own_dlopen || !survey->cache.known || !is_of_system(process->libc))
		return false;
	for (unsigned i = 0; i < path->dls_cnt; i++) {
		const char *real = lc_real_path(&survey->folders, path->dls_serpath[i].dls_name);

		if (lc_folder_may_be_there(&survey->folders,
					   lc_path(arena, real, "glibc-hwcaps")))
			return false;
	}
	return true;
}

/* Returns true if dlopen() looks for the library's plain names only in safe folders. */
static bool may_ask(struct lc_search *search, struct lc_folders *folders)
{
	struct lc_survey *survey = lc_known_survey(search->known);
	const struct lc_library *library = search->seats[search->at.self].library;

	lc_survey_cache(survey);
	for (size_t m = 0; m < library->major_count; m++)
		if (!stub_has_name(search, &library->majors[m]) &&
		    !lc_dlopen_is_safe(folders, search->looked->loader_path, &survey->cache,
				       library->majors[m].soname))
			return false;
	return true;
}

/* What only ld.so knows of, as where an auditor leads it, was not judged before it was loaded. */
static bool may_use(struct lc_survey *survey, const char *path)
{
	const char *folder = lc_folder_of(survey->folders.arena, path), *why;

	return folder && lc_searchable(survey, folder) && lc_file_is_safe(&survey->folders, path, &why);
}

#define NOT_ASKED "dlopen() is not asked: it would search where anybody may write"

bool lc_search_last_resort(struct lc_arena *arena, struct lc_search *search)
{
	size_t self = search->at.self, before = search->seats[self].option_count;
	const struct lc_library *library = search->seats[self].library;
	struct lc_survey *survey;

	if (search->last_resort_done || !search->looked || lc_search_found_any(search, true))
		return false;
	search->last_resort_done = true;
	survey = &search->known->survey;
	if (!lc_loader_path_is_safe(&survey->folders, search->looked->loader_path)) {
		lc_trace(library, NOT_ASKED);
		return false;
	}
	if (looked_everywhere(arena, search))
		return false;
	if (!may_ask(search, &survey->folders)) {
		lc_trace(library, NOT_ASKED);
		return false;
	}
	for (size_t m = 0; m < library->major_count; m++) {
		const struct lc_major *major = &library->majors[m];
		struct link_map *map;
		void *handle;

		if (stub_has_name(search, major))
			continue;
		handle = dlopen(major->soname, RTLD_LAZY | RTLD_LOCAL);
		if (!handle)
			continue;
		/* A library that was opened aside may have the same name. */
		if (!dlinfo(handle, RTLD_DI_LINKMAP, &map) && map->l_name[0] == '/' &&
		    !lc_is_aside(search->self ? search->self->aside : NULL, map->l_name) && may_use(survey, map->l_name)) {
			const char *path = lc_text(arena, map->l_name);

			lc_search_add(arena, search, path, "loader", LC_OF_MACHINE, major);
		}
		/* If the option is chosen, it is opened again. */
		dlclose(handle);
	}
	inherit_failure(arena, search->known);
	return search->seats[self].option_count > before;
}

static struct {
	_Atomic unsigned long long second;	/* of the last failed try */
	_Atomic int failed;			/* tries in that second */
} tries;

static unsigned long long this_second(void)
{
	struct timespec now;

	if (clock_gettime(CLOCK_MONOTONIC_COARSE, &now))
		return atomic_load(&tries.second) + 1;	/* no clock: every call tries */
	return (unsigned long long)now.tv_sec;
}

bool lc_may_try(void)
{
	return atomic_load(&tries.failed) < LC_TRIES_A_SECOND ||
	       atomic_load(&tries.second) != this_second();
}

void lc_try_failed(void)
{
	unsigned long long second = this_second();

	if (atomic_exchange(&tries.second, second) != second)
		atomic_store(&tries.failed, 0);
	atomic_fetch_add(&tries.failed, 1);
}
