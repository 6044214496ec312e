/* SPDX-License-Identifier: MIT */
/* isolated.c - has a backend do a job, here or in a child process, whose crash is an error here */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../stubs/base/glibc.h"
#include "../../stubs/base/count.h"
#include "child.h"
#include "environment.h"
#include "handle.h"
#include "backends.h"
#include "server.h"
#include "tools.h"

static const char *const whose[] = {
	[LK_NVRTC] = "nvrtc", [LK_NVJITLINK] = "nvJitLink", [LK_DRIVER] = "the driver's linker",
	[LK_NVVM] = "libnvvm",
};

/* ---- before ---- */

/* The file that the plan is for: one that was opened aside, or the one that the stub loaded. */
static const char *file_of(const struct lk_job *job, enum lk_tool tool)
{
	const char *aside = tool == LK_NVVM ? lk_nvvm_file(job->plan->nvvm) : tool == LK_NVRTC ? lk_nvrtc_of(job->plan->nvrtc)->path :
		tool == LK_NVJITLINK ? lk_nvjitlink_of(job->plan->nvjitlink)->path : NULL;

	return aside || tool == LK_NVVM ? aside : lk_loaded_file(tool);
}

/* The child is to load the file that does the job, and the driver that is loaded here. */
static const char *const *library_variables(struct lc_arena *arena, const struct lk_job *job,
					    const char *program)
{
	static const struct {
		enum lk_tool tool;
		const char *name;
	} all[] = {
		{ LK_NVRTC, "LAZYCUDA_NVRTC" }, { LK_NVJITLINK, "LAZYCUDA_NVJITLINK" },
		{ LK_DRIVER, "LAZYCUDA_CUDA" }, { LK_NVVM, LK_NVVM_VARIABLE },
	};
	const char **variables = lc_alloc(arena, (LC_COUNT(all) + 2) *
					  sizeof(*variables));
	const char *slash = strrchr(program, '/');
	size_t count = 0;

	/* ld.so reads it where there is no /proc, to find the command's libraries. */
	if (variables && slash)
		variables[count++] = lc_format(arena, "LD_ORIGIN_PATH=%.*s", (int)(slash - program), program);

	for (size_t i = 0; variables && i < LC_COUNT(all); i++) {
		const char *file = all[i].tool == job->tool || all[i].tool == LK_DRIVER ?
			file_of(job, all[i].tool) : NULL;

		if (file)
			variables[count++] = lc_format(arena, "%s=%s", all[i].name, file);
	}
	return variables;
}

/* ---- after ---- */

static void stop(struct lc_arena *arena, const struct lk_job *job, const struct lk_report *report,
		 enum lazycuda_code code, const char *what, struct lk_product *product)
{
	const char *piece = NULL;
	char *call = lc_copy(arena, report->call, strnlen(report->call, sizeof(report->call)));

	/* Of a child that has not called anything yet the report says 0. */
	if ((*report->call || job->count == 1) && report->piece < job->count) {
		product->piece = (size_t)report->piece;
		piece = job->pieces[product->piece].name;
	}
	if (call && *call)
		product->call = call;
	lk_product_stop(product, code, lc_format(arena, "%s, in a process of its own, %s%s%s%s%s",
			whose[job->tool], what, product->call ? ", in " : "",
			product->call ? product->call : "", !piece ? "" : product->call ? " of " : ", with ",
			piece ? lc_printable(arena, piece) : ""));
}

static const char *used_up(struct lc_arena *arena, const struct lk_report *report,
			   const struct lk_limits *limits)
{
	return lc_format(arena, "came to its limit of %llu bytes of memory, with %llu in use",
			 (unsigned long long)limits->memory, (unsigned long long)report->used);
}

static bool take_product(struct lc_arena *arena, const struct lk_job *job,
			 const struct lk_child *child, struct lk_product *product)
{
	off_t length = lseek(child->report, 0, SEEK_END);
	size_t size = length > LK_REPORT_BYTES ? (size_t)length : LK_REPORT_BYTES;
	void *all = mmap(NULL, size, PROT_READ, MAP_PRIVATE, child->report, 0);
	bool taken;

	if (all == MAP_FAILED)
		return false;
	taken = lk_read_product(arena, (const char *)all + LK_REPORT_BYTES, size - LK_REPORT_BYTES, job,
				product);
	munmap(all, size);
	return taken;
}

/* It has not done anything.  ld.so says what it misses, and the worker why it does not begin. */
static const char *why_nothing(struct lc_arena *arena, const struct lk_child *child,
			       const struct lk_report *report, const char *printed)
{
	const char *program = lc_printable(arena, lk_child_program(arena)), *how = "ended";
	const char *line = lk_telling_line(arena, printed);

	if (report->state == LK_REPORT_STRANGE)
		return lc_format(arena, "%s is of another version than this liblazycuda_link: install both of one"
				 " version, or start this program again if they were upgraded since", program);
	if (child->status != -1)
		how = WIFSIGNALED(child->status) ?
		      lc_format(arena, "was ended by signal %d", WTERMSIG(child->status)) :
		      lc_format(arena, "ended with status %d", WEXITSTATUS(child->status));
	return lc_format(arena, "%s %s before it took the job%s%s", program, how, line ? ": " : "",
			 line ? line : "");
}

