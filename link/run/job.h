/* SPDX-License-Identifier: MIT */
/* job.h - one piece of work for a backend, here or, as bytes, in another process */
#ifndef LINK_JOB_H
#define LINK_JOB_H

#include <sys/types.h>

#include "backends.h"

/* Does it in this process. */
void lk_do_job(struct lc_arena *arena, const struct lk_job *job, struct lk_product *product);

/* Writes the job, this process's number, and the bytes of memory that it may use.  Returns false if it
 * cannot. */
bool lk_write_job(int fd, const struct lk_job *job, uint64_t memory);
/* The job points into what is read.  False if that is no job of this version, or memory ran out. */
bool lk_read_job(struct lc_arena *arena, const void *bytes, size_t length, struct lk_job *job,
		 pid_t *parent, uint64_t *memory);

bool lk_write_product(int fd, const struct lk_job *job, const struct lk_product *product);
/* Copies into the arena.  False if that is no product of the job, or memory ran out. */
bool lk_read_product(struct lc_arena *arena, const void *bytes, size_t size, const struct lk_job *job,
		     struct lk_product *product);

#endif
