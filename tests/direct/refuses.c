/* SPDX-License-Identifier: MIT */
/*
 * refuses.c - a preloaded library after which the kernel refuses what a program that is linked
 * directly does not call: a filter that has learned from such a one, from outside
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define REFUSE(call) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), \
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

__attribute__((constructor)) static void refuse(void)
{
	struct sock_filter instructions[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
#ifdef SYS_lstat
		REFUSE(lstat), REFUSE(stat), REFUSE(readlink),
# if !__GLIBC_PREREQ(2, 39)	/* whose ld.so calls it for each library that it opens */
		REFUSE(fstat),
# endif
#endif
		REFUSE(readlinkat),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { sizeof(instructions) / sizeof(*instructions), instructions };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
		exit(77);
}
