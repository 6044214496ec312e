/* SPDX-License-Identifier: MIT */
/* mounts.c - who can change what is mounted somewhere */
#include "mounts.h"

#include <string.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "auxiliary.h"
#include "glibc.h"
#include "regular.h"

/* As in linux/magic.h. */
enum { FUSE = 0x65735546, OVERLAY = 0x794c7630, TMPFS = 0x01021994 };

#define MOST_MOUNTS (1 << 20)	/* bytes of text: some 8,000 */

/* What the kernel says of this thread, in a file in /proc; NULL: it does not. */
static const char *read_own(struct lc_arena *arena, const char *name)
{
	char buffer[LC_OWN_PATH];
	struct stat st;

	return lc_read_regular(arena, lc_own_file(buffer, name), MOST_MOUNTS, &st);
}

static const char *next_line(const char *line)
{
	line = strchr(line, '\n');
	return line ? line + 1 : NULL;
}

/* What follows so many spaces in a line; NULL if there are fewer. */
static const char *after_spaces(const char *line, int spaces)
{
	for (; line && spaces; spaces--) {
		line += strcspn(line, " \n");
		line = *line == ' ' ? line + 1 : NULL;
	}
	return line;
}

/* The next mount of a device, from this line of mountinfo on; NULL: there is none. */
static const char *mount_of(const char *line, dev_t device)
{
	const char *at = NULL;
	char wanted[32];

	lc_print(wanted, sizeof(wanted), "%u:%u ", major(device), minor(device));
	for (; line; line = next_line(line)) {
		at = after_spaces(line, 2);
		if (at && !strncmp(at, wanted, strlen(wanted)))
			return at;
	}
	return NULL;
}

/* The options of the file system, of whatever mount: "ro,user_id=1000"; NULL: the line has none. */
static const char *options_of(const char *mount)
{
	while (mount && strncmp(mount, "- ", 2))
		mount = after_spaces(mount, 1);
	return after_spaces(mount, 3);
}

static bool says_read_only(const char *options)
{
	return options && !strncmp(options, "ro", 2) && strcspn(options, ", \n") == 2;
}

/*
 * What is mounted read-only at one place may be writable at another.  A read-only file system is not,
 * if this machine has it, and not a server.  What lies below layers or FUSE only those know who mounted
 * them, for instance as the root of a container: nobody writes if no mount here is for writing.
 */
bool lc_is_read_only(struct lc_arena *arena, const char *path, dev_t device)
{
	const char *mount = NULL;
	struct statfs fs;
	bool known;

	if (statfs(path, &fs) || !(fs.f_flags & ST_RDONLY))
		return false;
	known = major(device) || fs.f_type == TMPFS;
	if (known || fs.f_type == FUSE || fs.f_type == OVERLAY)
		mount = mount_of(read_own(arena, "mountinfo"), device);
	if (!mount || known)
		return says_read_only(options_of(mount));
	while (mount && says_read_only(after_spaces(mount, 3)))
		mount = mount_of(next_line(mount), device);
	return !mount;
}

/* Who a user of this user namespace is outside of it. */
static uid_t user_outside(struct lc_arena *arena, uid_t user)
{
	for (const char *line = read_own(arena, "uid_map"); line; line = next_line(line)) {
		char *end;
		const long first = strtol(line, &end, 10), as = strtol(end, &end, 10);
		const long count = strtol(end, &end, 10);

		if (first <= (long)user && (long)user < first + count)
			return (uid_t)((long)user - first + as);
	}
	return user;
}

/*
 * Whoever may write to a folder may mount something on it, but by FUSE alone.  The mounter's program
 * says whose all that is, and can have statfs() fail.
 */
const char *lc_strangers_mount(struct lc_arena *arena, const char *path, dev_t device, uid_t around)
{
	const char *options, *user;
	struct statfs fs;
	uid_t by;

	if (major(device) || (!statfs(path, &fs) && fs.f_type != FUSE))
		return NULL;
	options = options_of(mount_of(read_own(arena, "mountinfo"), device));
	if (!options)
		return lc_format(arena, "/proc does not tell who mounted %s", lc_printable(arena, path));
	user = memmem(options, strcspn(options, "\n"), ",user_id=", 9);
	by = user ? (uid_t)strtol(user + 9, NULL, 10) : 0;
	if (by == 0 || by == around || by == geteuid() || by == user_outside(arena, geteuid()))
		return NULL;
	return lc_format(arena, "user %u, who is neither root nor you, mounted %s by FUSE", (unsigned)by,
			 lc_printable(arena, path));
}
