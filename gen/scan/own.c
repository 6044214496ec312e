/* SPDX-License-Identifier: MIT */
/*
 * own.c - derives the list of any library
 *
 * `lazycuda stub` runs this.  The command line gives what hints give for CUDA's
 * libraries.  The list has one version for each CUDA that --from gives, or else for each major
 * of the library: the number in its SONAME.
 */
#include "../../stubs/base/library_name.h"
#include "own.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- command line ---- */

static int parse_major(const char *text)
{
	char *end;
	long value = strtol(text, &end, 10);

	return *text < '0' || *text > '9' || *end || value < 1 || value > MAX_MAJOR ? 0 : (int)value;
}

/* Reads "12" or "12.4". */
static bool parse_cuda(const char *text, struct source *source)
{
	version found;

	source->cuda = parse_major(text);
	if (source->cuda)
		return true;
	if (!strchr(text, '.') || !parse_version(text, strlen(text), &found) ||
	    MAJOR(found) < 1 || MAJOR(found) > MAX_MAJOR)
		return false;
	source->cuda = MAJOR(found);
	source->minor = MINOR(found);
	return true;
}

static struct source *add_source(struct own *own, const char *argument)
{
	struct source *source = allocate(1, sizeof(*source));
	const char *equals = strrchr(argument, '=');

	source->path = argument;
	if (equals && !strchr(equals, '/')) {
		source->path = scan_intern_n(argument, (size_t)(equals - argument));
		if (!parse_cuda(equals + 1, source))
			fail(NULL, "--from %s: `%s` is neither a major of CUDA, 12, nor a"
			     " version, 12.4", argument, equals + 1);
	}
	list_add(&own->sources, source);
	return source;
}

static void read_arguments(struct own *own, char **word)
{
	struct source *now = &own->common;

	while (*word) {
		const char *from = NULL;
		const struct option options[] = {
			{ "--from", .text = &from },
			{ "--header", .list = &now->headers },
			{ "--include", .list = &now->includes },
			{ "--define", .list = &now->defines },
			{ "--folder", .list = &now->folders },
			{ "--text", .list = &own->texts },
			{ "--negative", .list = &own->negatives },
			{ "--int-status", .list = &own->statuses },
			{ "--apart", .list = &own->aparts },
			{ "--handle", .list = &own->handles },
			{ "--mangled", .list = &own->mangled },
			{ "--data", .list = &own->variables },
			{ "--package", .list = &own->packages },
			{ "--opens", .list = &own->library.opens },
			{ "--cuda-of", .list = &own->library.cuda_of },
			{ "--ships", .list = &own->library.ships },
			{ "--called", .list = &own->library.called },
			{ "--cuda-major", .list = &own->cuda },
			{ "--name", .text = &own->library.name },
			{ "--version", .text = &now->version },
			{ "--status", .text = &own->library.status },
			{ "--compat", .text = &own->library.compat },
			{ "--missing", .text = &own->missing },
			{ "--absent", .text = &own->absent },
			{ "--refused", .text = &own->refused },
			{ "--advice", .text = &own->advice },
			{ "--libclang", .text = &own->scan->libclang },
			{ "-o", .text = &own->output },
			{ .name = NULL },
		};

		word = take_option(word, options, "`lazycuda stub --help` lists the options.");
		if (from)
			now = add_source(own, from);
	}
	if (own->library.status)
		own->library.status = scan_intern(own->library.status);
}

/* ---- the files ---- */

static size_t stem_length(const char *soname)
{
	struct lc_ending ending;
	size_t length = lc_read_name(soname, &ending);

	return length ? length : strlen(soname);
}

static int number_of(const char *soname)
{
	struct lc_ending ending;

	return lc_read_name(soname, &ending) && ending.numbers ? ending.number : 0;
}

static void refuse_mixtures(const struct own *own)
{
	const struct source *first = own->sources.items[0];

	for (size_t i = 0; i < own->sources.count; i++) {
		const struct source *one = own->sources.items[i];
		size_t length = stem_length(one->exports.soname);

		if (length != stem_length(first->exports.soname) ||
		    memcmp(one->exports.soname, first->exports.soname, length))
			fail(one->path, "is %s, and %s is %s: a stub stands in for one library",
			     one->exports.soname, first->path, first->exports.soname);
		if (!one->cuda != !first->cuda)
			fail(NULL, "say of each --from which major of CUDA it belongs to, or of none");
	}
}

