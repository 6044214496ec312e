/* SPDX-License-Identifier: MIT */
/* open.c - chooses and loads one of the files that a search found */
#include "open.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>

#include "../base/count.h"
#include "../base/glibc.h"
#include "asks.h"
#include "dl.h"
#include "unknown.h"

/* Returns why dlopen() failed. */
static const char *failure_text(struct lc_arena *arena, const char *said, const char *otherwise,
				const struct lc_companions *brought)
{
	const char *others = lc_join(arena, brought->others.list, brought->others.count, ", ");

	return lc_format(arena, "cannot be loaded: %s%s%s", said ? lc_printable(arena, said) : otherwise,
			 *others ? "; " : "", others);
}

/* Marks a candidate as unusable, for this reason. */
static void reject_candidate(const struct lc_library *library, struct lc_candidate *candidate,
			     const char *why)
{
	candidate->unusable = why;
	lc_trace(library, "%s %s", candidate->file->path, why);
}

/* Tries the next path to the same file, beside which may lie what it needs.  Returns false if there
 * is none. */
static bool use_other_path(const struct lc_library *library, struct lc_file *file, const char *said)
{
	const struct lc_other_path *other = file->other_paths;

	if (!other)
		return false;
	lc_trace(library, "%s cannot be loaded: %s", file->path, said ? said : "dlopen() does not say why");
	file->path = other->path;
	file->found_by = other->found_by;
	file->other_paths = other->next;
	return true;
}

/*
 * Loads the file of a candidate.  At first with all functions bound: a call of one that a needed
 * library lacks would end the process.  On failure marks the candidate as unusable and returns NULL.
 */
static void *open_candidate(struct lc_arena *arena, struct lc_candidate *candidate, struct lc_found *found,
			    struct lc_image *image)
{
	bool loaded = candidate->origin == LC_BY_PROCESS;
	struct link_map *map;
	const char *why, *said = NULL;
	void *handle;

	handle = lc_dlopen(arena, candidate->file->path,
			   (candidate->unbound ? RTLD_LAZY : RTLD_NOW) | RTLD_LOCAL |
			   (loaded ? RTLD_NOLOAD : 0), &said);
	/* dlopen() may be interposed, and the file may be another one by now. */
	if (handle && !dlinfo(handle, RTLD_DI_LINKMAP, &map) &&
	    lc_process_major(map, found->library, image) == candidate->major)
		return handle;
	if (handle) {
		dlclose(handle);
		why = "is not what dlopen() loaded for it";
	} else if (loaded) {
		why = failure_text(arena, said, "it has just been unloaded", &found->companions);
	} else if (use_other_path(found->library, candidate->file, said)) {
		return NULL;
	} else {
		why = failure_text(arena, said, "dlopen() does not say why", &found->companions);
		if (!candidate->unbound)
			candidate->unbound = why;
		found->broken = true;
	}
	reject_candidate(found->library, candidate, why);
	return NULL;
}

/*
 * Makes candidates usable again of which dlopen() did not bind all functions, once no other candidate of
 * their major is left.  They are bound lazily, as ld.so binds what a program is linked to: perhaps
 * nobody calls what is missing.
 */
static bool bind_lazily(struct lc_search *search, int chosen)
{
	const struct lc_voter *voter = search->own;
	bool any = false;

	for (size_t i = 0; i < voter->candidate_count; i++) {
		struct lc_candidate *candidate = &voter->candidates[i];

		if (!candidate->unbound || candidate->unusable != candidate->unbound ||
		    (chosen >= 0 && candidate->major == voter->candidates[chosen].major))
			continue;
		candidate->unusable = NULL;
		any = true;
	}
	return any;
}

/* Returns true if ld.so says of a name of this object that it is in another one. */
static bool is_led_away(const char *name, const char *node)
{
	struct link_map *own;
	Dl_info here, there;
	void *address;

	if (!dladdr1((void *)is_led_away, &here, (void **)&own, RTLD_DL_LINKMAP))
		return false;
	address = lc_ask_loader(own, name, node);
	return address && (!dladdr1(address, &there, NULL, 0) || there.dli_fbase != here.dli_fbase);
}

/* So that an auditor wraps a function once, also where it has led the program's call to a function of
 * its own, which calls the stub. */
void *lc_ask_auditor(const struct lc_found *in, const char *name, void *address)
{
	void *asked = lc_ask_loader(in->handle, name, in->node);

	return asked != address && is_led_away(name, in->node) ? address : asked;
}

lc_function lc_find_found(const char *name, void *found)
{
	return lc_find_hashed(name, lc_hash(name, strlen(name)), found);
}

void lc_close_found(struct lc_found *found)
{
	if (found->handle)
		dlclose(found->handle);
	lc_drop_companions(&found->companions);
	found->handle = NULL;
	found->names.strings = NULL;
}

/* Returns the version that the library reports, else what its exports prove, else the
 * oldest of its major.  A library without majors has to report one, which NVIDIA's
 * link-time stubs cannot. */
static lc_version find_version(struct lc_found *found, lc_version_look *version)
{
	const struct lc_library *library = found->library;
	int major = found->major->major;
	lc_version said = version ? version(lc_find_found, found, major) : 0;

	if (!lc_has_majors(library) || (said && LC_MAJOR(said) == major))
		return said;
	for (size_t i = 0; i < library->since_count; i++) {
		const struct lc_since *since = &library->since[i];

		if (LC_MAJOR(since->version) == major &&
		    lc_find_found(library->names + since->name, found))
			return since->version;
	}
	return found->major->oldest;
}

/* Sets *data and ends the loop unless `soname` is of glibc or gcc, and so has no node of a
 * CUDA library. */
