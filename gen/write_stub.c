/* SPDX-License-Identifier: MIT */
/* write_stub.c - writes a stub's entry points, slots and tables as C */
#include "writers.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- types ---- */

/* Parameters narrower than 32 bits are forwarded as 32 bits, as the caller left them. */
static const char *const param_types[] = {
	"int32_t", "uint32_t", "int32_t", "uint32_t", "int32_t", "uint32_t", "int64_t",
	"uint64_t", "float", "double", "void *"
};
static const char *const result_types[] = {
	"int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t",
	"uint64_t", "float", "double", "void *", "", "void", "int32_t"
};

static const char *result_type(struct plan *plan, const struct slot *slot)
{
	const struct type *type = &slot->row->result;

	if (type->kind == STRUCT)
		return format("struct %s", passed_value(plan, type, slot->toolkit)->name);
	return result_types[type->kind];
}

/* The field of a struct that is its status, `.err` of CUfileError; NULL: it has none. */
static const char *status_in(const struct type *type, unsigned toolkit)
{
	static const char *const names[] = { ".err", ".error", ".status" };

	for (size_t i = 0; i < type->record->fields.count; i++) {
		const struct field *field = &type->record->fields.items[i];

		if (field->offset || field->type.kind != I32 || field->type.pointer ||
		    field->type.count != 1 || !(field->in & BIT(toolkit)))
			continue;
		for (size_t j = 0; j < COUNT(names); j++)
			if (!strcmp(field->name, names[j]))
				return field->name;
	}
	return NULL;
}

/* The value that a failing call returns, as C; `error` is the status. */
static const char *failure(struct plan *plan, const struct slot *slot)
{
	const char *status;

	switch (slot->row->result.kind) {
	case STATUS:
		return "error";
	case VOID:
		return "";
	case STRUCT:
		status = status_in(&slot->row->result, slot->toolkit);
		return status ? format("(%s){ %s = error }", result_type(plan, slot), status) :
			format("(%s){ 0 }", result_type(plan, slot));
	case PTR:
		return "NULL";
	default:
		/* 0 would be success here: nothing to read, the first level. */
		return slot->negative ? "error < 0 ? error : -error" : "0";
	}
}

struct signature {
	struct text types, params, args;
};

static const char *param_type(struct plan *plan, const struct slot *slot,
			      const struct param *param)
{
	if (param->direction != BY_VALUE)
		return param_types[PTR];
	if (param->type.kind == STRUCT)
		return format("struct %s", passed_value(plan, &param->type, slot->toolkit)->name);
	return param_types[param->type.kind];
}

static void make_signature(struct plan *plan, const struct slot *slot, struct signature *out)
{
	*out = (struct signature){ 0 };
	for (size_t i = 0; i < slot->row->params.count; i++) {
		const char *type = param_type(plan, slot, &slot->row->params.items[i]);
		const char *comma = i ? ", " : "";

		put(&out->types, "%s%s", comma, type);
		put(&out->params, "%s%s%sa%zu", comma, type,
		    type[strlen(type) - 1] == '*' ? "" : " ", i + 1);
		put(&out->args, "%sa%zu", comma, i + 1);
	}
	if (!slot->row->params.count) {
		put(&out->types, "void");
		put(&out->params, "void");
		put(&out->args, "%s", "");
	}
}

/* ---- header ---- */

static void write_values(struct text *h, struct plan *plan)
{
	for (size_t i = 0; i < plan->slots.count; i++) {
		struct signature signature;

		if (plan->slots.items[i]->unknown)
			continue;
		make_signature(plan, plan->slots.items[i], &signature);
		result_type(plan, plan->slots.items[i]);
	}
	if (plan->values.count)
		put(h, "/* Structs that are passed by value, as far as that depends on them. */\n");
	for (size_t i = 0; i < plan->values.count; i++) {
		const struct value *value = &plan->values.items[i];

		put(h, "struct %s {\n%s};\n", value->name, value->members);
		put(h, "_Static_assert(sizeof(struct %s) == %u, \"struct %s\");\n\n", value->name,
		    value->bytes, value->record->name);
	}
}

static void write_slots(struct text *h, struct plan *plan)
{
	put(h, "enum {\n");
	for (size_t i = 0; i < plan->slots.count; i++)
		put(h, "\tLC_SLOT_%s,\n", plan->slots.items[i]->ident);
	put(h, "\tLC_SLOTS%s%s\n};\n\nstruct lc_slots {\n", plan->live ? " = LC_SLOT_" : "",
	    plan->live ? plan->live->ident : "");
	for (size_t i = 0; i < plan->slots.count; i++) {
		const struct slot *slot = plan->slots.items[i];
		struct signature signature;

		if (slot->unknown) {
			put(h, "\tlc_function %s;\n", slot->ident);
			continue;
		}
		make_signature(plan, slot, &signature);
		put(h, "\t%s (*%s)(%s);\n", result_type(plan, slot), slot->ident,
		    signature.types.bytes);
	}
	put(h, "};\nextern struct lc_slots lc_slots LC_HIDDEN;\n");
}

