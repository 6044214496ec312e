/* SPDX-License-Identifier: MIT */
/*
 * slots.c - decides which slots a stub has, and which names each slot accepts
 *
 * Names of one family that have the same interface share a slot.  They do not if
 * some library exports both: then a call must reach the name that it uses.
 * Names that end in a version, as in f_12_4, share even then: they are a single
 * function, which the headers of different versions name differently.
 *
 * If a name has several interfaces within a major, the version node does not
 * tell which one the caller means.  If a name is not declared anywhere, its
 * interface is unknown.  Such a name has a slot for that major alone, which
 * accepts only that name of that major, as a real library would.
 */
#include "slots.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A row in toolkits that give it the same key: all its structs keep their layouts. */
struct form {
	const struct row *row;
	const char *key;
	toolkits in;
	struct name *name;
};

struct forms {
	ARRAY(struct form) all;		/* in order of name */
	struct form **by_key;		/* in order of family, key and name */
};

/* ---- interfaces ---- */

static void add_type(struct text *key, const struct type *type, unsigned toolkit)
{
	/* Signedness does not change how 32-bit and 64-bit integers are passed. */
	static const enum kind plain[] = {
		I8, U8, I16, U16, I32, I32, I64, I64, F32, F64, PTR, STRUCT, VOID, STATUS
	};

	if (type->kind == STRUCT)
		put(key, "%s%s.%c", type->pointer ? "*" : "", type->name, size_in(type->record, toolkit)->letter);
	else if (type->kind != STATUS)
		put(key, "%s", kind_names[plain[type->kind]]);
}

char *key_of(const struct row *row, unsigned toolkit, bool machine)
{
	struct text key = { 0 };

	put(&key, "%s", row->unknown ? "?" : "");
	for (size_t i = 0; i < row->params.count; i++) {
		const struct param *param = &row->params.items[i];
		bool pointer = param->direction != BY_VALUE;

		put(&key, "%s%s", i ? "," : "", pointer ? machine ? "ptr" : "*" : "");
		if (!pointer || !machine)
			add_type(&key, &param->type, toolkit);
	}
	put(&key, "->");
	add_type(&key, &row->result, toolkit);
	return key.bytes;
}

/* ---- forms and names ---- */

/* The interface of a name for callers of one toolkit.  In a row marked `apart` each major
 * is an interface of its own. */
static char *form_key(const struct symbols *list, const struct row *row, unsigned toolkit)
{
	char *key = key_of(row, toolkit, false);

	return row->apart ? format("%s of %u", key, major_at(list, toolkit)) : key;
}

static void add_forms(struct forms *forms, const struct symbols *list, const struct row *row)
{
	size_t first = forms->all.count;

	for (toolkits in = row->in; in; in &= in - 1) {
		unsigned toolkit = first_bit(in);
		char *key = form_key(list, row, toolkit);
		size_t i = first;

		while (i < forms->all.count && strcmp(forms->all.items[i].key, key))
			i++;
		if (i == forms->all.count)
			*push(&forms->all) = (struct form){ .row = row, .key = key };
		forms->all.items[i].in |= BIT(toolkit);
	}
}

/* The majors in which forms [first, end), all of one name, have several interfaces or
 * are undeclared. */
static toolkits ambiguous(const struct symbols *list, const struct form *first, const struct form *end)
{
	toolkits set = 0;

	for (const struct form *a = first; a < end; a++) {
		for (toolkits in = a->in; in; in &= ~major_set(list, major_at(list, first_bit(in)))) {
			toolkits major = major_set(list, major_at(list, first_bit(in)));

			if (a->row->undeclared)
				set |= major;
			for (const struct form *b = first; b < a; b++)
				if (b->in & major && strcmp(a->key, b->key))
					set |= major;
		}
	}
	return set;
}

static void find_names(struct plan *plan, struct forms *forms)
{
	struct form *form = forms->all.items, *end = form + forms->all.count, *next;
	size_t index = 0;

	for (; form < end; form = next) {
		struct name *name = push(&plan->names);

		*name = (struct name){ .name = form->row->name };
		for (next = form; next < end && !strcmp(next->row->name, name->name); next++)
			name->in |= next->in;
		name->alone = ambiguous(plan->list, form, next);
	}
	/* plan->names no longer grows, so pointers into it stay valid. */
	for (form = forms->all.items; form < end; form++) {
		index += strcmp(form->row->name, plan->names.items[index].name) != 0;
		form->name = &plan->names.items[index];
	}
}

