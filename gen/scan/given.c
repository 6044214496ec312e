/* SPDX-License-Identifier: MIT */
/* given.c - takes from the command line what hints give for CUDA's libraries */
#include "own.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char own_name[] = "lazycuda stub";

int toolkit_of(const struct own *own, const struct source *source)
{
	int toolkit = 0;

	while (MAJOR(own->scan->versions[toolkit]) != source->major)
		toolkit++;
	return toolkit;
}

/* ---- rows of the list ---- */

static void add_hint(struct list *list, const char *first, const char *second)
{
	struct hint *hint = scan_alloc(sizeof(*hint));

	hint->words[hint->count++] = first;
	hint->words[hint->count++] = second;
	for (size_t i = 0; i < list->count; i++) {
		const struct hint *other = list->items[i];

		if (!strcmp(other->words[0], first) && !strcmp(other->words[1], second))
			return;
	}
	list_add(list, hint);
}

/* Returns "nvidia/cublas/lib" for .../nvidia/cublas/lib/libcublas.so.12, pip's layout. */
static const char *folder_of_wheel(const char *path)
{
	char real[PATH_MAX], *slash, *below = NULL;

	if (!realpath(path, real))
		fail(path, "%s", strerror(errno));
	slash = strrchr(real, '/');
	*slash = 0;
	for (char *at = real; (at = strstr(at, "/nvidia/")); at++)
		below = at + 1;
	return below ? scan_intern(below) : NULL;
}

void add_folders(struct own *own, const struct source *source)
{
	const char *range = range_text(own->scan, BIT(toolkit_of(own, source)));
	const char *found = folder_of_wheel(source->path);

	if (found)
		add_hint(&own->library.folders, found, range);
	for (size_t i = 0; i < source->folders.count; i++)
		add_hint(&own->library.folders, source->folders.items[i], range);
	for (size_t i = 0; i < own->common.folders.count; i++)
		add_hint(&own->library.folders, own->common.folders.items[i], range);
}

/* Returns "nvidia-cuda-runtime" for nvidia/cuda_runtime/lib, and NULL for nvidia/cu13/lib,
 * which many packages share. */
static const char *package_of_folder(const char *folder)
{
	const char *part;
	char *name;

	if (!matches("nvidia/*/lib", folder, &part) || matches("cu#", part, NULL))
		return NULL;
	name = format("nvidia-%s", part);
	for (char *c = name; *c; c++)
		if (*c == '_')
			*c = '-';
	return name;
}

static void add_package(struct list *packages, const char *name)
{
	struct hint *hint = scan_alloc(sizeof(*hint));

	for (size_t i = 0; i < packages->count; i++)
		if (!strcmp(((struct hint *)packages->items[i])->words[0], name))
			return;
	hint->words[hint->count++] = name;
	list_add(packages, hint);
}

void add_packages(struct own *own)
{
	struct subject *library = &own->library;

	for (size_t i = 0; i < own->packages.count; i++) {
		const char *name = own->packages.items[i];

		for (const char *c = name; *c || c == name; c++)
			if (!isalnum((unsigned char)*c) && (c == name || !strchr("._-", *c)))
				fail(own_name, "--package %s: letters, digits, ., _ and - make a name",
				     name);
		add_package(&library->packages, name);
	}
	for (size_t i = 0; i < library->folders.count && !own->packages.count; i++) {
		const struct hint *folder = library->folders.items[i];
		const char *name = package_of_folder(folder->words[0]);

		if (name)
			add_package(&library->packages, name);
	}
}

void add_nodes(struct own *own, const struct source *source)
{
	const struct list *nodes = &source->exports.nodes;

	if (!nodes->count)
		own->library.nodes_row = "none";
	for (size_t i = 0; i < nodes->count; i++) {
		if (nodes->items[i] == source->exports.soname)
			continue;
		own->library.nodes_row = "other";
		add_hint(&own->library.nodes, nodes->items[i], format("%d", source->major));
	}
}

void add_errors(struct own *own, const char *missing, const char *absent, const char *refused)
{
	struct list *errors = &own->library.errors;

	add_hint(errors, "missing", missing);
	add_hint(errors, "absent", absent);
	add_hint(errors, "refused", refused);
	if (!own->library.own_majors) {
		add_hint(errors, "driver", missing);
		add_hint(errors, "incoherent", missing);
	}
}

/* ---- headers ---- */

static bool is_file(const char *path)
{
	struct stat status;

	return !stat(path, &status) && S_ISREG(status.st_mode);
}

static void add_all(struct list *list, const struct list *more)
{
	for (size_t i = 0; i < more->count; i++)
		list_add(list, more->items[i]);
}

/* Each header is parsed by itself: two headers may declare conflicting versions of an
 * interface. */
static void add_header(struct own *own, const struct source *source, const char *header)
{
	struct list *includes = &own->given.includes[toolkit_of(own, source)];
	struct parse_hint *parse = scan_alloc(sizeof(*parse));
	char real[PATH_MAX];

	parse->place.file = header;
	if (is_file(header) && realpath(header, real)) {
		header = scan_intern(real);
		list_add(includes, (void *)scan_intern_n(real, (size_t)(strrchr(real, '/') - real)));
	}
	list_add(&parse->headers, (void *)header);
	for (int own_ones = 1; own_ones >= 0; own_ones--) {
		const struct list *defines = own_ones ? &source->defines : &own->common.defines;

		for (size_t i = 0; i < defines->count; i++)
			list_add(&parse->defines, format("-D%s", (char *)defines->items[i]));
	}
	list_add(&own->given.parses[toolkit_of(own, source)], parse);
}

