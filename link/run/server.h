/* SPDX-License-Identifier: MIT */
/*
 * server.h - a process that has loaded a linker, and forks for each isolated link
 *
 * To start the command, and to have it load nvJitLink, takes fifty times as long as a small link.  So
 * from a program's second isolated job with a tool on, a fork server has done both, and each job gets a
 * child of it.  That child is as much on its own as one that was started for the job: nothing is
 * done in the server but loading.
 *
 * A server is not a child of the program, whose wait() never sees it; it ends with the program,
 * or after some seconds without a job.  It serves as long as nothing differs that a process inherits
 * when it is started, and that can be told: the environment, ids, capabilities, limits, namespaces and
 * the root, seccomp's filters, and the file of the tool.  The current folder comes with each job.
 */
#ifndef LINK_SERVER_H
#define LINK_SERVER_H

#include "child.h"
#include "../tables/arch.h"

/* What the command is called with beside LK_CHILD_COMMAND, so that it runs lk_serve(). */
#define LK_SERVE_WORD "serve"

/*
 * lk_child_run() of the command by a server.  `file` is what the tool's stub has loaded.
 * LK_NOT_STARTED: no server can do it, and nothing was done.
 */
enum lk_ending lk_server_run(struct lk_child *child, struct lc_arena *arena, enum lk_tool tool,
			     const char *file, const char *const *variables, uint64_t deadline,
			     int cancel);

/* In the command, whose LK_CHILD_JOB is a socket by which jobs come: takes them until there is no use for
 * it.  Returns in the child of each job alone, which has the files of one that was started for it. */
void lk_serve(void);

#endif
