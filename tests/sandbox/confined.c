/* SPDX-License-Identifier: MIT */
/*
 * confined.c - run a command as a container without rights does
 *
 *     confined container|mounts [UID] COMMAND...
 *
 *     container   neither namespaces nor mounts: Docker's filter of system calls
 *     mounts      a namespace can be made and nothing can be mounted in it, as
 *                 where AppArmor restricts user namespaces
 *
 * With UID it becomes that user first.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define REFUSE(number, error) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), \
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error)
#define NAMESPACES (CLONE_NEWNS | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | \
		    CLONE_NEWUTS | CLONE_NEWCGROUP)

static int confine(int mounts_alone)
{
	struct sock_filter code[] = {
		LOAD(nr),
		REFUSE(SYS_mount, EPERM), REFUSE(SYS_umount2, EPERM), REFUSE(SYS_pivot_root, EPERM),
		BPF_STMT(BPF_ALU | BPF_OR | BPF_K, mounts_alone ? 1U << 31 : 0),
		REFUSE(SYS_unshare, EPERM), REFUSE(SYS_setns, EPERM),
		/* Its flags lie in memory, where no filter sees them. */
		REFUSE(SYS_clone3, ENOSYS),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
		LOAD(args[0]),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NAMESPACES, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof code / sizeof *code, code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int become(const char *user)
{
	unsigned id = (unsigned)strtoul(user, NULL, 10);

	return setgroups(0, NULL) || setresgid(id, id, id) || setresuid(id, id, id);
}

int main(int argc, char **argv)
{
	int user = argc > 2 && argv[2][strspn(argv[2], "0123456789")] == 0;

	if (argc < 3 + user)
		return 2;
	if ((user && become(argv[2])) || confine(!strcmp(argv[1], "mounts"))) {
		printf("cannot be confined: %s\n", strerror(errno));
		return 77;
	}
	execvp(argv[2 + user], argv + 2 + user);
	perror(argv[2 + user]);
	return 127;
}
