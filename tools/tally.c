/* SPDX-License-Identifier: MIT */
/* tally.c - counts the verdicts on a file's imports on a version, and words the result */
#include "tally.h"
#include "../stubs/base/count.h"

#include <string.h>

/* ---- one file on one version ---- */

static void add(struct lc_arena *arena, struct tally *tally, struct lc_strings *names, const char *name)
{
	lc_add_string(arena, names, name);
	tally->incomplete |= arena->failed;
}

bool is_judged(const struct found_import *import)
{
	return import->versioned || import->needed || import->unmet;
}

bool imports_any(const struct findings *findings)
{
	for (size_t i = 0; i < findings->import_count; i++)
		if (findings->imports[i].name_count && is_judged(&findings->imports[i]))
			return true;
	return false;
}

static void add_verdict(struct lc_arena *arena, struct tally *tally, const struct lc_library *library,
			const char *name, enum lc_verdict verdict)
{
	switch (verdict) {
	case LC_RUNS_DIRECT:	tally->direct++; break;
	case LC_RUNS_RENAMED:	tally->renamed++; break;
	case LC_RUNS_ADAPTED:	tally->adapted++; break;
	case LC_IS_REFUSED:	add(arena, tally, &tally->refused, name); break;
	default:
		add(arena, tally, lc_has_majors(library) ? &tally->absent : &tally->undriven, name);
	}
}

static bool serves_in(const struct findings *findings, const struct table *table, lc_version version)
{
	for (size_t i = 0; i < findings->import_count; i++) {
		const struct found_import *import = &findings->imports[i];

		if (import->table != table || !is_judged(import))
			continue;
		for (size_t k = 0; k < import->name_count; k++)
			if (!import->names[k].export ||
			    lc_judge(table->library, table->adaptors, import->names[k].export,
				     version) > LC_RUNS_ADAPTED)
				return false;
	}
	return true;
}

lc_version serves_from(const struct findings *findings, const struct table *table, size_t row)
{
	const struct lc_library *library = table->library;
	const struct lc_major *major = &library->majors[row];
	lc_version from = major->newest;

	if (!serves_in(findings, table, from))
		return 0;
	/* Each version that brought names has a row in `since`; these are newest first. */
	for (size_t i = 0; i < library->since_count; i++) {
		lc_version version = library->since[i].version;

		if (!lc_is_of(version, major))
			continue;
		if (!serves_in(findings, table, version))
			return from;
		from = version;
	}
	return serves_in(findings, table, major->oldest) ? major->oldest : from;
}

/* For a library whose majors are its own: of the majors that this CUDA has, the row of the newest
 * that serves the file, else of the newest; the count of rows if there is none. */
static size_t own_row(const struct findings *findings, struct table *table, int cuda)
{
	const struct lc_library *library = table->library;
	size_t newest = library->major_count;

	for (size_t row = library->major_count; row--;)
		if (!library->cuda || library->cuda[row] >> cuda & 1)
			newest = row;
	for (size_t row = newest; row < library->major_count; row++)
		if ((!library->cuda || library->cuda[row] >> cuda & 1) &&
		    serves_in(findings, table, library->majors[row].newest))
			return row;
	return newest;
}

/* `row` is own_row() if the library's majors are its own; otherwise it is not used. */
static enum lc_verdict verdict_of(struct tables *tables, struct table *table, size_t row,
				  const struct found_name *name, size_t toolkit)
{
	if (!name->export || (table->library->own_majors && row == table->library->major_count))
		return LC_IS_ABSENT;
	return table->library->own_majors ?
		judge_shipped(tables, table, name->export, row, toolkit) :
		judge_on(tables, table, name->export, toolkit);
}

void count(struct lc_arena *arena, struct tables *tables, const struct findings *findings,
	   size_t toolkit, struct tally *tally)
{
	*tally = (struct tally){ .direct = 0 };
	for (size_t i = 0; i < findings->import_count; i++) {
		const struct found_import *import = &findings->imports[i];
		struct table *table = import->table;
		size_t row = 0;

		if (!is_judged(import))
			continue;
		if (table->library->own_majors)
			row = own_row(findings, table, LC_MAJOR(tables->toolkits[toolkit]));
		for (size_t k = 0; k < import->name_count; k++) {
			const struct found_name *name = &import->names[k];

			add_verdict(arena, tally, table->library, name->name,
				    verdict_of(tables, table, row, name, toolkit));
		}
	}
}

bool tally_runs(const struct tally *tally)
{
	return !tally->incomplete && !tally->refused.count && !tally->absent.count &&
	       !tally->undriven.count;
}

bool above_driver(const struct tables *tables, const struct findings *findings, size_t toolkit)
{
	bool needs = false;

	for (size_t i = 0; i < findings->import_count; i++)
		needs |= lc_has_majors(findings->imports[i].table->library);
	return needs && LC_MAJOR(tables->toolkits[toolkit]) > LC_MAJOR(tables->toolkits[tables->driver]);
}

