/* SPDX-License-Identifier: MIT */
/*
 * A sandbox without a namespace: a supervisor answers the command's system calls
 *
 * A seccomp filter hands every system call that takes a path to the supervisor,
 * which looks the path up in the view (sandbox_view.h).  Where the view is what
 * the machine is, the kernel goes on with the call.  Where it is not, the
 * supervisor makes the call for the command, with the path where the thing
 * really lies, and hands over the answer.
 *
 * The command is not traced: signals, threads, strace and debuggers are as
 * anywhere.  It needs no right and no namespace; the kernel has to be 5.9 or
 * later.  Programs below it get no rights from their set-user-ID bits, and
 * processes that outlive the command can look up no path any more.  What a
 * supervisor cannot do for another process, such as to enter a folder that the
 * view has and the machine has not, ends the command, and the exit status is
 * that of a skipped test.
 */
#ifndef SANDBOX_CALLS_H
#define SANDBOX_CALLS_H

#include "sandbox_view.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/memfd.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <sys/wait.h>

/* The headers may be older than the kernel. */
#ifndef SECCOMP_RET_USER_NOTIF
#define SECCOMP_RET_USER_NOTIF 0x7fc00000U
#define SECCOMP_FILTER_FLAG_NEW_LISTENER (1UL << 3)
struct seccomp_notif {
	__u64 id;
	__u32 pid, flags;
	struct seccomp_data data;
};
struct seccomp_notif_resp {
	__u64 id;
	__s64 val;
	__s32 error;
	__u32 flags;
};
#define SECCOMP_IOCTL_NOTIF_RECV _IOWR('!', 0, struct seccomp_notif)
#define SECCOMP_IOCTL_NOTIF_SEND _IOWR('!', 1, struct seccomp_notif_resp)
#endif
#ifndef SECCOMP_USER_NOTIF_FLAG_CONTINUE
#define SECCOMP_USER_NOTIF_FLAG_CONTINUE (1UL << 0)
#endif
#ifndef SECCOMP_IOCTL_NOTIF_ADDFD
struct seccomp_notif_addfd {
	__u64 id;
	__u32 flags, srcfd, newfd, newfd_flags;
};
#define SECCOMP_IOCTL_NOTIF_ADDFD _IOW('!', 3, struct seccomp_notif_addfd)
#endif
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS _IOW('!', 4, __u64)
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#endif
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif
#ifndef SYS_io_uring_setup
#define SYS_io_uring_setup 425
#endif
#ifndef SYS_faccessat2
#define SYS_faccessat2 439
#endif
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

#ifdef __x86_64__
#define MACHINE AUDIT_ARCH_X86_64
#define LEGACY(...) __VA_ARGS__
#else
#define MACHINE AUDIT_ARCH_AARCH64
#define LEGACY(...)
#endif

enum how {
	OPENS,		/* answered with a descriptor */
	LINKS_TEXT,	/* readlink: answered with a text */
	PLAIN,		/* nothing is written to the command's memory but `size` bytes */
	NO_DATA,	/* extended attributes: there are none */
	BY_ITSELF,	/* only the command itself can make the call */
};

enum { ARGUMENTS = 6, NONE = -1 };
enum { CHANGES = 1, AT_LINK = 2, SIZE_AT_3 = 4 };

