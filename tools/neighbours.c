/* SPDX-License-Identifier: MIT */
/* neighbours.c - what lies in the wheel or folder that a file is in, and what of it ld.so finds */
#include "neighbours.h"

#include <elf.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../link/tables/requirement.h"
#include "../stubs/base/count.h"
#include "../stubs/base/regular.h"
#include "directory.h"
#include "ready.h"
#include "zip.h"

/* ---- names ---- */

static int compare(const void *one, const void *other)
{
	return strcmp(((const struct neighbour *)one)->key, ((const struct neighbour *)other)->key);
}

static void sort(struct neighbour_list *all)
{
	if (all->count)
		qsort(all->list, all->count, sizeof(*all->list), compare);
}

static void enlist(struct neighbours *all, struct neighbour_list *list, struct neighbour neighbour)
{
	struct neighbour *place = lc_grow(&all->arena, &list->list, &list->count, sizeof(*place));

	if (place)
		*place = neighbour;
}

/* The first of this key; NULL if there is none. */
static const struct neighbour *matching(const struct neighbour_list *all, const char *key)
{
	struct neighbour wanted = { .key = key };
	const struct neighbour *found = !all->count ? NULL :
		bsearch(&wanted, all->list, all->count, sizeof(wanted), compare);

	while (found && found > all->list && !strcmp(found[-1].key, key))
		found--;
	return found;
}

static const struct neighbour *next(const struct neighbour_list *all, const struct neighbour *one)
{
	return one + 1 < all->list + all->count && !strcmp(one[1].key, one->key) ? one + 1 : NULL;
}

bool neighbours_have(const struct neighbours *all, const char *name)
{
	return matching(&all->names, lc_basename(name));
}

/* ---- what a wheel requires ---- */

static bool is_own(const char *name, const char *file)
{
	const char *slash = strchr(name, '/');

	return slash && slash - name > 10 && !memcmp(slash - 10, ".dist-info", 10) && !strcmp(slash + 1, file);
}

static bool is_metadata(const char *name)
{
	return is_own(name, "METADATA");
}

static bool is_tagged(const char *name)
{
	return is_own(name, "WHEEL");
}

/* Returns true if one of the tags in a text is of what is installed on Linux. */
static bool is_linux(const char *text, size_t size)
{
	static const char *const platforms[] = { "any", "linux_", "manylinux", "musllinux" };

	for (size_t i = 1; i < size; i++)
		for (size_t j = 0; j < LC_COUNT(platforms); j++) {
			size_t length = strlen(platforms[j]);

			if ((text[i - 1] == '-' || text[i - 1] == '.') && length <= size - i &&
			    !memcmp(text + i, platforms[j], length))
				return true;
		}
	return false;
}

/* Notes whether WHEEL has a tag of Linux. */
static void read_tags(const struct zip_member *member, void *data)
{
	const char *text = member->bytes, *end = text + member->size, *stop;
	struct neighbours *all = data;

	for (; text < end; text = stop + 1) {
		stop = memchr(text, '\n', (size_t)(end - text));
		stop = stop ? stop : end;
		if (stop - text > 4 && !strncasecmp(text, "tag:", 4))
			all->foreign &= !is_linux(text, (size_t)(stop - text));
	}
}

/* The most bytes before the description, in which requirements are. */
#define MOST_HEADER (1 << 20)

/* Notes whether a wheel requires the package that has the stubs. */
static void read_metadata(const struct zip_member *member, void *data)
{
	const char *text = member->bytes, *end = text + member->size, *stop, *cr;
	struct lk_requirement required;
	struct neighbours *all = data;
	bool requires = false, ambiguous = false;

	for (; text < end; text = stop + 1) {
		stop = memchr(text, '\n', (size_t)(end - text));
		stop = stop ? stop : end;
		if (stop - text <= (*text == '\r'))	/* the description follows */
			break;
		cr = memchr(text, '\r', (size_t)(stop - text));
		ambiguous |= (cr && (cr + 1 < stop || stop == end)) || (requires && (*text == ' ' || *text == '\t'));
		requires = stop - text >= 14 && !strncasecmp(text, "requires-dist:", 14);
		if (lk_requirement_read(text, (size_t)(stop - text), "lazycuda", &required))
			all->requires_stubs |= required.machines;
	}
	if (text - (const char *)member->bytes > MOST_HEADER)
		all->wrong = "has a METADATA with more than 1 MiB before the description";
	else if (ambiguous)
		all->wrong = "has a METADATA whose lines end where not all readers see it";
}

/* ---- what is there ---- */

static void gather(const char *name, uint64_t entry, void *data)
{
	struct neighbours *all = data;
	const char *member = lc_format(&all->arena, "%s", name), *installed = path_in_site(member);

	enlist(all, &all->names, (struct neighbour){ .key = lc_basename(member), .entry = entry });
	if (installed)
		enlist(all, &all->installed, (struct neighbour){ .key = installed, .entry = entry });
}