static bool first_with_hook(const struct plan *plan, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (plan->slots.items[j]->hook &&
		    !strcmp(plan->slots.items[j]->hook, plan->slots.items[i]->hook))
			return false;
	return true;
}

static void write_hooks(struct text *h, struct plan *plan)
{
	bool any = false;

	for (size_t i = 0; i < plan->slots.count; i++) {
		const struct slot *slot = plan->slots.items[i];
		struct signature signature;

		if (!slot->hook || !first_with_hook(plan, i))
			continue;
		if (!any)
			put(h, "\n/* What the stub answers itself.  `slot` is the LC_SLOT_ that the "
			    "caller meant;\n * the real function is behind it. */\n");
		any = true;
		make_signature(plan, slot, &signature);
		put(h, "%s %s(%s%sunsigned slot) LC_HIDDEN;\n", result_type(plan, slot), slot->hook,
		    slot->row->params.count ? signature.params.bytes : "",
		    slot->row->params.count ? ", " : "");
	}
}

static void write_header(struct files *files, struct plan *plan)
{
	struct text *h = new_file(files, plan, ".h", "/* ", " */");
	char *guard = format("%.*s_H", (int)strlen(plan->library->stub) - 3, plan->library->stub);

	for (char *c = guard; *c; c++)
		*c = isalnum((unsigned char)*c) ? (char)toupper((unsigned char)*c) : '_';
	put(h, "#ifndef LC_%s\n#define LC_%s\n\n", guard, guard);
	put(h, "#include \"entry/stub.h\"\n#include \"entry/entry.h\"\n\n");
	write_values(h, plan);
	write_slots(h, plan);
	write_hooks(h, plan);
	put(h, "\n#endif\n");
}

/* ---- entries ---- */

static void add_zeroes(struct text *c, const struct slot *slot)
{
	for (size_t i = 0; i < slot->row->params.count; i++)
		if (slot->zero[i])
			put(c, " LC_ZERO(a%zu, %u);", i + 1, slot->zero[i]);
}

static bool has_struct(const struct row *row)
{
	for (size_t i = 0; i < row->params.count; i++)
		if (row->params.items[i].direction == BY_VALUE &&
		    row->params.items[i].type.kind == STRUCT)
			return true;
	return row->result.kind == STRUCT;
}

/* Returns true if a failing call only returns the status, and C would have to copy a struct to
 * pass on the arguments. */
static bool forwards_status(const struct slot *slot)
{
	bool zeroes = false;

	for (size_t i = 0; i < slot->row->params.count; i++)
		zeroes |= slot->zero[i] != 0;
	return slot->row->result.kind == STATUS && has_struct(slot->row) && !zeroes &&
	       !slot->hook && !slot->text;
}

/* Returns true if only the slow function is C, which has something to do after a failing call. */
static bool forwards_struct(const struct slot *slot)
{
	return !slot->unknown && !slot->text && !slot->hook && has_struct(slot->row) &&
	       !forwards_status(slot);
}

/* The text that stands in for the result of a `text` function when no call is forwarded. */
static const char *text_instead(const struct row *row)
{
	const struct param *first = row->params.items;

	return row->params.count == 1 && first->direction == BY_VALUE &&
	       (first->type.kind == I32 || first->type.kind == U32) ?
		"lc_text_instead(a1)" : "lc_last_error()->message";
}

