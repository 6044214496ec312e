/* SPDX-License-Identifier: MIT */
/* child.c - a child process that does one job, and how it ended */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../stubs/base/auxiliary.h"
#include "../../stubs/base/folders.h"
#include "../../stubs/base/glibc.h"
#include "../../stubs/base/regular.h"

/* packaging/install.mk defines where it is installed, relative to this library; this is for
 * build/. */
#ifndef LK_COMMAND
#define LK_COMMAND "../bin/lazycuda"
#endif

/* A process that another thread forks at the wrong moment keeps the child's end of the pipe
 * open.  So waitpid() is called as well, every so many milliseconds. */
#define GLANCE 100

/* ---- files ---- */

/* open() returns a number below if the caller has closed it, stdin say. */
int lk_keep_away(int fd)
{
	int moved, error;

	if (fd < 0 || fd >= LK_CHILD_FILES)
		return fd;
	moved = fcntl(fd, F_DUPFD_CLOEXEC, LK_CHILD_FILES);
	error = errno;
	close(fd);
	errno = error;
	return moved;
}

/* A file in memory, or one without a name where the kernel is older than 3.17. */
static int open_file(const char *name)
{
	int fd = -1;

#ifdef SYS_memfd_create
	fd = (int)syscall(SYS_memfd_create, name, 1u /* MFD_CLOEXEC */);
#else
	(void)name;
#endif
	if (fd < 0)
		fd = open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0)
		fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	return lk_keep_away(fd);
}

/* A write beyond RLIMIT_FSIZE ends the process by a signal. */
static bool fits(int fd, size_t length)
{
	const off_t at = lseek(fd, 0, SEEK_CUR);
	struct rlimit most;

	if (getrlimit(RLIMIT_FSIZE, &most) || at < 0 || (uint64_t)at + length <= most.rlim_cur)
		return true;
	errno = EFBIG;
	return false;
}

bool lk_write_all(int fd, const void *bytes, size_t length)
{
	return fits(fd, length) && lc_write_all(fd, bytes, length);
}

static const char empty_report[LK_REPORT_BYTES];

bool lk_child_open(struct lk_child *child)
{
	*child = (struct lk_child){ .job = -1, .output = -1, .report = -1, .life = -1,
				    .status = -1 };
	child->job = open_file("lazycuda-job");
	child->output = child->job < 0 ? -1 : open_file("lazycuda-output");
	child->report = child->output < 0 ? -1 : open_file("lazycuda-report");
	return child->report >= 0 && lk_write_all(child->report, empty_report, sizeof(empty_report));
}

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void lk_child_close(struct lk_child *child)
{
	close_one(&child->job);
	close_one(&child->output);
	close_one(&child->report);
	close_one(&child->life);
}

/* ---- the command ---- */

/* The current folder when this library was loaded, and a slash.  Empty where nobody asks for it: ld.so
 * has an absolute path of the library, which holds for ever. */
static char loaded_in[PATH_MAX];

static __attribute__((constructor)) void note_folder(void)
{
	const char *library = *LK_COMMAND == '/' ? NULL : lc_this_file();

	if (library && *library != '/' && getcwd(loaded_in, sizeof(loaded_in) - 1))
		strcat(loaded_in, "/");
}

const char *lk_child_program(struct lc_arena *arena)
{
	const char *library = *LK_COMMAND == '/' ? NULL : lc_this_file();
	const char *slash = library ? strrchr(library, '/') : NULL;

	return lc_format(arena, "%s%.*s" LK_COMMAND, library && *library != '/' ? loaded_in : "",
			 slash ? (int)(slash + 1 - library) : 0, library ? library : "");
}

/* ---- the start ---- */

/* Whether two settings "NAME=..." have the same name. */
static bool is_same(const char *one, const char *other)
{
	size_t length = strcspn(one, "=");

	return !strncmp(one, other, length) && other[length] == '=';
}

bool lk_child_ids_differ(void)
{
	return getuid() != geteuid() || getgid() != getegid();
}