static int compare_forms(const void *one, const void *other)
{
	const struct form *a = *(struct form *const *)one, *b = *(struct form *const *)other;
	int order = strcmp(a->row->family, b->row->family);

	if (!order)
		order = strcmp(a->key, b->key);
	/* Within an interface, in the order of the list. */
	return order ? order : (a > b) - (a < b);
}

static void sort_forms(struct forms *forms)
{
	forms->by_key = allocate(forms->all.count + 1, sizeof(*forms->by_key));
	for (size_t i = 0; i < forms->all.count; i++)
		forms->by_key[i] = &forms->all.items[i];
	if (forms->all.count)
		qsort(forms->by_key, forms->all.count, sizeof(*forms->by_key), compare_forms);
}

/* ---- which version a library is of ---- */

/* A name that `toolkit` has and no earlier toolkit of its major; preferably one that stays
 * until the end of the major.  NULL if there is none. */
static const char *name_since(const struct plan *plan, unsigned toolkit)
{
	toolkits major = major_set(plan->list, major_at(plan->list, toolkit));
	toolkits rest = major & plan->library->in & ~(BIT(toolkit) - 1);
	const char *passing = NULL;

	for (size_t i = 0; i < plan->names.count; i++) {
		const struct name *name = &plan->names.items[i];

		if (!(name->in & BIT(toolkit)) || name->in & major & (BIT(toolkit) - 1))
			continue;
		if (!(rest & ~name->in))
			return name->name;
		if (!passing)
			passing = name->name;
	}
	return passing;
}

static void collect_since(struct plan *plan)
{
	for (unsigned toolkit = plan->list->toolkit_count; toolkit-- > 1;) {
		toolkits older = major_set(plan->list, major_at(plan->list, toolkit)) &
				 plan->library->in & (BIT(toolkit) - 1);
		const char *name;

		if (!(plan->library->in & BIT(toolkit)) || !older)
			continue;
		name = name_since(plan, toolkit);
		if (name)
			*push(&plan->since) = (struct since){ name, toolkit };
	}
}

static toolkits versions_with(const struct plan *plan, const char *name)
{
	for (size_t i = 0; i < plan->names.count; i++)
		if (!strcmp(plan->names.items[i].name, name))
			return plan->names.items[i].in;
	return 0;
}

/* Finds the versions that a stub cannot tell apart by the names that they have. */
static void find_alike(struct plan *plan)
{
	toolkits left = plan->library->in & (BIT(plan->list->toolkit_count) - 1);

	for (size_t i = 0; i < plan->since.count; i++) {
		const struct since *since = &plan->since.items[i];
		toolkits major = major_set(plan->list, major_at(plan->list, since->toolkit));
		toolkits same = left & major & versions_with(plan, since->name);

		for (toolkits in = same; in; in &= in - 1)
			plan->alike[first_bit(in)] = same;
		left &= ~same;
	}
	/* The rest of a major counts as its oldest version. */
	for (toolkits in = left; in; in &= in - 1)
		plan->alike[first_bit(in)] = left & major_set(plan->list,
							      major_at(plan->list, first_bit(in)));
}

/* ---- slots ---- */

/* Callers are added in order of name. */
static void add_use(struct slot *slot, const char *name, unsigned major)
{
	for (size_t i = slot->uses.count; i-- && !strcmp(slot->uses.items[i].name, name);)
		if (slot->uses.items[i].major == major)
			return;
	*push(&slot->uses) = (struct use){ name, major, slot };
}

static void add_provider(struct slot *slot, const char *name, toolkits in, bool own)
{
	size_t count = slot->providers.count;

	/* Forms are added in order of name. */
	if (count && !strcmp(slot->providers.items[count - 1].name, name))
		slot->providers.items[count - 1].in |= in;
	else
		*push(&slot->providers) = (struct provider){ name, in, own };
}