static void write_entry(struct text *c, struct plan *plan, const struct slot *slot)
{
	struct signature signature;

	if (slot->unknown) {
		put(c, "LC_UNDECLARED(%s, %u, %d)\n", slot->ident, slot->number,
		    slot->row->result.kind != STATUS);
		return;
	}
	make_signature(plan, slot, &signature);
	if (slot->text && slot->row->result.kind == STATUS) {
		put(c, "LC_FORWARD_WRITTEN_TEXT(%s, %s, (%s), (%s), %s, a2, lc_text_instead(a1))\n",
		    result_type(plan, slot), slot->ident, signature.params.bytes,
		    signature.args.bytes, failure(plan, slot));
		return;
	}
	if (slot->text) {
		put(c, "LC_FORWARD_TEXT(%s, %s, (%s), (%s), %s)\n", result_type(plan, slot),
		    slot->ident, signature.params.bytes, signature.args.bytes,
		    text_instead(slot->row));
		return;
	}
	if (forwards_status(slot)) {
		put(c, "LC_FORWARD_STATUS(%s, %u, (%s), (%s))\n", slot->ident, slot->number,
		    signature.params.bytes, signature.args.bytes);
		return;
	}
	if (slot->hook)
		put(c, "%s(%s, %s, %s, (%s%sLC_SLOT_%s),", slot->slow ? "LC_ANSWER_SLOWLY" : "LC_ANSWER",
		    result_type(plan, slot), slot->ident, slot->hook, signature.args.bytes,
		    slot->row->params.count ? ", " : "", slot->ident);
	else if (forwards_struct(slot))
		put(c, "LC_FORWARD_STRUCT(%s, %s, %u,", result_type(plan, slot), slot->ident,
		    slot->number);
	else
		put(c, "LC_FORWARD(%s, %s,", result_type(plan, slot), slot->ident);
	put(c, " (%s), (%s), %s,", signature.params.bytes, signature.args.bytes,
	    failure(plan, slot));
	add_zeroes(c, slot);
	put(c, ")\n");
}

static void write_entries(struct text *c, struct plan *plan)
{
	bool trampoline = false, text = false, assembly = false;

	for (size_t i = 0; i < plan->slots.count; i++) {
		const struct slot *slot = plan->slots.items[i];

		if (slot->bare)
			continue;
		trampoline |= slot->unknown || forwards_status(slot);
		assembly |= forwards_struct(slot);
		text |= slot->text;
	}
	assembly |= trampoline;
	if (text)
		put(c, "#include \"loader/errors.h\"\n#include \"loader/loader.h\"\n");
	if (trampoline)
		put(c, "#include \"entry/trampoline.h\"\n");
	put(c, "\n/* One entry point for each slot, and what the slot leads to at first. */\n");
	put(c, "%s", assembly ? "LC_ASM_BEGIN\n" : "");
	for (size_t i = 0; i < plan->slots.count; i++)
		if (!plan->slots.items[i]->bare)
			write_entry(c, plan, plan->slots.items[i]);
	put(c, "%s", assembly ? "LC_ASM_END\n" : "");
	put(c, "\nstruct lc_slots lc_slots LC_TABLE = {\n");
	for (size_t i = 0; i < plan->slots.count; i++)
		if (!plan->slots.items[i]->bare)
			put(c, "\t.%s = lc_slow_%s,\n", plan->slots.items[i]->ident,
			    plan->slots.items[i]->ident);
	put(c, "};\nLC_TABLE_OF_SLOTS\n");
}

/* ---- versions of names ---- */

static void write_use(struct text *c, const struct plan *plan, const struct use *use, bool chosen)
{
	const struct library *library = plan->library;
	const char *soname = soname_of(plan, use->major);

	for (size_t i = 0; i < library->nodes.count; i++) {
		const struct node *node = &library->nodes.items[i];

		/* Nodes of older libraries; or, under `nodes other`, all of the library's nodes. */
		if (node->major == use->major)
			put(c, "LC_EXPORT_NODE(%s, %s, \"%s\", \"%s\")\n", use->slot->ident, use->name,
			    node->name, library->node_names == NODES_OTHER ? soname : "");
	}
	put(c, "LC_EXPORT(%s, %s, \"%s\", \"%s\")\n", use->slot->ident, use->name,
	    chosen ? "@@" : "@", soname);
}

/* Returns true if assembly makes the entry: forwards_struct() and the others of write_entry(). */
static bool is_in_assembly(const struct slot *slot)
{
	return slot->unknown || forwards_status(slot) || forwards_struct(slot);
}

/* The names as callers of one major use them, for one C file. */
static void write_names(struct text *c, const struct plan *plan, unsigned major)
{
	put(c, "\n/* The names under which callers reach the entry points. */\n");
	for (size_t i = 0; i < plan->uses.count; i++) {
		const struct use *use = &plan->uses.items[i];

		if (use->major == major)
			put(c, "LC_NAME%s(%s, %s)\n", is_in_assembly(use->slot) ? "_IN_ASM" : "",
			    use->slot->ident, use->name);
	}
}

