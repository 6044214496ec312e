/* SPDX-License-Identifier: MIT */
/*
 * confined.c - a program that gives up rights when it starts, and then makes its first call:
 * `confined chroot|nofile|user|unlink|filter|memory|readonly|stranger|mount|namespace`
 *
 * With -DEAGER it asks for its library at the start.  Ends with 77 where the system refuses.
 */
#define _GNU_SOURCE
#include "asks.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef EAGER
#include <lazycuda.h>

LAZYCUDA_EAGER("cudart");
#endif

static int without_open(void)
{
	struct sock_filter instructions[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { sizeof(instructions) / sizeof(*instructions), instructions };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

/* Returns 0 if what this process mounts from now on is its own affair. */
static int own_mounts(void)
{
	if (unshare(CLONE_NEWNS) && unshare(CLONE_NEWUSER | CLONE_NEWNS))
		return -1;
	return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

/* Anybody may write to the folder, but nobody can: its file system is read-only, as an image's is. */
static int read_only(const char *folder, const char *file)
{
	const int from = open(file, O_RDONLY);
	int to;

	if (own_mounts() || mount("none", folder, "tmpfs", 0, "mode=0777"))
		return -1;
	to = open(file, O_WRONLY | O_CREAT | O_EXCL, 0755);
	return sendfile(to, from, NULL, 1 << 30) <= 0 || close(from) || close(to) ||
	       mount(NULL, folder, NULL, MS_REMOUNT | MS_RDONLY, NULL);
}

/* A stranger's folder in a sticky one, but it is mounted there. */
static int strangers(const char *folder)
{
	return chown(folder, 4711, 4711) || own_mounts() || mount(folder, folder, NULL, MS_BIND, NULL);
}

static int confine(const char *how)
{
	const char *folder = getenv("LD_LIBRARY_PATH");
	char file[4096];

	snprintf(file, sizeof(file), "%s/libcudart.so.12", folder);
	if (!strcmp(how, "chroot"))
		return chroot("/proc/self/fdinfo") || chdir("/");
	if (!strcmp(how, "nofile"))
		return setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 0, 0 });
	if (!strcmp(how, "memory"))
		return setrlimit(RLIMIT_AS, &(struct rlimit){ 1 << 20, 1 << 20 });
	if (!strcmp(how, "readonly"))
		return read_only(folder, file);
	if (!strcmp(how, "stranger"))
		return strangers(folder);
	if (!strcmp(how, "mount"))
		return own_mounts() || mount("none", folder, "tmpfs", 0, NULL);
	if (!strcmp(how, "namespace"))
		return unshare(CLONE_NEWUSER);
	if (!strcmp(how, "user"))
		return chmod(folder, 0700) || setuid(65534);
	return strcmp(how, "unlink") ? without_open() : unlink(file);
}

int main(int argc, char **argv)
{
	if (argc < 2 || confine(argv[1])) {
		printf("%s: %s\n", argc < 2 ? "" : argv[1], strerror(errno));
		return 77;
	}
	printf("%d\n", ask());
	return 0;
}
