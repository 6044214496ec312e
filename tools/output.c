/* SPDX-License-Identifier: MIT */
/* output.c - where that is which a command writes, and what a signal does meanwhile */
#include "output.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../stubs/base/count.h"
#include "say.h"

/* ---- links ---- */

#define MOST_LINKS 40	/* as Linux follows */

static const char trap[] = "is a symbolic link of somebody else's in a folder that everybody may write"
			   " to: not followed";

struct walk {
	char real[PATH_MAX];	/* "": the root */
	char rest[PATH_MAX];
	int links;
};

/* Returns true for a link of another user, except root, where everybody can put one: it may lead
 * to a file that this user did not mean to replace. */
static bool is_trap(char *path, const struct stat *link)
{
	char *slash = strrchr(path, '/');
	struct stat folder;
	bool open;

	if (!link->st_uid || link->st_uid == geteuid())
		return false;
	*slash = 0;
	open = stat(*path ? path : "/", &folder) || folder.st_mode & S_IWOTH;
	*slash = '/';
	return open;
}

/* Puts the target of the link, at which the walk is, before the rest.  Returns NULL, or why not. */
static const char *follow(struct walk *walk, const struct stat *link, const char *rest)
{
	char target[PATH_MAX], whole[PATH_MAX];
	ssize_t length = readlink(walk->real, target, sizeof(target) - 1);

	if (is_trap(walk->real, link))
		return trap;
	if (length < 0 || ++walk->links > MOST_LINKS)
		return strerror(length < 0 ? errno : ELOOP);
	target[length] = 0;
	if (snprintf(whole, sizeof(whole), "%s/%s", target, rest) >= PATH_MAX)
		return strerror(ENAMETOOLONG);
	strcpy(walk->rest, whole);
	*(*target == '/' ? walk->real : strrchr(walk->real, '/')) = 0;
	return NULL;
}

/* Goes on by one name. */
static const char *step(struct walk *walk)
{
	size_t length = strcspn(walk->rest, "/"), real = strlen(walk->real);
	char *rest = walk->rest + length + (walk->rest[length] == '/'), *slash = strrchr(walk->real, '/');
	struct stat st;

	if (length == 2 && !memcmp(walk->rest, "..", 2)) {
		if (slash)
			*slash = 0;
	} else if (length > 1 || (length && *walk->rest != '.')) {
		if (real + 1 + length >= PATH_MAX)
			return strerror(ENAMETOOLONG);
		sprintf(walk->real + real, "/%.*s", (int)length, walk->rest);
		if (!lstat(walk->real, &st) && S_ISLNK(st.st_mode))
			return follow(walk, &st, rest);
	}
	memmove(walk->rest, rest, strlen(rest) + 1);
	return NULL;
}

char *output_path(const char *command, const char *path)
{
	struct walk walk = { .links = 0 };
	const char *why = NULL;

	if (*path != '/' && !getcwd(walk.real, sizeof(walk.real)))
		why = strerror(errno);
	else if (snprintf(walk.rest, sizeof(walk.rest), "%s", path) >= PATH_MAX)
		why = strerror(ENAMETOOLONG);
	else if (*path && path[strlen(path) - 1] == '/')
		why = strerror(EISDIR);
	if (!strcmp(walk.real, "/"))
		*walk.real = 0;
	while (!why && *walk.rest)
		why = step(&walk);
	if (!why)
		return strdup(*walk.real ? walk.real : "/");
	complain(command, "%s: %s", why == trap ? walk.real : path, why);
	return NULL;
}

/* ---- signals ---- */

static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
static struct sigaction before[LC_COUNT(signals)];
static volatile sig_atomic_t came;
static volatile pid_t child;

static void note(int number)
{
	came = number;
	if (child > 0)
		kill(child, SIGTERM);
}

void output_hold_signals(void)
{
	const struct sigaction action = { .sa_handler = note, .sa_flags = SA_RESTART };

	/* A limit on the size of files is an error of write(), so that nothing is left behind. */
	signal(SIGXFSZ, SIG_IGN);
	for (size_t i = 0; i < LC_COUNT(signals); i++)
		if (!sigaction(signals[i], NULL, &before[i]) && before[i].sa_handler == SIG_DFL)
			sigaction(signals[i], &action, NULL);
}

void output_release_signals(void)
{
	for (size_t i = 0; i < LC_COUNT(signals); i++)
		sigaction(signals[i], &before[i], NULL);
	if (came)
		raise(came);
}

void output_name_child(pid_t pid)
{
	child = pid;
	if (came && pid > 0)
		kill(pid, SIGTERM);
}

bool output_stops(void)
{
	return came;
}