static void write_exports(struct text *c, const struct plan *plan, unsigned abi)
{
	const struct use *use = plan->uses.items, *end = use + plan->uses.count, *next;

	if (plan->embedded) {
		write_names(c, plan, abi);
		return;
	}
	if (plan->library->without_majors || plan->library->node_names == NODES_NONE) {
		put(c, "\n/* The names under which callers reach the entry points. */\n");
		for (; use < end; use++)
			put(c, "LC_EXPORT_PLAIN(%s, %s)\n", use->slot->ident, use->name);
		return;
	}
	put(c, "\n/* The names under which callers of each major reach the entry points. */\n");
	for (; use < end; use = next) {
		unsigned chosen;

		for (next = use; next < end && !strcmp(next->name, use->name); next++)
			;
		chosen = default_major(plan, use, next, abi);
		for (const struct use *one = next; one-- > use;)
			write_use(c, plan, one, one->major == chosen);
		/* What the stub answers itself depends on no library. */
		if (!chosen)
			put(c, "LC_EXPORT_ANY(%s%s, %s)\n", use->slot->hook ? use->slot->ident : use->name,
			    use->slot->hook ? "" : "_any", use->name);
	}
}

/* Writes a table, unless it has no rows; the last row may be one that ends it. */
static void put_table(struct text *c, const char *head, const struct text *rows, const char *last)
{
	if (rows->length)
		put(c, "\nstatic const %s = {\n%s%s};\n", head, rows->bytes, last);
}

/* ---- variables ---- */

static void write_variable(struct text *c, const struct plan *plan, const struct variable *variable)
{
	const struct library *library = plan->library;
	bool chosen = false;

	put(c, "LC_DATA(%s, %u, {", variable->name, variable->size);
	for (size_t i = 0; variable->bytes && i < variable->size; i++)
		put(c, " 0x%.2s,", variable->bytes + 2 * i);
	put(c, "%s })\n", variable->bytes ? "" : " 0");
	if (plan->embedded) {
		put(c, "LC_NAME(%s, %s)\n", variable->name, variable->name);
		return;
	}
	if (library->without_majors || library->node_names == NODES_NONE)
		put(c, "LC_EXPORT_PLAIN(%s, %s)\n", variable->name, variable->name);
	/* Newest first: an import library for the newest major has the default version. */
	for (size_t i = library->sonames.count; i-- && library->node_names != NODES_NONE;) {
		const struct use use = {
			.name = variable->name, .slot = &(struct slot){ .ident = variable->name },
			.major = major_at(plan->list, first_bit(library->sonames.items[i].in)),
		};

		if (library->without_majors || !(variable->in & library->sonames.items[i].in))
			continue;
		write_use(c, plan, &use, !chosen);
		chosen = true;
	}
}

static void write_variables(struct text *c, const struct plan *plan)
{
	const struct library *library = plan->library;

	struct text rows = { 0 };

	if (!library->variables.count)
		return;
	put(c, "\n/* What the real library exports beside its functions. */\n");
	for (size_t i = 0; i < library->variables.count; i++) {
		const struct variable *variable = &library->variables.items[i];

		write_variable(c, plan, variable);
		put(&rows, "\t{ \"%s\", lc_entry_%s, %u },\n", variable->name, variable->name,
		    variable->size);
	}
	put_table(c, "struct lc_variable variables[]", &rows, "\t{ NULL, NULL, 0 },\n");
}

/* ---- tables ---- */

/* Writes the first run of versions of a set as the loader compares them, and returns the
 * set without it.  The oldest toolkit also stands for older ones of its major, the newest
 * of each major for later ones of that major. */
static toolkits take_run(const struct plan *plan, toolkits set, struct text *run)
{
	const struct symbols *list = plan->list;
	unsigned first = first_bit(set), last = first;

	while (last < list->toolkit_count && set & BIT(last + 1))
		last++;
	run->length = 0;
	put(run, "LC_VERSION(%u, %u), ", list->toolkits[first].major,
	    first ? list->toolkits[first].minor : 0);
	if (last == list->toolkit_count)
		put(run, "LC_ANY_LATER");
	else
		put(run, "LC_VERSION(%u, %u)", major_at(list, last),
		    major_at(list, last + 1) == major_at(list, last) ?
		    list->toolkits[last].minor : MAX_MINOR);
	return last == list->toolkit_count ? 0 : set & ~(BIT(last + 1) - 1);
}

static int compare_strings(const void *one, const void *other)
{
	return strcmp(*(const char *const *)one, *(const char *const *)other);
}

static void write_pool(struct text *c, const struct plan *plan)
{
	const struct enumeration *statuses = plan->library->statuses;
	ARRAY(const char *) pool = { 0 };
	size_t count = 0;

	for (size_t i = 0; i < plan->names.count; i++)
		*push(&pool) = plan->names.items[i].name;
	for (size_t i = 0; statuses && i < statuses->values.count; i++)
		*push(&pool) = statuses->values.items[i].name;
	if (pool.count)
		qsort(pool.items, pool.count, sizeof(*pool.items), compare_strings);
	for (size_t i = 0; i < pool.count; i++)
		if (!count || strcmp(pool.items[count - 1], pool.items[i]))
			pool.items[count++] = pool.items[i];
	put(c, "\nstatic const struct names {\n");
	for (size_t i = 0; i < count; i++)
		put(c, "\tchar %s[%zu];\n", pool.items[i], strlen(pool.items[i]) + 1);
	put(c, "} names = {\n");
	for (size_t i = 0; i < count; i++)
		put(c, "\t\"%s\",\n", pool.items[i]);
	put(c, "};\n#define N(name) offsetof(struct names, name)\n");
}

