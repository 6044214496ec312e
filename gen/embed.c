/* SPDX-License-Identifier: MIT */
/*
 * embed.c - the stubs of several libraries as one C file
 *
 * What knows no stub is in the file once.  The few files that keep the state of one, and the room of its
 * library, are there for each library, under names that end with the library's.
 */
#include "embed.h"

#include <ctype.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "amalgam.h"
#include "prune.h"
#include "writers.h"

/* Those of stubs/loader that are there for each library. */
static const char *const for_each[] = {
	"stubs/loader/errors.c", "stubs/loader/loader.c", "stubs/loader/record.c",
};

/* The names of stubs/entry/own.h, and of the assembly in stubs/entry. */
static const char *const own_names[] = {
	"lc_library", "lc_slots", "lc_slot_table", "lc_slow", "lc_status_of", "lc_self", "lc_specifics",
	"lc_trampoline", "lc_lasting_", "lc_call_on", NULL
};

/* Of these, what assembly uses, or what is used before its type is known. */
static const char *const linked[] = {
	"lc_library", "lc_slots", "lc_slot_table", "lc_slow", "lc_self", "lc_specifics", "lc_call_on",
};

/* Warnings that a project may have made errors, of which none is about that project. */
static const char *const ignored[] = {
	"pedantic", "unused-function", "unused-variable", "unused-parameter", "shadow", "conversion", "sign-conversion",
	"cast-qual", "cast-align", "format-nonliteral", "redundant-decls", "nested-externs", "switch-enum",
	"declaration-after-statement",
};

/* A library in the file. */
struct part {
	const char *name;
	struct library *library;
	struct symbols view;
	struct plan plan;
	struct list room;		/* the sources of its own */
	const struct list *names;	/* of the functions; NULL: all */
	unsigned major;			/* whose callers it is for */
};

struct making {
	const struct embedding *embedding;
	struct files files;
	struct amalgam amalgam;
	struct symbols five;	/* symbols.txt */
	struct list names;	/* of the functions; none: all of them */
	struct list listed;	/* those that somebody has listed */
	struct list taken;	/* those that are there */
	struct list parts;	/* struct part */
	const struct plan *pruned;	/* the library's, if it has not all of them */
};

/* ---- files ---- */

/* The path of a file in the first root that has it; NULL: there is none. */
static char *found_in_roots(const struct embedding *embedding, const char *path)
{
	for (size_t i = 0; i < embedding->roots.count; i++) {
		char *whole = format("%s/%s", (const char *)embedding->roots.items[i], path);

		if (!access(whole, F_OK))
			return whole;
	}
	return NULL;
}

static const char *read_one(void *data, const char *path, const char *from)
{
	const struct making *making = data;
	const char *generated = !strncmp(path, "stubs/generated/", 16) ? path + 16 : "";
	char *whole;
	size_t length;

	for (size_t i = 0; i < making->files.all.count; i++)
		if (!strcmp(making->files.all.items[i]->name, generated))
			return making->files.all.items[i]->text.bytes;
	whole = found_in_roots(making->embedding, path);
	if (!whole)
		fail(path, "this part of lazycuda is not installed");
	/* adaptors.h declares them all. */
	if (making->pruned && from && strstr(path, "/rows.h") && strstr(from, "/adaptors.c"))
		return without_idle_rows(making->pruned, load_file(whole, &length));
	return load_file(whole, &length);
}

static bool is_for_each(const char *path)
{
	for (size_t i = 0; i < COUNT(for_each); i++)
		if (!strcmp(for_each[i], path))
			return true;
	return false;
}

/* Adds what a pattern names, by name, but not what is there for each library. */
static void add_all(const struct embedding *embedding, struct list *paths, const char *pattern)
{
	for (size_t i = 0; i < embedding->roots.count; i++) {
		const char *root = embedding->roots.items[i];
		glob_t found;

		if (glob(format("%s/%s", root, pattern), 0, NULL, &found))
			continue;
		for (size_t k = 0; k < found.gl_pathc; k++) {
			const char *path = found.gl_pathv[k] + strlen(root) + 1;

			if (!is_for_each(path))
				list_add(paths, format("%s", path));
		}
		globfree(&found);
		return;
	}
}