void add_headers(struct own *own, const struct source *source)
{
	struct list *includes = &own->given.includes[toolkit_of(own, source)];

	if (source->headers.count || own->common.headers.count) {
		add_all(includes, &source->includes);
		add_all(includes, &own->common.includes);
	}
	for (size_t i = 0; i < source->headers.count; i++)
		add_header(own, source, source->headers.items[i]);
	for (size_t i = 0; i < own->common.headers.count; i++)
		add_header(own, source, own->common.headers.items[i]);
	if (own->given.parses[toolkit_of(own, source)].count && !includes->count)
		fail(own_name, "there is no header %s here; --include names its folder",
		     (const char *)(source->headers.count ? source->headers.items[0] :
							    own->common.headers.items[0]));
}

bool has_headers(const struct own *own)
{
	for (int toolkit = 0; toolkit < own->scan->count; toolkit++)
		if (own->given.parses[toolkit].count)
			return true;
	return false;
}

/* ---- functions that return the meaning of a status ---- */

/* Matches the usual declaration: const char *fooGetErrorString(fooStatus status). */
static bool tells_status(const struct subject *library, const struct prototype *prototype)
{
	const struct c_param *first = prototype->params;

	return prototype->text && prototype->count == 1 && !first->pointer &&
	       first->type.enumeration && first->type.enumeration == library->status;
}

/* The prototype that --text implies for a function without a declaration. */
static struct prototype *text_prototype(const struct subject *library, const char *name)
{
	struct prototype *prototype = scan_alloc(sizeof(*prototype));

	*prototype = (struct prototype){
		.name = name, .place = library->place, .result = { .kind = PTR },
		.params = scan_alloc(sizeof(*prototype->params)), .count = 1, .text = true,
	};
	prototype->params[0] = (struct c_param){ .name = "status", .type = { .kind = I32 } };
	return prototype;
}

static void take_text(struct own *own, const char *name)
{
	struct subject *library = &own->library;
	const char *objection = map_get(&own->given.inexpressible, name);

	if (!map_get(&library->names, name))
		fail(own_name, "--text %s: no library that was given has this function", name);
	if (objection)
		fail(own_name, "--text %s: %s", name, objection);
	for (int toolkit = 0; toolkit < own->scan->count; toolkit++) {
		struct map *prototypes = &library->headers[toolkit].prototypes;
		const struct prototype *known = map_get(prototypes, name);

		if (!known)
			map_put(prototypes, name, text_prototype(library, name));
		else if (known->result.kind != PTR)
			fail_at(known->place, "%s returns no string, as --text says", name);
	}
	map_put(&own->given.texts, name, library);
}

void find_texts(struct own *own)
{
	for (int toolkit = 0; toolkit < own->scan->count; toolkit++) {
		const struct list *all = &own->library.headers[toolkit].prototypes.values;

		for (size_t i = 0; i < all->count; i++) {
			const struct prototype *prototype = all->items[i];

			if (tells_status(&own->library, prototype))
				map_put(&own->given.texts, prototype->name, &own->library);
		}
	}
	for (size_t i = 0; i < own->texts.count; i++)
		take_text(own, own->texts.items[i]);
}

/* ---- the report ---- */

static void say_names(const char *what, const struct list *names)
{
	if (!names->count)
		return;
	printf("    %zu %s:", names->count, what);
	for (size_t i = 0; i < names->count && i < 5; i++)
		printf(" %s", (char *)names->items[i]);
	printf("%s\n", names->count > 5 ? " ..." : "");
}

static void say_source(const struct own *own, const struct source *source)
{
	const struct map *declared = &own->library.headers[toolkit_of(own, source)].prototypes;
	size_t with = 0;

	for (size_t i = 0; i < source->exports.count; i++)
		with += map_get(declared, source->exports.names[i]) != NULL;
	printf("%s", source->exports.soname);
	if (source->cuda)
		printf(" (CUDA %d)", source->cuda);
	printf(": %zu functions, %zu with a prototype\n", source->exports.count, with);
	say_names("left out, no functions", &source->exports.data);
	say_names("left out, mangled names of C++", &source->exports.mangled);
	say_names("left out, no names of C functions", &source->exports.odd);
}

void say_own(const struct own *own)
{
	const struct map *unexported = &own->given.unexported;
	const struct map *inexpressible = &own->given.inexpressible;

	for (size_t i = 0; i < own->sources.count; i++)
		say_source(own, own->sources.items[i]);
	say_names("that say what a status means", &own->given.texts.keys);
	say_names("declared, and exported by none of them", &unexported->keys);
	for (size_t i = 0; i < inexpressible->keys.count; i++)
		printf("    %s is forwarded within its major alone: %s\n",
		       (char *)inexpressible->keys.items[i], (char *)inexpressible->values.items[i]);
	if (own->library.own_majors)
		puts("    no major of CUDA was named (--from FILE=12): the stub goes with any");
}
