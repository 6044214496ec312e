/* SPDX-License-Identifier: MIT */
/* execute.c - has a backend do a job, here or in a child process */
#include <sys/eventfd.h>

#include "child.h"
#include "handle.h"
#include "isolated.h"
#include "product.h"

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

	if (link->request.flags & LAZYCUDA_LINK_ISOLATED) {
		limits.isolated = true;
		set_deadline(link);
		limits.deadline = link->deadline;
		if (link->request.memory_limit != LAZYCUDA_NO_LIMIT)
			limits.memory = link->request.memory_limit;
	}
	if (limits.isolated && __atomic_load_n(&link->cancelled, __ATOMIC_ACQUIRE)) {
		*product = (struct lk_product){ .piece = LAZYCUDA_NO_INDEX };
		lk_product_stop(product, LAZYCUDA_CODE_CANCELLED, "the link was cancelled");
	} else if (job->tool == LK_TILEIRAS) {
		lk_tileiras_compile(link->arena, job->plan, job->pieces, &limits, product);
	} else if (limits.isolated) {
		lk_do_isolated(link->arena, job, &limits, product);
	} else {
		lk_do_job(link->arena, job, product);
	}
}
