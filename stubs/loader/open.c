/* SPDX-License-Identifier: MIT */
/* open.c - chooses and loads one of the files that a search found */
#include "open.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>

#include "../base/glibc.h"
#include "../base/objects.h"
#include "dl.h"
#include "unknown.h"

/* Returns why dlopen() failed. */
static const char *failure(struct lc_arena *arena, const char *said, const char *otherwise,
			   const struct lc_companions *brought)
{
	const char *others = lc_join(arena, brought->others.list, brought->others.count, ", ");

	return lc_format(arena, "cannot be loaded: %s%s%s", said ? lc_printable(arena, said) : otherwise,
			 *others ? "; " : "", others);
}

/* Marks an option as unusable, for this reason. */
static void reject(struct lc_search *search, int option, const char *why)
{
	size_t self = search->at.self;

	search->seats[self].options[option].unusable = why;
	lc_trace(search->seats[self].library, "%s %s", search->files[self][option].path, why);
}

/* Goes on to another path to the same file, beside which may lie what it needs.  Returns false if
 * there is none. */
static bool take_next_link(const struct lc_library *library, struct lc_file *file, const char *said)
{
	const struct lc_link *link = file->links;

	if (!link)
		return false;
	lc_trace(library, "%s cannot be loaded: %s", file->path, said ? said : "dlopen() does not say why");
	file->path = link->path;
	file->found_by = link->found_by;
	file->links = link->next;
	return true;
}

/*
 * Loads the file of an option.  At first with all functions bound: a call of one that a needed
 * library lacks would end the process.  On failure marks the option as unusable and returns NULL.
 */
static void *open_option(struct lc_arena *arena, struct lc_search *search, int index,
			 struct lc_found *found, struct lc_image *image)
{
	size_t self = search->at.self;
	struct lc_option *option = &search->seats[self].options[index];
	bool loaded = option->origin == LC_BY_PROCESS;
	struct link_map *map;
	const char *why, *said = NULL;
	void *handle;

	handle = lc_dlopen(arena, search->files[self][index].path,
			   (option->unbound ? RTLD_LAZY : RTLD_NOW) | RTLD_LOCAL |
			   (loaded ? RTLD_NOLOAD : 0), &said);
	/* dlopen() may be interposed, and the file may be another one by now. */
	if (handle && !dlinfo(handle, RTLD_DI_LINKMAP, &map) &&
	    lc_process_major(map, search->seats[self].library, image) == option->major)
		return handle;
	if (handle) {
		dlclose(handle);
		why = "is not what dlopen() loaded for it";
	} else if (loaded) {
		why = failure(arena, said, "it has just been unloaded", &found->companions);
	} else if (take_next_link(search->seats[self].library, &search->files[self][index], said)) {
		return NULL;
	} else {
		why = failure(arena, said, "dlopen() does not say why", &found->companions);
		if (!option->unbound)
			option->unbound = why;
		found->broken = true;
	}
	reject(search, index, why);
	return NULL;
}

/*
 * Makes options usable again of which dlopen() did not bind all functions, once no other option of
 * their major is left.  They are bound lazily, as ld.so binds what a program is linked to: perhaps
 * nobody calls what is missing.
 */
