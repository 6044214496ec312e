/* SPDX-License-Identifier: MIT */
/* command_line.c - the table of a command's options: what is read, and what its help says */
#include "command_line.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "say.h"

#define COLUMN 23	/* where help begins */
#define WIDTH 88	/* of a line */

/* ---- help ---- */

static void print_text(const char *text, int column)
{
	while (*text) {
		int length = (int)strcspn(text, " ");

		if (column > COLUMN && column + 1 + length > WIDTH) {
			printf("\n%*s", COLUMN, "");
			column = COLUMN;
		}
		column += printf("%s%.*s", column > COLUMN ? " " : "", length, text);
		text += length + (text[length] == ' ');
	}
	putchar('\n');
}

static void print_options(const struct option *option)
{
	for (; option && option->name; option++) {
		int column = printf("  %s%s%s", option->name, option->argument ? " " : "",
				    option->argument ? option->argument : "");

		if (column > COLUMN - 2)
			column = printf("\n") - 1;
		printf("%*s", COLUMN - column, "");
		print_text(option->help, COLUMN);
	}
}

static void print_help(const struct command *command)
{
	fputs(command->usage, stdout);
	print_options(command->options);
	print_options(command->shared);
	fputs(command->end, stdout);
}

/* ---- words ---- */

/* How long the name at the beginning of a word is, "--arch" of "--arch=sm_90"; 0 if it is not
 * this option's.  A short one has no "=". */
static size_t name_length(const struct option *option, const char *word)
{
	for (const char *name = option->name; *name; name += strspn(name, ", ")) {
		size_t length = strcspn(name, ",");

		if (!strncmp(word, name, length) &&
		    (!word[length] || (option->argument && word[length] == '=' && length > 2)))
			return length;
		name += length;
	}
	return 0;
}

static const struct option *find_option(const struct command *command, const char *word)
{
	const struct option *lists[] = { command->options, command->shared };

	for (size_t i = 0; i < 2; i++)
		for (const struct option *option = lists[i]; option && option->name; option++)
			if (name_length(option, word))
				return option;
	return NULL;
}

static bool store(void *data, const struct option *option, const char *value)
{
	char *at = (char *)data + option->at;

	if (option->take)
		return option->take(data, value);
	if (option->read)
		return option->read(value, at);
	if (option->many) {
		struct lc_strings *words = (struct lc_strings *)at;

		if (option->with_name)
			words->list[words->count++] = option->name;
		words->list[words->count++] = value;
		return true;
	}
	if (option->argument)
		*(const char **)at = value;
	else if (option->bits)
		*(unsigned *)at |= option->bits;
	else
		*(bool *)at = true;
	return !value || *value;
}

static void wrong_value(const struct command *command, const struct option *option,
			const char *word, const char *value)
{
	const int length = (int)name_length(option, word);
	char text[512];

	if (!*value)
		snprintf(text, sizeof(text), "%.*s is empty", length, word);
	else
		snprintf(text, sizeof(text), "%.*s %s: give ", length, word, value);
	options_wrong(command, text, *value ? option->wants : "");
}

/* Takes the option that words[0] begins.  Returns how many words it used, 0 after a message. */
static int take_option(const struct command *command, void *data, char **words)
{
	const struct option *option = find_option(command, words[0]);
	const char *value = NULL;
	bool joined = false;

	if (!option) {
		options_wrong(command, "unknown option ", words[0]);
		return 0;
	}
	if (option->argument) {
		joined = words[0][name_length(option, words[0])];
		value = joined ? strchr(words[0], '=') + 1 : words[1];
		if (!joined && value && find_option(command, value) && !strchr(value, '='))
			value = NULL;	/* it was forgotten */
	}
	if (option->argument && !value)
		options_wrong(command, "a value is missing after ", words[0]);
	else if (!store(data, option, value))
		wrong_value(command, option, words[0], value);
	else
		return value && !joined ? 2 : 1;
	return 0;
}