/* The oldest driver from which on every version up to tables->driver has the name. */
static size_t driver_of(struct tables *tables, const struct found_import *import,
			const struct found_name *name)
{
	size_t version = tables->driver;

	while (name->export && version &&
	       driver_has(tables, import->table, name->export, version - 1))
		version--;
	return version;
}

bool driver_needed(struct tables *tables, const struct findings *findings, size_t *needed)
{
	bool any = false;

	*needed = 0;
	for (size_t i = 0; i < findings->import_count; i++) {
		const struct found_import *import = &findings->imports[i];

		if (lc_has_majors(import->table->library) || !is_judged(import))
			continue;
		for (size_t k = 0; k < import->name_count; k++) {
			size_t version = driver_of(tables, import, &import->names[k]);

			any = true;
			*needed = version > *needed ? version : *needed;
		}
	}
	return any;
}

/* ---- in words ---- */

const char *format_version(struct lc_arena *arena, lc_version version)
{
	return lc_format(arena, "%d.%d", LC_MAJOR(version), LC_MINOR(version));
}

const char *format_own(struct lc_arena *arena, const struct table *table, lc_version version)
{
	const char *number = lc_called_number(table->library->called, table->library->called_count,
					      version);

	return number ? number : format_version(arena, version);
}

/* The first `most` of them, and how many more there are. */
static const char *list_some(struct lc_arena *arena, const struct lc_strings *names, size_t most)
{
	/* One more would take no less room than its name. */
	size_t count = names->count > most + 1 ? most : names->count;
	const char *text = lc_join(arena, names->list, count, ", ");

	return count == names->count ? text :
	       lc_format(arena, "%s and %zu more", text, names->count - count);
}

const char *list_names(struct lc_arena *arena, const struct lc_strings *names)
{
	return list_some(arena, names, names->count);
}

const char *problems(struct lc_arena *arena, const struct tally *tally, size_t most)
{
	const struct {
		const struct lc_strings *names;
		const char *what;
	} kinds[] = {
		{ &tally->refused, "refused" }, { &tally->absent, "absent" },
		{ &tally->undriven, "not in the driver" },
	};
	const char *text = "";

	for (size_t i = 0; i < LC_COUNT(kinds); i++)
		if (kinds[i].names->count)
			text = lc_format(arena, "%s%s%zu %s: %s", text, *text ? "; " : "",
					 kinds[i].names->count, kinds[i].what,
					 list_some(arena, kinds[i].names, most));
	return text;
}

size_t end_of_major(const struct tables *tables, size_t first)
{
	size_t end = first;

	while (end < tables->toolkit_count &&
	       LC_MAJOR(tables->toolkits[end]) == LC_MAJOR(tables->toolkits[first]))
		end++;
	return end;
}

/* Returns "13", "12.3 and later" or "12.3, 12.4 only", the toolkits of [first, end) that
 * run; NULL if none does.  With `lowest`, the minor version is always given. */
static const char *toolkits_text(struct lc_arena *arena, const struct tables *tables,
				 const bool *on, size_t first, size_t end, bool lowest)
{
	const char *text = "";
	size_t start = first;

	while (start < end && !on[start])
		start++;
	if (start == end)
		return NULL;
	for (size_t i = start; i < end; i++)
		if (!on[i])
			goto list;
	if (start == first && !lowest)
		return lc_format(arena, "%d", LC_MAJOR(tables->toolkits[first]));
	return lc_format(arena, "%s and later", format_version(arena, tables->toolkits[start]));
list:
	/* Rare: within a major, names are usually only added. */
	for (size_t i = start; i < end; i++)
		if (on[i])
			text = lc_format(arena, "%s%s%s", text, *text ? ", " : "",
					 format_version(arena, tables->toolkits[i]));
	return lc_format(arena, "%s only", text);
}

const char *runs_text(struct lc_arena *arena, const struct tables *tables, const bool *on)
{
	const char *text = "", *last = NULL;

	for (size_t first = 0, end; first < tables->toolkit_count; first = end) {
		const char *range;

		end = end_of_major(tables, first);
		range = toolkits_text(arena, tables, on, first, end, !last);
		if (!range)
			continue;
		if (last)
			text = lc_format(arena, "%s%s%s", text, *text ? ", on " : "runs on ", last);
		last = range;
	}
	if (!last)
		return "";
	return lc_format(arena, "%s%s%s", text, *text ? " and on " : "runs on ", last);
}

const char *driver_text(struct lc_arena *arena, const struct tables *tables, size_t needed)
{
	return needed ? lc_format(arena, ", with a driver of CUDA %s or later",
				  format_version(arena, tables->toolkits[needed])) : "";
}