/* Fails unless SONAMEs and majors correspond one to one. */
static void refuse_collisions(const struct own *own)
{
	for (size_t i = 0; i < own->sources.count; i++)
		for (size_t j = 0; j < i; j++) {
			const struct source *a = own->sources.items[j], *b = own->sources.items[i];
			bool same = a->exports.soname == b->exports.soname;

			if (same == (a->major == b->major))
				continue;
			if (same)
				fail(b->path, "has the SONAME of %s, %s: nothing tells libraries of"
				     " CUDA %d and %d apart, so name no major of CUDA", a->path,
				     a->exports.soname, a->major, b->major);
			fail(b->path, "has the SONAME %s, and %s has %s: both would be major %d",
			     b->exports.soname, a->path, a->exports.soname, a->major);
		}
}

static void refuse_absent(const struct own *own)
{
	for (size_t i = 0; i < own->mangled.count; i++) {
		bool found = false;

		for (size_t k = 0; k < own->sources.count && !found; k++) {
			const struct source *source = own->sources.items[k];

			found = exports_name(&source->exports, scan_intern(own->mangled.items[i]));
		}
		if (!found)
			fail(NULL, "--mangled %s: no file exports that function",
			     (const char *)own->mangled.items[i]);
	}
}

/* Takes the minor of the library's own version, whose major the SONAME tells. */
static void take_version(struct source *source)
{
	version found;

	if (!source->version)
		return;
	if (source->cuda || !parse_version(source->version, strlen(source->version), &found) ||
	    MAJOR(found) != source->major)
		fail(source->path, "--version %s: a version of %s is %d.0 or the like, and --from names"
		     " no CUDA", source->version, source->exports.soname, source->major);
	source->minor = MINOR(found);
}

static void read_sources(struct own *own)
{
	for (size_t i = 0; i < own->sources.count; i++) {
		struct source *source = own->sources.items[i];
		int number;

		read_exports(source->path, &own->mangled, &own->variables, &source->exports);
		number = number_of(source->exports.soname);
		source->major = source->cuda ? source->cuda :
				number < 1 || number > MAX_MAJOR ? 1 : number;
		take_version(source);
		source->exports.plain = !source->exports.nodes.count;
	}
	refuse_mixtures(own);
	refuse_collisions(own);
	refuse_absent(own);
}

/* ---- the library ---- */

/* "foo_bar" for libfoo-bar.so.1 */
static const char *default_name(const char *soname)
{
	const char *first = soname + (strncmp(soname, "lib", 3) ? 0 : 3);
	char *name = format("%.*s", (int)(stem_length(soname) - (size_t)(first - soname)), first);

	for (char *c = name; *c; c++)
		if (!isalnum((unsigned char)*c))
			*c = '_';
	if (!*name || isdigit((unsigned char)*name))
		fail(NULL, "%s has no name in it; --name gives one", soname);
	return scan_intern(name);
}