static unsigned size_to_zero(const struct param *param, unsigned toolkit)
{
	if (param->direction != OUT)
		return 0;
	if (param->type.pointer)
		return kind_sizes[PTR];
	if (param->type.kind == STRUCT)
		return size_in(param->type.record, toolkit)->bytes;
	return kind_sizes[param->type.kind];
}

/* Lets callers of the form in the toolkits `in` use the slot.  The slot takes the newest
 * prototype of its callers.  It zeroes only parameters that are outputs for all callers,
 * and only as many bytes as every caller provides. */
static void add_caller(struct plan *plan, struct slot *slot, const struct form *form, toolkits in)
{
	const struct row *row = form->row;
	bool first = !slot->row;

	if (first)
		slot->zero = allocate(row->params.count + 1, sizeof(*slot->zero));
	if (!first && strcmp(key_of(slot->row, slot->toolkit, true),
			     key_of(row, first_bit(in), true)))
		slot->unknown = true;
	for (size_t i = 0; i < row->params.count && !slot->unknown; i++) {
		unsigned bytes = size_to_zero(&row->params.items[i], first_bit(in));

		if (first || bytes < slot->zero[i])
			slot->zero[i] = bytes;
	}
	if (first || last_bit(in) > slot->toolkit) {
		slot->row = row;
		slot->toolkit = last_bit(in);
	}
	slot->unknown |= row->unknown;
	if (row->hook)
		slot->hook = "";
	slot->slow |= row->slow;
	slot->text |= row->text;
	slot->negative |= row->negative;
	for (; in; in &= ~major_set(plan->list, major_at(plan->list, first_bit(in))))
		add_use(slot, row->name, major_at(plan->list, first_bit(in)));
}

/* Returns true if a name ends in _MAJOR_MINOR, with a major that the list knows. */
static bool is_versioned(const struct symbols *list, const char *name)
{
	const char *end = name + strlen(name), *minor = end, *major;

	while (minor > name && isdigit((unsigned char)minor[-1]))
		minor--;
	if (minor == end || minor == name || minor[-1] != '_')
		return false;
	for (major = minor - 1; major > name && isdigit((unsigned char)major[-1]);)
		major--;
	return major < minor - 1 && minor - major < 6 && major > name && major[-1] == '_' &&
	       major_set(list, (unsigned)strtoul(major, NULL, 10));
}

/* A name of one family and interface, and the slot that its callers use. */
struct sibling {
	struct form **first, **end;
	toolkits in;
	struct slot *slot;
};

typedef ARRAY(struct sibling) siblings;		/* in order of name */

static void find_siblings(siblings *members, struct form **first, struct form **end)
{
	for (struct form **next; first < end; first = next) {
		struct sibling *member = push(members);

		*member = (struct sibling){ .first = first };
		for (next = first; next < end && (*next)->name == (*first)->name; next++)
			member->in |= (*next)->in;
		member->end = next;
	}
}

/* Finds a slot that a member can share, or makes one.  taken[i] holds the toolkits in
 * which some name of slots[i] is exported. */
static void assign_slot(struct plan *plan, struct sibling *member, struct slot **slots, toolkits *taken,
			size_t *count)
{
	bool versioned = is_versioned(plan->list, (*member->first)->row->name);
	size_t i = 0;

	while (i < *count && !versioned && taken[i] & member->in)
		i++;
	if (i == *count)
		slots[(*count)++] = allocate(1, sizeof(**slots));
	if (!versioned)
		taken[i] |= member->in;
	member->slot = slots[i];
}

static void assign_slots(struct plan *plan, siblings *members)
{
	struct slot **slots = allocate(members->count, sizeof(*slots));
	toolkits *taken = allocate(members->count, sizeof(*taken));
	size_t count = 0;

	/* The family's own name is assigned first. */
	for (int round = 0; round < 2; round++)
		for (size_t i = 0; i < members->count; i++) {
			struct sibling *member = &members->items[i];
			const struct row *row = (*member->first)->row;

			if (!round == !strcmp(row->name, row->family))
				assign_slot(plan, member, slots, taken, &count);
		}
}

