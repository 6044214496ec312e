/* SPDX-License-Identifier: MIT */
/* tables.c - reads the stubs' tables from the stubs */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "../stubs/base/library_name.h"
#include "../stubs/loader/specifics.h"
#include "../stubs/loader/peers.h"
#include "tables.h"

static const char *const stubs[LIBRARIES] = {
	STUB_SONAME("cudart"), STUB_SONAME("nvrtc"), STUB_SONAME("nvJitLink"),
	STUB_SONAME("cuda"), STUB_SONAME("nvidia-ml"),
};

/* Returns false if there are more than this program has room for. */
static bool add_toolkit(struct tables *tables, lc_version version)
{
	size_t i = tables->toolkit_count;

	for (size_t k = 0; k < i; k++)
		if (tables->toolkits[k] == version)
			return true;
	if (i == AUDIT_TOOLKITS)
		return false;
	for (; i && tables->toolkits[i - 1] > version; i--)
		tables->toolkits[i] = tables->toolkits[i - 1];
	tables->toolkits[i] = version;
	tables->toolkit_count++;
	return true;
}

/* A toolkit that changes anything is the first to have some name, so `since` lists it. */
static bool add_toolkits(struct tables *tables, const struct lc_library *library)
{
	bool all = true;

	for (size_t i = 0; i < library->major_count; i++)
		all &= add_toolkit(tables, library->majors[i].oldest) &&
		       add_toolkit(tables, library->majors[i].newest);
	for (size_t i = 0; i < library->since_count; i++)
		all &= add_toolkit(tables, library->since[i].version);
	return all;
}

static const char *add_table(struct tables *tables, const struct lc_peer *peer, bool own)
{
	const struct lc_library *library = peer->library;
	struct table *table = &tables->all[tables->count];
	size_t cells = library->export_count * AUDIT_TOOLKITS;
	struct lc_ending ending;

	*table = (struct table){
		.library = library, .own = own, .stem = library->majors[0].soname,
		.adaptors = peer->specifics->adaptors, .verdicts = malloc(cells),
	};
	table->stem_length = lc_read_name(table->stem, &ending);
	if (!table->verdicts)
		return "memory ran out";
	memset(table->verdicts, LC_VERDICTS, cells);
	tables->count++;
	return NULL;
}

void tables_look_everywhere(void)
{
	for (size_t i = 0; i < LIBRARIES; i++) {
		void *handle = dlopen(stubs[i], RTLD_LAZY | RTLD_NOLOAD);
		struct lc_peer *peer = handle ? dlsym(handle, LC_PEER_SYMBOL) : NULL;

		if (peer && peer->size == sizeof(*peer))
			atomic_store(&peer->everywhere, 1);
	}
}

const char *tables_read(struct tables *tables)
{
	const char *why = NULL;

	*tables = (struct tables){ .toolkit_count = 0 };
	for (size_t i = 0; i < LIBRARIES && !why; i++) {
		/* This program is linked against the stubs, so they are loaded. */
		void *handle = dlopen(stubs[i], RTLD_LAZY | RTLD_NOLOAD);
		const struct lc_peer *peer = handle ? dlsym(handle, LC_PEER_SYMBOL) : NULL;

		if (!peer || peer->size != sizeof(*peer))
			return "the stubs beside it are of another version of lazycuda";
		if (!add_toolkits(tables, peer->library))
			return "the stubs beside it know more versions of CUDA than it has room for";
		why = add_table(tables, peer, false);
	}
	tables->driver = tables->toolkit_count - 1;
	return why;
}

const char *tables_add(struct tables *tables, const struct lc_peer *peer)
{
	const struct lc_library *library = peer->library;

	for (size_t i = 0; i < tables->count; i++)
		if (!strcmp(tables->all[i].library->stub, library->stub) ||
		    !strcmp(tables->all[i].library->name, library->name))
			return "there is another stub of that library";
	if (tables->count == MAX_TABLES || library->major_count > AUDIT_TOOLKITS)
		return "that is more than an audit has room for";
	return add_table(tables, peer, true);
}

void tables_free(struct tables *tables)
{
	for (size_t i = 0; i < tables->count; i++)
		free(tables->all[i].verdicts);
}

static enum lc_verdict remembered(struct table *table, const struct lc_export *import, size_t place,
				  lc_version version)
{
	unsigned char *known = &table->verdicts[place * table->library->export_count +
						(size_t)(import - table->library->exports)];

	if (*known == LC_VERDICTS)
		*known = (unsigned char)lc_judge(table->library, table->adaptors, import, version);
	return *known;
}

