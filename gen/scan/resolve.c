/* SPDX-License-Identifier: MIT */
/*
 * resolve.c - chooses the prototype of each exported name in each toolkit
 *
 * Headers and libraries do not quite agree: a library exports names that its
 * own headers no longer declare, or do not declare yet.  A prototype comes from
 * the first of these: a hint; the toolkit's own headers; for a per-thread twin,
 * name_ptds or name_ptsz, the base name in those headers; the nearest toolkit
 * that declares the name; another member of its family.  Of a given library only
 * headers of the same major are used.
 */
#include "scanner.h"

#include <stdlib.h>
#include <string.h>

struct origin {
	const struct prototype *prototype;	/* NULL if no header declares it */
	const struct hint *given;		/* the hint that gives the signature; or NULL */
	int toolkit;				/* whose headers have the prototype */
};

static const char *base_name(const char *name)
{
	size_t length = strlen(name);

	if (length > 5 && (!strcmp(name + length - 5, "_ptds") || !strcmp(name + length - 5, "_ptsz")))
		return scan_intern_n(name, length - 5);
	return NULL;
}

/* A hint for a function also applies to its per-thread twins. */
static bool applies(const struct hint *hint, const char *function)
{
	const char *base = base_name(function);

	return matches(hint->words[0], function, NULL) ||
	       (base && matches(hint->words[0], base, NULL));
}

static const char *family_of(const struct subject *library, const char *name)
{
	for (size_t i = 0; i < library->families.count; i++) {
		struct hint *hint = library->families.items[i];
		const char *star = "", *hole = strchr(hint->words[1], '*');
		const char *family;

		if (!matches(hint->words[0], name, &star))
			continue;
		family = hole ? format("%.*s%s%s", (int)(hole - hint->words[1]),
					    hint->words[1], star, hole + 1) : hint->words[1];
		hint->used = true;
		return scan_intern(family);
	}
	return name;
}

static const struct prototype *declared(const struct subject *library, int toolkit, const char *name)
{
	const struct map *prototypes = &library->headers[toolkit].prototypes;
	const struct prototype *found = map_get(prototypes, name);
	const char *base = base_name(name);

	return found || !base ? found : map_get(prototypes, base);
}

static const struct prototype *declared_family(const struct subject *library, int toolkit,
					       const char *name)
{
	const struct map *prototypes = &library->headers[toolkit].prototypes;
	const char *family = family_of(library, name);

	for (size_t i = 0; i < prototypes->keys.count; i++)
		if (family_of(library, prototypes->keys.items[i]) == family)
			return prototypes->values.items[i];
	return NULL;
}

typedef const struct prototype *(*lookup)(const struct subject *, int, const char *);

/* Takes the nearest toolkit of the same major that declares it, else the nearest of all. */
static struct origin nearest(const struct scan *scan, const struct subject *library, int toolkit,
			     const char *name, lookup find)
{
	struct origin source = { .toolkit = toolkit };

	for (int same = 1; same >= !!library->given; same--)
		for (int distance = 0; distance < scan->count; distance++)
			for (int sign = -1; sign <= 1; sign += 2) {
				int other = toolkit + sign * distance;

				if (other < 0 || other >= scan->count)
					continue;
				if (same && MAJOR(scan->versions[other]) != MAJOR(scan->versions[toolkit]))
					continue;
				source.prototype = find(library, other, name);
				source.toolkit = other;
				if (source.prototype)
					return source;
			}
	return source;
}

static struct origin find_source(const struct scan *scan, const struct subject *library,
				 int toolkit, const char *name)
{
	struct origin source = { .toolkit = toolkit };

	for (size_t i = 0; i < library->signatures.count; i++) {
		struct hint *hint = library->signatures.items[i];

		if (hint->words[0] != name)
			continue;
		hint->used = true;
		source.given = hint;
		return source;
	}
	if (library->given && map_get(&library->given->inexpressible, name))
		return source;
	source = nearest(scan, library, toolkit, name, declared);
	if (!source.prototype && !library->given)
		source = nearest(scan, library, toolkit, name, declared_family);
	return source;
}

/* ---- records in use ---- */

