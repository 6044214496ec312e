/* SPDX-License-Identifier: MIT */
/* verdict.c - predicts the outcome of a call from the tables alone */
#include "verdict.h"

#include <stdbool.h>
#include <string.h>

#include "library_name.h"

static int compare_row(const struct lc_library *library, const struct lc_export *row,
		       const char *name, int major)
{
	int order = strcmp(library->names + row->name, name);

	return order ? order : (row->major > major) - (row->major < major);
}

const struct lc_export *lc_find_export(const struct lc_library *library, const char *name,
				       int major)
{
	size_t low = 0, high = library->export_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = compare_row(library, &library->exports[middle], name, major);

		if (!order)
			return &library->exports[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* The number in "libNAME.so.NUMBER"; 0 for any other name. */
static int number_of(const struct lc_library *library, const char *node)
{
	size_t length = strlen(library->name);
	struct lc_ending ending;

	if (!lc_has_majors(library) || strncmp(node, "lib", 3) ||
	    strncmp(node + 3, library->name, length) ||
	    !lc_read_ending(node + 3 + length, &ending) || ending.hashed || !ending.numbers)
		return 0;
	return ending.number;
}

int lc_node_major(const struct lc_library *library, const char *node)
{
	const struct lc_major *newest = &library->majors[0];

	for (size_t i = 0; i < library->major_count; i++)
		if (!strcmp(node, library->majors[i].soname))
			return library->majors[i].major;
	/* Some SONAMEs count differently, like libcufft.so.11 of CUDA 12: there an
	 * unlisted number does not tell the major. */
	return number_of(library, newest->soname) == newest->major ? number_of(library, node) : 0;
}

static bool covers_version(const struct lc_provider *provider, lc_version version)
{
	return version >= provider->from && version <= provider->to;
}

/* Returns true if the slot has a provider in this version; sets *own if one of
 * them has the name. */
static bool is_served(const struct lc_library *library, unsigned slot, lc_version version,
		      uint32_t name, bool *own)
{
	const struct lc_provider *first = library->providers + library->slots[slot].first;
	bool served = false;

	*own = false;
	for (size_t i = 0; i < library->slots[slot].count; i++) {
		if (!covers_version(&first[i], version))
			continue;
		served = true;
		*own |= first[i].name == name;
	}
	return served;
}

/* Returns true if a library of this version exports the name, with any interface.
 * Providers are stored slot by slot, so the last slot's end is the array's. */
static bool exists_in(const struct lc_library *library, uint32_t name, lc_version version)
{
	const struct lc_slot *last = &library->slots[library->slot_count - 1];
	size_t count;

	while (last > library->slots && last->first == LC_ANY_CALLER)
		last--;
	count = (size_t)last->first + last->count;
	for (size_t i = 0; i < count; i++)
		if (library->providers[i].name == name && covers_version(&library->providers[i], version))
			return true;
	return false;
}

enum lc_verdict lc_judge(const struct lc_library *library, const struct lc_adaptor *adaptors,
			 const struct lc_export *import, lc_version version)
{
	bool own;

	if (is_served(library, import->slot, version, import->name, &own))
		return own ? LC_RUNS_DIRECT : LC_RUNS_RENAMED;
	for (; adaptors && adaptors->function; adaptors++)
		if (adaptors->slot == import->slot &&
		    is_served(library, adaptors->needs, version, import->name, &own))
			return LC_RUNS_ADAPTED;
	/* The slot's name, as in the loader: several names may share the slot. */
	return exists_in(library, library->slots[import->slot].name, version) ? LC_IS_REFUSED :
									     LC_IS_ABSENT;
}

const char *lc_called_number(const struct lc_numbered *called, size_t count, lc_version version)
{
	for (size_t i = 0; i < count; i++)
		if (called[i].version == version)
			return called[i].number;
	return NULL;
}