static bool is_other(const char *soname, void *data)
{
	static const char common[][24] = {
		"libc.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "libm.so.6", "libgcc_s.so.1",
		"libstdc++.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1",
	};

	for (size_t i = 0; i < LC_COUNT(common); i++)
		if (!strcmp(soname, common[i]))
			return false;
	return *(bool *)data = true;
}

/*
 * Names are looked up in the library's own hash table, for a fraction of what dlvsym() costs, and
 * whatever has become of dlsym(): those that interpose it look names up in the global scope, too,
 * where a stub has them.  ld.so is asked where it may answer differently.
 */
static void prepare_names(const struct lc_search *search, struct lc_found *found,
			  const struct lc_image *image)
{
	found->audited = search->cache->process.audited;
	lc_image_needed(image, is_other, &found->needs_others);
	/* dlvsym() finds nothing in a file without nodes, where ld.so finds all. */
	found->node = lc_has_nodes(found->library) && lc_image_has(image, DT_VERDEF) ?
		      found->major->soname : NULL;
	if (lc_image_has(image, DT_FILTER) || lc_image_has(image, DT_AUXILIARY))
		return;
	lc_names_of(image, found->node, &found->names);
}

static bool is_of_glibc(const char *node, void *data)
{
	(void)data;
	return !node || !strncmp(node, "GLIBC_", 6);
}

/* Sets *data and ends the loop if the symbol registers exit handlers. */
static bool registers_handler(const struct lc_undefined *symbol, void *data)
{
	return *(bool *)data = !strcmp(symbol->name, *symbol->name == '_' ? "__cxa_atexit" : "on_exit");
}

/*
 * Returns true if a loaded object may have registered exit handlers; destructors of static objects
 * count as such.  A library without any can still be called at exit.
 */
static bool may_shut_down(const struct lc_found *found, const struct lc_image *image)
{
	bool registered = false;

	return found->needs_others || found->companions.count ||
	       lc_image_undefined(image, is_of_glibc, registers_handler, &registered) || registered;
}

/* Loads the chosen candidate. */
static bool open_choice(struct lc_arena *arena, struct lc_search *search,
			lc_version_look *version, struct lc_found *found)
{
	struct lc_candidate *candidate = &search->own->candidates[found->choice.candidate];
	struct lc_image image;

	found->major = lc_listed_major(found->library, candidate->major);
	if (candidate->origin != LC_BY_PROCESS)
		lc_bring_companions(arena, search, candidate, found->choice.common, &found->companions);
	found->handle = open_candidate(arena, candidate, found, &image);
	if (!found->handle) {
		lc_drop_companions(&found->companions);
		return false;
	}
	prepare_names(search, found, &image);
	found->shuts_down = may_shut_down(found, &image);
	found->version = find_version(found, version);
	candidate->version = found->version;
	candidate->latest = version ? found->version :
				   lc_latest_version(found->library, found->version);
	if (found->version && !lc_why_excluded(arena, &search->at, search->own, candidate))
		return true;
	lc_close_found(found);
	/* What is now known to be excluded is not chosen again. */
	if (!found->version)
		reject_candidate(found->library, candidate,
				 "is a stand-in for linking: its functions do nothing");
	return false;
}

/*
 * Agrees on a major with the other stubs.  Returns false if they have agreed on
 * another one since the search read it; then the choice has to be made again.
 */
static bool agree_on_major(struct lc_search *search, const struct lc_found *found)
{
	struct lc_circumstances *at = &search->at;
	int major = found->library->own_majors ? 0 : found->major->major;
	uint32_t agreed = 0;

	if (found->choice.common)
		major = found->choice.common;
	if (at->settings.guard == LC_OFF || at->process_major || !major ||
	    !lc_is_coordinated(found->library))
		return true;
	if (atomic_compare_exchange_strong(&search->cache->peers.first->process_major, &agreed,
					   (uint32_t)major) ||
	    (int)agreed == major)
		return true;
	at->process_major = (int)agreed;
	return false;
}

void lc_open_found(struct lc_arena *arena, struct lc_search *search, lc_driver_look *look,
		   lc_version_look *version, struct lc_found *found)
{
	static const struct lc_choice none = { .candidate = -1, .refusal = LC_MISSING };
	bool asked = false, asked_in_folders = false;

	*found = (struct lc_found){ .choice = none };
	if (arena->failed)
		return;
	found->library = search->own->library;
	if (search->looked)
		lc_prefer_set(arena, search);
	for (;;) {
		if (look && !look(arena, search)) {
			found->choice = none;
			return;
		}
		found->choice = lc_choose(arena, &search->at);
		if (arena->failed)
			return;
		/* What the driver runs may be here, and was not seen for a moment's shortage. */
		if (arena->starved && found->choice.objected) {
			found->choice = none;
			return;
		}
		if (bind_lazily(search, found->choice.candidate))
			continue;
		if (!lc_choice_stands(arena, &search->at, &found->choice,
				      lc_tier_after(search->kinds)) &&
		    lc_search_farther(arena, search)) {
			lc_prefer_set(arena, search);
			continue;
		}
		if (!asked_in_folders && lc_ask_in_folders(arena, search, found->choice.common)) {
			asked_in_folders = true;
			continue;
		}
		if (found->choice.candidate < 0) {
			if (!asked && lc_ask_libraries(arena, search, found->choice.common)) {
				asked = true;
				continue;
			}
			if (!lc_search_last_resort(arena, search))
				return;
		} else if (open_choice(arena, search, version, found)) {
			if (agree_on_major(search, found))
				return;
			lc_close_found(found);
		}
	}
}