/* ---- libraries ---- */

static struct library *library_in(const struct symbols *list, const char *name)
{
	for (size_t i = 0; i < list->libraries.count; i++)
		if (!strcmp(file_name(&list->libraries.items[i]), name))
			return &list->libraries.items[i];
	return NULL;
}

/* Returns the list that has the library, which is read if it is not symbols.txt. */
static struct symbols *list_of(struct making *making, const char *name)
{
	struct symbols *list;
	char *path;

	if (library_in(&making->five, name))
		return &making->five;
	path = found_in_roots(making->embedding, format("libraries/%s.txt", name));
	if (!path)
		fail(NULL, "%s: there is no such library here", name);
	list = allocate(1, sizeof(*list));
	read_list(list, path);
	return list;
}

/* "_nvidia_ml" */
static char *suffix_of(const char *name)
{
	char *suffix = format("_%s", name);

	for (char *c = suffix; *c; c++)
		*c = isalnum((unsigned char)*c) ? *c : '_';
	return suffix;
}

/* The SONAMEs are in the order of the majors: a CUDA with several has the last one. */
static unsigned major_for(const struct symbols *list, const struct library *library, unsigned cuda)
{
	unsigned major = 0;

	if (library->without_majors)
		return 0;
	if (!library->own_majors)
		return cuda;
	for (size_t i = 0; i < library->sonames.count; i++) {
		const struct ranged *soname = &library->sonames.items[i];

		for (size_t k = 0; k < library->cuda.count; k++)
			if (!strcmp(library->cuda.items[k].soname, soname->text) &&
			    library->cuda.items[k].in & 1u << cuda)
				major = major_at(list, first_bit(soname->in));
		if (!library->cuda.count)
			major = major_at(list, first_bit(soname->in));
	}
	return major;
}

/* The functions that the file is for, one a line. */
static void read_names(struct making *making, const char *path)
{
	size_t length;

	for (char *line = strtok(load_file(path, &length), "\r\n"); line; line = strtok(NULL, "\r\n")) {
		const char *name = line + strspn(line, " \t");

		line[name - line + (ptrdiff_t)strcspn(name, " \t")] = 0;
		if (*name)
			list_add(&making->names, name);
		if (*name && name == line)
			list_add(&making->listed, name);
	}
}

static void say_what_is_left_out(struct making *making)
{
	struct list lists = { 0 }, paths = { 0 };

	list_add(&lists, &making->five);
	add_all(making->embedding, &paths, "libraries/*.txt");
	for (size_t i = 0; i < paths.count; i++) {
		list_add(&lists, allocate(1, sizeof(struct symbols)));
		read_list(lists.items[i + 1], found_in_roots(making->embedding, paths.items[i]));
	}
	say_left_out(making->embedding, &making->names, &making->listed, &making->taken, &lists);
}

/* The names to take; NULL: all.  What two libraries export, as cuDNN and its parts do, is there once: it
 * leads to the first. */
static const struct list *names_for(struct making *making, const struct part *part)
{
	struct list *left = allocate(1, sizeof(*left));
	const bool some = making->embedding->names;
	bool all = !some;

	for (size_t i = 0; i < part->plan.uses.count; i++) {
		const struct use *use = &part->plan.uses.items[i];

		if (use->major != part->major || (some && !list_has(&making->names, use->name)))
			continue;
		if (list_has(&making->taken, use->name)) {
			all = false;
			continue;
		}
		list_add(left, use->name);
	}
	for (size_t i = 0; i < left->count; i++)
		list_add(&making->taken, left->items[i]);
	return all ? NULL : left;
}