static void add_callers(struct plan *plan, const struct sibling *member)
{
	for (struct form **form = member->first; form < member->end; form++) {
		toolkits callers = (*form)->in & ~(*form)->name->alone;

		if (callers && !member->slot->row)
			*push(&plan->slots) = member->slot;
		if (callers)
			add_caller(plan, member->slot, *form, callers);
	}
}

/*
 * The versions in which a name has the form, as far as a stub can tell.  One without a source of
 * its own knows a library's version by its names alone: where versions have the same of these,
 * and the name another interface, a call of another major's caller could meet either.
 */
static toolkits told_by_names(const struct plan *plan, const struct form *form)
{
	toolkits told = 0;

	if (!plan->library->advice)
		return form->in;
	for (toolkits in = form->in; in; in &= in - 1) {
		unsigned toolkit = first_bit(in);

		if (!(plan->alike[toolkit] & form->name->in & ~form->in))
			told |= BIT(toolkit);
	}
	return told;
}

static void add_providers(const struct plan *plan, struct slot *slot,
			  const siblings *members)
{
	for (size_t i = 0; i < members->count; i++) {
		const struct sibling *member = &members->items[i];

		for (struct form **form = member->first; form < member->end; form++)
			if (!(*form)->row->undeclared && told_by_names(plan, *form))
				add_provider(slot, (*form)->row->name, told_by_names(plan, *form),
					     member->slot == slot);
	}
}

/* Adds slots for the forms [first, end), all of one family and interface. */
static void add_shared(struct plan *plan, struct form **first, struct form **end)
{
	size_t slots = plan->slots.count;
	siblings members = { 0 };

	find_siblings(&members, first, end);
	assign_slots(plan, &members);
	for (size_t i = 0; i < members.count; i++)
		add_callers(plan, &members.items[i]);
	for (; slots < plan->slots.count; slots++)
		add_providers(plan, plan->slots.items[slots], &members);
}

/* Adds a slot for one name in one major; `form` is the name's first. */
static void add_alone(struct plan *plan, const struct form *form, const struct form *end,
		      toolkits major)
{
	struct slot *slot = allocate(1, sizeof(*slot));
	const struct name *name = form->name;

	for (; form < end && form->name == name; form++) {
		if (!(form->in & major))
			continue;
		add_caller(plan, slot, form, form->in & major);
		add_provider(slot, name->name, form->in & major, true);
	}
	*push(&plan->slots) = slot;
}

static void add_slots(struct plan *plan, struct forms *forms)
{
	struct form *all = forms->all.items, *end = all + forms->all.count;
	struct form **first = forms->by_key, **last = first + forms->all.count, **next;

	for (; first < last; first = next) {
		for (next = first; next < last; next++)
			if (strcmp((*first)->key, (*next)->key) ||
			    strcmp((*first)->row->family, (*next)->row->family))
				break;
		add_shared(plan, first, next);
	}
	for (struct form *form = all; form < end; form++) {
		toolkits alone = form == all || form->name != form[-1].name ?
			form->name->alone : 0;

		while (alone) {
			toolkits major = major_set(plan->list,
						   major_at(plan->list, first_bit(alone)));

			add_alone(plan, form, end, major);
			alone &= ~major;
		}
	}
}

/* ---- names and order ---- */

/* Compares digits in names as numbers: _12_10 comes after _12_9. */
static int compare_names(const char *a, const char *b)
{
	while (*a && *b) {
		if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
			size_t one, other;
			int order;

			a += strspn(a, "0");
			b += strspn(b, "0");
			one = strspn(a, "0123456789");
			other = strspn(b, "0123456789");
			order = one != other ? (one > other) - (one < other) : strncmp(a, b, one);
			if (order)
				return order;
			a += one;
			b += other;
		} else if (*a != *b) {
			break;
		} else {
			a++;
			b++;
		}
	}
	return (unsigned char)*a - (unsigned char)*b;
}

/* The family whose own name sorts first; qsort() passes no context. */
static const char *family;