static bool is_help(const char *word)
{
	return !strcmp(word, "--help") || !strcmp(word, "-h");
}

int options_read(const struct command *command, void *data, int argc, char **argv,
		 void (*word)(void *data, const char *word), int *status)
{
	bool more = true;	/* options may follow */
	int count = 0;

	for (int i = 1, taken; i < argc; i += taken) {
		taken = 1;
		if (!*argv[i]) {	/* of a variable that is not set */
			*status = options_wrong(command, "an argument is empty", "");
			return -1;
		}
		if (!more || argv[i][0] != '-' || !argv[i][1]) {
			if (word)
				word(data, argv[i]);
			else
				argv[count++] = argv[i];
		} else if (is_help(argv[i])) {
			print_help(command);
			*status = 0;
			return -1;
		} else if (!strcmp(argv[i], "--")) {
			more = false;
		} else if (!(taken = take_option(command, data, argv + i))) {
			*status = 2;
			return -1;
		}
	}
	return count;
}

bool bytes_read(const char *text, void *bytes)
{
	static const char units[] = "KMGT";
	unsigned long long number;
	const char *unit;
	char *end;
	int shift = 0;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	number = strtoull(text, &end, 10);
	unit = *end ? strchr(units, *end) : NULL;
	if (unit)
		shift = 10 * (int)(unit - units + 1);
	if (errno || !number || end[unit != NULL] || number > UINT64_MAX >> shift)
		return false;
	*(uint64_t *)bytes = (uint64_t)number << shift;
	return true;
}

/* ---- what was meant ---- */

#define LONGEST 32	/* of words that are compared */

/* How many letters have to be changed, added or removed. */
static size_t distance(const char *one, size_t length, const char *other, size_t width)
{
	size_t row[LONGEST + 1];

	for (size_t j = 0; j <= width; j++)
		row[j] = j;
	for (size_t i = 1; i <= length; i++) {
		size_t corner = row[0];

		row[0] = i;
		for (size_t j = 1; j <= width; j++) {
			size_t best = corner + (one[i - 1] != other[j - 1]);

			corner = row[j];
			if (best > row[j] + 1)
				best = row[j] + 1;
			if (best > row[j - 1] + 1)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[width];
}

/* What is nearest to a word so far, and how near. */
struct near {
	const char *word, *found;
	size_t wanted, length, least;
};

/* Looks at the words of a list that commas and blanks part. */
static void look_for_nearest(struct near *near, const char *text)
{
	for (; near->wanted <= LONGEST && *text; text += strspn(text, ", ")) {
		size_t width = strcspn(text, ", "), far;

		if (width > 2 && width <= LONGEST && (near->word[0] != '-') == (text[0] != '-')) {
			far = distance(near->word, near->wanted, text, width);
			if (far < near->least) {
				near->found = text;
				near->length = width;
				near->least = far;
			}
		}
		text += width;
	}
}

int options_wrong(const struct command *command, const char *what, const char *word)
{
	const struct option *lists[] = { command->options, command->shared };
	struct near near = {
		.word = word, .wanted = strcspn(word, "="), .least = strlen(word) < 5 ? 2 : 3,
	};

	look_for_nearest(&near, "--help");
	look_for_nearest(&near, command->words ? command->words : "");
	for (size_t i = 0; i < 2; i++)
		for (const struct option *option = lists[i]; option && option->name; option++)
			look_for_nearest(&near, option->name);
	if (near.found && near.least)
		complain(command->name, "%s%s; did you mean %.*s?", what, word, (int)near.length,
			 near.found);
	else
		complain(command->name, "%s%s", what, word);
	fprintf(stderr, "%.*s\n`lazycuda%s%s --help` says more.\n",
		(int)strcspn(command->usage, "\n"), command->usage, command->name ? " " : "",
		command->name ? command->name : "");
	return 2;
}