/* "13, 12, 11" */
static const char *majors_of(const struct symbols *list)
{
	struct text text = { 0 };
	unsigned last = 0;

	for (unsigned i = list->toolkit_count; i--;)
		if (major_at(list, i) != last) {
			last = major_at(list, i);
			put(&text, "%s%u", text.length ? ", " : "", last);
		}
	return text.bytes;
}

static bool has_callers(const struct part *part)
{
	for (size_t i = 0; i < part->plan.uses.count; i++)
		if (part->plan.uses.items[i].major == part->major)
			return true;
	return false;
}

/* Plans a library's part of the file.  One of which nothing is taken has none. */
static void plan_part(struct making *making, const char *name)
{
	const struct symbols *list = list_of(making, name);
	struct part *part = allocate(1, sizeof(*part));

	part->name = name;
	part->library = library_in(list, name);
	part->view = view_of(list, part->library);
	part->major = major_for(&part->view, part->library, making->embedding->cuda);
	if (!part->library->advice) {
		add_all(making->embedding, &part->room, format("stubs/%s/*.[ch]", name));
		add_all(making->embedding, &part->room, format("stubs/%s/*/*.[ch]", name));
	}
	plan_stub(&part->plan, &part->view, part->library);
	part->plan.embedded = making->embedding->cuda;
	if (!has_callers(part))
		fail(NULL, "CUDA %u has no %s: leave it out, or give another --cuda", making->embedding->cuda, name);
	part->names = names_for(making, part);
	if (!part->names || part->names->count)
		list_add(&making->parts, part);
}

static void prune_part(struct making *making, struct part *part)
{
	room_files room = { 0 };

	for (size_t i = 0; i < part->room.count; i++)
		*push(&room) = (struct room_file){ part->room.items[i],
						   read_one(making, part->room.items[i], NULL) };
	prune(&part->plan, part->major, part->names, &room);
	making->pruned = &part->plan;
}

static void add_part(struct making *making, struct text *out, struct part *part)
{
	const struct library *library = part->library;
	struct list paths = { 0 };

	making->pruned = NULL;
	if (part->names)
		prune_part(making, part);
	write_stub(&making->files, &part->plan, part->major);
	if (!library->without_majors && !library->advice)
		write_layouts(&making->files, &part->plan);
	if (library->advice)
		write_specifics(&making->files, &part->plan);
	list_add(&paths, format("stubs/generated/lib%s_stub.c", part->name));
	for (size_t i = 0; i < COUNT(for_each); i++)
		list_add(&paths, for_each[i]);
	if (library->advice)
		list_add(&paths, format("stubs/generated/lib%s_stub.specifics.c", part->name));
	for (size_t i = 0; i < part->room.count; i++)
		if (((const char *)part->room.items[i])[strlen(part->room.items[i]) - 1] == 'c')
			list_add(&paths, part->room.items[i]);
	put(out, "\n/* ==== %s ==== */\n\n", part->name);
	amalgamate(&making->amalgam, out, &paths, suffix_of(part->name), own_names, true);
}

/* What is there once. */
static void add_common(struct making *making, struct text *out)
{
	struct list paths = { 0 };

	for (size_t i = 0; i < making->five.libraries.count; i++) {
		struct library *library = &making->five.libraries.items[i];
		struct symbols view = view_of(&making->five, library);
		struct plan plan;

		if (!library->without_majors)
			continue;
		plan_stub(&plan, &view, library);
		write_real(&making->files, &plan);
	}
	add_all(making->embedding, &paths, "stubs/base/*.c");
	add_all(making->embedding, &paths, "stubs/loader/*.c");
	amalgamate(&making->amalgam, out, &paths, suffix_of(((const struct part *)making->parts.items[0])->name),
		   own_names, false);
}

/* Forgets the headers that are there for each library. */
static void forget_headers(struct list *done)
{
	size_t kept = 0;

	for (size_t i = 0; i < done->count; i++)
		if (strcmp(done->items[i], "stubs/entry/own.h"))
			done->items[kept++] = done->items[i];
	done->count = kept;
}