void neighbours_of_wheel(struct neighbours *all, const char *path, const void *bytes, size_t size)
{
	const char *name = strchr(lc_basename(path), '-'), *tags = name ? strchr(name + 1, '-') : NULL;

	/* Of what a wheel holds, a search looks at each byte some times at most. */
	*all = (struct neighbours){ .wheel = bytes, .size = size, .steps = 10 * size };
	zip_names(bytes, size, gather, all);
	zip_read_one(bytes, size, is_metadata, read_metadata, all);
	all->foreign = tags && !is_linux(tags, strlen(tags));
	zip_read_one(bytes, size, is_tagged, read_tags, all);
	sort(&all->names);
	sort(&all->installed);
}

void neighbours_of_folder(struct neighbours *all, const char *path)
{
	char *paths[] = { (char *)path, NULL };
	FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
	FTSENT *entry;

	*all = (struct neighbours){ .wheel = NULL };
	while (tree && (entry = fts_read(tree))) {
		const char *copy;

		if (entry->fts_info != FTS_F && entry->fts_info != FTS_SL)
			continue;
		copy = lc_format(&all->arena, "%s", entry->fts_path);
		enlist(all, &all->names, (struct neighbour){ .key = lc_basename(copy), .path = copy });
	}
	if (tree)
		fts_close(tree);
	sort(&all->names);
}

void neighbours_free(struct neighbours *all)
{
	lc_arena_free(&all->arena);
}

static bool is_same(const unsigned char *one, const unsigned char *other, size_t at, size_t size)
{
	return !memcmp(one + at, other + at, size);
}

/* Would ld.so accept this file in a process whose file begins with `start`? */
static enum serves serves_process(const unsigned char *start, const unsigned char *library)
{
	uint16_t type;

	if (memcmp(library, ELFMAG, SELFMAG))
		return SPOILS;
	if (!is_same(library, start, EI_CLASS, 1) ||
	    !is_same(library, start, offsetof(Elf64_Ehdr, e_machine), sizeof(Elf64_Half)))
		return SERVES_NOT;
	memcpy(&type, library + offsetof(Elf64_Ehdr, e_type), sizeof(type));
	return type == ET_DYN && is_same(library, start, EI_DATA, 1) ? SERVES : SPOILS;
}

static enum serves judge_neighbour(const struct neighbours *all, const struct neighbour *one,
				   const struct searcher *from)
{
	unsigned char start[ELF_START];
	struct stat st;
	bool read;
	int fd;

	if (all->wheel)
		return zip_start(all->wheel, all->size, one->entry, start, sizeof(start)) ?
		       serves_process(from->start, start) : SPOILS;
	fd = lc_open_regular(one->path, &st);
	if (fd < 0)
		return SERVES_NOT;
	read = pread(fd, start, sizeof(start), 0) == sizeof(start);
	close(fd);
	return read ? serves_process(from->start, start) : SPOILS;
}

static enum serves anywhere(const struct neighbours *all, const struct searcher *from, const char *name)
{
	const struct neighbour *found = matching(&all->names, name);

	while (found && judge_neighbour(all, found, from) != SERVES)
		found = next(&all->names, found);
	return found ? SERVES : SERVES_NOT;
}

/* ---- run paths ---- */

/* Removes "/./", "//" and "/../" from a path that begins with a slash; false if it leads out. */
static bool tidy(char *path)
{
	char *to = path;

	for (char *from = path; *from;) {
		size_t length = 1 + strcspn(from + 1, "/");

		if (length == 3 && !memcmp(from, "/..", 3)) {
			if (to == path)
				return false;
			while (*--to != '/')
				;
		} else if (length > 2 || (length == 2 && from[1] != '.')) {
			memmove(to, from, length);
			to += length;
		}
		from += length;
	}
	*to = 0;
	return true;
}

/* The wheel's file to which an entry of the run path leads; NULL if there is none. */
static const struct neighbour *led_to(const struct neighbours *all, const char *installed,
				      const char *entry, size_t length, const char *name)
{
	const char *slash = strrchr(installed, '/');
	size_t origin = !strncmp(entry, "$ORIGIN", 7) ? 7 : !strncmp(entry, "${ORIGIN}", 9) ? 9 : 0;
	const struct neighbour *found;
	char *path;

	if (!origin || (origin < length && entry[origin] != '/') || origin > length ||
	    asprintf(&path, "/%.*s%.*s/%s", slash ? (int)(slash - installed) : 0, installed,
		     (int)(length - origin), entry + origin, name) < 0)
		return NULL;
	found = tidy(path) ? matching(&all->installed, path + 1) : NULL;
	free(path);
	return found;
}