/* Without LAZYCUDA_DEBUG: this process has traced the search already.  ld.so, the stubs and CUDA's
 * libraries do not know in the child that it may be that of somebody with fewer rights. */
char **lk_child_environment(struct lc_arena *arena, const char *const *variables)
{
	extern char **environ;
	const bool keeps = !lc_is_privileged() && !lk_child_ids_differ();
	size_t count = 0, more = 0;
	char **all;

	while (keeps && environ && environ[count])
		count++;
	while (variables[more])
		more++;
	all = lc_alloc(arena, (count + more + 1) * sizeof(*all));
	if (!all)
		return NULL;
	memcpy(all, variables, more * sizeof(*all));
	for (size_t i = 0, at = more; i < count && environ[i]; i++) {
		bool mine = is_same("LAZYCUDA_DEBUG=", environ[i]);

		for (size_t k = 0; k < more; k++)
			mine |= is_same(variables[k], environ[i]);
		if (!mine)
			all[at++] = environ[i];
	}
	return all;
}

/* What the child becomes. */
struct program {
	const char *const *words;
	char **environment;
	const int *files;
	int error;		/* why it did not */
};

/* The numbers of signals end here, and a set of them in the kernel has as many bits. */
#define SIGNALS 64

/* With the ids that count here as its only ones, the child is not privileged to ld.so, which would not find
 * the libraries of a privileged program beside it; and whoever started this cannot touch the child. */
static bool settle_ids(void)
{
	const uid_t user = geteuid();
	const gid_t group = getegid();

	return !lk_child_ids_differ() || (!syscall(SYS_setresgid, group, group, group) &&
				 !syscall(SYS_setresuid, user, user, user));
}

/*
 * In the child no signal is blocked or ignored, and the terminal's signals do not reach it.
 * It has the memory and the stack of this thread, which waits for it.  So it makes system calls alone:
 * what libc, or a library in its place, notes of these would be wrong here.
 */
static void exec_program(struct program *program)
{
	static const char by_default[64];	/* SIG_DFL, as a struct of the kernel's */
	static const uint64_t none;

	for (int signal = 1; signal <= SIGNALS; signal++)
		syscall(SYS_rt_sigaction, signal, by_default, NULL, SIGNALS / 8);
	for (int i = 0; i < LK_CHILD_FILES; i++)
		if (syscall(SYS_dup3, program->files[i], i, 0) < 0)
			goto failed;
	if (syscall(SYS_setpgid, 0, 0) || !settle_ids() ||
	    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, SIGNALS / 8))
		goto failed;
	syscall(SYS_execve, program->words[0], program->words, program->environment);
failed:
	program->error = errno;
	_exit(127);
}