/* A system call with a path.  Numbers count its arguments. */
static const struct call {
	const char *name;
	int number;
	enum how how;
	signed char folder, path, flags;
	int no_follow;		/* which flag says that a link is meant itself */
	int what;		/* CHANGES something, is AT_LINK always */
	signed char out;	/* what it fills */
	size_t size;
} calls[] = {
#define CALL(name, ...) { #name, SYS_##name, __VA_ARGS__ }
#define STATUS sizeof(struct stat)
#define NOF AT_SYMLINK_NOFOLLOW
	/*                 how  folder path flags no_follow what   out  size */
	CALL(openat,       OPENS,      0, 1, 2, O_NOFOLLOW, 0, NONE, 0),
	CALL(newfstatat,   PLAIN,      0, 1, 3, NOF, 0, 2, STATUS),
	CALL(statx,        PLAIN,      0, 1, 2, NOF, 0, 4, 256),
	CALL(faccessat,    PLAIN,      0, 1, NONE, 0, 0, NONE, 0),
	CALL(faccessat2,   PLAIN,      0, 1, 3, NOF, 0, NONE, 0),
	CALL(readlinkat,   LINKS_TEXT, 0, 1, NONE, 0, AT_LINK, 2, 0),
	CALL(statfs,       PLAIN,      NONE, 0, NONE, 0, 0, 1, sizeof(struct statfs)),
	CALL(mkdirat,      PLAIN,      0, 1, NONE, 0, CHANGES | AT_LINK, NONE, 0),
	CALL(unlinkat,     PLAIN,      0, 1, NONE, 0, CHANGES | AT_LINK, NONE, 0),
	CALL(fchmodat,     PLAIN,      0, 1, NONE, 0, CHANGES, NONE, 0),
	CALL(fchmodat2,    PLAIN,      0, 1, 3, NOF, CHANGES, NONE, 0),
	CALL(fchownat,     PLAIN,      0, 1, 4, NOF, CHANGES, NONE, 0),
	CALL(truncate,     PLAIN,      NONE, 0, NONE, 0, CHANGES, NONE, 0),
	CALL(getxattr,     NO_DATA,    NONE, 0, NONE, 0, 0, NONE, 0),
	CALL(lgetxattr,    NO_DATA,    NONE, 0, NONE, 0, AT_LINK, NONE, 0),
	CALL(listxattr,    NO_DATA,    NONE, 0, NONE, 0, 0, NONE, 0),
	CALL(llistxattr,   NO_DATA,    NONE, 0, NONE, 0, AT_LINK, NONE, 0),
	CALL(setxattr,     BY_ITSELF,  NONE, 0, NONE, 0, CHANGES, NONE, 0),
	CALL(lsetxattr,    BY_ITSELF,  NONE, 0, NONE, 0, CHANGES | AT_LINK, NONE, 0),
	CALL(removexattr,  BY_ITSELF,  NONE, 0, NONE, 0, CHANGES, NONE, 0),
	CALL(lremovexattr, BY_ITSELF,  NONE, 0, NONE, 0, CHANGES | AT_LINK, NONE, 0),
	CALL(utimensat,    BY_ITSELF,  0, 1, 3, NOF, CHANGES, NONE, 0),
	CALL(mknodat,      BY_ITSELF,  0, 1, NONE, 0, CHANGES | AT_LINK, NONE, 0),
	CALL(symlinkat,    BY_ITSELF,  1, 2, NONE, 0, CHANGES | AT_LINK, NONE, 0),
	/* Of these the first path; and again, for the second. */
	CALL(linkat,       BY_ITSELF,  0, 1, NONE, 0, CHANGES | AT_LINK, NONE, 0),
	CALL(linkat,       BY_ITSELF,  2, 3, NONE, 0, CHANGES | AT_LINK, NONE, 0),
	CALL(renameat2,    BY_ITSELF,  0, 1, NONE, 0, CHANGES | AT_LINK, NONE, 0),
	CALL(renameat2,    BY_ITSELF,  2, 3, NONE, 0, CHANGES | AT_LINK, NONE, 0),
	CALL(renameat,     BY_ITSELF,  0, 1, NONE, 0, CHANGES | AT_LINK, NONE, 0),
	CALL(renameat,     BY_ITSELF,  2, 3, NONE, 0, CHANGES | AT_LINK, NONE, 0),
	CALL(inotify_add_watch, BY_ITSELF, NONE, 1, NONE, 0, 0, NONE, 0),
	CALL(execve,       BY_ITSELF,  NONE, 0, NONE, 0, 0, NONE, 0),
	CALL(execveat,     BY_ITSELF,  0, 1, 4, NOF, 0, NONE, 0),
	CALL(chdir,        BY_ITSELF,  NONE, 0, NONE, 0, 0, NONE, 0),
	CALL(chroot,       BY_ITSELF,  NONE, 0, NONE, 0, 0, NONE, 0),
LEGACY(
	CALL(open,         OPENS,      NONE, 0, 1, O_NOFOLLOW, 0, NONE, 0),
	CALL(creat,        BY_ITSELF,  NONE, 0, NONE, 0, CHANGES, NONE, 0),
	CALL(stat,         PLAIN,      NONE, 0, NONE, 0, 0, 1, STATUS),
	CALL(lstat,        PLAIN,      NONE, 0, NONE, 0, AT_LINK, 1, STATUS),
	CALL(access,       PLAIN,      NONE, 0, NONE, 0, 0, NONE, 0),
	CALL(readlink,     LINKS_TEXT, NONE, 0, NONE, 0, AT_LINK, 1, 0),
	CALL(mkdir,        PLAIN,      NONE, 0, NONE, 0, CHANGES | AT_LINK, NONE, 0),
	CALL(rmdir,        PLAIN,      NONE, 0, NONE, 0, CHANGES | AT_LINK, NONE, 0),
	CALL(unlink,       PLAIN,      NONE, 0, NONE, 0, CHANGES | AT_LINK, NONE, 0),
	CALL(chmod,        PLAIN,      NONE, 0, NONE, 0, CHANGES, NONE, 0),
	CALL(chown,        PLAIN,      NONE, 0, NONE, 0, CHANGES, NONE, 0),
	CALL(lchown,       PLAIN,      NONE, 0, NONE, 0, CHANGES | AT_LINK, NONE, 0),
	CALL(mknod,        BY_ITSELF,  NONE, 0, NONE, 0, CHANGES | AT_LINK, NONE, 0),
	CALL(utime,        BY_ITSELF,  NONE, 0, NONE, 0, CHANGES, NONE, 0),
	CALL(utimes,       BY_ITSELF,  NONE, 0, NONE, 0, CHANGES, NONE, 0),
	CALL(futimesat,    BY_ITSELF,  0, 1, NONE, 0, CHANGES, NONE, 0),
	CALL(symlink,      BY_ITSELF,  NONE, 1, NONE, 0, CHANGES | AT_LINK, NONE, 0),
	CALL(link,         BY_ITSELF,  NONE, 0, NONE, 0, CHANGES | AT_LINK, NONE, 0),
	CALL(link,         BY_ITSELF,  NONE, 1, NONE, 0, CHANGES | AT_LINK, NONE, 0),
	CALL(rename,       BY_ITSELF,  NONE, 0, NONE, 0, CHANGES | AT_LINK, NONE, 0),
	CALL(rename,       BY_ITSELF,  NONE, 1, NONE, 0, CHANGES | AT_LINK, NONE, 0),
)
};
#define CALLS (sizeof calls / sizeof *calls)