static const char *default_variable(const char *name)
{
	char *variable = format("LAZYCUDA_%s", name);

	for (char *c = variable; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	return scan_intern(variable);
}

static void name_library(struct own *own)
{
	struct subject *library = &own->library;
	const struct source *first = own->sources.items[0];
	const char *soname = first->exports.soname;

	if (!library->name)
		library->name = default_name(soname);
	library->stub = format("%.*s_stub.so", (int)stem_length(soname), soname);
	library->variable = default_variable(library->name);
	library->own_majors = !first->cuda;
}

/* How to get the library: from the package that has it, if one is known. */
static void advise(struct own *own)
{
	struct subject *library = &own->library;
	const struct source *first = own->sources.items[0];
	const struct hint *package = library->packages.count ? library->packages.items[0] : NULL;

	library->advice = own->advice;
	if (!library->advice && package)
		library->advice = format("Install a package that has it, such as %s of PyPI.",
					 package->words[0]);
	else if (!library->advice)
		library->advice = format("Install the package that has it, such as %s.",
					 first->exports.soname);
}

static bool has_major(const struct own *own, int major)
{
	for (size_t i = 0; i < own->sources.count; i++)
		if (((struct source *)own->sources.items[i])->major == major)
			return true;
	return false;
}

/* Finds the versions of the list.  A major of CUDA that there is no file of has one as well. */
static void find_versions(struct own *own)
{
	struct scan *scan = own->scan;
	version all[4 * MAX_TOOLKITS];
	int count = 0;

	if (own->sources.count + own->cuda.count > COUNT(all))
		fail(NULL, "more than %zu files and majors of CUDA", COUNT(all));
	for (size_t i = 0; i < own->sources.count; i++)
		all[count++] = source_version(own->sources.items[i]);
	for (size_t i = 0; i < own->cuda.count && !own->library.own_majors; i++) {
		int major = parse_major(own->cuda.items[i]);

		if (!has_major(own, major))
			all[count++] = VERSION(major, 0);
	}
	qsort(all, (size_t)count, sizeof(*all), compare_versions);
	for (int i = 0; i < count; i++) {
		if (i && all[i] == all[i - 1])
			continue;
		if (scan->count == MAX_TOOLKITS)
			fail(NULL, "more than %d versions", MAX_TOOLKITS);
		scan->versions[scan->count++] = all[i];
	}
}

/* Adds the exports of a file to those of its version. */
static void add_exports(struct own *own, const struct source *source)
{
	struct exports *all = &own->library.exports[source_toolkit(own, source)];
	struct list names = { 0 };

	for (size_t i = 0; i < all->count; i++)
		list_add(&names, all->names[i]);
	for (size_t i = 0; i < source->exports.count; i++)
		if (!exports_name(all, source->exports.names[i]))
			list_add(&names, source->exports.names[i]);
	*all = source->exports;
	all->names = (const char **)names.items;
	all->count = names.count;
	qsort(all->names, all->count, sizeof(*all->names), compare_texts);
	note_names(&own->library, all);
}

static const struct datum *variable_of(const struct source *source, const char *name)
{
	for (size_t i = 0; i < source->exports.variables.count; i++) {
		const struct datum *datum = source->exports.variables.items[i];

		if (datum->name == name)
			return datum;
	}
	return NULL;
}

/* Adds the row of a variable, which has to be as large in all files.  Its first bytes are those of
 * the last one. */
static void add_variable(struct own *own, const char *name)
{
	const struct datum *datum = NULL;
	toolkits in = 0;

	for (size_t i = 0; i < own->sources.count; i++) {
		const struct source *source = own->sources.items[i];
		const struct datum *found = variable_of(source, name);

		if (!found)
			continue;
		if (datum && datum->size != found->size)
			fail(source->path, "exports %s, a variable of %u bytes, and another file one of %u",
			     name, found->size, datum->size);
		datum = found;
		in |= BIT(source_toolkit(own, source));
	}
	if (!datum)
		fail(NULL, "--data %s: no file exports that variable", name);
	list_add(&own->library.variables, format("%s %u %s%s%s", name, datum->size,
						 range_text(own->scan, in), datum->bytes ? " " : "",
						 datum->bytes ? datum->bytes : ""));
}

/* ---- the status ---- */

/* The enumeration that most functions return. */
static const char *usual_result(const struct own *own)
{
	struct map counts = { 0 };
	const char *usual = NULL;
	size_t most = 0;

	for (int toolkit = 0; toolkit < own->scan->count; toolkit++) {
		const struct list *all = &own->library.headers[toolkit].prototypes.values;

		for (size_t i = 0; i < all->count; i++) {
			const char *name = ((struct prototype *)all->items[i])->result.enumeration;
			size_t *count;

			if (!name)
				continue;
			count = map_get(&counts, name);
			if (!count)
				map_put(&counts, name, count = allocate(1, sizeof(*count)));
			if (++*count > most) {
				most = *count;
				usual = name;
			}
		}
	}
	return usual;
}

static bool has_status(const struct own *own)
{
	for (int toolkit = 0; toolkit < own->scan->count; toolkit++)
		if (map_get(&own->library.headers[toolkit].enums, own->library.status))
			return true;
	return false;
}

/* An enumerator of the status in one toolkit, or NULL. */
static const struct enumerator *enumerator_in(const struct own *own, const char *name, int toolkit)
{
	const struct map *values = own->library.status ?
		map_get(&own->library.headers[toolkit].enums, own->library.status) : NULL;

	return values ? map_get(values, name) : NULL;
}

/* Returns, as decimal text, an option's value in a toolkit: a number or the name of an enumerator.
 * A toolkit that lacks the name, or has no headers, gets the newest value of the others. */
static const char *value_of(const struct own *own, const char *option, const char *text,
			    int toolkit)
{
	char *end;
	long value = strtol(text, &end, 0);
	const struct enumerator *found = *end ? enumerator_in(own, text, toolkit) : NULL;

	for (int other = own->scan->count; other-- && *end && !found;)
		found = enumerator_in(own, text, other);
	if (found) {
		value = (long)found->value;
		end = "";
	}
	if (!*text || *end)
		fail(NULL, "%s %s: it is not a number%s%s", option, text,
		     own->library.status ? ", and not in enum " : "",
		     own->library.status ? own->library.status : "");
	if (!value || value < INT_MIN || value > INT_MAX)
		fail(NULL, "%s %s: an error is a number of 32 bits, and not 0", option, text);
	return format("%ld", value);
}

/* Adds the rows of one error: one for all callers, or one for each of its values. */
static void add_error(struct own *own, const char *kind, const char *option, const char *text)
{
	const toolkits all = BIT(own->scan->count) - 1;

	for (int toolkit = 0; toolkit < own->scan->count; toolkit++) {
		const char *value = value_of(own, option, text, toolkit);
		toolkits in = 0;

		for (int other = 0; other < own->scan->count; other++)
			if (!strcmp(value, value_of(own, option, text, other)))
				in |= BIT(other);
		add_hint(&own->library.errors, kind, in == all ? value :
			 format("%s %s", value, range_text(own->scan, in)));
	}
}

static void find_status(struct own *own)
{
	const char *absent = own->absent ? own->absent : own->missing;
	const char *absent_option = own->absent ? "--absent" : "--missing";

	if (own->library.status && !has_status(own))
		fail(NULL, "--status %s: no header that was given defines this enum",
		     own->library.status);
	if (!own->library.status)
		own->library.status = usual_result(own);
	add_error(own, "missing", "--missing", own->missing);
	add_error(own, "absent", absent_option, absent);
	add_error(own, "refused", own->refused ? "--refused" : absent_option,
		  own->refused ? own->refused : absent);
	if (!own->library.own_majors) {
		add_error(own, "driver", "--missing", own->missing);
		add_error(own, "incoherent", "--missing", own->missing);
	}
}

/* ---- all together ---- */

static char *head_of(const struct own *own)
{
	char *text = format("# What it takes to stand in for %s, as `lazycuda stub` found it in\n#",
				 own->library.name);

	for (size_t i = 0; i < own->sources.count; i++) {
		const struct source *source = own->sources.items[i];
		size_t first = 0;

		while (((struct source *)own->sources.items[first])->exports.soname !=
		       source->exports.soname)
			first++;
		if (first == i)
			text = format("%s%s %s", text, i ? "," : "", source->exports.soname);
	}
	return format("%s.  `lazycuda stub --list` makes the stub of it again; what may be\n"
			   "# changed here is said in docs/own-library.md, and what a row means at the"
			   " head of\n# lazycuda's symbols.txt.\n", text);
}

static void check_arguments(const struct own *own)
{
	if (!own->sources.count)
		fail(NULL, "no library is given: use --from FILE");
	if (!own->missing)
		fail(NULL, "no status is given for calls without the library:"
		     " use --missing NUMBER");
	if (own->advice && (strpbrk(own->advice, "#\"\\\n\r\t") || !*own->advice))
		fail(NULL, "--advice is one sentence, without quotes, \\ and #");
}

int derive_own(struct scan *scan, char **arguments)
{
	struct own *own = allocate(1, sizeof(*own));
	struct subject *library = &own->library;

	own->scan = scan;
	library->given = &own->given;
	library->position.file = command_name = "lazycuda stub";
	read_arguments(own, arguments);
	check_arguments(own);
	read_sources(own);
	name_library(own);
	find_versions(own);
	for (size_t i = 0; i < own->sources.count; i++) {
		const struct source *source = own->sources.items[i];

		add_exports(own, source);
		add_folders(own, source);
		add_nodes(own, source);
		add_headers(own, source);
	}
	for (size_t i = 0; i < own->variables.count; i++)
		add_variable(own, scan_intern(own->variables.items[i]));
	add_packages(own);
	advise(own);
	list_add(&scan->libraries, library);
	if (has_headers(own))
		scan_headers(scan);
	find_status(own);
	find_texts(own);
	take_negatives(own);
	take_statuses(own);
	take_aparts(own);
	take_handles(own);
	find_changed(own);
	resolve_library(scan, library);
	assign_letters(scan, library);
	write_list(scan, head_of(own), own->output);
	say_own(own);
	return 0;
}
