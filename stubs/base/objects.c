/* SPDX-License-Identifier: MIT */
/* objects.c - the objects that ld.so has loaded, whatever stands in its functions' way */
#include "objects.h"

#include <stdatomic.h>
#include <string.h>

#include "auxiliary.h"
#include "glibc.h"

typedef int iterator(lc_visit_object *visit, void *data);

/* ---- an object's headers ---- */

/* Describes an object by its link_map.  Returns false for one whose headers are not in memory, as
 * those of a program that was linked statically. */
static bool describe_object(const struct link_map *map, struct dl_phdr_info *info)
{
	const ElfW(Ehdr) *header;
	Dl_info found;

	if (!map->l_ld || !dladdr1(map->l_ld, &found, NULL, 0) || !found.dli_fbase)
		return false;
	header = found.dli_fbase;
	if (memcmp(header->e_ident, ELFMAG, SELFMAG))
		return false;
	info->dlpi_addr = map->l_addr;
	info->dlpi_name = map->l_name;
	info->dlpi_phdr = (const ElfW(Phdr) *)((const char *)header + header->e_phoff);
	info->dlpi_phnum = header->e_phnum;
	return true;
}

bool lc_object_holds(const struct dl_phdr_info *info, const void *address)
{
	const uintptr_t at = (uintptr_t)address - info->dlpi_addr;

	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && at - p->p_vaddr < p->p_memsz)
			return true;
	}
	return false;
}

/* ---- glibc's own functions ---- */

/* They are in the program, which was linked statically.  A libc.so.6 that is loaded was brought in by a
 * dlopen(), and ld.so has prepared nothing for it. */
static _Atomic bool are_here;

/* Finds a function in a library of glibc; NULL: it is not there. */
static void *find_in(const char *soname, const char *name)
{
	void *handle = dlopen(soname, RTLD_LAZY | RTLD_NOLOAD), *address = NULL;
	struct dl_phdr_info info;
	struct lc_names names;
	struct lc_image image;
	struct link_map *map;

	if (!handle)
		return NULL;
	if (!dlinfo(handle, RTLD_DI_LINKMAP, &map) && describe_object(map, &info) &&
	    !lc_image_loaded(&image, &info)) {
		lc_names_of(&image, LC_GLIBC_FIRST, &names);
		if (names.strings && !lc_names_find(&names, name, &address))
			address = NULL;
	}
	dlclose(handle);
	return address;
}

/* Until 2.34 a part of glibc's functions was in a library of its own. */
static void *find_own(const char *name)
{
	void *address;

	if (atomic_load(&are_here))
		return NULL;
	address = find_in("libc.so.6", name);
	return address ? address : find_in("libdl.so.2", name);
}

void *lc_ask_loader(void *handle, const char *name, const char *node)
{
	static void *_Atomic own[2];
	void *address = atomic_load(&own[!node]);
	void *(*versioned)(void *, const char *, const char *) = dlvsym;
	void *(*plain)(void *, const char *) = dlsym;

	if (!address)
		address = find_own(node ? "dlvsym" : "dlsym");
	if (address && node)
		memcpy(&versioned, &address, sizeof(versioned));
	else if (address)
		memcpy(&plain, &address, sizeof(plain));
	atomic_store(&own[!node], address);
	return node ? versioned(handle, name, node) : plain(handle, name);
}

/* ---- the thread sanitizer of a program ---- */

typedef void annotation(const char *file, int line);

/* What it exports for code that it shall not judge; NULL: there is none. */
static struct {
	annotation *_Atomic begin, *_Atomic end;
} annotations;

static void annotate(annotation *const _Atomic *which)
{
	annotation *function = atomic_load(which);

	if (function)
		function(__FILE__, __LINE__);
}

/* ---- the walk ---- */

static annotation *find_annotation(const struct lc_names *names, const char *name)
{
	annotation *function = NULL;
	void *address;

	if (lc_names_find(names, name, &address) && address)
		memcpy(&function, &address, sizeof(function));
	return function;
}

/* Whoever has a dl_iterate_phdr() of its own may be a thread sanitizer.  dlsym() would free the
 * text of an error, and who interposes free() may ask it in turn. */
static void find_annotations(const struct dl_phdr_info *info)
{
	annotation *begin, *end;
	struct lc_names names;
	struct lc_image image;

	if (lc_image_loaded(&image, info))
		return;
	lc_names_of(&image, NULL, &names);
	if (!names.strings)
		return;
	begin = find_annotation(&names, "AnnotateIgnoreReadsBegin");
	end = find_annotation(&names, "AnnotateIgnoreReadsEnd");
	if (!begin || !end)
		return;
	atomic_store(&annotations.end, end);
	atomic_store(&annotations.begin, begin);
}

/* ld.so starts any other program. */
static bool is_static_program(const struct dl_phdr_info *info)
{
	for (size_t i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_INTERP)
			return false;
	return !*info->dlpi_name;
}

/* Ends the walk at the object with the dl_iterate_phdr() that this code calls.  Of others the
 * name is not read: that is ld.so's memory, which a thread sanitizer does not know as such yet. */
static int is_own(struct dl_phdr_info *info, size_t size, void *data)
{
	const char *slash;

	(void)size;
	if (!lc_object_holds(info, (void *)dl_iterate_phdr))
		return 0;
	slash = strrchr(info->dlpi_name, '/');
	atomic_store(&are_here, is_static_program(info));
	*(bool *)data = atomic_load(&are_here) || (slash && !strcmp(slash, "/libc.so.6"));
	if (!*(bool *)data)
		find_annotations(info);
	return 1;
}

/*
 * The objects of a program that was linked statically, and has opened this one: libc.so.6, which
 * came with it, lists none, and that of glibc 2.31 follows a null pointer.  Nothing locks the list
 * against a dlopen() in another thread.
 */
static int walk_maps(lc_visit_object *visit, void *data)
{
	struct dl_phdr_info info = { .dlpi_adds = 0 };
	struct link_map *map, *start;
	Dl_info here;
	int result = 0;

	if (!dladdr1((void *)walk_maps, &here, (void **)&start, RTLD_DL_LINKMAP))
		return 0;
	while (start->l_prev)
		start = start->l_prev;
	for (map = start; map; map = map->l_next)
		info.dlpi_adds++;
	for (map = start; map && !result; map = map->l_next)
		if (describe_object(map, &info))
			result = visit(&info, sizeof(info), data);
	return result;
}

static iterator *find_iterator(void)
{
	iterator *found = dl_iterate_phdr;
	bool seen = false;
	void *address;

	if (lc_is_in_static_program())
		return walk_maps;
	dl_iterate_phdr(is_own, &seen);
	/* The thread sanitizer learns from its own dl_iterate_phdr() what ld.so has written. */
	if (seen || LC_THREAD_SANITIZED)
		return found;
	address = find_own("dl_iterate_phdr");
	if (address)
		memcpy(&found, &address, sizeof(found));
	return found;
}

static iterator *the_iterator(void)
{
	static iterator *_Atomic known;
	iterator *walk = atomic_load(&known);

	if (!walk) {
		walk = find_iterator();
		atomic_store(&known, walk);
	}
	return walk;
}

int lc_each_object(lc_visit_object *visit, void *data)
{
	iterator *walk = the_iterator();
	int result;

	lc_hide_accesses();
	result = walk(visit, data);
	lc_show_accesses();
	return result;
}

void lc_hide_accesses(void)
{
	the_iterator();
	annotate(&annotations.begin);
}

void lc_show_accesses(void)
{
	annotate(&annotations.end);
}
