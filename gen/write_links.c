/* SPDX-License-Identifier: MIT */
/*
 * write_links.c - writes what the linker needs: version scripts, import libraries
 *
 * A reference without a version binds to the first node of the script if that
 * node has the name, otherwise to the name's default version.  The stub's own
 * node therefore comes first, so that a node of the real library never answers
 * by accident.
 */
#include "writers.h"

#include <string.h>

/* Writes the version script of the stub or, if `compat` is a major, of the stub that has
 * the SONAME of that major.  Like the real library, that stub has no node of another major,
 * and no further nodes except under `nodes other`. */
static void write_map(struct files *files, const struct plan *plan, const char *suffix,
		      unsigned compat)
{
	const struct library *library = plan->library;
	bool nodes = !compat || library->node_names == NODES_OTHER;
	struct text *map = new_file(files, plan, suffix, "# ", "");

	if (library->without_majors || library->node_names == NODES_NONE) {
		/* Names that no node lists have no version. */
		put(map, "LAZYCUDA_1 { global: lazycuda_*; local: lc_*; };\n");
		return;
	}
	put(map, "LAZYCUDA_1 { global: lazycuda_*; };\n");
	for (unsigned bit = 0; bit < plan->list->toolkit_count; bit++) {
		unsigned major = major_at(plan->list, bit);

		if (!is_newest_of_major(plan->list, bit) || !soname_of(plan, major) ||
		    (compat && compat != major))
			continue;
		for (size_t i = 0; i < library->nodes.count && nodes; i++)
			if (library->nodes.items[i].major == major)
				put(map, "%s { };\n", library->nodes.items[i].name);
		put(map, "%s { };\n", soname_of(plan, major));
	}
	put(map, "LAZYCUDA_LOCAL { local: *; };\n");
}

void write_maps(struct files *files, const struct plan *plan)
{
	const struct library *library = plan->library;

	write_map(files, plan, ".map", 0);
	/* No stub takes the SONAME of a library that comes with the driver, or of one with a row
	 * `compat none`: the real CUDA libraries would get the stub instead. */
	if (library->without_majors || library->compat_position.line)
		return;
	for (size_t i = 0; i < library->sonames.count; i++) {
		const struct ranged *soname = &library->sonames.items[i];
		unsigned major = major_at(plan->list, first_bit(soname->in));

		write_map(files, plan, format(".compat%u.%s.map", major, soname->text), major);
	}
}

/* The majors that have a name, as an #if condition. */
static const char *condition(const struct use *first, const struct use *end)
{
	struct text text = { 0 };

	if (!first->major)
		return "1";	/* the library has no majors */

	for (const struct use *use = end; use-- > first;)
		put(&text, "%sLC_IMPORT == %u", text.length ? " || " : "", use->major);
	return text.bytes;
}

struct guarded_names {
	const char *condition;
	struct text names;
};

static struct text *group_of(struct guarded_names *groups, size_t *count, const char *condition)
{
	size_t i = 0;

	while (i < *count && strcmp(groups[i].condition, condition))
		i++;
	if (i == *count)
		groups[(*count)++].condition = condition;
	return &groups[i].names;
}

/* One source for all majors: -DLC_IMPORT=12 chooses the names of major 12. */
static void write_import(struct files *files, const struct plan *plan)
{
	struct text *c = new_file(files, plan, ".import.c", "/* ", " */");
	const struct use *use = plan->uses.items, *end = use + plan->uses.count, *next;
	struct guarded_names *groups = allocate(plan->uses.count + 1, sizeof(*groups));
	size_t count = 0;

	for (; use < end; use = next) {
		for (next = use; next < end && !strcmp(next->name, use->name); next++)
			;
		put(group_of(groups, &count, condition(use, next)), "LC_NAME(%s)\n", use->name);
	}
	put(c, "#include \"entry/import.h\"\n");
	for (size_t i = 0; i < plan->library->variables.count; i++)
		put(c, "LC_DATA_NAME(%s, %u)\n", plan->library->variables.items[i].name,
		    plan->library->variables.items[i].size);
	for (size_t i = 0; i < count; i++)
		put(c, "\n#if %s\n%s#endif\n", groups[i].condition, groups[i].names.bytes);
}

/* A program links a library without majors together with libraries of any major, so
 * there is the same map for each major that the list knows. */
static void write_plain_maps(struct files *files, const struct plan *plan, const struct symbols *list)
{
	for (unsigned bit = 0; bit < list->toolkit_count; bit++) {
		const char *suffix = format(".import%u.map", major_at(list, bit));

		if (is_newest_of_major(list, bit))
			put(new_file(files, plan, suffix, "# ", ""),
			    "LAZYCUDA_1 { global: lazycuda_*; };\n");
	}
}

static void write_import_maps(struct files *files, const struct plan *plan)
{
	const struct library *library = plan->library;

	for (size_t i = 0; i < library->sonames.count; i++) {
		const struct ranged *soname = &library->sonames.items[i];
		unsigned major = major_at(plan->list, first_bit(soname->in));
		struct text *map = new_file(files, plan, format(".import%u.map", major), "# ", "");

		put(map, "LAZYCUDA_1 { global: lazycuda_*; };\n");
		if (library->node_names != NODES_NONE)
			put(map, "%s { global: *; };\n", soname->text);
	}
}

void write_imports(struct files *files, const struct plan *plan, const struct symbols *list)
{
	write_import(files, plan);
	if (plan->library->without_majors)
		write_plain_maps(files, plan, list);
	else
		write_import_maps(files, plan);
}