static const struct c_layout *layout_in(const struct subject *library, int toolkit, int declaring,
					const char *name)
{
	const struct c_layout *layout = map_get(&library->headers[toolkit].layouts, name);

	return layout ? layout : map_get(&library->headers[declaring].layouts, name);
}

static void use_record(const struct scan *scan, struct subject *library, int toolkit, int declaring,
		       const char *name, const struct c_layout *layout)
{
	struct used_record *record = map_get(&library->records, name);

	if (!record) {
		record = allocate(1, sizeof(*record));
		record->name = name;
		map_put(&library->records, name, record);
	}
	if (record->layouts[toolkit]) {
		if (!same_layout(record->layouts[toolkit], layout))
			fail(scan->folder, "%s of %d.%d would have two layouts: one is a hint's",
			     name, MAJOR(scan->versions[toolkit]), MINOR(scan->versions[toolkit]));
		return;
	}
	record->layouts[toolkit] = layout;
	for (size_t i = 0; i < layout->count; i++) {
		const char *inner = layout->leaves[i].type.record;

		if (inner)
			use_record(scan, library, toolkit, declaring, inner,
				   layout_in(library, toolkit, declaring, inner));
	}
}

static int toolkit_of(const struct scan *scan, version v)
{
	for (int i = 0; i < scan->count; i++)
		if (scan->versions[i] == v)
			return i;
	return -1;
}

/* Returns the struct's name in the list for this function, and marks the struct as used. */
static const char *record_in(const struct scan *scan, struct subject *library, int toolkit,
			     const struct origin *source, const char *function, const char *name)
{
	version v = scan->versions[toolkit];
	int declaring = source->toolkit;
	const struct c_layout *layout = layout_in(library, toolkit, declaring, name);

	for (size_t i = 0; i < library->layouts.count; i++) {
		struct hint *hint = library->layouts.items[i];
		int as_of = hint->as_of ? toolkit_of(scan, hint->as_of) : toolkit;

		if (!applies(hint, function) || !in_ranges(&hint->ranges, v) ||
		    hint->words[2] != name)
			continue;
		if (as_of < 0)
			fail_at(hint->position, "there is no toolkit %s", hint->words[3]);
		layout = map_get(&library->headers[as_of].layouts, name);
		if (!layout)
			fail_at(hint->position, "%s of %s was not found", name, hint->words[3]);
		hint->used = true;
		name = hint->words[4];
		break;
	}
	use_record(scan, library, toolkit, declaring, name, layout);
	return name;
}

/* ---- signatures ---- */

static bool is_param(const char *word, const struct c_param *param, size_t index)
{
	char *end;
	unsigned long number = strtoul(word, &end, 10);

	return *end ? !strcmp(word, param->name) : number == index + 1;
}

/* The last hint that applies. */
static const struct hint *find_direction(struct subject *library, const char *function,
					 const struct c_param *param, size_t index)
{
	const struct hint *found = NULL;

	for (size_t i = 0; i < library->directions.count; i++) {
		struct hint *hint = library->directions.items[i];
		bool is_void = !param->pointer && param->type.kind == PTR;

		if (!applies(hint, function) || !is_param(hint->words[1], param, index))
			continue;
		/* In another toolkit this position may hold a different parameter. */
		if (hint->count == 4 ? !is_void : !param->pointer)
			continue;
		hint->used = true;
		found = hint;
	}
	return found;
}

/* Returns true if a struct begins with a tag: a field that the caller sets to tell what
 * the struct is. */
static bool is_tagged(const struct subject *library, int toolkit, const struct c_param *param)
{
	const struct c_layout *layout = param->type.record ?
		map_get(&library->headers[toolkit].layouts, param->type.record) : NULL;

	for (size_t i = 0; layout && layout->count && i < library->tags.count; i++) {
		struct hint *hint = library->tags.items[i];

		if (strcmp(hint->words[0], layout->leaves[0].name))
			continue;
		hint->used = true;
		return true;
	}
	return false;
}

/* Returns the direction from a hint, else the one that the type suggests. */
static const char *direction(const struct subject *library, int toolkit, const char *function,
			     const struct c_param *param, const struct hint *hint)
{
	if (hint)
		return hint->words[2];
	if (!param->pointer)
		return "";
	if (param->constant)
		return "in";
	/* Not `out`: any other pointer may be a device address. */
	if (library->given && param->text && map_get(&library->given->texts, function))
		return "out";
	if (library->given)
		return param->handle ? "out" : param->type.kind == I8 ? "buf" : "inout";
	if (is_tagged(library, toolkit, param))
		return "ptr";
	return param->type.kind == I8 ? "buf" : "out";
}

