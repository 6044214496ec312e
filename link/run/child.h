/* SPDX-License-Identifier: MIT */
/*
 * child.h - a child process that does one job, and how it ended
 *
 * The child is `lazycuda`, the command that is installed with this library, or a compiler.  It is
 * made by vfork(), which copies nothing of the caller's memory and runs none of its
 * handlers.  It has five files: the job, what it prints (twice), the report, and the end
 * of a pipe that nobody else has: when that is closed, the child is gone.  Of a compiler the job is
 * its input, and the report its output.
 *
 * A caller that ignores SIGCHLD, or waits for any child, may take away its status: so the
 * report has all that has to be known of its end.
 */
#ifndef LINK_CHILD_H
#define LINK_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../stubs/base/arena.h"

/* The child's files. */
enum { LK_CHILD_JOB, LK_CHILD_OUTPUT, LK_CHILD_ERRORS, LK_CHILD_REPORT, LK_CHILD_LIFE,
       LK_CHILD_FILES };

/* What the command is called with, so that it runs lazycuda_link_worker(). */
#define LK_CHILD_COMMAND "--link-worker"

/* The report begins with this, in memory that both share; a product may follow. */
#define LK_REPORT_BYTES 4096
enum {	/* its state */
	LK_REPORT_NOTHING = 0,	/* it did not get to the job; it may have printed why */
	LK_REPORT_STRANGE,	/* the job is not of its version */
	LK_REPORT_WORKING,
	LK_REPORT_CRASHED,	/* by `signal`; 0: by exit(status) */
	LK_REPORT_UNWRITTEN,	/* it is done, and there was no room for the product */
	LK_REPORT_DONE
};
struct lk_report {
	uint32_t state;
	int32_t signal, status;
	uint32_t lacked_memory;		/* an allocation failed, or nearly all is used */
	uint64_t piece;			/* at which it crashed; LAZYCUDA_NO_INDEX */
	uint64_t used;			/* bytes of memory, of those that the limit counts */
	char call[64];			/* in which it crashed */
};

enum lk_ending {
	LK_ENDED,		/* by itself: the report says how */
	LK_OUT_OF_TIME,
	LK_CANCELLED,
	LK_NOT_STARTED		/* errno says why */
};

struct lk_child {
	int job, output, report;	/* -1: not there */
	int life;
	int status;			/* as waitpid() has it; -1: somebody else took it */
};

/* How long a child may take to end after SIGTERM, in milliseconds. */
#define LK_GRACE_MS 1000

/* Moves a file descriptor above those that the child's files become. */
int lk_keep_away(int fd);

/* Writes to a file; returns false, with errno, if it could not write all. */
bool lk_write_all(int fd, const void *bytes, size_t length);

/* Opens the files; false, with errno, if that fails.  lk_child_close() in either case. */
bool lk_child_open(struct lk_child *child);
void lk_child_close(struct lk_child *child);

/* The path of the command, seen from this library's place when it was loaded. */
const char *lk_child_program(struct lc_arena *arena);

/* The environment with these variables, both up to NULL; nothing but these where it is not to be
 * trusted, in a privileged process or where ids differ.  NULL if memory ran out. */
char **lk_child_environment(struct lc_arena *arena, const char *const *variables);
bool lk_child_ids_differ(void);

/* Why lk_child_run() has not started it; errno says it, too. */
const char *lk_child_not_started(struct lc_arena *arena, const char *program);

/*
 * Runs it until it ends, `deadline` is reached (milliseconds of lk_now(); 0: none) or
 * something can be read from `cancel` (-1: nothing can).  The child is gone afterwards.
 * `words`, up to NULL, are the program, by an absolute path, and its arguments; `variables`, up to NULL,
 * are put into its environment, which is else the caller's, or nothing where that is not to be trusted.
 * The caller's effective ids are its only ones.
 */
enum lk_ending lk_child_run(struct lk_child *child, struct lc_arena *arena,
			    const char *const *words, const char *const *variables,
			    uint64_t deadline, int cancel);

/* What it printed, or the end of that; NULL if nothing. */
char *lk_child_printed(const struct lk_child *child, struct lc_arena *arena);

uint64_t lk_now(void);

#endif
