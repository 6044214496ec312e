/* SPDX-License-Identifier: MIT */
/* left_out.c - says what of the functions that are asked for is not in the file */
#include "embed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "writers.h"

struct asked {
	const char *text;
	bool said;
};

/* Some names that are left out for one reason. */
struct group {
	const char *first;
	size_t count;
};

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct asked *)a)->text, ((const struct asked *)b)->text);
}

static void add(struct group *group, struct asked *name)
{
	group->first = group->count++ ? group->first : name->text;
	name->said = true;
}

/* Says so of a group. */
static void say(const struct group *group, const char *why)
{
	if (group->count)
		fprintf(stderr, "%s: left out, as %s: %s%s\n", command_name, why, group->first,
			group->count == 1 ? "" : format(" and %zu more", group->count - 1));
}

static const char *why_not_of(const struct embedding *embedding, const char *library)
{
	return list_has(&embedding->libraries, library) ?
	       format("%s of CUDA %u has no such function", library, embedding->cuda) :
	       format("%s is not given", library);
}

/* Looks the names up among the functions of a list's libraries, and says which library has them. */
static void say_of_list(const struct embedding *embedding, const struct symbols *list, struct asked *names,
			size_t count)
{
	for (size_t i = 0; i < list->libraries.count; i++) {
		const struct library *library = &list->libraries.items[i];
		struct group group = { .count = 0 };

		for (size_t k = 0; k < library->rows.count; k++) {
			struct asked one = { .text = library->rows.items[k].name };
			struct asked *found = bsearch(&one, names, count, sizeof(*names), compare);

			if (found && !found->said)
				add(&group, found);
		}
		say(&group, why_not_of(embedding, file_name(library)));
	}
}

void say_left_out(const struct embedding *embedding, const struct list *asked, const struct list *listed,
		  const struct list *taken, const struct list *lists)
{
	struct asked *names = allocate(asked->count + 1, sizeof(*names));
	struct group unknown = { .count = 0 };
	size_t count = 0;

	for (size_t i = 0; i < asked->count; i++)
		if (!list_has(taken, asked->items[i]))
			names[count++].text = asked->items[i];
	qsort(names, count, sizeof(*names), compare);
	for (size_t i = 0; i < lists->count; i++)
		say_of_list(embedding, lists->items[i], names, count);
	for (size_t i = 0; i < count; i++)
		if (!names[i].said && list_has(listed, names[i].text))
			add(&unknown, &names[i]);
	say(&unknown, "no library that there is a stub of has such a function");
}