/* Returns true for a struct that the library makes and frees, unless this is one of the functions
 * that take one of the caller's: the caller of any other has its address alone. */
static bool is_made_by_library(const struct subject *library, const char *function,
			       const char *record)
{
	bool made = false;

	for (size_t i = 0; library->given && record && i < library->given->handles.count; i++) {
		struct hint *hint = library->given->handles.items[i];

		if (!matches(hint->words[0], record, NULL))
			continue;
		hint->used = true;
		if (hint->words[1] && matches(hint->words[1], function, NULL))
			return false;
		made = true;
	}
	return made;
}

static const char *param_text(const struct scan *scan, struct subject *library, int toolkit,
			      const struct origin *source, const char *function, size_t index)
{
	const struct c_param *param = &source->prototype->params[index];
	const struct hint *hint = find_direction(library, function, param, index);
	const char *passed = direction(library, source->toolkit, function, param, hint);
	struct c_type type = param->type;

	if (!strcmp(passed, "ptr"))
		return passed;
	if (param->pointer && is_made_by_library(library, function, type.record))
		return type.pointer ? "out ptr" : "ptr";
	if (hint && hint->count == 4)
		return format("%s %s", passed, hint->words[3]);
	if (type.record)
		type.record = record_in(scan, library, toolkit, source, function, type.record);
	return format("%s%s%s", passed, *passed ? " " : "", type_text(type));
}

static const char *result_text(const struct scan *scan, struct subject *library, int toolkit,
			       const struct origin *source, const char *function)
{
	struct c_type type = source->prototype->result;

	for (size_t i = 0; i < library->results.count; i++) {
		struct hint *hint = library->results.items[i];

		if (!applies(hint, function))
			continue;
		hint->used = true;
		return strcmp(hint->words[1], "status") ?
			format(" -> %s", hint->words[1]) : "";
	}
	if (type.enumeration && type.enumeration == library->status)
		return "";
	if (type.record)
		type.record = record_in(scan, library, toolkit, source, function, type.record);
	return format(" -> %s", type_text(type));
}

static const char *signature(const struct scan *scan, struct subject *library, int toolkit,
			     const struct origin *source, const char *name)
{
	const char *text = "(";

	if (source->given)
		return source->given->words[1];
	if (!source->prototype)
		return "(?)";
	for (size_t i = 0; i < source->prototype->count; i++)
		text = format("%s%s%s", text, i ? ", " : "",
				   param_text(scan, library, toolkit, source, name, i));
	return format("%s)%s", text, result_text(scan, library, toolkit, source, name));
}

/* ---- rows ---- */

/* Returns true if one of the patterns applies to the name. */
static bool is_among(const struct list *patterns, const char *name)
{
	for (size_t i = 0; i < patterns->count; i++) {
		struct hint *hint = patterns->items[i];

		if (!applies(hint, name))
			continue;
		hint->used = true;
		return true;
	}
	return false;
}

/* Returns true if a function takes or returns a value that means something else in another
 * major. */
static bool passes_changed(const struct subject *library, const struct prototype *prototype)
{
	const char *name = prototype ? prototype->result.enumeration : NULL;

	if (!library->given || !prototype)
		return false;
	for (size_t i = 0; !(name && map_get(&library->given->changed, name)); i++) {
		if (i == prototype->count)
			return false;
		name = prototype->params[i].type.enumeration;
	}
	return true;
}

/* Returns true if a function that says what a status means can do so: it returns the text, or
 * writes it. */
static bool gives_text(const struct prototype *prototype)
{
	return prototype->result.kind == PTR ||
	       (prototype->count == 2 && prototype->params[1].text);
}

