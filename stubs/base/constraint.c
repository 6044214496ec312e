/* SPDX-License-Identifier: MIT */
/* constraint.c - a user's constraints on versions, ">=13.2,<14" */
#include "constraint.h"

#include <stdbool.h>
#include <string.h>

#include "count.h"
#include "cuda_version.h"

/* The outcomes of a comparison; an operator accepts some of them. */
enum { LESS = 1, EQUAL = 2, GREATER = 4 };

/* If one operator begins with another, the longer one comes first. */
static const struct operator {
	const char *text;
	int takes;
	bool wildcard;		/* may be followed by 12.* */
	bool compatible;	/* also fixes all numbers but the last */
} operators[] = {
	{ "==", EQUAL, true, false },
	{ "!=", LESS | GREATER, true, false },
	{ ">=", GREATER | EQUAL, false, false },
	{ "<=", LESS | EQUAL, false, false },
	{ "~=", GREATER | EQUAL, false, true },
	{ "<", LESS, false, false },
	{ ">", GREATER, false, false },
};

static const char *skip_spaces(const char *text)
{
	return text + strspn(text, " \t");
}

static const struct operator *read_operator(const char *text)
{
	for (size_t i = 0; i < LC_COUNT(operators); i++)
		if (!strncmp(text, operators[i].text, strlen(operators[i].text)))
			return &operators[i];
	return NULL;
}

/* A version cut to its first `numbers` numbers. */
static int version_prefix(int version, int numbers)
{
	return numbers == 1 ? LC_CUDA_MAJOR(version) : version;
}

static int compare_versions(int a, int b)
{
	return a < b ? LESS : a > b ? GREATER : EQUAL;
}

/* Reads one clause.  Returns the text after it; or NULL, with *wrong at the error. */
static const char *read_clause(const char *text, int version, bool *holds, const char **wrong)
{
	const struct operator *operator = read_operator(text);
	const char *end;
	int bound, numbers, outcome;

	*wrong = text;
	if (!operator)
		return NULL;
	*wrong = text = skip_spaces(text + strlen(operator->text));
	end = lc_version_scan(text, &bound, &numbers);
	if (!end || (operator->compatible && numbers < 2))
		return NULL;
	outcome = compare_versions(version, bound);
	if (!strncmp(end, ".*", 2)) {
		*wrong = end;
		if (!operator->wildcard)
			return NULL;
		outcome = compare_versions(version_prefix(version, numbers),
					   version_prefix(bound, numbers));
		end += 2;
	}
	*holds = operator->takes & outcome;
	if (operator->compatible &&
	    version_prefix(version, numbers - 1) != version_prefix(bound, numbers - 1))
		*holds = false;
	return end;
}

int lc_constraint_holds(const char *constraint, int version, const char **wrong)
{
	const char *text = skip_spaces(constraint), *at;
	bool all = true, holds;

	while (*text) {
		text = read_clause(text, version, &holds, &at);
		if (!text)
			goto malformed;
		all &= holds;
		at = text = skip_spaces(text);
		if (*text && *text != ',')
			goto malformed;
		if (*text) {
			at = text = skip_spaces(text + 1);
			/* A clause has to follow a comma. */
			if (!*text)
				goto malformed;
		}
	}
	return all;
malformed:
	if (wrong)
		*wrong = at;
	return -1;
}
