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
#include "../base/by_name.h"
#include "../base/count.h"
#include "../base/glibc.h"

/* How many minors are tried of an nvrtc that is newer than what is known. */
#define LC_LATER_MINORS 10

/* Adds a candidate, and a copy of its file; NULL: the arena has failed, and the search is dropped. */
static struct lc_candidate *add_to(struct lc_arena *arena, struct lc_candidate **candidates, size_t *count,
				   const struct lc_file *file, enum lc_origin origin)
{
	struct lc_file *copy = lc_alloc(arena, sizeof(*copy));
	struct lc_candidate *candidate =
		copy ? lc_grow(arena, candidates, count, sizeof(*candidate)) : NULL;

	if (!candidate)
		return NULL;
	*copy = *file;
	candidate->origin = origin;
	candidate->file = copy;
	return candidate;
}

static struct lc_candidate *add_candidate(struct lc_arena *arena, struct lc_voter *voter,
					  const struct lc_file *file, enum lc_origin origin)
{
	return add_to(arena, &voter->candidates, &voter->candidate_count, file, origin);
}

/* Reads a file, sets what is known of it, and returns why it is not usable, or NULL. */
static const char *read_candidate(struct lc_arena *arena, const struct lc_library *library,
				  const struct lc_major *expected, struct lc_candidate *candidate)
{
	struct lc_file *file = candidate->file;
	struct lc_elf elf;
	const char *why = lc_elf_file(file->path, library, &elf), *older;
	int unknown;

	if (elf.identity.inode)
		file->identity = elf.identity;
	candidate->major = expected ? expected->major : 0;
	lc_arena_note_error(arena, elf.error);
	if (why)
		return elf.error ? lc_format(arena, "%s: %s", why, strerror(elf.error)) : why;
	file->stub = elf.stub;
	file->siblings = elf.siblings;
	candidate->cuda = elf.needs;
	if (elf.stub)
		return "is a lazycuda stub itself";
	if (!lc_dlopen_name(arena, file->path))
		return "has $LIB, $ORIGIN or $PLATFORM in its path, which dlopen() would replace";
	if (elf.major) {
		candidate->major = elf.major->major;
		candidate->version = elf.version;
		candidate->latest = lc_latest_version(library, elf.version);
		/* libcudart.so.13 may be a link to libcudart.so.12, for instance. */
		file->misnamed = expected && elf.major->major != expected->major;
		return file->misnamed ? "is of another major than its name says" : NULL;
	}
	if (!lc_has_majors(library))
		return "is not this library: its SONAME or its functions are another's";
	unknown = lc_unknown_major(library, elf.soname);
	if (unknown) {
		candidate->major = unknown;
		return lc_unknown_reason(arena, library, unknown);
	}
	older = lc_older_reason(arena, library, elf.soname);
	if (older) {
		candidate->major = 0;	/* not a sign that a usable one is here */
		return older;
	}
	return lc_has_nodes(library) ? "is not this library, or of a CUDA that is not supported;"
				       " it has none of the version nodes" :
				       "is not this library: it has another SONAME";
}

/* Finds out which CUDA a file belongs to; candidate->cuda says what it needs. */
static void set_cuda(struct lc_arena *arena, struct lc_cache *cache, const struct lc_library *library,
		     struct lc_candidate *candidate)
{
	uint32_t needs = candidate->cuda;

	candidate->cuda = 0;
	if (!candidate->unusable && library->own_majors && library->cuda)
		lc_belongs(arena, lc_cache_survey(cache), library, candidate->file->path,
			   candidate->file->identity.size, needs, candidate);
}

static void examine(struct lc_arena *arena, struct lc_cache *cache, const struct lc_library *library,
		    const struct lc_major *expected, struct lc_candidate *candidate)
{
	candidate->unusable = read_candidate(arena, library, expected, candidate);
	set_cuda(arena, cache, library, candidate);
}