/* ---- the filter, in the command's process ---- */

static int filter_calls(void)
{
	struct sock_filter code[2 * CALLS + 16], *at = code;
#define ADD(...) *at++ = (struct sock_filter)__VA_ARGS__
#define LOAD(field) \
	ADD(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field)))
#define IF(test, value, action) \
	ADD(BPF_JUMP(BPF_JMP | test | BPF_K, value, 0, 1)); \
	ADD(BPF_STMT(BPF_RET | BPF_K, action))
	const unsigned unknown = SECCOMP_RET_ERRNO | ENOSYS;

	/* Nothing is to slip by: another machine's calls, a structure of flags,
	 * a queue.  Programs do without. */
	LOAD(arch);
	ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MACHINE, 1, 0));
	ADD(BPF_STMT(BPF_RET | BPF_K, unknown));
	LOAD(nr);
	IF(BPF_JGE, 0x40000000, unknown);
	IF(BPF_JEQ, SYS_openat2, unknown);
	IF(BPF_JEQ, SYS_io_uring_setup, unknown);
	for (size_t i = 0; i < CALLS; i++) {
		IF(BPF_JEQ, (unsigned)calls[i].number, SECCOMP_RET_USER_NOTIF);
	}
	ADD(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));

	struct sock_fprog program = { (unsigned short)(at - code), code };
	unsigned flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;
	int listener;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	/* A signal is to wait for an answer that is under way, if the kernel can. */
	listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
				flags | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &program);
	if (listener < 0 && errno == EINVAL)
		listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
	return listener;
}

