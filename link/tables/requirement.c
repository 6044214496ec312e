/* SPDX-License-Identifier: MIT */
/* requirement.c - the lines of a wheel's METADATA that require other packages */
#include "requirement.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../../stubs/base/count.h"
#include "../../stubs/base/glibc.h"

/* What the variables of a marker are where a wheel for Linux is installed. */
static const struct {
	const char *variable, *value;
} world[] = {
	{ "sys_platform", "linux" }, { "platform_system", "Linux" }, { "os_name", "posix" },
	{ "implementation_name", "cpython" }, { "platform_python_implementation", "CPython" },
};

/* One comparison of a marker. */
struct clause {
	char variable[64], how[3], value[64];
};

/* Copies the characters of `set` that the text begins with, and goes on behind the blanks there. */
static bool take_span(const char **text, const char *set, char *to, size_t room)
{
	size_t length = strspn(*text, set);

	if (!length || length >= room)
		return false;
	memcpy(to, *text, length);
	to[length] = 0;
	*text += length + strspn(*text + length, " \t");
	return true;
}

static bool read_clause(const char *text, struct clause *clause)
{
	size_t length;

	if (!take_span(&text, "abcdefghijklmnopqrstuvwxyz_", clause->variable, sizeof(clause->variable)) ||
	    !take_span(&text, "=!<>", clause->how, sizeof(clause->how)) || (*text != '"' && *text != '\''))
		return false;
	length = strcspn(text + 1, "\"'");
	if (length >= sizeof(clause->value) || text[1 + length] != *text || text[2 + length])
		return false;
	memcpy(clause->value, text + 1, length);
	clause->value[length] = 0;
	return true;
}

/* Where the comparison is true. */
static unsigned machines_of(const struct clause *clause)
{
	bool equal = !strcmp(clause->how, "=="), other = !strcmp(clause->how, "!=");
	unsigned machine = !strcmp(clause->value, "x86_64") ? LK_ON_X86_64 :
			   !strcmp(clause->value, "aarch64") ? LK_ON_AARCH64 : 0;

	if (!strcmp(clause->variable, "platform_machine"))
		return equal ? machine : other ? LK_ON_ALL & ~machine : 0;
	/* Each Python there is: from 3.10 on, and before 4. */
	if (!strncmp(clause->variable, "python_", 7))
		return (*clause->how == '>' && (*clause->value < '3' || (!strncmp(clause->value, "3.", 2) &&
			strtol(clause->value + 2, NULL, 10) < 10))) ||
		       (*clause->how == '<' && *clause->value >= '4') ? LK_ON_ALL : 0;
	for (size_t i = 0; i < LC_COUNT(world); i++)
		if (!strcmp(clause->variable, world[i].variable))
			return (equal && !strcmp(clause->value, world[i].value)) ||
			       (other && strcmp(clause->value, world[i].value)) ? LK_ON_ALL : 0;
	return 0;
}

/* The machines on which a requirement with this marker counts always: not if an extra, an older
 * Python or what is not known has to be.  Without "or", parentheses change nothing. */
static unsigned always(char *marker)
{
	unsigned machines = LK_ON_ALL;

	while (marker && machines) {
		char *and = strstr(marker, " and "), *last = and ? and : marker + strlen(marker);
		struct clause clause;

		marker += strspn(marker, " \t(");
		while (last > marker && strchr(" \t)", last[-1]))
			last--;
		*last = 0;
		machines &= read_clause(marker, &clause) ? machines_of(&clause) : 0;
		marker = and ? and + 5 : NULL;
	}
	return machines;
}

/* Returns what follows a package's name, in which '-', '_' and '.' are alike, as are runs of
 * them; NULL if another name is there. */
static char *after_package(char *text, const char *name)
{
	static const char joints[] = "-_.";

	while (*name) {
		if (*name == '-' ? !strspn(text, joints) : (*text | 0x20) != *name)
			return NULL;
		text += *name++ == '-' ? strspn(text, joints) : 1;
	}
	return strchr(" \t[(<>=!~@", *text) ? text : NULL;	/* or the end */
}

bool lk_requirement_read(const char *line, size_t size, const char *package,
			 struct lk_requirement *requirement)
{
	static const char field[] = "Requires-Dist:";
	char *at = requirement->text, *marker;

	if (size < strlen(field) || strncasecmp(line, field, strlen(field)) ||
	    size >= sizeof(requirement->text) || memchr(line, 0, size))
		return false;
	memcpy(at, line, size);
	at[size] = 0;
	at[strcspn(at, "\r")] = 0;
	marker = strchr(at, ';');
	if (marker)
		*marker++ = 0;
	at += strlen(field);
	at = after_package(at + strspn(at, " \t"), package);
	if (!at)
		return false;
	at += strspn(at, " \t");
	if (*at == '[')
		at = strchr(at, ']');
	if (!at)
		return false;
	requirement->version = at + strspn(at, "] \t");
	requirement->machines = marker ? always(marker) : LK_ON_ALL;
	return true;
}