static void add_override(struct lc_arena *arena, struct lc_search *search, struct lc_voter *voter)
{
	const struct lc_library *library = voter->library;
	const char *path = lc_variable(library->variable);
	struct lc_candidate *candidate;

	if (!path)
		return;
	path = lc_text(arena, path);
	candidate = add_candidate(arena, voter, &(struct lc_file){ .path = path, .found_by = "override" },
				  LC_BY_OVERRIDE);
	if (!candidate)
		return;
	if (path[0] != '/') {
		candidate->unusable = lc_format(arena, "%s must be an absolute path", library->variable);
		return;
	}
	examine(arena, search->cache, library, NULL, candidate);
	if (candidate->unusable)
		candidate->unusable = lc_format(arena, "%s names a file that %s", library->variable,
						candidate->unusable);
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

/* Returns true if ld.so finds a file of this name for a library that opens it, wherever that lies. */
static bool loader_finds(struct lc_cache *cache, const char *name)
{
	struct lc_survey *survey = &cache->survey;
	const Dl_serinfo *path = survey->library_path;
	const char **files;

	for (unsigned i = 0; path && i < path->dls_cnt; i++)
		if (!access(lc_path(&cache->arena, path->dls_serpath[i].dls_name, name), F_OK))
			return true;
	lc_survey_ldcache(survey);
	return lc_ldcache_parse(&cache->arena, survey->ldcache.bytes, survey->ldcache.size, &name, 1,
				&files) &&
	       !access(files[0], F_OK);
}

/* Returns true if the file with an nvrtc's functions for device code, which has its minor in its name,
 * is in a folder; NULL: where ld.so finds it. */
static bool has_companion(struct lc_cache *cache, const struct lc_library *library,
			  const struct lc_candidate *candidate, const char *folder)
{
	const int major = LC_MAJOR(candidate->version), first = LC_MINOR(candidate->version);

	for (int minor = first; minor <= LC_MINOR(candidate->latest) && minor < first + LC_LATER_MINORS;
	     minor++) {
		const char *name = lc_companion_name(&cache->arena, library, LC_VERSION(major, minor));

		if (folder ? !access(lc_path(&cache->arena, folder, name), F_OK) : loader_finds(cache, name))
			return true;
	}
	return false;
}

/* Returns what an nvrtc lacks, without which it compiles nothing. */
static const char *companion_lacked(struct lc_cache *cache, const struct lc_library *library,
				    const struct lc_candidate *candidate)
{
	struct lc_arena *arena = &cache->arena;
	const char *path = candidate->file->path, *folder = lc_folder_of(arena, path);

	if (!library->companion || !candidate->version || !folder ||
	    has_companion(cache, library, candidate, folder) ||
	    has_companion(cache, library, candidate, NULL))
		return NULL;
	return lc_format(arena, "%s is not beside %s, nor does ld.so find it",
			 lc_companion_name(arena, library, candidate->version),
			 lc_printable(arena, path));
}

/* Sets how many imports of the loaded objects a candidate would refuse, and what it lacks. */
static void judge_candidate(struct lc_search *search, const struct lc_voter *voter,
			    struct lc_candidate *candidate)
{
	struct lc_unserved unserved;

	if (candidate->unusable)
		return;
	unserved = lc_callers_unserved(&search->cache->process.callers, voter->library, voter->adaptors,
				       candidate->version);
	candidate->refuses = unserved.count;
	candidate->refused = unserved.name;
	candidate->importer = unserved.importer;
	if (candidate->origin == LC_BY_SEARCH)
		candidate->lacks = companion_lacked(search->cache, voter->library, candidate);
}

static void add_reals(struct lc_arena *arena, struct lc_search *search, struct lc_voter *voter)
{
	const struct lc_process *process = &search->cache->process;
	/* real->library may be of another copy of the stub, and end before `cuda`. */
	const struct lc_library *library = voter->library;

	for (size_t i = 0; i < process->real_count; i++) {
		const struct lc_real *real = &process->reals[i];
		struct lc_candidate *candidate;

		if (strcmp(real->library->name, library->name))
			continue;
		candidate = add_candidate(arena, voter, &(struct lc_file){
					  .path = real->path, .found_by = "process",
					  .identity = identity_of(library, real->path) }, LC_BY_PROCESS);
		if (!candidate)
			continue;
		candidate->major = real->major;
		candidate->version = real->version;
		candidate->latest = real->version ? lc_latest_version(real->library, real->version) : 0;
		candidate->cuda = real->needs;
		candidate->private = real->private;
		if (!lc_listed_major(real->library, real->major))
			candidate->unusable = lc_unknown_reason(arena, real->library, real->major);
		set_cuda(arena, search->cache, library, candidate);
		judge_candidate(search, voter, candidate);
	}
}

/* Unsafe links do not count: another path to the same file may be safe.  Nor do wrong names. */
static struct lc_candidate *same_file(struct lc_candidate *candidates, size_t count, dev_t device,
				      ino_t inode)
{
	for (size_t i = 0; i < count; i++) {
		const struct lc_file *file = candidates[i].file;

		if (!file->astray && !file->misnamed && file->identity.inode == inode &&
		    file->identity.device == device)
			return &candidates[i];
	}
	return NULL;
}

/* Adds another path of a file.  That beside which its companion lies is where it is loaded from. */
static void add_other_path(struct lc_cache *cache, const struct lc_library *library,
			   const struct lc_candidate *candidate, const char *path, const char *found_by)
{
	struct lc_arena *arena = &cache->arena;
	struct lc_file *file = candidate->file;
	struct lc_other_path *other = lc_alloc(arena, sizeof(*other)), **last = &file->other_paths;
	const char *first = file->path, *first_by = file->found_by;

	if (library->companion && candidate->version &&
	    !has_companion(cache, library, candidate, lc_folder_of(arena, first)) &&
	    has_companion(cache, library, candidate, lc_folder_of(arena, path))) {
		file->path = path;
		file->found_by = found_by;
		path = first;
		found_by = first_by;
	}
	while (*last)
		last = &(*last)->next;
	*last = other;
	if (other)
		*other = (struct lc_other_path){ path, found_by, NULL };
}

/* Reports the folder unless a file in it is simply absent: the file may be there, and
 * others beside it. */
static void cannot_look_in(struct lc_cache *cache, const char *folder, int error)
{
	lc_arena_note_error(&cache->arena, error);
	if (error != ENOENT && error != ENOTDIR)
		lc_leave_out(&cache->survey, folder,
			     lc_format(&cache->arena, "what is in it cannot be looked at: %s",
				       strerror(error)));
}

/* Adds a candidate for this file, if it is new. */
static void add_file(struct lc_cache *cache, struct lc_sought *sought, const char *path,
		     struct stat st, const struct lc_place *place, const struct lc_major *major)
{
	struct lc_arena *arena = &cache->arena;
	struct lc_candidate *candidate;
	const char *why = NULL, *left = NULL;

	/* A dangling link exists, and is worth reporting. */
	if (S_ISLNK(st.st_mode) && !lc_follow_file(&cache->survey.folders, path, &st, &why)) {
		lc_arena_note_error(arena, errno);
		left = errno == ENOENT ? "is a link that leads nowhere" : NULL;
		st = (struct stat){ .st_ino = 0 };
	} else if (S_ISREG(st.st_mode) && !st.st_size) {
		left = "is empty";
	}
	/* Links may lead to the same file from several places. */
	candidate = st.st_ino ? same_file(sought->candidates, sought->count, st.st_dev, st.st_ino) : NULL;
	if (candidate) {
		if (place->tier < candidate->tier)
			candidate->tier = place->tier;
		if (!why)
			add_other_path(cache, sought->library, candidate, path, place->found_by);
		return;
	}
	candidate = add_to(arena, &sought->candidates, &sought->count,
			   &(struct lc_file){ path, place->found_by, .left = left, .astray = why,
					      .identity = lc_identity(&st) }, LC_BY_SEARCH);
	if (!candidate)
		return;
	candidate->tier = place->tier;
	if (why || left) {
		candidate->major = major->major;
		candidate->unusable = !why ? left :
				      lc_format(arena, "is a link, and where it leads, %s", why);
		return;
	}
	examine(arena, cache, sought->library, major, candidate);
}

/* Looks for one major in a folder, once in each round. */
static void seek_in(struct lc_cache *cache, struct lc_sought *sought, const char *path,
		    struct lc_folder *folder, const struct lc_place *place,
		    const struct lc_major *major)
{
	struct lc_folders *folders = &cache->survey.folders;
	struct stat st;

	if (!folder || folder->searched == cache->rounds)
		return;
	folder->searched = cache->rounds;
	if (!lc_folder_has_no(folders, folder, path, major->soname)) {
		const char *file = lc_path(&cache->arena, path, major->soname);

		if (!lstat(file, &st)) {
			add_file(cache, sought, file, st, place, major);
			return;
		}
		cannot_look_in(cache, path, errno);
	}
	if (folder->lacking != sought)
		lc_folder_lacks(folders, path);
	folder->lacking = sought;
}

/* Looks for one major in the places from some index on. */
static void seek_major(struct lc_cache *cache, struct lc_sought *sought, size_t from,
		       const struct lc_major *major)
{
	cache->rounds++;
	for (size_t p = from; p < sought->places.count; p++) {
		const struct lc_place *place = &sought->places.list[p];
		const char *below = place->site ? major->folder : NULL, *entry;
		size_t length;

		if (!place->site)
			seek_in(cache, sought, place->path, place->folder, place, major);
		while ((entry = lc_next_entry(&below, ":", &length))) {
			const char *path = lc_format(&cache->arena, "%s/%.*s", place->path,
						     (int)length, entry);

			seek_in(cache, sought, path, lc_place_folder(&cache->survey, place, path),
				place, major);
		}
	}
}

/* The file of the library's stub; NULL if there is none here. */
static const char *stub_of(const struct lc_cache *cache, const struct lc_library *library)
{
	for (size_t i = 0; i < cache->peers.count; i++)
		if (!strcmp(cache->peers.stubs[i].library->name, library->name))
			return cache->peers.stubs[i].path;
	return NULL;
}

/* Recalls what was found for a library, or begins. */
static struct lc_sought *sought_of(struct lc_cache *cache, const struct lc_library *library)
{
	struct lc_sought *sought, **slot;

	for (size_t i = 0; i < cache->sought_count; i++)
		if (!strcmp(cache->sought[i]->library->name, library->name))
			return cache->sought[i];
	sought = lc_alloc(&cache->arena, sizeof(*sought));
	slot = lc_grow(&cache->arena, &cache->sought, &cache->sought_count, sizeof(*slot));
	if (!sought || !slot) {
		cache->sought_count = 0;	/* the arena has failed: this is given back as spent */
		return NULL;
	}
	*slot = sought;
	sought->library = library;
	return sought;
}

/* Looks for a library in so many kinds of places. */
static void seek_library(struct lc_cache *cache, struct lc_sought *sought,
			 const struct lc_library *library, size_t kinds)
{
	const size_t from = sought->places.count;

	if (sought->kinds >= kinds)
		return;
	lc_places_of(&cache->arena, lc_cache_survey(cache), sought->kinds, kinds, library,
		     stub_of(cache, library), &sought->places);
	sought->kinds = kinds;
	for (size_t m = 0; m < library->major_count; m++)
		seek_major(cache, sought, from, &library->majors[m]);
}

/* Looks for earlier SONAMEs of the majors, and for majors after the newest one, for a library
 * of which nothing else is usable. */
static void seek_later(struct lc_cache *cache, struct lc_sought *sought)
{
	const struct lc_major *newest = &sought->library->majors[0];

	sought->later = true;
	for (int number = newest->major + 1; number <= newest->major + LC_LATER_MAJORS; number++) {
		const struct lc_major *later = lc_later_major(&cache->arena, newest, number);

		if (later)
			seek_major(cache, sought, 0, later);
	}
	for (size_t m = 0; m < sought->library->major_count; m++) {
		const struct lc_major *older = &sought->library->majors[m];

		while ((older = lc_older_soname(&cache->arena, older)))
			seek_major(cache, sought, 0, older);
	}
}

/* Adds what was found and is not there yet, without the file that a variable names. */
static void add_sought(struct lc_arena *arena, struct lc_search *search, struct lc_voter *voter)
{
	for (; voter->sought_count < voter->sought->count; voter->sought_count++) {
		const struct lc_candidate *found = &voter->sought->candidates[voter->sought_count];
		struct lc_candidate *candidate;
		struct lc_file *file = found->file;

		if (file->identity.inode && same_file(voter->candidates, voter->candidate_count,
						      file->identity.device, file->identity.inode))
			continue;
		candidate = add_candidate(arena, voter, file, LC_BY_SEARCH);
		if (!candidate)
			return;
		file = candidate->file;
		*candidate = *found;
		candidate->file = file;
		judge_candidate(search, voter, candidate);
		lc_trace(voter->library, "found %s by %s%s%s", file->path, file->found_by,
			 candidate->unusable ? ": " : "", candidate->unusable ? candidate->unusable : "");
	}
}

static bool has_usable(const struct lc_voter *voter)
{
	for (size_t i = 0; i < voter->candidate_count; i++)
		if (!voter->candidates[i].unusable)
			return true;
	return false;
}

static void add_found(struct lc_arena *arena, struct lc_search *search, struct lc_voter *voter)
{
	if (!voter->sought)
		voter->sought = sought_of(search->cache, voter->library);
	if (!voter->sought)
		return;
	seek_library(search->cache, voter->sought, voter->library, search->kinds);
	add_sought(arena, search, voter);
	if (voter != search->own)
		return;
	search->looked = &voter->sought->places;
	if (search->kinds < LC_KINDS || voter->sought->later || has_usable(voter))
		return;
	seek_later(search->cache, voter->sought);
	add_sought(arena, search, voter);
}

/* Returns true if a stub's library takes part in this choice. */
static bool has_vote(const struct lc_search *search, const struct lc_peer *peer)
{
	/* A library that goes with any CUDA is chosen independently of all others. */
	return peer == search->self ||
	       (lc_is_coordinated(peer->library) && lc_is_coordinated(search->self->library));
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
	const struct lc_process *process = &search->cache->process;

	for (size_t s = 0; s < search->at.voter_count; s++)
		for (size_t i = 0; i < process->user_count; i++)
			if (process->users[i].needs && !strcmp(process->users[i].needs->name,
							       search->voters[s].library->name))
				search->voters[s].callers |= process->users[i].majors;
}

/* Adds a voter for each library that has a stub in the process. */
static void add_voters(struct lc_search *search)
{
	const struct lc_peers *peers = &search->cache->peers;
	uint32_t copies = 0;	/* of this stub: the majors by whose names they are called */

	for (size_t i = 0; i < peers->count; i++) {
		struct lc_peer *peer = peers->list[i];

		/* It looks for the same library. */
		if (lc_is_copy(peer, search->self)) {
			copies |= major_by_name(search, &peers->stubs[i]);
			continue;
		}
		if (!has_vote(search, peer))
			continue;
		if (peer == search->self)
			search->at.self = search->at.voter_count;
		search->voters[search->at.voter_count++] = (struct lc_voter){
			.library = peer->library, .callers = major_by_name(search, &peers->stubs[i]),
			.loaded = (lc_version)atomic_load(&peer->loaded),
			.adaptors = peer->specifics->adaptors, .hidden = lc_hidden_by(peer->library),
		};
	}
	search->own = &search->voters[search->at.self];
	search->own->callers |= copies;
	if (search->at.settings.order == LC_OWN)
		add_callers(search);
}

/* Allocates this many voters. */
static bool make_voters(struct lc_arena *arena, struct lc_search *search, size_t voters)
{
	search->voters = lc_alloc(arena, voters * sizeof(*search->voters));
	search->at.voters = search->own = search->voters;
	return search->voters;
}

void lc_search_add(struct lc_arena *arena, struct lc_search *search, const char *path,
		   const char *found_by, enum lc_tier tier, const struct lc_major *major)
{
	struct lc_candidate *candidate = add_candidate(arena, search->own, &(struct lc_file){
						       .path = path, .found_by = found_by }, LC_BY_SEARCH);

	if (!candidate)
		return;
	candidate->tier = tier;
	examine(arena, search->cache, search->own->library, major, candidate);
	judge_candidate(search, search->own, candidate);
}

/* If reading what is known failed or ran short, so did the search. */
static void inherit_failure(struct lc_arena *arena, const struct lc_cache *cache)
{
	arena->failed |= !cache || cache->arena.failed;
	arena->starved |= cache && cache->arena.starved;
}

bool lc_search_farther(struct lc_arena *arena, struct lc_search *search)
{
	const struct lc_circumstances *at = &search->at;

	if (search->kinds == LC_KINDS || search->hidden)
		return false;
	do {
		search->kinds = lc_kinds_after(search->kinds, at->process_major || at->settings.major);
		/* A stub that has its library will not load another. */
		for (size_t s = 0; s < at->voter_count && !arena->failed; s++)
			if (!search->voters[s].loaded && !search->voters[s].hidden)
				add_found(arena, search, &search->voters[s]);
		inherit_failure(arena, search->cache);
	} while (search->kinds < LC_KINDS && !has_usable(search->own));
	return !arena->failed;
}

/* Adds what is named or in the process for each voter. */
static void search_voters(struct lc_arena *arena, struct lc_search *search)
{
	for (size_t s = 0; s < search->at.voter_count && !search->hidden; s++) {
		if (search->voters[s].hidden)
			continue;
		add_override(arena, search, &search->voters[s]);
		add_reals(arena, search, &search->voters[s]);
	}
	inherit_failure(arena, search->cache);
}

void lc_search_run(struct lc_arena *arena, struct lc_search *search, struct lc_peer *self, bool process_only)
{
	const struct lc_library *library = self->library;
	struct lc_settings settings;
	struct lc_cache *cache;

	*search = (struct lc_search){ .self = self, .hidden = lc_hidden_by(library),
				      .kinds = process_only ? LC_KINDS : 0, .last_resort_done = process_only };
	lc_settings_read(arena, &settings, library, false);
	cache = lc_cache_take(lc_has_majors(library) && settings.guard != LC_OFF &&
			      !search->hidden);
	search->cache = cache;
	inherit_failure(arena, cache);
	if (arena->failed || !make_voters(arena, search, cache->peers.count))
		return;
	search->at.settings = settings;
	lc_peers_settings(&cache->peers, &search->at.settings);
	if (lc_is_coordinated(library))
		search->at.process_major = (int)atomic_load(&cache->peers.first->process_major);
	else
		search->at.settings.major = 0;
	add_voters(search);
	search_voters(arena, search);
	if (!has_usable(search->own))
		lc_search_farther(arena, search);
	while (search->at.settings.everywhere && lc_search_farther(arena, search))
		;
}

void lc_search_real(struct lc_arena *arena, struct lc_search *search, struct lc_cache *cache,
		    const struct lc_library *library)
{
	*search = (struct lc_search){ .at.voter_count = 1, .cache = cache };
	if (!make_voters(arena, search, 1))
		return;
	search->voters[0].library = library;
	search_voters(arena, search);
}

/* Returns true if a file is a sign that a real library is here. */
static bool is_sign(const struct lc_file *file)
{
	return !file->stub && !file->left;
}

bool lc_search_found_any(const struct lc_search *search, bool listed)
{
	const struct lc_voter *own = search->own;

	for (size_t i = 0; i < own->candidate_count; i++)
		if (own->candidates[i].origin == LC_BY_OVERRIDE ||
		    (is_sign(own->candidates[i].file) &&
		     (!listed || lc_listed_major(own->library, own->candidates[i].major))))
			return true;
	return false;
}

/* Returns true if a stub was found under the SONAME of this major. */
static bool stub_has_name(const struct lc_search *search, const struct lc_major *major)
{
	const struct lc_voter *own = search->own;

	for (size_t i = 0; i < own->candidate_count; i++)
		if (own->candidates[i].file->stub && own->candidates[i].major == major->major)
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
	const struct lc_process *process = &search->cache->process;
	struct lc_survey *survey = &search->cache->survey;
	const Dl_serinfo *path = search->looked->loader_path;

	if (process->audited || !process->own_dlopen || !survey->ldcache.known ||
	    !is_of_system(process->libc))
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
	struct lc_survey *survey = lc_cache_survey(search->cache);
	const struct lc_library *library = search->own->library;

	lc_survey_ldcache(survey);
	for (size_t m = 0; m < library->major_count; m++)
		if (!stub_has_name(search, &library->majors[m]) &&
		    !lc_dlopen_is_safe(folders, search->looked->loader_path, &survey->ldcache,
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
	const size_t before = search->own->candidate_count;
	const struct lc_library *library = search->own->library;
	struct lc_survey *survey;

	if (search->last_resort_done || !search->looked || lc_search_found_any(search, true))
		return false;
	search->last_resort_done = true;
	survey = &search->cache->survey;
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
		/* If the candidate is chosen, it is opened again. */
		dlclose(handle);
	}
	inherit_failure(arena, search->cache);
	return search->own->candidate_count > before;
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
