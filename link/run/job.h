/* SPDX-License-Identifier: MIT */
/* job.h - one piece of work for a backend, here or, as bytes, in another process */
#ifndef LINK_JOB_H
#define LINK_JOB_H

#include "../tables/arch.h"
#include "backends.h"
#include "wire.h"

struct lk_job {
	enum lk_tool tool;
	const struct lazycuda_plan *plan;
	enum lazycuda_output output;	/* of a linker */
	int device;
	const struct lk_piece *pieces;	/* for LK_NVRTC one, source with a NUL after it; for LK_NVVM
					   LLVM IR, libraries of it, and libdevice if there is one */
	size_t count;
};

/* Does it in this process. */
void lk_do_job(struct lc_arena *arena, const struct lk_job *job, struct lk_product *product);

/* The number that begins a job; a child that expects another is of another version. */
#define LK_JOB_STAMP UINT64_C(0x6c6b6a6f62303033)

/* Writes the job, with what a backend reads of the plan. */
void lk_put_job(struct lk_writer *writer, const struct lk_job *job);
/* The job points into what is read.  False if that is no job, or memory ran out. */
bool lk_get_job(struct lc_arena *arena, struct lk_reader *reader, struct lk_job *job);

void lk_put_product(struct lk_writer *writer, const struct lk_job *job,
		    const struct lk_product *product);
/* Copies into the arena.  False if that is no product of the job, or memory ran out. */
bool lk_get_product(struct lc_arena *arena, struct lk_reader *reader, const struct lk_job *job,
		    struct lk_product *product);

#endif