/* It ended by itself. */
static void judge_report(struct lc_arena *arena, const struct lk_job *job,
			 const struct lk_limits *limits, const struct lk_child *child,
			 const struct lk_report *report, const char *printed, struct lk_product *product)
{
	int signal = report->state == LK_REPORT_CRASHED ? report->signal :
		child->status != -1 && WIFSIGNALED(child->status) ? WTERMSIG(child->status) : 0;

	if (report->state == LK_REPORT_DONE && take_product(arena, job, child, product)) {
		if (product->code != LAZYCUDA_CODE_OK && limits->memory && report->lacked_memory)
			stop(arena, job, report, LAZYCUDA_CODE_MEMORY_LIMIT,
			     used_up(arena, report, limits), product);
		return;
	}
	*product = (struct lk_product){ .piece = LAZYCUDA_NO_INDEX };
	if (report->state == LK_REPORT_NOTHING || report->state == LK_REPORT_STRANGE)
		lk_product_stop(product, LAZYCUDA_CODE_NO_CHILD,
				why_nothing(arena, child, report, printed));
	else if (limits->memory && report->lacked_memory)
		stop(arena, job, report, LAZYCUDA_CODE_MEMORY_LIMIT,
		     used_up(arena, report, limits), product);
	else if (report->state == LK_REPORT_UNWRITTEN || report->state == LK_REPORT_DONE)
		lk_product_stop(product, LAZYCUDA_CODE_NO_MEMORY,
				"there is no memory for what the child process made");
	else if (signal)
		stop(arena, job, report, LAZYCUDA_CODE_CRASHED,
		     lc_format(arena, "crashed by signal %d", signal), product);
	else
		stop(arena, job, report, LAZYCUDA_CODE_CRASHED, report->state == LK_REPORT_CRASHED ?
		     lc_format(arena, "called exit(%d)", report->status) : "ended its process",
		     product);
}

static void take_ending(struct lc_arena *arena, const struct lk_job *job,
			const struct lk_limits *limits, const struct lk_child *child,
			enum lk_ending ending, struct lk_product *product)
{
	struct lk_report report = { .piece = LAZYCUDA_NO_INDEX };
	char *output = lk_child_printed(child, arena), **log;

	if (pread(child->report, &report, sizeof(report), 0) != (ssize_t)sizeof(report))
		report.state = LK_REPORT_NOTHING;
	if (ending == LK_OUT_OF_TIME)
		stop(arena, job, &report, LAZYCUDA_CODE_TIME_LIMIT,
		     "did not end within the time limit", product);
	else if (ending == LK_CANCELLED)
		stop(arena, job, &report, LAZYCUDA_CODE_CANCELLED, "was cancelled", product);
	else
		judge_report(arena, job, limits, child, &report, output, product);
	log = product->code == LAZYCUDA_CODE_OK ? &product->info_log : &product->error_log;
	if (output)
		*log = *log ? lc_format(arena, "%s\n%s", *log, output) : output;
}

static void do_isolated(struct lc_arena *arena, const struct lk_job *job,
			const struct lk_limits *limits, struct lk_product *product)
{
	const char *program = lk_child_program(arena);
	const char *const *variables = library_variables(arena, job, program);
	enum lk_ending ending = LK_NOT_STARTED;
	struct lk_child child;
	const bool ready = lk_child_open(&child) && lk_write_job(child.job, job, limits->memory) && variables;

	if (ready)
		ending = lk_server_run(&child, arena, job->tool, file_of(job, job->tool), variables,
				       limits->deadline, limits->cancel);
	if (ready && ending == LK_NOT_STARTED)
		ending = lk_child_run(&child, arena, (const char *const[]){
				program, LK_CHILD_COMMAND, NULL }, variables, limits->deadline,
				      limits->cancel);
	if (ending == LK_NOT_STARTED)
		lk_product_stop(product, LAZYCUDA_CODE_NO_CHILD, lk_child_not_started(arena, program));
	else
		take_ending(arena, job, limits, &child, ending, product);
	lk_child_close(&child);
}

/* ---- for a link ---- */

/* In milliseconds. */
#define TIME_LIMIT (10 * 60 * 1000)

/* If there is no file descriptor left, no child can be started, and there is nothing to cancel. */
void lk_prepare_isolation(struct lazycuda_link *link)
{
	if (link->request.flags & LAZYCUDA_LINK_ISOLATED)
		link->cancel = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

int lazycuda_link_cancel(struct lazycuda_link *link)
{
	if (!link || !(link->request.flags & LAZYCUDA_LINK_ISOLATED))
		return -1;
	__atomic_store_n(&link->cancelled, true, __ATOMIC_RELEASE);
	if (link->cancel >= 0)
		eventfd_write(link->cancel, 1);
	return 0;
}

/* The time limit is on all jobs of a link together, and begins with the first. */
static void set_deadline(struct lazycuda_link *link)
{
	uint64_t limit = link->request.time_limit ? link->request.time_limit : TIME_LIMIT;

	if (!link->deadline && limit < UINT64_MAX - lk_now())
		link->deadline = lk_now() + limit;
}

void lk_execute(struct lazycuda_link *link, const struct lk_job *job, struct lk_product *product)
{
	struct lk_limits limits = { .cancel = link->cancel };

	*product = (struct lk_product){ .piece = LAZYCUDA_NO_INDEX };
	if (link->request.flags & LAZYCUDA_LINK_ISOLATED) {
		limits.isolated = true;
		set_deadline(link);
		limits.deadline = link->deadline;
		if (link->request.memory_limit != LAZYCUDA_NO_LIMIT)
			limits.memory = link->request.memory_limit;
	}
	if (limits.isolated && __atomic_load_n(&link->cancelled, __ATOMIC_ACQUIRE)) {
		lk_product_stop(product, LAZYCUDA_CODE_CANCELLED, "the link was cancelled");
	} else if (job->tool == LK_TILEIRAS) {
		lk_tileiras_compile(link->arena, job, &limits, product);
	} else if (limits.isolated) {
		do_isolated(link->arena, job, &limits, product);
	} else {
		lk_do_job(link->arena, job, product);
	}
}