static enum serves on_run_path(const struct neighbours *all, const struct searcher *from,
			       const char *name)
{
	const char *entry = from->installed ? from->run_path : NULL;
	size_t length;

	for (; entry && *entry; entry += length + (entry[length] == ':')) {
		const struct neighbour *found;
		enum serves serves;

		length = strcspn(entry, ":");
		found = led_to(all, from->installed, entry, length, name);
		serves = found ? judge_neighbour(all, found, from) : SERVES_NOT;
		if (serves != SERVES_NOT)
			return serves;
	}
	return SERVES_NOT;
}

/* ---- what is loaded before ---- */

enum {
	MAX_LOADERS = 4096,	/* more than any wheel has */
	MAX_NEEDED = 1024,
	A_LOOK = 256,		/* steps that it takes to find out whose a name is */
	MAX_TEXT = 1 << 16	/* bytes of a run path */
};

struct loader {
	struct searcher from;
	const char *soname;
	struct lc_strings needed;
	bool above;		/* it needs the file that is asked for, perhaps through others */
	bool with;		/* it is loaded with that file */
};

struct inspection {
	struct neighbours *all;
	struct loader *loader;
};

static const char *copy(struct neighbours *all, const char *text)
{
	return text && strnlen(text, MAX_TEXT) < MAX_TEXT ? lc_format(&all->arena, "%s", text) : NULL;
}

static bool note_need(const char *soname, void *data)
{
	struct inspection *look = data;
	struct loader *loader = look->loader;

	if (strnlen(soname, NAME_MAX + 1) <= NAME_MAX)
		lc_add_string(&look->all->arena, &loader->needed, copy(look->all, soname));
	return loader->needed.count == MAX_NEEDED;
}

static bool note_definition(const struct lc_defined *symbol, void *data)
{
	struct inspection *look = data;

	if (strnlen(symbol->name, MAX_NEEDED) < MAX_NEEDED && ready_may_have(symbol->name))
		lc_add_string(&look->all->arena, &look->all->defined, copy(look->all, symbol->name));
	return look->all->arena.failed;
}

static void note_loader(struct neighbours *all, const struct zip_member *member)
{
	struct inspection look = { .all = all };
	struct lc_image image;

	if (all->loader_count == MAX_LOADERS || member->size < ELF_START ||
	    lc_image_open(&image, &(struct lc_source){ member->bytes, .size = member->size }))
		return;
	look.loader = lc_grow(&all->arena, &all->loaders, &all->loader_count, sizeof(*look.loader));
	if (!look.loader)
		return;
	*look.loader = (struct loader){ .soname = copy(all, lc_image_string(&image, DT_SONAME)) };
	searcher_read(&look.loader->from, &image);
	look.loader->from.run_path = copy(all, look.loader->from.run_path);
	look.loader->from.installed = copy(all, path_in_site(member->name));
	lc_image_needed(&image, note_need, &look);
	lc_image_defined(&image, note_definition, &look);
}

static bool is_text(const char *member)
{
	const char *dot = strrchr(member, '.');

	return dot && (!strcmp(dot, ".py") || !strcmp(dot, ".json"));
}

static bool is_quote(char c)
{
	return c == '"' || c == '\'';
}

/* Notes the names of the wheel's libraries that stand in quotes, alone or at the end of a path. */
static void note_texts(struct neighbours *all, const char *text, size_t size)
{
	const char *end = text + size;

	for (const char *at = text; (at = memmem(at, (size_t)(end - at), ".so", 3)); at += 3) {
		const char *first = at, *last = at;
		char name[NAME_MAX + 1];

		while (first > text && !strchr("\"'/ \n", first[-1]) && at - first < NAME_MAX)
			first--;
		while (last < end && !strchr("\"'/ \n", *last) && last - first < NAME_MAX)
			last++;
		if (first == text || (!is_quote(first[-1]) && first[-1] != '/') || last == end ||
		    !is_quote(*last))
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)(last - first), first);
		if (neighbours_have(all, name))
			lc_add_string(&all->arena, &all->texts, copy(all, name));
	}
}

static void look_into(const struct zip_member *member, void *data)
{
	if (!member->error && is_text(member->name))
		note_texts(data, member->bytes, member->size);
	else if (!member->error)
		note_loader(data, member);
}

static int compare_names(const void *one, const void *other)
{
	return strcmp(*(const char *const *)one, *(const char *const *)other);
}

static void look_inside(struct neighbours *all)
{
	if (all->looked)
		return;
	all->looked = true;
	zip_read(all->wheel, all->size, is_text, look_into, all);
	if (all->defined.count)
		qsort(all->defined.list, all->defined.count, sizeof(*all->defined.list), compare_names);
}

