/* SPDX-License-Identifier: MIT */
/*
 * privileged.c - visit as a program that has more rights than its caller
 *
 *     privileged plain|setuid|capable LIBRARIES CODE...
 *
 * Started by root, it gives itself those rights and starts again as a user who
 * has none: as root's program with the set-user-ID bit, or as one with a file
 * capability.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "visitor.h"

enum { NOBODY = 65534 };

static int skip(const char *why)
{
	printf("%s%s%s\n", why, errno ? ": " : "", errno ? strerror(errno) : "");
	return 77;
}

static int set_capability(const char *path)
{
	/* To bind to low ports: what a container's root has, too. */
	const struct vfs_cap_data capability = {
		.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE,
		.data = { { .permitted = 1 << CAP_NET_BIND_SERVICE } },
	};

	return setxattr(path, "security.capability", &capability, XATTR_CAPS_SZ_2, 0);
}

static int start_again(char **argv)
{
	const char *why = "only root can give a program rights";

	if (chown(argv[0], 0, 0) || chmod(argv[0], !strcmp(argv[1], "setuid") ? 04755 : 0755))
		return skip(why);
	if (!strcmp(argv[1], "capable") && set_capability(argv[0]))
		return skip("no file capability can be set here");
	if (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY))
		return skip("cannot become another user");
	setenv("AGAIN", "1", 1);
	execv(argv[0], argv);
	return skip("cannot start again");
}

int main(int argc, char **argv)
{
	int secure = getauxval(AT_SECURE) != 0;

	if (argc < 3)
		return 2;
	if (!getenv("AGAIN"))
		return start_again(argv);
	errno = 0;
	if (getuid() != NOBODY)
		return skip("this is not another user");
	if (!secure && strcmp(argv[1], "plain"))
		return skip("the kernel ignores the rights of files here");
	if (!strcmp(argv[1], "setuid") && geteuid())
		return 1;
	visit(argv[2], argv + 3);
	return 0;
}
