/* SPDX-License-Identifier: MIT */
/*
 * seal.h - this thread may read, write and end; the kernel kills who does more
 *
 * What SECCOMP_MODE_STRICT is, which a process with a filter cannot enter: one
 * in a container, or below the tests' sandbox.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static int seal(void)
{
#define PERMIT(number) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), \
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		PERMIT(SYS_read), PERMIT(SYS_write), PERMIT(SYS_exit), PERMIT(SYS_rt_sigreturn),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_THREAD),
	};
	struct sock_fprog program = { sizeof code / sizeof *code, code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