bool neighbours_define(struct neighbours *all, const char *name)
{
	look_inside(all);
	return all->defined.count && bsearch(&name, all->defined.list, all->defined.count,
					     sizeof(name), compare_names);
}

/* Returns false once the search has taken too long. */
static bool step(struct neighbours *all, size_t steps)
{
	all->steps -= steps < all->steps ? steps : all->steps;
	return all->steps;
}

static bool needs(struct neighbours *all, const struct loader *loader, const char *name)
{
	for (size_t i = 0; i < loader->needed.count && step(all, 1); i++)
		if (!strcmp(lc_basename(loader->needed.list[i]), name))
			return true;
	return false;
}

/* Marks what needs a file of this name, and what needs that. */
static void mark_above(struct neighbours *all, const char *name)
{
	for (size_t i = 0; i < all->loader_count && step(all, 1); i++) {
		struct loader *loader = &all->loaders[i];

		if (loader->above || !loader->from.installed || !needs(all, loader, name))
			continue;
		loader->above = true;
		mark_above(all, lc_basename(loader->from.installed));
	}
}

/* Returns true if something that needs the file brings the library: it needs that, too, and so has
 * it loaded first, or looks for it by a DT_RPATH, which counts for the file, too. */
static bool is_brought(struct neighbours *all, const struct searcher *from, const char *name)
{
	for (size_t i = 0; i < all->loader_count; i++)
		all->loaders[i].above = false;
	mark_above(all, lc_basename(from->installed));
	for (size_t i = 0; i < all->loader_count; i++) {
		const struct loader *loader = &all->loaders[i];

		if (loader->above && (needs(all, loader, name) || (from->by_rpath && loader->from.by_rpath)) &&
		    loader->from.run_path && step(all, strlen(loader->from.run_path)) &&
		    on_run_path(all, &loader->from, name) == SERVES)
			return true;
	}
	return false;
}

/* Marks what a library of the wheel is, and what that needs. */
static void mark_with(struct neighbours *all, struct loader *loader)
{
	if (loader->with)
		return;
	loader->with = true;
	for (size_t i = 0; i < all->loader_count; i++) {
		struct loader *other = &all->loaders[i];
		const char *name = other->from.installed ? lc_basename(other->from.installed) : NULL;

		if (name && !other->with && step(all, 1 + loader->needed.count) &&
		    (needs(all, loader, name) || (other->soname && needs(all, loader, other->soname))))
			mark_with(all, other);
	}
}

bool neighbours_needs(struct neighbours *all, const struct searcher *from,
		      void (*each)(const char *soname, void *data), void *data)
{
	look_inside(all);
	for (size_t i = 0; i < all->loader_count; i++)
		all->loaders[i].above = all->loaders[i].with = false;
	mark_above(all, lc_basename(from->installed));
	for (size_t i = 0; i < all->loader_count; i++)
		if (all->loaders[i].above || (all->loaders[i].from.installed &&
					      !strcmp(all->loaders[i].from.installed, from->installed)))
			mark_with(all, &all->loaders[i]);
	for (size_t i = 0; i < all->loader_count; i++)
		for (size_t k = 0; all->loaders[i].with && k < all->loaders[i].needed.count &&
				   step(all, A_LOOK); k++)
			each(all->loaders[i].needed.list[k], data);
	return all->steps;
}

/* Returns true if the wheel's Python names the library, and so may load it by its path: what asks
 * for its SONAME gets it then. */
static bool is_preloaded(struct neighbours *all, const struct searcher *from, const char *name)
{
	bool named = false;

	for (size_t i = 0; i < all->texts.count && !named && step(all, 1); i++)
		named = !strcmp(all->texts.list[i], name);
	for (size_t i = 0; i < all->loader_count && named && step(all, 1); i++) {
		const struct loader *loader = &all->loaders[i];

		if (loader->soname && loader->from.installed && !strcmp(loader->soname, name) &&
		    serves_process(from->start, loader->from.start) == SERVES)
			return true;
	}
	return false;
}

enum serves neighbours_serve(struct neighbours *all, const struct searcher *from, const char *name)
{
	enum serves serves;

	name = lc_basename(name);
	if (!all->wheel)
		return anywhere(all, from, name);
	serves = on_run_path(all, from, name);
	if (serves != SERVES_NOT || !from->installed || !neighbours_have(all, name))
		return serves;
	look_inside(all);
	return is_brought(all, from, name) || is_preloaded(all, from, name) ? SERVES : SERVES_NOT;
}

bool neighbours_require_stubs(const struct neighbours *all, const struct searcher *from)
{
	Elf64_Half machine;

	memcpy(&machine, from->start + offsetof(Elf64_Ehdr, e_machine), sizeof(machine));
	return all->requires_stubs &
	       (machine == EM_X86_64 ? LK_ON_X86_64 : machine == EM_AARCH64 ? LK_ON_AARCH64 : 0);
}
