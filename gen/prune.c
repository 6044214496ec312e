/* SPDX-License-Identifier: MIT */
/* prune.c - leaves out of a stub what callers of a few functions do not need */
#include "prune.h"

#include <string.h>

/* What a slot is needed for. */
enum need { NOT, MENTIONED, CALLED };

struct pruning {
	struct plan *plan;
	enum need *needs;	/* parallel to the plan's slots */
};

/* Takes the slots that the text names, in whole or before ##. */
static void take_mentioned(struct pruning *pruning, const char *text, enum need need)
{
	static const char slot[] = "LC_SLOT_";

	while (*text) {
		size_t length = word_length(text);
		const char *name = text;

		text += length ? length : 1;
		if (length > strlen(slot) && !strncmp(name, slot, strlen(slot)))
			name += strlen(slot);
		for (size_t i = 0; length && i < pruning->plan->slots.count; i++) {
			const char *ident = pruning->plan->slots.items[i]->ident;
			const size_t part = (size_t)(text - name);

			if (pruning->needs[i] < need && !strncmp(ident, name, part) &&
			    (!ident[part] || (part > 4 && !strncmp(text, "##", 2))))
				pruning->needs[i] = need;
		}
	}
}

static bool is_there(const struct plan *plan, const char *ident, size_t length)
{
	for (size_t i = 0; i < plan->slots.count; i++)
		if (!plan->slots.items[i]->bare && !strncmp(plan->slots.items[i]->ident, ident, length) &&
		    !plan->slots.items[i]->ident[length])
			return true;
	return false;
}

/* The slot of a row of adaptors, SERVE(slot, needs); NULL: it is another line. */
static const char *slot_of_row(const char *line)
{
	line += strspn(line, "\t");
	if (strncmp(line, "SERVE(", 6) && strncmp(line, "SERVE_BY(", 9))
		return NULL;
	return strchr(line, '(') + 1;
}

static const char *next_line(const char *line)
{
	const char *end = strchr(line, '\n');

	return end ? end + 1 : line + strlen(line);
}

/* Takes what a row needs.  Of the files with adaptors, those of rows with a slot are of use; each stands
 * before its rows. */
static void take_rows(struct pruning *pruning, const char *rows, struct list *files)
{
	const char *file = "", *slot;

	for (; *rows; rows = next_line(rows)) {
		slot = slot_of_row(rows);
		if (!slot && !strncmp(rows, "\t/* ", 4))
			file = format("/adaptors/%.*s", (int)strcspn(rows + 4, " "), rows + 4);
		if (!slot || !is_there(pruning->plan, slot, word_length(slot)))
			continue;
		list_add(files, file);
		take_mentioned(pruning, format("%.*s", (int)strcspn(slot, ")"), slot), CALLED);
	}
}

static bool ends_with(const char *text, const char *end)
{
	return strlen(text) >= strlen(end) && !strcmp(text + strlen(text) - strlen(end), end);
}

static bool is_of_use(const struct list *files, const char *path)
{
	for (size_t i = 0; i < files->count; i++)
		if (ends_with(path, files->items[i]))
			return true;
	return !strstr(path, "/adaptors/");
}

static void take_callers(struct plan *plan, unsigned major, const struct list *names)
{
	size_t count = 0;

	for (size_t i = 0; i < plan->slots.count; i++)
		plan->slots.items[i]->bare = true;
	for (size_t i = 0; i < plan->uses.count; i++) {
		const struct use use = plan->uses.items[i];

		if (use.major != major || !list_has(names, use.name))
			continue;
		use.slot->bare = false;
		plan->uses.items[count++] = use;
	}
	plan->uses.count = count;
}

/* Those that are idle come last: the tables end before them. */
static void leave_slots(struct pruning *pruning)
{
	struct plan *plan = pruning->plan;
	struct list idle = { 0 };
	size_t count = 0;

	for (size_t i = 0; i < plan->slots.count; i++) {
		struct slot *slot = plan->slots.items[i];

		slot->idle = slot->bare && pruning->needs[i] == MENTIONED;
		if (slot->idle)
			list_add(&idle, slot);
		else if (!slot->bare || pruning->needs[i] == CALLED)
			plan->slots.items[count++] = slot;
	}
	plan->live = idle.count ? idle.items[0] : NULL;
	for (size_t i = 0; i < idle.count; i++)
		plan->slots.items[count++] = idle.items[i];
	plan->slots.count = count;
	for (size_t i = 0; i < count; i++)
		plan->slots.items[i]->number = (unsigned)i;
}

static bool is_name_of(const struct plan *plan, const char *name)
{
	for (size_t i = 0; i < plan->since.count; i++)
		if (!strcmp(plan->since.items[i].name, name))
			return true;
	for (size_t i = 0; i < plan->slots.count; i++) {
		const struct slot *slot = plan->slots.items[i];

		if (!slot->idle && !strcmp(slot->name, name))
			return true;
		for (size_t k = 0; !slot->idle && k < slot->providers.count; k++)
			if (!strcmp(slot->providers.items[k].name, name))
				return true;
	}
	return false;
}

static void leave_names(struct plan *plan)
{
	size_t count = 0;

	for (size_t i = 0; i < plan->names.count; i++)
		if (is_name_of(plan, plan->names.items[i].name))
			plan->names.items[count++] = plan->names.items[i];
	plan->names.count = count;
}

void prune(struct plan *plan, unsigned major, const struct list *names, const room_files *room)
{
	struct pruning pruning = { plan, allocate(plan->slots.count, sizeof(enum need)) };
	struct list files = { 0 };

	plan->pruned = true;
	take_callers(plan, major, names);
	for (size_t i = 0; i < room->count; i++)
		if (ends_with(room->items[i].path, "/adaptors/rows.h"))
			take_rows(&pruning, room->items[i].text, &files);
	for (size_t i = 0; i < room->count; i++)
		take_mentioned(&pruning, room->items[i].text,
			       is_of_use(&files, room->items[i].path) ? CALLED : MENTIONED);
	leave_slots(&pruning);
	leave_names(plan);
}

const char *without_idle_rows(const struct plan *plan, const char *rows)
{
	struct text left = { 0 };

	put(&left, "%s", "");
	for (const char *next; *rows; rows = next) {
		const char *slot = slot_of_row(rows);

		next = next_line(rows);
		if (!slot || is_there(plan, slot, word_length(slot)))
			put(&left, "%.*s", (int)(next - rows), rows);
	}
	return left.bytes;
}