/* The versions in which a provider serves.  Drivers keep names that headers drop. */
static toolkits times_of(const struct plan *plan, const struct provider *provider)
{
	if (!plan->library->without_majors)
		return provider->in;
	return plan->library->in & ~(BIT(first_bit(provider->in)) - 1);
}

static unsigned count_runs(const struct plan *plan, const struct slot *slot)
{
	struct text run = { 0 };
	unsigned count = 0;

	for (size_t i = 0; i < slot->providers.count; i++)
		for (toolkits in = times_of(plan, &slot->providers.items[i]); in; count++)
			in = take_run(plan, in, &run);
	return count;
}

/* The stub counts slots and providers in 16 bits. */
static void check_counts(const struct plan *plan)
{
	const struct library *library = plan->library;
	size_t providers = 0;

	for (size_t i = 0; i < plan->slots.count; i++)
		providers += count_runs(plan, plan->slots.items[i]);
	if (plan->slots.count > UINT16_MAX)
		fail_at(library->position, "library %s has %zu interfaces, and a stub has room for %d",
			library->name, plan->slots.count, UINT16_MAX);
	if (providers > UINT16_MAX)
		fail_at(library->position, "library %s has %zu providers of its interfaces, and a stub "
			"has room for %d", library->name, providers, UINT16_MAX);
}

static void write_providers(struct text *c, const struct plan *plan)
{
	struct text run = { 0 };

	put(c, "\nstatic const struct providers {\n");
	for (size_t i = 0; i < plan->slots.count; i++)
		if (!plan->slots.items[i]->any && !plan->slots.items[i]->idle)
			put(c, "\tstruct lc_provider %s[%u];\n", plan->slots.items[i]->ident,
			    count_runs(plan, plan->slots.items[i]));
	put(c, "} providers = {\n");
	for (size_t i = 0; i < plan->slots.count; i++) {
		const struct slot *slot = plan->slots.items[i];

		if (slot->any || slot->idle)
			continue;
		put(c, "\t{\n");
		for (size_t j = 0; j < slot->providers.count; j++) {
			const char *name = slot->providers.items[j].name;
			toolkits in = times_of(plan, &slot->providers.items[j]);

			while (in) {
				in = take_run(plan, in, &run);
				put(c, "\t\t{ N(%s), %#x, %s },\n", name, hash_of(name, strlen(name)),
				    run.bytes);
			}
		}
		put(c, "\t},\n");
	}
	put(c, "};\n");
}

static void write_slot_rows(struct text *c, const struct plan *plan)
{
	/* sizeof a member of the type, not of the table: gcc copies what a table holds. */
	put(c, "#define C(slot) \\\n"
	    "\toffsetof(struct providers, slot) / sizeof(struct lc_provider), \\\n"
	    "\tsizeof(((struct providers *)0)->slot) / sizeof(struct lc_provider)\n"
	    "\nstatic const struct lc_slot slots[] = {\n");
	for (size_t i = 0; i < plan->slots.count; i++)
		if (plan->slots.items[i]->idle)
			continue;
		else if (plan->slots.items[i]->any)
			put(c, "\t{ N(%s), LC_ANY_CALLER, %zu },\n", plan->slots.items[i]->name,
			    plan->slots.items[i]->first_use);
		else
			put(c, "\t{ N(%s), C(%s) },\n", plan->slots.items[i]->name,
			    plan->slots.items[i]->ident);
	put(c, "};\n");
}

/* Within a name, uses are sorted newest major first; rows are written oldest first. */
static void write_export_rows(struct text *c, const struct plan *plan)
{
	const struct use *use = plan->uses.items, *end = use + plan->uses.count, *next;

	put(c, "\nstatic const struct lc_export exports[] = {\n");
	for (; use < end; use = next) {
		for (next = use; next < end && !strcmp(next->name, use->name); next++)
			;
		for (const struct use *one = next; one-- > use;)
			put(c, "\t{ N(%s), %u, LC_SLOT_%s },\n", one->name, one->major,
			    one->slot->ident);
	}
	put(c, "};\n");
}