static int compare_providers(const void *one, const void *other)
{
	const struct provider *a = one, *b = other;
	int order = b->own - a->own;

	if (!order)
		order = !strcmp(b->name, family) - !strcmp(a->name, family);
	if (!order)
		order = (first_bit(b->in) > first_bit(a->in)) - (first_bit(b->in) < first_bit(a->in));
	if (!order)
		order = compare_names(b->name, a->name);
	return order ? order : strcmp(b->name, a->name);
}

/* Names the slot after the family if callers use that name, else after the first use. */
static void name_slot(struct slot *slot)
{
	if (slot->any)
		return;
	slot->name = slot->uses.items[0].name;
	for (size_t i = 1; i < slot->uses.count; i++)
		if (!strcmp(slot->uses.items[i].name, slot->row->family))
			slot->name = slot->row->family;
	family = slot->row->family;
	qsort(slot->providers.items, slot->providers.count, sizeof(struct provider),
	      compare_providers);
}

static unsigned oldest_use(const struct slot *slot)
{
	unsigned oldest = UINT32_MAX;

	for (size_t i = 0; i < slot->uses.count; i++)
		if (!strcmp(slot->uses.items[i].name, slot->name) &&
		    slot->uses.items[i].major < oldest)
			oldest = slot->uses.items[i].major;
	return oldest;
}

static int compare_slots(const void *one, const void *other)
{
	const struct slot *a = *(struct slot *const *)one, *b = *(struct slot *const *)other;
	int order = strcmp(a->name, b->name);
	unsigned first = oldest_use(a), second = oldest_use(b);

	return order ? order : (first > second) - (first < second);
}

static int compare_idents(const void *one, const void *other)
{
	const struct slot *a = *(struct slot *const *)one, *b = *(struct slot *const *)other;

	return strcmp(a->ident, b->ident);
}

/* A slot's identifier is its name.  If several slots share a name, the oldest major in
 * which the name means that slot is appended. */
static void name_slots(struct plan *plan)
{
	struct slot **slots = plan->slots.items;
	size_t count = plan->slots.count;

	for (size_t i = 0; i < count; i++)
		name_slot(slots[i]);
	if (count)
		qsort(slots, count, sizeof(*slots), compare_slots);
	for (size_t i = 0; i < count; i++) {
		bool shared = (i && !strcmp(slots[i]->name, slots[i - 1]->name)) ||
			      (i + 1 < count && !strcmp(slots[i]->name, slots[i + 1]->name));

		slots[i]->ident = slots[i]->any ? format("%s_any", slots[i]->name) :
				  shared ? format("%s_%u", slots[i]->name, oldest_use(slots[i])) :
					   slots[i]->name;
	}
	if (count)
		qsort(slots, count, sizeof(*slots), compare_idents);
	for (size_t i = 0; i < count; i++) {
		slots[i]->number = (unsigned)i;
		if (i && !strcmp(slots[i]->ident, slots[i - 1]->ident))
			fail_at(slots[i]->row->position, "two slots would be called %s",
				slots[i]->ident);
	}
}

/* ---- hooks ---- */

static int compare_hooks(const void *one, const void *other)
{
	const struct slot *a = *(struct slot *const *)one, *b = *(struct slot *const *)other;
	int order = strcmp(a->row->family, b->row->family);

	return order ? order : strcmp(a->ident, b->ident);
}

static bool same_machine(const struct slot *a, const struct slot *b)
{
	return !strcmp(key_of(a->row, a->toolkit, true), key_of(b->row, b->toolkit, true));
}

/* One hook answers for a whole family, unless the prototypes of its slots differ: then
 * each slot has its own hook. */
static void name_hooks(struct plan *plan)
{
	ARRAY(struct slot *) hooked = { 0 };
	struct slot **first, **end, **next;

	for (size_t i = 0; i < plan->slots.count; i++)
		if (plan->slots.items[i]->hook)
			*push(&hooked) = plan->slots.items[i];
	if (!hooked.count)
		return;
	qsort(hooked.items, hooked.count, sizeof(*hooked.items), compare_hooks);
	end = hooked.items + hooked.count;
	for (first = hooked.items; first < end; first = next) {
		bool same = true;

		for (next = first; next < end; next++) {
			if (strcmp((*first)->row->family, (*next)->row->family))
				break;
			same &= same_machine(*first, *next);
			if ((*next)->unknown)
				fail_at((*next)->row->position, "a hook needs one prototype in a major");
		}
		for (struct slot **slot = first; slot < next; slot++)
			(*slot)->hook = format("lc_hook_%s",
					       same ? (*slot)->row->family : (*slot)->ident);
	}
}