static bool bind_lazily(struct lc_search *search, int chosen)
{
	const struct lc_seat *seat = &search->seats[search->at.self];
	bool any = false;

	for (size_t i = 0; i < seat->option_count; i++) {
		struct lc_option *option = &seat->options[i];

		if (!option->unbound || option->unusable != option->unbound ||
		    (chosen >= 0 && option->major == seat->options[chosen].major))
			continue;
		option->unusable = NULL;
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

lc_function lc_find_found(const char *name, void *found)
{
	const struct lc_found *in = found;
	lc_function function;
	void *address, *asked;

	if (!in->names.strings || !lc_names_find(&in->names, name, &address) ||
	    (!address && in->needs_others)) {
		address = lc_ask_loader(in->handle, name, in->node);
	} else if (in->audited) {
		/* So that an auditor wraps a function once, also where it has led the program's
		 * call to a function of its own, which calls the stub. */
		asked = lc_ask_loader(in->handle, name, in->node);
		if (asked != address && !is_led_away(name, in->node))
			address = asked;
	}
	memcpy(&function, &address, sizeof(function));
	return function;
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

	for (size_t i = 0; i < sizeof(common) / sizeof(*common); i++)
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
	found->audited = search->known->process.audited;
	/* dlvsym() finds nothing in a file without nodes, where ld.so finds all. */
	found->node = lc_has_nodes(found->library) && lc_image_has(image, DT_VERDEF) ?
		      found->major->soname : NULL;
	if (lc_image_has(image, DT_FILTER) || lc_image_has(image, DT_AUXILIARY))
		return;
	lc_names_of(image, found->node, &found->names);
	lc_image_needed(image, is_other, &found->needs_others);
}

static bool is_of_glibc(const char *node, void *data)
{
	(void)data;
	return !node || !strncmp(node, "GLIBC_", 6);
}

/* Sets *data and ends the loop if the symbol registers exit handlers. */
static bool registers(const struct lc_undefined *symbol, void *data)
{
	return *(bool *)data = !strcmp(symbol->name, "__cxa_atexit") ||
			       !strcmp(symbol->name, "on_exit");
}

/*
 * Returns true if a loaded object may have registered exit handlers; destructors of static objects
 * count as such.  A library without any can still be called at exit.
 */
static bool may_shut_down(const struct lc_found *found, const struct lc_image *image)
{
	bool others = false, registered = false;

	lc_image_needed(image, is_other, &others);
	return others || found->companions.count ||
	       lc_image_undefined(image, is_of_glibc, registers, &registered) || registered;
}

/* Loads the chosen option. */
static bool open_choice(struct lc_arena *arena, struct lc_search *search,
			lc_version_look *version, struct lc_found *found)
{
	int chosen = found->choice.option;
	struct lc_option *option = &search->seats[search->at.self].options[chosen];
	struct lc_image image;

	found->major = lc_listed_major(found->library, option->major);
	if (option->origin != LC_BY_PROCESS)
		lc_bring_companions(arena, search, option,
				    &search->files[search->at.self][chosen], found->choice.common,
				    &found->companions);
	found->handle = open_option(arena, search, chosen, found, &image);
	if (!found->handle) {
		lc_drop_companions(&found->companions);
		return false;
	}
	prepare_names(search, found, &image);
	found->shuts_down = may_shut_down(found, &image);
	found->version = find_version(found, version);
	option->version = found->version;
	option->latest = version ? found->version :
				   lc_latest_version(found->library, found->version);
	if (found->version && !lc_why_excluded(arena, &search->at,
							 &search->seats[search->at.self], option))
		return true;
	lc_close_found(found);
	/* What is now known to be excluded is not chosen again. */
	if (!found->version)
		reject(search, chosen, "is a stand-in for linking: its functions do nothing");
	return false;
}

/*
 * Agrees on a major with the other stubs.  Returns false if they have agreed on
 * another one since the search read it; then the choice has to be made again.
 */
static bool agree(struct lc_search *search, const struct lc_found *found)
{
	struct lc_circumstances *at = &search->at;
	int major = found->library->own_majors ? 0 : found->major->major;
	uint32_t agreed = 0;

	if (found->choice.common)
		major = found->choice.common;
	if (at->settings.guard == LC_OFF || at->process_major || !major ||
	    !lc_is_coordinated(found->library))
		return true;
	if (atomic_compare_exchange_strong(&search->first->process_major, &agreed,
					   (uint32_t)major) ||
	    (int)agreed == major)
		return true;
	at->process_major = (int)agreed;
	return false;
}

void lc_open_found(struct lc_arena *arena, struct lc_search *search, lc_driver_look *look,
		   lc_version_look *version, struct lc_found *found)
{
	static const struct lc_choice none = { .option = -1, .refusal = LC_MISSING };
	bool asked = false, asked_in_folders = false;

	*found = (struct lc_found){ .choice = none };
	if (arena->failed)
		return;
	found->library = search->seats[search->at.self].library;
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
		if (bind_lazily(search, found->choice.option))
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
		if (found->choice.option < 0) {
			if (!asked && lc_ask_libraries(arena, search, found->choice.common)) {
				asked = true;
				continue;
			}
			if (!lc_search_last_resort(arena, search))
				return;
		} else if (open_choice(arena, search, version, found)) {
			if (agree(search, found))
				return;
			lc_close_found(found);
		}
	}
}
