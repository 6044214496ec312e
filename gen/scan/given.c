/* SPDX-License-Identifier: MIT */
/* given.c - takes from the command line what hints give for CUDA's libraries */
#include "own.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

version source_version(const struct source *source)
{
	return VERSION(source->major, source->minor);
}

int source_toolkit(const struct own *own, const struct source *source)
{
	int toolkit = 0;

	while (own->scan->versions[toolkit] != source_version(source))
		toolkit++;
	return toolkit;
}

/* ---- rows of the list ---- */

static struct hint *new_hint(struct list *list, const char *word)
{
	struct hint *hint = allocate(1, sizeof(*hint));

	hint->position.file = command_name;
	hint->words[hint->count++] = word;
	list_add(list, hint);
	return hint;
}

struct hint *add_hint(struct list *list, const char *first, const char *second)
{
	struct hint *hint;

	for (size_t i = 0; i < list->count; i++) {
		hint = list->items[i];
		if (!strcmp(hint->words[0], first) && !strcmp(hint->words[1], second))
			return hint;
	}
	hint = new_hint(list, first);
	hint->words[hint->count++] = second;
	return hint;
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

/* Notes that a version lies in a folder, and with it all of its major: a stub searches by that. */
static void add_folder(struct own *own, const char *folder, const struct source *source)
{
	struct hint *hint = add_hint(&own->library.folders, folder, "");

	hint->count = 1;
	*push(&hint->ranges) = (struct range){ VERSION(source->major, 0), VERSION(source->major, 99) };
}

void add_folders(struct own *own, const struct source *source)
{
	const char *found = folder_of_wheel(source->path);

	if (found)
		add_folder(own, found, source);
	for (size_t i = 0; i < source->folders.count; i++)
		add_folder(own, source->folders.items[i], source);
	for (size_t i = 0; i < own->common.folders.count; i++)
		add_folder(own, own->common.folders.items[i], source);
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
	for (size_t i = 0; i < packages->count; i++)
		if (!strcmp(((struct hint *)packages->items[i])->words[0], name))
			return;
	new_hint(packages, name);
}

void add_packages(struct own *own)
{
	struct subject *library = &own->library;

	for (size_t i = 0; i < own->packages.count; i++) {
		const char *name = own->packages.items[i];

		for (const char *c = name; *c || c == name; c++)
			if (!isalnum((unsigned char)*c) && (c == name || !strchr("._-", *c)))
				fail(NULL, "--package %s: a name has letters, digits, ., _ and -",
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

static bool have_nodes(const struct own *own)
{
	for (size_t i = 0; i < own->sources.count; i++)
		if (!((struct source *)own->sources.items[i])->exports.plain)
			return true;
	return false;
}

void add_nodes(struct own *own, const struct source *source)
{
	const struct list *nodes = &source->exports.nodes;

	/* Where only some versions have nodes, callers have them or not. */
	if (!nodes->count && !own->library.nodes_row)
		own->library.nodes_row = have_nodes(own) ? "other" : "none";
	for (size_t i = 0; i < nodes->count; i++) {
		if (nodes->items[i] == source->exports.soname)
			continue;
		own->library.nodes_row = "other";
		add_hint(&own->library.nodes, nodes->items[i], format("%d", source->major));
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
 * interface.  The headers of a file are looked for in the folders of its own --include, not of
 * those of another file of the same major. */
static void add_header(struct own *own, const struct source *source, const char *header)
{
	struct parse_hint *parse = allocate(1, sizeof(*parse));
	char real[PATH_MAX];

	parse->position.file = header;
	add_all(&parse->folders, &source->includes);
	add_all(&parse->folders, &own->common.includes);
	if (is_file(header) && realpath(header, real)) {
		header = scan_intern(real);
		list_add(&parse->folders,
			 scan_intern_n(real, (size_t)(strrchr(real, '/') - real)));
	}
	if (!parse->folders.count)
		fail(NULL, "there is no header %s here; --include names its folder", header);
	list_add(&parse->headers, header);
	for (int own_ones = 1; own_ones >= 0; own_ones--) {
		const struct list *defines = own_ones ? &source->defines : &own->common.defines;

		for (size_t i = 0; i < defines->count; i++)
			list_add(&parse->defines, format("-D%s", (char *)defines->items[i]));
	}
	list_add(&own->given.parses[source_toolkit(own, source)], parse);
}

void add_headers(struct own *own, const struct source *source)
{
	for (size_t i = 0; i < source->headers.count; i++)
		add_header(own, source, source->headers.items[i]);
	for (size_t i = 0; i < own->common.headers.count; i++)
		add_header(own, source, own->common.headers.items[i]);
}

bool has_headers(const struct own *own)
{
	for (int toolkit = 0; toolkit < own->scan->count; toolkit++)
		if (own->given.parses[toolkit].count)
			return true;
	return false;
}

/* ---- functions that say what a status means ---- */

static bool is_status(const struct subject *library, struct c_type type)
{
	return type.enumeration && type.enumeration == library->status;
}

/* Matches the usual declarations: const char *fooGetErrorString(fooStatus status), and
 * fooStatus fooGetErrorString(fooStatus status, const char **text). */
static bool tells_status(const struct subject *library, const struct prototype *prototype)
{
	const struct c_param *params = prototype->params;

	if (!prototype->count || params[0].pointer || !is_status(library, params[0].type))
		return false;
	return prototype->text ? prototype->count == 1 :
	       prototype->count == 2 && params[1].text && is_status(library, prototype->result);
}

/* The prototype that --text implies for a function without a declaration. */
static struct prototype *text_prototype(const struct subject *library, const char *name)
{
	struct prototype *prototype = allocate(1, sizeof(*prototype));

	*prototype = (struct prototype){
		.name = name, .position = library->position, .result = { .kind = PTR },
		.params = allocate(1, sizeof(*prototype->params)), .count = 1, .text = true,
	};
	prototype->params[0] = (struct c_param){ .name = "status", .type = { .kind = I32 } };
	return prototype;
}

/* Fails if an option is about a function that the library lacks, or that cannot be expressed. */
static void refuse_name(const struct own *own, const char *option, const char *name)
{
	const char *objection = map_get(&own->given.inexpressible, name);

	if (!map_get(&own->library.names, name))
		fail(NULL, "%s %s: no library that was given has this function", option, name);
	if (objection)
		fail(NULL, "%s %s: %s", option, name, objection);
}

static void take_text(struct own *own, const char *name)
{
	struct subject *library = &own->library;

	refuse_name(own, "--text", name);
	for (int toolkit = 0; toolkit < own->scan->count; toolkit++) {
		struct map *prototypes = &library->headers[toolkit].prototypes;
		const struct prototype *known = map_get(prototypes, name);

		if (!known)
			map_put(prototypes, name, text_prototype(library, name));
		else if (known->result.kind != PTR)
			fail_at(known->position, "%s returns no string, as --text says", name);
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

/* ---- functions whose result is negative where they fail ---- */

static void take_negative(struct own *own, const char *name)
{
	struct subject *library = &own->library;
	bool declared = false;

	refuse_name(own, "--negative", name);
	if (map_get(&own->given.texts, name))
		fail(NULL, "--negative %s: it describes a status, and returns a string", name);
	for (int toolkit = 0; toolkit < own->scan->count; toolkit++) {
		const struct prototype *known = map_get(&library->headers[toolkit].prototypes, name);

		declared |= known != NULL;
		if (known && known->result.kind != I32 && known->result.kind != I64)
			fail_at(known->position, "%s returns no signed number of 32 or 64 bits, as"
				" --negative says", name);
		if (known && is_status(library, known->result))
			fail_at(known->position, "%s returns enum %s, and no number that --negative could"
				" say more of", name, library->status);
	}
	if (!declared)
		fail(NULL, "--negative %s: no header that was given declares this function", name);
	map_put(&own->given.negatives, name, library);
}

void take_negatives(struct own *own)
{
	for (size_t i = 0; i < own->negatives.count; i++)
		take_negative(own, own->negatives.items[i]);
}

/* ---- functions whose result is an int, and a status ---- */

/* Returns true if a toolkit's headers declare a function that the pattern is for. */
static bool find_statuses(const struct own *own, const char *pattern, int toolkit)
{
	const struct list *all = &own->library.headers[toolkit].prototypes.values;
	bool found = false;

	for (size_t i = 0; i < all->count; i++) {
		const struct prototype *known = all->items[i];

		if (!map_get(&own->library.names, known->name) ||
		    !matches(pattern, known->name, NULL))
			continue;
		if (known->result.kind != I32)
			fail_at(known->position, "%s returns no int, as --int-status %s says", known->name,
				pattern);
		if (map_get(&own->given.negatives, known->name))
			fail(NULL, "--int-status %s: %s has --negative", pattern, known->name);
		found |= !map_get(&own->given.inexpressible, known->name);
	}
	return found;
}

/* Says why a pattern is for no function: that of one which cannot be expressed, if there is one. */
static void refuse_pattern(const struct own *own, const char *pattern)
{
	const struct map *all = &own->given.inexpressible;

	for (size_t i = 0; i < all->keys.count; i++)
		if (matches(pattern, all->keys.items[i], NULL) &&
		    map_get(&own->library.names, all->keys.items[i]))
			fail(NULL, "--int-status %s: %s", pattern,
			     (const char *)all->values.items[i]);
	fail(NULL, "--int-status %s: no header that was given declares such a function of the"
	     " library", pattern);
}

void take_statuses(struct own *own)
{
	for (size_t i = 0; i < own->statuses.count; i++) {
		const char *pattern = own->statuses.items[i];
		bool found = false;

		for (int toolkit = 0; toolkit < own->scan->count; toolkit++)
			found |= find_statuses(own, pattern, toolkit);
		if (!found)
			refuse_pattern(own, pattern);
		/* Another pattern may decide on all of these before it. */
		add_hint(&own->library.results, pattern, "status")->used = true;
	}
}

/* ---- what the library lays out, and what it makes ---- */

void take_aparts(struct own *own)
{
	for (size_t i = 0; i < own->aparts.count; i++)
		new_hint(&own->library.aparts, own->aparts.items[i]);
}

void take_handles(struct own *own)
{
	for (size_t i = 0; i < own->handles.count; i++) {
		const char *text = own->handles.items[i], *equals = strchr(text, '=');
		struct hint *hint = new_hint(&own->given.handles, equals ?
			scan_intern_n(text, (size_t)(equals - text)) : text);

		if (equals)
			hint->words[hint->count++] = equals + 1;
	}
}

/* ---- enumerations that changed ---- */

/* Counts and limits grow with what they count, and no call passes one. */
static bool is_count(const char *name)
{
	static const char *const ends[] = {
		"COUNT", "MAX", "SIZE", "NUM", "LAST", "END", "FORCE_INT", "TYPES"
	};
	size_t length = strlen(name);

	for (size_t i = 0; i < COUNT(ends); i++)
		if (length >= strlen(ends[i]) &&
		    !strcasecmp(name + length - strlen(ends[i]), ends[i]))
			return true;
	return false;
}

static bool has_changed(const struct map *values, const struct map *others)
{
	for (size_t i = 0; i < values->keys.count; i++) {
		const struct enumerator *one = values->values.items[i];
		const struct enumerator *other = map_get(others, one->name);

		if (other && other->value != one->value && !is_count(one->name))
			return true;
	}
	return false;
}

/* Within a major calls are forwarded, whatever has changed. */
void find_changed(struct own *own)
{
	const version *versions = own->scan->versions;

	for (int i = 0; i < own->scan->count; i++)
		for (int j = 0; j < i && MAJOR(versions[j]) != MAJOR(versions[i]); j++) {
			const struct map *enums = &own->library.headers[i].enums;
			const struct map *others = &own->library.headers[j].enums;

			for (size_t k = 0; k < enums->keys.count; k++) {
				const char *name = enums->keys.items[k];
				const struct map *other = map_get(others, name);

				if (*name && other && has_changed(enums->values.items[k], other))
					map_put(&own->given.changed, name, (void *)name);
			}
		}
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
	const struct map *declared = &own->library.headers[source_toolkit(own, source)].prototypes;
	size_t with = 0;

	for (size_t i = 0; i < source->exports.count; i++)
		with += map_get(declared, source->exports.names[i]) &&
			!map_get(&own->given.inexpressible, source->exports.names[i]);
	printf("%s", source->exports.soname);
	if (source->cuda)
		printf(" (CUDA %d)", source->cuda);
	printf(": %zu functions, %zu with a prototype\n", source->exports.count, with);
	say_names("left out, no functions", &source->exports.data);
	say_names("left out, mangled names of C++", &source->exports.mangled);
	say_names("left out, no names of C functions", &source->exports.odd);
}

/* Returns true for a name that usually means a function that returns the meaning of an error. */
static bool sounds_like_text(const char *name)
{
	static const char *const ends[] = {
		"ErrorString", "ErrorName", "StatusString", "StatusName", "ResultString",
		"strerror", "StrError", "LastErrorMessage"
	};
	size_t length = strlen(name);

	for (size_t i = 0; i < COUNT(ends); i++)
		if (length >= strlen(ends[i]) && !strcmp(name + length - strlen(ends[i]), ends[i]))
			return true;
	return false;
}

/* A function without a prototype is taken to return a status.  If it returns an address, a failing
 * call gives its caller an error's number for one. */
static void hint_at_texts(const struct own *own)
{
	const struct subject *library = &own->library;

	for (size_t i = 0; i < library->rows.count; i++) {
		const struct row *row = &((struct derived_row *)library->rows.items[i])->row;

		if (!row->undeclared || !sounds_like_text(row->name) ||
		    (i && ((struct derived_row *)library->rows.items[i - 1])->row.name == row->name))
			continue;
		printf("    %s may return a text, and nothing declares it: a header does, or"
		       " --text %s\n", row->name, row->name);
	}
}

static void say_unread(const struct own *own)
{
	for (int cplusplus = 0; cplusplus < 2; cplusplus++) {
		const struct map *one = &own->given.unread[0][cplusplus];
		const struct map *other = &own->given.unread[1][cplusplus];

		for (size_t i = 0; i < one->keys.count; i++)
			if (map_get(other, one->keys.items[i]))
				printf("    %s is read as %s alone: %s\n", (char *)one->keys.items[i],
				       cplusplus ? "C" : "C++", (char *)one->values.items[i]);
	}
}

void say_own(const struct own *own)
{
	const struct map *unexported = &own->given.unexported;
	const struct map *inexpressible = &own->given.inexpressible;

	for (size_t i = 0; i < own->sources.count; i++)
		say_source(own, own->sources.items[i]);
	say_unread(own);
	say_names("that say what a status means", &own->given.texts.keys);
	hint_at_texts(own);
	say_names("enumerations that changed: what passes one stays in its major",
		  &own->given.changed.keys);
	say_names("declared, and exported by none of them", &unexported->keys);
	for (size_t i = 0; i < inexpressible->keys.count; i++)
		printf("    %s is forwarded within its major alone: %s\n",
		       (char *)inexpressible->keys.items[i], (char *)inexpressible->values.items[i]);
	if (own->library.own_majors)
		puts("    no major of CUDA was named (--from FILE=12): the stub goes with any");
}