static int compare_values(const void *one, const void *other)
{
	const struct enumerator *a = one, *b = other;

	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	if (first_bit(a->in) != first_bit(b->in))
		return first_bit(a->in) < first_bit(b->in) ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void write_enumerators(struct text *c, const struct plan *plan)
{
	struct enumeration *statuses = plan->library->statuses;
	struct text run = { 0 };

	if (!statuses)
		return;
	if (statuses->values.count)
		qsort(statuses->values.items, statuses->values.count, sizeof(struct enumerator),
		      compare_values);
	put(c, "\nstatic const struct lc_enumerator enumerators[] = {\n");
	for (size_t i = 0; i < statuses->values.count; i++) {
		const struct enumerator *value = &statuses->values.items[i];

		for (toolkits in = value->in; in;) {
			in = take_run(plan, in, &run);
			put(c, "\t{ N(%s), %d, %s },\n", value->name, value->value, run.bytes);
		}
	}
	put(c, "};\n");
}

static void write_since(struct text *c, const struct plan *plan)
{
	struct text rows = { 0 };

	for (size_t i = 0; i < plan->since.count; i++) {
		const struct version *version = &plan->list->toolkits[plan->since.items[i].toolkit];

		put(&rows, "\t{ N(%s), LC_VERSION(%u, %u) },\n", plan->since.items[i].name,
		    version->major, version->minor);
	}
	put_table(c, "struct lc_since since[]", &rows, "");
}

static void write_major(struct text *c, const struct plan *plan, unsigned major)
{
	const struct library *library = plan->library;
	toolkits set = major_set(plan->list, major) & library->in;
	toolkits known = set & (BIT(plan->list->toolkit_count) - 1);
	const struct version *versions = plan->list->toolkits, *oldest, *newest;
	struct text folder = { 0 };

	if (!known)
		return;
	oldest = &versions[first_bit(known)];
	newest = &versions[last_bit(known)];
	for (size_t i = 0; i < library->folders.count; i++)
		if (library->folders.items[i].in & set)
			put(&folder, "%s%s", folder.length ? ":" : "", library->folders.items[i].text);
	put(c, "\t{ %u, \"%s\", ", major, soname_of(plan, major));
	put(c, folder.length ? "\"%s\"" : "NULL", folder.bytes);
	put(c, ", LC_VERSION(%u, %u), LC_VERSION(%u, %u) },\n", oldest->major, oldest->minor,
	    newest->major, newest->minor);
}

static void write_majors(struct text *c, const struct plan *plan)
{
	const struct symbols *list = plan->list;

	put(c, "\nstatic const struct lc_major majors[] = {\n");
	for (unsigned i = list->toolkit_count; i--;)
		if (is_newest_of_major(list, i))
			write_major(c, plan, major_at(list, i));
	put(c, "};\n");
}

/* For each of the majors above, the majors of CUDA that its SONAME is in. */
static void write_cuda(struct text *c, const struct plan *plan)
{
	const struct library *library = plan->library;
	struct text rows = { 0 };

	for (unsigned i = plan->list->toolkit_count; i--;) {
		const char *soname = soname_of(plan, major_at(plan->list, i));

		if (!is_newest_of_major(plan->list, i))
			continue;
		for (size_t k = 0; k < library->cuda.count; k++) {
			const struct cuda *row = &library->cuda.items[k];

			if (soname && !strcmp(row->soname, soname))
				put(&rows, "\t0x%x,\t/* %s */\n", row->in, soname);
		}
	}
	put_table(c, "uint32_t cuda[]", &rows, "");
}

static void write_called(struct text *c, const struct plan *plan)
{
	struct text rows = { 0 };

	for (size_t i = 0; i < plan->library->called.count; i++) {
		const struct called *row = &plan->library->called.items[i];

		put(&rows, "\t{ LC_VERSION(%u, %u), \"%s\" },\n", row->version.major,
		    row->version.minor, row->number);
	}
	put_table(c, "struct lc_numbered called[]", &rows, "");
}

/* The version that each CUDA ships. */
static void write_ships(struct text *c, const struct plan *plan)
{
	struct text rows = { 0 };

	for (size_t i = 0; i < plan->library->ships.count; i++) {
		const struct shipped *row = &plan->library->ships.items[i];

		put(&rows, "\t{ LC_VERSION(%u, %u), LC_VERSION(%u, %u) },\n", row->cuda.major,
		    row->cuda.minor, row->version.major, row->version.minor);
	}
	put_table(c, "struct lc_shipped ships[]", &rows, "");
}

static void write_opens(struct text *c, const struct plan *plan)
{
	struct text rows = { 0 };

	for (size_t i = 0; i < plan->library->opens.count; i++) {
		const struct opened *row = &plan->library->opens.items[i];

		put(&rows, "\t{ %u, \"%s\", \"%s\" },\n", row->cuda, row->soname, row->folder);
	}
	put_table(c, "struct lc_opened opens[]", &rows, "\t{ 0, NULL, NULL },\n");
}

/* Writes the majors of the whole list, even for a library without majors: other stubs in
 * the process may have libraries of any of them. */
static void write_known_majors(struct text *c, const struct plan *plan)
{
	unsigned last = 0;

	put(c, "\nstatic const uint16_t known_majors[] = {");
	for (unsigned i = plan->list->toolkit_count; i--;) {
		unsigned major = plan->list->toolkits[i].major;

		if (major == last)
			continue;
		put(c, "%s %u", last ? "," : "", major);
		last = major;
	}
	put(c, " };\n");
}

static void write_homes(struct text *c, const struct plan *plan)
{
	const struct library *library = plan->library;

	if (!library->without_majors)
		return;
	put(c, "\nstatic const char *const homes[] = {");
	for (size_t i = 0; i < library->homes.count; i++)
		put(c, " \"%s\",", library->homes.items[i].text);
	put(c, " NULL };\n");
}

/* The statuses of calls by callers of one toolkit, as the members of an array. */
static char *errors_text(const struct library *library, unsigned toolkit)
{
	static const char *const refusals[] = {
		[ON_MISSING] = "LC_MISSING", [ON_ABSENT] = "LC_ABSENT", [ON_REFUSED] = "LC_REFUSED",
		[ON_DRIVER] = "LC_DRIVER", [ON_INCOHERENT] = "LC_INCOHERENT"
	};
	struct text text = { 0 };

	/* Some kinds cannot occur and have no value; they get ON_MISSING's, as 0 is success. */
	for (int kind = ON_MISSING; kind <= ON_INCOHERENT; kind++) {
		int32_t error = error_in(library, (enum error_kind)kind, toolkit);

		put(&text, "\t\t[%s] = %d,\n", refusals[kind],
		    error ? error : error_in(library, ON_MISSING, toolkit));
	}
	return text.bytes;
}

/* Writes what callers of older majors get, if that differs from what those of the newest get.
 * Returns true if it wrote anything. */
static bool write_older_errors(struct text *c, const struct plan *plan)
{
	const struct library *library = plan->library;
	const char *newest = errors_text(library, last_bit(library->in));
	struct text rows = { 0 };

	for (unsigned i = plan->list->toolkit_count; i--;) {
		const char *errors;

		if (!is_newest_of_major(plan->list, i) || !(library->in & BIT(i)))
			continue;
		errors = errors_text(library, i);
		if (strcmp(errors, newest))
			put(&rows, "\t{ %u, {\n%s\t} },\n", major_at(plan->list, i), errors);
	}
	put_table(c, "struct lc_errors older_errors[]", &rows, "\t{ 0 },\n");
	return rows.length;
}

/* Returns true if 0 in the first register for results is success. */
static bool succeeds_with_0(struct plan *plan, const struct slot *slot)
{
	const struct type *result = &slot->row->result;

	if (result->kind == STRUCT)
		return status_in(result, slot->toolkit) &&
		       passed_value(plan, result, slot->toolkit)->bytes <= 8;
	return result->kind == STATUS;
}

/* The slots whose functions give something back, and say whether they could.  Hooks answer for
 * themselves.  Returns true if there is any. */
static bool write_releases(struct text *c, struct plan *plan)
{
	struct text rows = { 0 };

	for (size_t i = 0; i < plan->slots.count; i++) {
		const struct slot *slot = plan->slots.items[i];

		if (!slot->hook && !slot->bare && succeeds_with_0(plan, slot) && is_release(slot->name))
			put(&rows, "\tLC_SLOT_%s,\n", slot->ident);
	}
	put_table(c, "uint16_t releases[]", &rows, "");
	return rows.length;
}

static void write_library(struct text *c, struct plan *plan)
{
	const struct library *library = plan->library;
	int32_t ending = error_in(library, ON_ENDING, last_bit(library->in));
	int32_t released = error_in(library, ON_RELEASED, last_bit(library->in));
	bool older_errors = write_older_errors(c, plan), releases = write_releases(c, plan);

	put(c, "\n#define COUNT(array) (sizeof(array) / sizeof(array[0]))\n\n");
	put(c, "const struct lc_library lc_library = {\n");
	put(c, "\t.name = \"%s\",\n\t.stub = LC_STUB_NAME(\"%s\"),\n\t.variable = \"%s\",\n",
	    library->name, library->stub, library->variable);
	if (library->companion)
		put(c, "\t.companion = \"%s\",\n", library->companion);
	if (library->without_majors)
		put(c, "\t.witness = \"%s\",\n\t.homes = homes,\n", library->witness);
	if (library->own_majors)
		put(c, "\t.own_majors = 1,\n");
	if (library->node_names != NODES_SONAME)
		put(c, "\t.by_soname = 1,\n");
	put(c, "\t.majors = majors,\n\t.major_count = COUNT(majors),\n");
	put(c, "\t.known_majors = known_majors,\n\t.known_major_count = COUNT(known_majors),\n"
	    "\t.errors = {\n%s\t},\n", errors_text(library, last_bit(library->in)));
	put(c, "\t.names = (const char *)&names,\n\t.slots = slots,\n\t.slot_count = LC_SLOTS,\n"
	    "\t.providers = (const struct lc_provider *)&providers,\n"
	    "\t.exports = exports,\n\t.export_count = COUNT(exports),\n");
	if (library->statuses)
		put(c, "\t.enumerators = enumerators,\n\t.enumerator_count = COUNT(enumerators),\n");
	if (library->cuda.count)
		put(c, "\t.cuda = cuda,\n");
	if (library->opens.count)
		put(c, "\t.opens = opens,\n");
	if (library->variables.count)
		put(c, "\t.variables = variables,\n");
	if (library->ships.count)
		put(c, "\t.ships = ships,\n\t.ship_count = COUNT(ships),\n");
	if (library->called.count)
		put(c, "\t.called = called,\n\t.called_count = COUNT(called),\n");
	if (older_errors)
		put(c, "\t.older_errors = older_errors,\n");
	if (ending)
		put(c, "\t.ending = %d,\n", ending);
	if (releases)
		put(c, "\t.releases = releases,\n\t.release_count = COUNT(releases),\n");
	if (released)
		put(c, "\t.released = %d,\n", released);
	if (plan->since.count)
		put(c, "\t.since = since,\n\t.since_count = COUNT(since),\n");
	put(c, "};\n");
}

void write_stub(struct files *files, struct plan *plan, unsigned abi)
{
	struct text *c;

	check_counts(plan);
	write_header(files, plan);
	c = new_file(files, plan, ".c", "/* ", " */");
	put(c, "#include \"%.*s.h\"\n", (int)strlen(plan->library->stub) - 3, plan->library->stub);
	put(c, "#include \"entry/note.h\"\n");
	write_entries(c, plan);
	write_exports(c, plan, abi);
	write_variables(c, plan);
	write_pool(c, plan);
	write_providers(c, plan);
	write_slot_rows(c, plan);
	write_export_rows(c, plan);
	write_enumerators(c, plan);
	write_since(c, plan);
	write_majors(c, plan);
	write_cuda(c, plan);
	write_ships(c, plan);
	write_called(c, plan);
	write_opens(c, plan);
	write_known_majors(c, plan);
	write_homes(c, plan);
	write_library(c, plan);
	write_note(c, plan, abi);
	put(c, "\n#undef N\n#undef C\n");
}

/* A file may include several of these headers, so every name contains the library's. */
void write_real(struct files *files, const struct plan *plan)
{
	struct text *h = new_file(files, plan, ".real.h", "/* ", " */");
	const struct library *library = plan->library;

	put(h, "/* What finds the real library, for code that is not its stub. */\n"
	    "#include \"entry/stub.h\"\n\n");
	put(h, "static const struct lc_library lc_real_%s = {\n", library->name);
	put(h, "\t.name = \"%s\",\n\t.stub = \"%s\",\n\t.variable = \"%s\",\n", library->name,
	    library->stub, library->variable);
	put(h, "\t.majors = (const struct lc_major[]){\n\t");
	write_major(h, plan, 0);
	/* A plain field comes last: gcc 10 misses what follows a compound literal. */
	put(h, "\t},\n\t.homes = (const char *const[]){");
	for (size_t i = 0; i < library->homes.count; i++)
		put(h, " \"%s\",", library->homes.items[i].text);
	put(h, " NULL },\n\t.witness = \"%s\",\n\t.major_count = 1,\n};\n", library->witness);
}

/* lc_specifics of a stub that only forwards. */
void write_specifics(struct files *files, const struct plan *plan)
{
	struct text *c = new_file(files, plan, ".specifics.c", "/* ", " */");

	/* No escaping: list.c rejects quotes and backslashes. */
	put(c, "#include \"loader/specifics.h\"\n\n"
	    "const struct lc_specifics lc_specifics = {\n"
	    "\t.unknown = LC_UNKNOWN(\"%s\"),\n\t.advice = \"%s\",\n};\n",
	    plan->library->name, plan->library->advice);
}