/* ---- uses ---- */

static int compare_uses(const void *one, const void *other)
{
	const struct use *a = one, *b = other;
	int order = strcmp(a->name, b->name);

	return order ? order : (a->major < b->major) - (a->major > b->major);
}

static void collect_uses(struct plan *plan)
{
	for (size_t i = 0; i < plan->slots.count; i++)
		for (size_t j = 0; j < plan->slots.items[i]->uses.count; j++)
			*push(&plan->uses) = plan->slots.items[i]->uses.items[j];
	if (plan->uses.count)
		qsort(plan->uses.items, plan->uses.count, sizeof(struct use), compare_uses);
}

/* ---- names without a default version ---- */

static bool same_interface(const struct slot *a, const struct slot *b)
{
	return a->row->apart && b->row->apart &&
	       !strcmp(key_of(a->row, a->toolkit, false), key_of(b->row, b->toolkit, false));
}

unsigned default_major(const struct plan *plan, const struct use *first, const struct use *end,
		       unsigned abi)
{
	/* A reference without a version binds to the real library's default version.  In a stub
	 * that only forwards, it gets the function of the newest major's library, and no other. */
	if (first->slot->row->undeclared && plan->library->advice)
		return first->major;
	for (const struct use *use = first; use < end; use++)
		if (use->slot != first->slot && !same_interface(use->slot, first->slot))
			return abi;
	/* Rows marked `apart` differ only in what the result means: the newest is a fair guess. */
	return abi && first->slot->row->apart ? abi : first->major;
}

/* Makes the slot for callers without a version.  What it leads to depends on the process, and
 * has the interface of one of the uses: the entry passes on what these have in common. */
static void add_any(struct plan *plan, const struct use *first, const struct use *end)
{
	struct slot *slot = allocate(1, sizeof(*slot));
	size_t count = first->slot->row->params.count;

	*slot = *first->slot;
	slot->name = first->name;
	slot->any = true;
	slot->first_use = (size_t)(first - plan->uses.items);
	slot->providers.count = slot->uses.count = 0;
	slot->zero = allocate(count + 1, sizeof(*slot->zero));
	if (!slot->unknown)	/* else callers differ, perhaps in how many parameters they have */
		memcpy(slot->zero, first->slot->zero, count * sizeof(*slot->zero));
	for (const struct use *use = first + 1; use < end; use++) {
		const struct slot *other = use->slot;

		slot->unknown |= other->unknown ||
				 strcmp(key_of(slot->row, slot->toolkit, true),
					key_of(other->row, other->toolkit, true));
		for (size_t i = 0; i < count && !slot->unknown; i++)
			if (other->zero[i] < slot->zero[i])
				slot->zero[i] = other->zero[i];
	}
	*push(&plan->slots) = slot;
}

static void add_anys(struct plan *plan)
{
	const struct use *use = plan->uses.items, *end = use + plan->uses.count, *next;

	if (plan->library->without_majors || plan->library->node_names == NODES_NONE)
		return;
	for (; use < end; use = next) {
		for (next = use; next < end && !strcmp(next->name, use->name); next++)
			;
		if (!default_major(plan, use, next, 0) && !use->slot->hook)
			add_any(plan, use, next);
	}
}

void plan_stub(struct plan *plan, const struct symbols *list, const struct library *library)
{
	struct forms forms = { 0 };

	*plan = (struct plan){ .list = list, .library = library };
	for (size_t i = 0; i < library->rows.count; i++)
		add_forms(&forms, list, &library->rows.items[i]);
	find_names(plan, &forms);
	sort_forms(&forms);
	collect_since(plan);
	find_alike(plan);
	add_slots(plan, &forms);
	collect_uses(plan);
	add_anys(plan);
	name_slots(plan);
	name_hooks(plan);
}