static void add_row(struct subject *library, size_t first, int toolkit, const char *name,
		    const struct origin *source, const char *text)
{
	struct derived_row *row;

	for (size_t i = first; i < library->rows.count; i++) {
		row = library->rows.items[i];
		if (strcmp(row->signature, text))
			continue;
		row->row.in |= BIT(toolkit);
		return;
	}
	row = allocate(1, sizeof(*row));
	row->signature = text;
	row->row = (struct row){
		.name = name,
		.family = family_of(library, name),
		.hook = is_among(&library->hooks, name),
		.slow = is_among(&library->slows, name),
		.text = library->given && map_get(&library->given->texts, name) &&
			source->prototype && gives_text(source->prototype),
		.negative = library->given && map_get(&library->given->negatives, name) &&
			    source->prototype,
		.apart = (is_among(&library->aparts, name) && source->prototype) ||
			 passes_changed(library, source->prototype),
		.undeclared = source->given ? !strcmp(source->given->words[2], "measured") :
					      !source->prototype,
		.position = source->given ? source->given->position :
			 source->prototype ? source->prototype->position : library->position,
		.in = BIT(toolkit),
	};
	list_add(&library->rows, row);
}

/* ---- libraries without majors ---- */

/* The name of a function that takes the struct or a pointer to it. */
static const char *user_of(const struct subject *library, const char *record)
{
	size_t length = strlen(record);

	for (size_t i = 0; i < library->rows.count; i++) {
		const struct derived_row *row = library->rows.items[i];
		const char *at = row->signature;

		for (; (at = strstr(at, record)); at += length)
			if (strchr("( ", at[-1]) && strchr(",) ", at[length]))
				return row->row.name;
	}
	return "a function";	/* only through another struct */
}

static void refuse_layout(const struct scan *scan, const struct subject *library,
			  const struct used_record *record, int toolkit)
{
	fail_at(record->layouts[toolkit]->position,
		"%s: struct %s, which %s takes, changes its layout in %s", library->name, record->name,
		user_of(library, record->name), range_text(scan, BIT(toolkit)));
}

/*
 * In a library without majors, one function serves callers of all versions, so its
 * interface must never change.  A release that changes one needs a hint.
 */
void refuse_changes(const struct scan *scan, const struct subject *library)
{
	for (size_t i = 1; i < library->rows.count; i++) {
		const struct derived_row *before = library->rows.items[i - 1], *row = library->rows.items[i];

		if (before->row.name == row->row.name)
			fail_at(row->row.position, "%s: %s changes its interface: %s %s, %s %s",
				library->name, row->row.name, range_text(scan, before->row.in),
				before->signature, range_text(scan, row->row.in), row->signature);
	}
	for (size_t i = 0; i < library->records.keys.count; i++) {
		const struct used_record *record = library->records.values.items[i];

		for (int toolkit = 0; toolkit < scan->count; toolkit++)
			if (record->layouts[toolkit] && record->letters[toolkit])
				refuse_layout(scan, library, record, toolkit);
	}
}

static void refuse_unused(const struct list *hints, const char *what)
{
	for (size_t i = 0; i < hints->count; i++) {
		const struct hint *hint = hints->items[i];

		if (!hint->used)
			fail_at(hint->position, "this %s applies to nothing: %s%s%s", what, hint->words[0],
				hint->count > 2 ? " " : "", hint->count > 2 ? hint->words[1] : "");
	}
}

void resolve_library(struct scan *scan, struct subject *library)
{
	struct list *names = &library->names.keys;

	qsort(names->items, names->count, sizeof(*names->items), compare_texts);
	for (size_t i = 0; i < names->count; i++) {
		const char *name = names->items[i];
		size_t first = library->rows.count;

		for (int toolkit = 0; toolkit < scan->count; toolkit++) {
			struct origin source;

			if (!exports_name(&library->exports[toolkit], name))
				continue;
			source = find_source(scan, library, toolkit, name);
			add_row(library, first, toolkit, name, &source,
				signature(scan, library, toolkit, &source, name));
		}
	}
	refuse_unused(&library->directions, "direction");
	refuse_unused(&library->results, "result");
	refuse_unused(&library->signatures, "signature");
	refuse_unused(&library->families, "family");
	refuse_unused(&library->hooks, "hook");
	refuse_unused(&library->slows, "slow");
	refuse_unused(&library->aparts, "apart");
	refuse_unused(&library->layouts, "layout");
	refuse_unused(&library->exported, "exported");
	refuse_unused(&library->tags, "tag");
	if (library->given)
		refuse_unused(&library->given->handles, "--handle");
}