union control {
	struct cmsghdr header;
	char space[CMSG_SPACE(sizeof(int))];
};

static int send_listener(int to, int listener)
{
	union control control = { .header = { CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
	struct iovec byte = { "", 1 };
	struct msghdr message = { .msg_iov = &byte, .msg_iovlen = 1, .msg_control = &control,
				  .msg_controllen = sizeof control };

	memcpy(CMSG_DATA(&control.header), &listener, sizeof listener);
	return sendmsg(to, &message, 0) == 1 ? 0 : -1;
}

/* The listener, or -1 if the process has ended without one. */
static int receive_listener(int from)
{
	union control control;
	char byte;
	struct iovec space = { &byte, 1 };
	struct msghdr message = { .msg_iov = &space, .msg_iovlen = 1, .msg_control = &control,
				  .msg_controllen = sizeof control };
	int listener;

	if (recvmsg(from, &message, MSG_CMSG_CLOEXEC) != 1)
		return -1;
	memcpy(&listener, CMSG_DATA(&control.header), sizeof listener);
	return listener;
}

/* ---- the supervisor ---- */

static struct {
	int listener;
	pid_t command;
	int memory;		/* that of the process which is being answered */
	const struct seccomp_notif *asked;
	struct seccomp_notif_resp *answer;
} this;

/* Instead of an error: a path in memory that the supervisor may not read. */
enum { UNREADABLE = -2 };

static void go_on(void)
{
	this.answer->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
}

static void say_error(int error)
{
	this.answer->error = -error;
}

/* Ends the sandbox as the command has ended. */
static _Noreturn void end(int status)
{
	if (WIFEXITED(status))
		exit(WEXITSTATUS(status));
	remove_view();
	signal(WTERMSIG(status), SIG_DFL);
	kill(getpid(), WTERMSIG(status));
	_exit(128 + WTERMSIG(status));
}

static _Noreturn void cannot(const char *call, const char *path)
{
	int status;

	kill(this.command, SIGKILL);
	waitpid(this.command, &status, 0);
	errno = 0;
	fail(SKIP, "no namespace, and without one no %s of %s", call, path);
}

/* Opens the memory of the process that asks, which only few answers need. */
static int its_memory(void)
{
	char path[64];

	if (this.memory < 0) {
		snprintf(path, sizeof path, "/proc/%d/mem", (int)this.asked->pid);
		this.memory = open(path, O_RDWR | O_CLOEXEC);
	}
	return this.memory;
}

static int write_memory(__u64 where, const void *data, size_t size)
{
	return pwrite(its_memory(), data, size, (off_t)where) == (ssize_t)size ? 0 : EFAULT;
}

/* One call, or three where a container forbids that one. */
static ssize_t read_memory(__u64 where, void *data, size_t size)
{
	struct iovec here = { data, size }, there = { (void *)(uintptr_t)where, size };
	ssize_t got = process_vm_readv((pid_t)this.asked->pid, &here, 1, &there, 1, 0);

	return got < 0 && errno != EFAULT ? pread(its_memory(), data, size, (off_t)where) : got;
}

/* A path in the memory of the process that asks.  0, or an error. */
static int read_path(__u64 where, char *path)
{
	size_t length = 0;

	while (length < PATH_MAX) {
		/* To the end of a page at most: there may be nothing behind. */
		size_t size = 1024 - (where + length) % 1024;
		if (size > PATH_MAX - length)
			size = PATH_MAX - length;
		errno = 0;
		ssize_t got = read_memory(where + length, path + length, size);
		if (got <= 0)
			/* Whose paths cannot be read is to see nothing that it should not. */
			return errno == EFAULT || errno == EIO || !errno ? EFAULT : UNREADABLE;
		if (memchr(path + length, 0, (size_t)got))
			return 0;
		length += (size_t)got;
	}
	return ENAMETOOLONG;
}

/* Starts a look-up in the folder that a path is relative to. */
static int start_at(struct spot *spot, const struct call *call)
{
	char link[64], real[PATH_MAX];
	int folder = call->folder == NONE ? AT_FDCWD : (int)this.asked->data.args[call->folder];

	snprintf(link, sizeof link, folder == AT_FDCWD ? "/proc/%d/cwd" : "/proc/%d/fd/%d",
		 spot->pid, folder);
	ssize_t length = readlink(link, real, sizeof real - 1);
	if (length < 0 || real[0] != '/')
		return UNKNOWN;
	real[length] = 0;
	if (seen_at(real, spot->path))
		spot->touched = 1;
	else
		strcpy(spot->path, real[1] ? real : "");
	return 0;
}

static int follows(const struct call *call)
{
	__u64 flags = call->flags == NONE ? 0 : this.asked->data.args[call->flags];

	if (call->how == OPENS && (flags & O_CREAT) && (flags & O_EXCL))
		return 0;
	return !(call->what & AT_LINK) && !(flags & (unsigned)call->no_follow);
}

static int changes(const struct call *call)
{
	__u64 flags = call->how == OPENS ? this.asked->data.args[call->flags] : 0;

	return (call->what & CHANGES) || (flags & (O_ACCMODE | O_CREAT | O_TRUNC));
}

/* Hands the process a descriptor of the supervisor's, as its answer. */
static void give(int fd, int flags)
{
	struct seccomp_notif_addfd add = { .id = this.asked->id, .srcfd = (unsigned)fd,
					   .newfd_flags = (unsigned)flags & O_CLOEXEC };
	int given = ioctl(this.listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add);

	if (given < 0)
		say_error(errno);
	else
		this.answer->val = given;
	close(fd);
}

/* Whether a path is one of /proc's files about a process's memory. */
static int tells_maps(const char *path)
{
	const char *name = strrchr(path, '/');

	return lies_in(path, "/proc") && name && (!strcmp(name, "/maps") || !strcmp(name, "/smaps"));
}

/* /proc/PID/maps as it is in the view. */
static int open_maps(const char *path)
{
	FILE *from = fopen(path, "re");
	int fd = (int)syscall(SYS_memfd_create, "maps", MFD_CLOEXEC);
	FILE *to = fdopen(dup(fd), "w");
	char *line = NULL, seen[PATH_MAX];
	size_t size = 0;

	while (from && to && getline(&line, &size, from) > 0) {
		char *file = strchr(line, '/'), *end = strchr(line, '\n');
		if (file && end) {
			*end = 0;
			fprintf(to, "%.*s%s\n", (int)(file - line), line,
				seen_at(file, seen) ? seen : file);
		} else {
			fputs(line, to);
		}
	}
	free(line);
	if (from)
		fclose(from);
	if (to)
		fclose(to);
	lseek(fd, 0, SEEK_SET);
	return fd;
}

static void answer_open(struct spot *spot, const struct call *call)
{
	int flags = (int)this.asked->data.args[call->flags];
	mode_t mode = (mode_t)this.asked->data.args[call->flags + 1];
	struct stat status;
	int fd;

	if (!(flags & O_ACCMODE) && has_node_within(spot->path) && is_folder(spot->real) &&
	    !lies_in(spot->real, scratch)) {
		list_folder(spot);
		spot->touched = 1;
	}
	if (!(flags & O_ACCMODE) && tells_maps(spot->path)) {
		give(open_maps(spot->real), flags);
		return;
	}
	if (!spot->touched) {
		go_on();
		return;
	}
	if (stat(spot->real, &status) == 0 && S_ISFIFO(status.st_mode))
		cannot("waiting for the other end", spot->path);
	/* No descriptor that is a path alone can be given away. */
	fd = open(spot->real, (flags & ~O_PATH) | O_CLOEXEC | O_NOCTTY, mode);
	if (fd < 0)
		say_error(errno);
	else
		give(fd, flags);
}

static void answer_link(struct spot *spot, const struct call *call)
{
	__u64 into = this.asked->data.args[call->out], room = this.asked->data.args[call->out + 1];
	char real[PATH_MAX], text[PATH_MAX];
	ssize_t length = readlink(spot->real, real, sizeof real - 1);

	if (length < 0) {
		say_error(errno);
		return;
	}
	real[length] = 0;
	if (!lies_in(spot->path, "/proc") || real[0] != '/' || !seen_at(real, text)) {
		if (!spot->touched) {
			go_on();
			return;
		}
		strcpy(text, real);
	}
	length = (ssize_t)strlen(text);
	if ((__u64)length > room)
		length = (ssize_t)room;
	this.answer->val = length;
	say_error(write_memory(into, text, (size_t)length));
}

/* Makes the call with the path where the thing really lies. */
static void answer_plainly(struct spot *spot, const struct call *call)
{
	char filled[512];
	long arguments[ARGUMENTS];

	for (int i = 0; i < ARGUMENTS; i++)
		arguments[i] = (long)this.asked->data.args[i];
	arguments[call->path] = (long)spot->real;
	if (call->folder != NONE)
		arguments[call->folder] = AT_FDCWD;
	if (call->out != NONE)
		arguments[call->out] = (long)filled;
	long result = syscall(call->number, arguments[0], arguments[1], arguments[2], arguments[3],
			      arguments[4], arguments[5]);
	if (result < 0)
		say_error(errno);
	else if (call->out != NONE)
		say_error(write_memory(this.asked->data.args[call->out], filled, call->size));
	if (result >= 0)
		this.answer->val = result;
}

/* Whether a path is one of the machine's that root could change. */
static int is_kept(const char *real)
{
	return geteuid() == 0 && overlay_of(real) >= 0;
}

static void answer_found(struct spot *spot, const struct call *call)
{
	if (is_kept(spot->real) && changes(call))
		say_error(EROFS);
	else if (call->how == OPENS)
		answer_open(spot, call);
	else if (call->how == LINKS_TEXT)
		answer_link(spot, call);
	else if (!spot->touched)
		go_on();
	else if (call->how == PLAIN)
		answer_plainly(spot, call);
	else if (call->how == NO_DATA)
		say_error(EOPNOTSUPP);
	else
		cannot(call->name, spot->path);
}

/* The sandbox itself asks for this path when there is certainly no CUDA. */
#define READY "/ready"

static int is_ready(const char *path)
{
	return lies_in(path, scratch) && !strcmp(path + strlen(scratch), READY);
}

static int find(struct spot *spot, const struct call *call, const char *path)
{
	int error = *path == '/' ? 0 : start_at(spot, call);

	if (!error)
		error = look_up(spot, path, follows(call));
	/* "file/" is no file. */
	if (!error && path[strlen(path) - 1] == '/' && spot->real[1])
		strncat(spot->real, "/", sizeof spot->real - strlen(spot->real) - 1);
	return error;
}

/* Answers a call as far as one of its paths goes. */
static void answer_path(const struct call *call)
{
	struct spot spot = { .pid = (int)this.asked->pid };
	char path[PATH_MAX];
	int error = read_path(this.asked->data.args[call->path], path);

	this.answer->flags = 0;
	if (error == UNREADABLE) {
		say_error(EACCES);
	} else if (error || !*path) {
		go_on();
	} else if (is_ready(path)) {
		bind_places();
	} else if (is_untouched(path) && !(is_kept(path) && changes(call))) {
		go_on();
	} else {
		error = find(&spot, call, path);
		/* What is wrong with a path of the machine the kernel itself says. */
		if (!error)
			answer_found(&spot, call);
		else if (error > 0 && spot.touched)
			say_error(error);
		else
			go_on();
	}
}

static void answer(void)
{
	this.memory = -1;
	for (size_t i = 0; i < CALLS; i++) {
		if (calls[i].number != this.asked->data.nr)
			continue;
		answer_path(&calls[i]);
		if (this.answer->flags != SECCOMP_USER_NOTIF_FLAG_CONTINUE)
			break;
	}
	if (this.memory >= 0)
		close(this.memory);
}

/* Runs while the supervisor waits for a call, and never else. */
static void on_signal(int number)
{
	int status;
	pid_t ended;

	if (number != SIGCHLD)
		kill(this.command, number);
	while ((ended = waitpid(-1, &status, WNOHANG)) > 0)
		if (ended == this.command)	/* and not an orphan below it */
			end(status);
}

static const int forwarded[] = { SIGCHLD, SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2 };

static void hold_signals(sigset_t *set, sigset_t *old)
{
	sigemptyset(set);
	for (size_t i = 0; i < sizeof forwarded / sizeof *forwarded; i++)
		sigaddset(set, forwarded[i]);
	sigprocmask(SIG_BLOCK, set, old);
}

static _Noreturn void supervise(const sigset_t *set)
{
	static union { struct seccomp_notif one; char space[1024]; } asked;
	static union { struct seccomp_notif_resp one; char space[1024]; } given;

	for (size_t i = 0; i < sizeof forwarded / sizeof *forwarded; i++)
		signal(forwarded[i], on_signal);
	ioctl(this.listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
	this.asked = &asked.one;
	this.answer = &given.one;
	for (;;) {
		memset(&asked, 0, sizeof asked);
		memset(&given, 0, sizeof given);
		sigprocmask(SIG_UNBLOCK, set, NULL);
		int error = ioctl(this.listener, SECCOMP_IOCTL_NOTIF_RECV, &asked);
		sigprocmask(SIG_BLOCK, set, NULL);
		if (error)	/* a signal, or the one who asked is gone */
			continue;
		given.one.id = asked.one.id;
		answer();
		ioctl(this.listener, SECCOMP_IOCTL_NOTIF_SEND, &given);
	}
}

/* ---- the start ---- */

/* In the command's process: from here on it sees the view. */
static void enter_view(int socket, pid_t parent)
{
	int listener;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(BROKEN);
	listener = filter_calls();
	if (listener < 0)
		fail(SKIP, "no namespace, and no notifications of seccomp");
	if (send_listener(socket, listener))
		fail(BROKEN, "no supervisor");
	close(listener);
	close(socket);
}

static void be_ready(void)
{
	char ready[PATH_MAX];

	if (join(ready, scratch, READY) || access(ready, F_OK))
		fail(BROKEN, "no places");
}

/* Returns in the process that is to become the command; the supervisor stays. */
static void start_supervised(void)
{
	int sockets[2], status;
	sigset_t set, old;
	pid_t self = getpid();

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets))
		fail(BROKEN, "no socket");
	prctl(PR_SET_CHILD_SUBREAPER, 1);	/* who is supervised stays below */
	hold_signals(&set, &old);
	this.command = fork();
	if (this.command < 0)
		fail(BROKEN, "fork");
	if (!this.command) {
		close(sockets[0]);
		sigprocmask(SIG_SETMASK, &old, NULL);
		enter_view(sockets[1], self);
		return;
	}
	close(sockets[1]);
	this.listener = receive_listener(sockets[0]);
	if (this.listener < 0) {
		waitpid(this.command, &status, 0);
		end(status);
	}
	supervise(&set);
}

#endif