/* posix_spawn() does the same, but for the ids.  No handler of a signal may run in the child. */
static int spawn(pid_t *pid, struct program *program)
{
	sigset_t all, before;
	int error;

	/* Of this thread alone, as on every Linux; pthread_sigmask() is of libpthread before glibc 2.32. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	*pid = vfork();
	if (!*pid)
		exec_program(program);
	error = *pid < 0 ? errno : program->error;
	if (*pid > 0 && error)
		waitpid(*pid, NULL, 0);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return error;
}

static bool start(struct lk_child *child, struct lc_arena *arena, const char *const *words,
		  const char *const *variables, pid_t *pid)
{
	char **environment = lk_child_environment(arena, variables);
	int ends[2], error = ENOMEM;

	if (*words[0] != '/') {
		errno = ENOENT;
		return false;
	}
	if (pipe2(ends, O_CLOEXEC))
		return false;
	child->life = lk_keep_away(ends[0]);
	ends[1] = lk_keep_away(ends[1]);
	if (child->life < 0 || ends[1] < 0)
		error = EMFILE;
	else if (environment)
		error = spawn(pid, &(struct program){ words, environment, (const int[LK_CHILD_FILES]){
			[LK_CHILD_JOB] = child->job, [LK_CHILD_OUTPUT] = child->output,
			[LK_CHILD_ERRORS] = child->output, [LK_CHILD_REPORT] = child->report,
			[LK_CHILD_LIFE] = ends[1] }, 0 });
	if (ends[1] >= 0)
		close(ends[1]);
	errno = error;
	return !error;
}

const char *lk_child_not_started(struct lc_arena *arena, const char *program)
{
	const int error = errno;
	const char *more = "";
	struct stat st;

	if (*program != '/')
		more = ": liblazycuda_link was loaded by a relative path, from a folder without a name";
	else if (error == ENOENT)
		more = stat(program, &st) ? ": install it there, or start this program again if it was moved" :
		       ": the file is there, and the interpreter that it names is not";
	else if (error == ENOMEM)
		more = ": or its PID namespace for children has ended; `unshare --pid` needs --fork";
	return lc_format(arena, "no child process can be started, %s: %s%s", lc_printable(arena, program),
			 strerror(error), more);
}

/* ---- the end ---- */

uint64_t lk_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Whether the child has ended; if so, it is reaped. */
static bool is_over(struct lk_child *child, pid_t pid, int flags)
{
	int status;
	pid_t done;

	do
		done = waitpid(pid, &status, flags);
	while (done < 0 && errno == EINTR);
	if (done == pid)
		child->status = status;
	return done;	/* -1: somebody else has waited for it, or nobody has to */
}

/* Waits until the child ends, `deadline`, or something can be read from `cancel`. */
static enum lk_ending watch(struct lk_child *child, pid_t pid, uint64_t deadline, int cancel)
{
	struct pollfd files[] = { { .fd = child->life, .events = POLLIN },
				  { .fd = cancel, .events = POLLIN } };
	uint64_t glance = GLANCE;

	for (;;) {
		uint64_t now = lk_now(), wait = glance;

		if (deadline && now >= deadline)
			return LK_OUT_OF_TIME;
		if (deadline && deadline - now < wait)
			wait = deadline - now;
		if (poll(files, 2, (int)wait) > 0 && files[1].revents)
			return LK_CANCELLED;
		if (is_over(child, pid, WNOHANG))
			return LK_ENDED;
		if (files[0].revents) {
			/* It ends, or what it runs has closed files that are not its own. */
			files[0].fd = -1;
			glance = 0;
		}
		glance = glance < GLANCE / 2 ? glance * 2 + 1 : GLANCE;
	}
}

enum lk_ending lk_child_run(struct lk_child *child, struct lc_arena *arena,
			    const char *const *words, const char *const *variables,
			    uint64_t deadline, int cancel)
{
	enum lk_ending ending;
	pid_t pid;

	if (!start(child, arena, words, variables, &pid))
		return LK_NOT_STARTED;
	ending = watch(child, pid, deadline, cancel);
	if (ending == LK_ENDED)
		return ending;
	/* The child still runs, with whatever it runs itself.  On SIGTERM it reports which call it is
	 * in. */
	kill(-pid, SIGTERM);
	if (watch(child, pid, lk_now() + LK_GRACE_MS, -1) != LK_ENDED) {
		kill(-pid, SIGKILL);
		is_over(child, pid, 0);
	}
	return ending;
}

/* How many of the last bytes that a child prints are kept. */
#define OUTPUT_LIMIT 65536

char *lk_child_printed(const struct lk_child *child, struct lc_arena *arena)
{
	off_t length = lseek(child->output, 0, SEEK_END), skipped;
	ssize_t read_now;
	char *text;

	if (length <= 0)
		return NULL;
	skipped = length > OUTPUT_LIMIT ? length - OUTPUT_LIMIT : 0;
	text = lc_alloc(arena, (size_t)(length - skipped) + 1);
	read_now = text ? pread(child->output, text, (size_t)(length - skipped), skipped) : 0;
	if (read_now <= 0)
		return NULL;
	text[read_now] = 0;
	/* Logs are text. */
	for (ssize_t i = 0; i < read_now; i++)
		if (!text[i])
			text[i] = '?';
	return text;
}
