/* SPDX-License-Identifier: MIT */
/*
 * worker.c - the child process of an isolated link: does one job, and reports
 *
 * Whatever the job does to this process, the report names the call that failed.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../stubs/base/glibc.h"
#include "../../stubs/base/count.h"
#include "child.h"
#include "environment.h"
#include "job.h"
#include "server.h"
#include "tools.h"
#include "../tables/child_command.h"

/* What the signal handler reads. */
static struct lk_report *report;
static struct lk_product product;
static uint64_t limit, before;	/* bytes of memory: allowed, and in use before the job */

/* ---- memory ---- */

/* Bytes of what RLIMIT_DATA counts: memory that is written to and is this process's own.
 * Safe in a signal handler. */
static uint64_t in_use(void)
{
	char text[256];
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	uint64_t pages = 0;
	const char *at = text;

	if (fd >= 0)
		close(fd);
	if (length <= 0)
		return 0;
	text[length] = 0;
	for (int field = 1; field < 6; field++)	/* size resident shared text lib data dt */
		at += strcspn(at, " "), at += *at == ' ';
	while (*at >= '0' && *at <= '9')
		pages = 10 * pages + (uint64_t)(*at++ - '0');
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Beyond what is in use.  Linux counts mappings, too, from 4.7 on. */
static void limit_memory(void)
{
	struct rlimit most;

	before = in_use();
	if (!limit || getrlimit(RLIMIT_DATA, &most))
		return;
	if (limit > UINT64_MAX - before || before + limit >= most.rlim_cur)
		return;
	most.rlim_cur = before + limit;
	setrlimit(RLIMIT_DATA, &most);
}

/* ---- the report ---- */

static void note_state(int error)
{
	uint64_t used = in_use();
	const char *call = product.call;

	report->used = used > before ? used - before : 0;
	report->lacked_memory = limit && (error == ENOMEM || report->used > limit - limit / 8);
	report->piece = product.piece;
	for (size_t i = 0; call && call[i] && i < sizeof(report->call) - 1; i++)
		report->call[i] = call[i];
}

/* A library that calls exit() ends its process, too. */
static void at_exit(int status, void *unused)
{
	(void)unused;
	note_state(errno);
	report->status = status;
	report->state = LK_REPORT_CRASHED;
}

static void crash(int signal)
{
	note_state(errno);
	report->signal = signal;
	report->state = LK_REPORT_CRASHED;
	_exit(1);
}

/* On a stack of its own: the one in use may be what ran out. */
static void watch_signals(void)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS, SIGTRAP,
				       SIGTERM };
	static char stack[65536];
	const stack_t other = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = { .sa_handler = crash, .sa_flags = SA_ONSTACK };

	sigfillset(&action.sa_mask);
	sigaltstack(&other, NULL);
	for (size_t i = 0; i < LC_COUNT(signals); i++)
		sigaction(signals[i], &action, NULL);
}

/* ---- the start ---- */

/* Closes what the caller left open across exec. */
static void close_others(void)
{
	long most = sysconf(_SC_OPEN_MAX);

#ifdef SYS_close_range
	if (!syscall(SYS_close_range, (unsigned)LK_CHILD_FILES, ~0u, 0))
		return;
#endif
	for (int fd = LK_CHILD_FILES; fd < (most < 0 || most > 65536 ? 65536 : (int)most); fd++)
		close(fd);
}

/* Has this process end with its parent.  That may be outside of this PID namespace, and has no number
 * here then; but it reads the pipe. */
static bool follow(pid_t parent)
{
	struct pollfd life = { .fd = LK_CHILD_LIFE, .events = POLLOUT };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	return getppid() == parent ||
	       (!getppid() && poll(&life, 1, 0) >= 0 && !(life.revents & (POLLERR | POLLNVAL)));
}

/* Maps the files, and reads the job.  Returns NULL, or why there is nothing to do. */
static const char *begin(struct lc_arena *arena, struct lk_job *job, bool served)
{
	struct stat st;
	pid_t parent;
	void *bytes;

	if (fstat(LK_CHILD_JOB, &st) || st.st_size <= 0)
		return "there is no job";
	report = mmap(NULL, LK_REPORT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, LK_CHILD_REPORT,
		      0);
	bytes = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, LK_CHILD_JOB,
		     0);
	if (report == MAP_FAILED || bytes == MAP_FAILED)
		return strerror(errno);
	report->piece = LAZYCUDA_NO_INDEX;
	if (!lk_read_job(arena, bytes, (size_t)st.st_size, job, &parent, &limit)) {
		report->state = arena->failed ? LK_REPORT_NOTHING : LK_REPORT_STRANGE;
		return strerror(arena->failed ? ENOMEM : EPROTO);
	}
	return served || follow(parent) ? NULL : "the process that started this one has ended";
}

static bool write_product(const struct lk_job *job)
{
	return lseek(LK_CHILD_REPORT, LK_REPORT_BYTES, SEEK_SET) >= 0 &&
	       lk_write_product(LK_CHILD_REPORT, job, &product);
}

/* The memory of this process counts as the program's: to load any program takes as much. */
static int become(char **words)
{
	if (!follow((pid_t)strtol(words[0], NULL, 10)))
		return 2;
	limit = (uint64_t)strtol(words[1], NULL, 10);
	limit_memory();
	execv(words[2], words + 2);
	fprintf(stderr, "error: %s: %s\n", words[2], strerror(errno));
	return 127;
}

int lazycuda_link_worker(char **words)
{
	const struct rlimit none = { 0, 0 };
	struct lc_arena *arena;
	struct lk_nvvm nvvm;
	struct lk_job job;
	const char *why;
	bool served;

	close_others();
	setrlimit(RLIMIT_CORE, &none);
	if (words[0] && words[1] && words[2])
		return become(words);
	served = words[0] && !strcmp(words[0], LK_SERVE_WORD);
	if (served) {
		lk_serve();
		close_others();
	}
	arena = lc_arena_new();
	why = arena ? begin(arena, &job, served) : strerror(ENOMEM);
	if (why) {
		fprintf(stderr, "error: %s\n", why);
		lc_arena_free(arena);
		return 2;
	}
	product.piece = LAZYCUDA_NO_INDEX;
	watch_signals();
	report->state = LK_REPORT_WORKING;
	on_exit(at_exit, NULL);
	/* The memory of the library itself does not count. */
	if (job.tool == LK_NVVM)
		lk_load_nvvm(arena, job.plan->nvvm, &nvvm);
	else
		lk_why_missing(arena, job.tool);
	limit_memory();
	errno = 0;
	lk_do_job(arena, &job, &product);
	if (product.code != LAZYCUDA_CODE_OK)
		note_state(product.code == LAZYCUDA_CODE_NO_MEMORY ? ENOMEM : errno);
	report->state = !arena->failed && write_product(&job) ? LK_REPORT_DONE : LK_REPORT_UNWRITTEN;
	/* Skips the libraries' exit handlers, which have no part in the result. */
	_exit(0);
}