/* What forks.c calls is about all of the file. */
static void add_forked(const struct making *making, struct text *out)
{
	put(out, "\nstatic void lc_forked(void)\n{\n");
	for (size_t i = 0; i < making->parts.count; i++)
		put(out, "\tlc_forked%s();\n", suffix_of(((const struct part *)making->parts.items[i])->name));
	put(out, "}\n");
}

static void add_head(const struct embedding *embedding, struct text *out, uint32_t sum)
{
	struct text names = { 0 };

	for (size_t i = 0; i < embedding->libraries.count; i++)
		put(&names, "%s%s", i ? " " : "", (const char *)embedding->libraries.items[i]);
	put(out, "/* SPDX-License-Identifier: MIT */\n"
	    "/*\n"
	    " * Stubs of CUDA's libraries for one's own library or program: %s.\n"
	    " *\n"
	    " * Made by lazycuda %s, for callers compiled with CUDA %u:\n"
	    " *\n"
	    " *\tlazycuda embed --cuda %u %s\n"
	    " *\n"
	    " * Do not edit.  Compile it as C, with optimisation, beside your own sources, and link no library\n"
	    " * of CUDA; before glibc 2.34 link with -ldl -lpthread.  The first call of a function loads the\n"
	    " * real library, of CUDA 11, 12 or 13; where there is none, functions return an error.  All names\n"
	    " * are hidden: your library exports what it exported before.\n"
	    " */\n", names.bytes, embedding->version, embedding->cuda, embedding->cuda, names.bytes);
	put(out, "#ifdef __cplusplus\n#error \"this file is C: have a C compiler compile it\"\n#endif\n"
	    "#ifndef _GNU_SOURCE\n#define _GNU_SOURCE\n#endif\n"
	    "#if defined(_FEATURES_H) && !defined(__USE_GNU)\n"
	    "#error \"a header came before this file: compile it alone, or with -D_GNU_SOURCE\"\n#endif\n"
	    "#define LC_EMBEDDED %u\n#define LAZYCUDA_VERSION \"%s\"\n#define LC_SOURCES \"embedded %08x\"\n\n"
	    "#pragma GCC diagnostic push\n", embedding->cuda, embedding->version, sum);
	for (size_t i = 0; i < COUNT(ignored); i++)
		put(out, "#pragma GCC diagnostic ignored \"-W%s\"\n", ignored[i]);
}

struct text embed(const struct embedding *embedding)
{
	struct making making = { .embedding = embedding, .amalgam.read = read_one };
	struct text common = { 0 }, libraries = { 0 }, all = { 0 };
	struct list kept;
	bool known = false;

	making.amalgam.data = &making;
	for (size_t i = 0; i < COUNT(linked); i++)
		list_add(&making.amalgam.linked, linked[i]);
	if (embedding->names)
		read_names(&making, embedding->names);
	read_list(&making.five, found_in_roots(embedding, "symbols.txt"));
	for (unsigned i = 0; !known && i < making.five.toolkit_count; i++)
		known = major_at(&making.five, i) == embedding->cuda;
	if (!known)
		fail(NULL, "--cuda %u: this release knows %s", embedding->cuda, majors_of(&making.five));
	making.files.maker = format("`lazycuda embed`");
	making.files.how = "";
	for (size_t i = 0; i < embedding->libraries.count; i++)
		plan_part(&making, embedding->libraries.items[i]);
	if (!making.parts.count)
		fail(NULL, "no function of these libraries is asked for: nothing was written");
	if (embedding->names)
		say_what_is_left_out(&making);
	add_common(&making, &common);
	forget_headers(&making.amalgam.done);
	kept = making.amalgam.done;
	for (size_t i = 0; i < making.parts.count; i++) {
		making.amalgam.done.count = kept.count;
		add_part(&making, &libraries, making.parts.items[i]);
	}
	add_head(embedding, &all, hash_of(common.bytes, common.length));
	put(&all, "%s%s", common.bytes, libraries.bytes);
	add_forked(&making, &all);
	put(&all, "\n#pragma GCC diagnostic pop\n");
	return all;
}