static enum lc_verdict judge_at(struct tables *tables, struct table *table,
				const struct lc_export *import, size_t toolkit)
{
	return remembered(table, import, toolkit, tables->toolkits[toolkit]);
}

/* The version of the library that a CUDA ships, of the major of this row; the newest if no list
 * tells. */
static lc_version shipped(const struct tables *tables, const struct table *table, size_t row, size_t toolkit)
{
	const struct lc_major *major = &table->library->majors[row];
	lc_version found = 0;

	for (size_t i = 0; i < table->library->ship_count; i++)
		if (LC_MAJOR(table->library->ships[i].version) == major->major &&
		    (!found || table->library->ships[i].cuda <= tables->toolkits[toolkit]))
			found = table->library->ships[i].version;
	return found ? found : major->newest;
}

enum lc_verdict judge_shipped(struct tables *tables, struct table *table,
			      const struct lc_export *import, size_t row, size_t toolkit)
{
	/* The row depends on the file: only the newest of each is remembered. */
	return !table->library->ship_count ?
		remembered(table, import, row, table->library->majors[row].newest) :
		lc_judge(table->library, table->adaptors, import,
			 shipped(tables, table, row, toolkit));
}

enum lc_verdict judge_on(struct tables *tables, struct table *table,
			 const struct lc_export *import, size_t toolkit)
{
	return judge_at(tables, table, import,
			lc_has_majors(table->library) ? toolkit : tables->driver);
}

bool driver_has(struct tables *tables, struct table *table, const struct lc_export *import,
		size_t version)
{
	return judge_at(tables, table, import, version) == LC_RUNS_DIRECT;
}

const struct lc_export *unversioned_export(const struct lc_library *library, const char *name,
					   bool *known)
{
	const struct lc_export *newest = NULL;
	bool differs = false;

	for (size_t i = 0; i < library->major_count; i++) {
		const struct lc_export *row = lc_find_export(library, name,
							     library->majors[i].major);

		if (!newest)
			newest = row;
		else
			differs |= row && row->slot != newest->slot;
	}
	*known = newest;
	return differs ? NULL : newest;
}

bool has_variable(const struct table *table, const char *name)
{
	for (const struct lc_variable *one = table->library->variables; one && one->name; one++)
		if (!strcmp(one->name, name))
			return true;
	return false;
}

static const char *const lower = "abcdefghijklmnopqrstuvwxyz";

size_t kind_length(const struct lc_library *library, const char *name)
{
	size_t length = strspn(name, lower);

	if (lc_has_nodes(library) || name[length] < 'A' || name[length] > 'Z')
		return 0;
	for (size_t i = 0; i < library->export_count; i++) {
		const char *known = library->names + library->exports[i].name;

		if (!strncmp(known, name, length) && strspn(known, lower) == length)
			return length;
	}
	return 0;
}

/* Returns the major for the number after ".so.", 0 if unknown.  For a library of
 * `lazycuda stub` it is the major whose SONAME has the number; for others, the number. */
static int major_of(const struct table *table, int number)
{
	const struct lc_library *library = table->library;
	struct lc_ending own;

	/* The driver's libraries are always .so.1, which is no CUDA major. */
	if (!lc_has_majors(library) || number < 0)
		return 0;
	for (size_t i = 0; table->own && i < library->major_count; i++)
		if (lc_read_ending(library->majors[i].soname + table->stem_length, &own) &&
		    own.number == number)
			return library->majors[i].major;
	return table->own ? 0 : number;
}

enum needed_kind needed_kind(const struct table *table, const char *soname, int *major)
{
	const char *name = lc_basename(soname), *stub = table->library->stub;
	struct lc_ending ending;
	size_t length = lc_read_name(stub, &ending);

	*major = 0;
	/* In a system library folder the stub may be libcudart_stub.so.0. */
	if (!strncmp(name, stub, length) && lc_read_ending(name + length, &ending))
		return NEEDS_STUB;
	if (strncmp(name, table->stem, table->stem_length) ||
	    !lc_read_ending(name + table->stem_length, &ending))
		return NEEDS_OTHER;
	*major = major_of(table, ending.number);
	return ending.hashed ? NEEDS_RENAMED : NEEDS_REAL;
}
