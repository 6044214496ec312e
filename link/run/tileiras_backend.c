/* SPDX-License-Identifier: MIT */
/*
 * tileiras_backend.c - an image of Tile IR, by tileiras
 *
 * tileiras is a program that runs ptxas and loads libnvvm.  It looks for ptxas beside itself,
 * and for libnvvm in the toolkit that CUDA_HOME, CUDA_PATH or CUDA_ROOT names, else in its own.
 * Both are to be of its own toolkit.  In an isolated link the command `lazycuda` becomes it, so that
 * it has the link's limit of memory and ends with the caller.
 */
#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "tools.h"
#include "backends.h"
#include "../plan/choose.h"
#include "../tables/versions.h"

#define OWN_FILE "/proc/self/fd/"

/* The toolkit that it lies in: "bin/tileiras" is taken off. */
static const char *const *own_toolkit(struct lc_arena *arena, const char *program)
{
	static const char *const names[] = { "CUDA_HOME", "CUDA_PATH", "CUDA_ROOT" };
	const char **variables = lc_alloc(arena, 4 * sizeof(*variables));
	size_t length = strlen(program) - strlen("/bin/tileiras");

	for (size_t i = 0; variables && i < 3; i++)
		variables[i] = lc_format(arena, "%s=%.*s", names[i], (int)length, program);
	return variables;
}

static void take_image(struct lc_arena *arena, const struct lk_child *child,
		       struct lk_product *product)
{
	const off_t length = lseek(child->report, 0, SEEK_END);
	void *all = length > 0 ? mmap(NULL, (size_t)length, PROT_READ, MAP_PRIVATE,
				      child->report, 0) : MAP_FAILED;

	if (all == MAP_FAILED) {
		lk_product_stop(product, LAZYCUDA_CODE_BAD_IMAGE,
				"tileiras reported success, and wrote no image");
		return;
	}
	lk_copy_image(arena, all, (size_t)length, product);
	munmap(all, (size_t)length);
}

/* tileiras says little of what it misses. */
static const char *what_it_lacks(struct lc_arena *arena, const char *toolkit)
{
	const char *ptxas = lc_format(arena, "%s/bin/ptxas", toolkit);
	const char *nvvm = lc_format(arena, "%s/nvvm/lib64/libnvvm.so", toolkit);
	const char *other = lc_format(arena, "%s/lib/libnvvm.so.4", toolkit);

	if (access(ptxas, X_OK))
		return "; it needs ptxas beside it, of the package nvidia-cuda-nvcc";
	if (access(nvvm, R_OK) && access(other, R_OK))
		return "; it needs libnvvm beside it, of the package nvidia-nvvm";
	return "";
}

/* Where it fails for want of memory it does not always say so. */
static const char *limit_of(struct lc_arena *arena, const struct lk_limits *limits)
{
	return limits->memory ? lc_format(arena, "; its limit was %llu bytes of memory",
					  (unsigned long long)limits->memory) : "";
}

static enum lazycuda_code code_of(const struct lk_product *product, const struct lk_limits *limits)
{
	const char *log = product->error_log ? product->error_log : "";

	if (limits->memory && (product->status < 0 || strstr(log, "out of memory") ||
			       strstr(log, "bad_alloc") || strstr(log, "emory allocation")))
		return LAZYCUDA_CODE_MEMORY_LIMIT;
	return product->status < 0 ? LAZYCUDA_CODE_CRASHED : LAZYCUDA_CODE_COMPILE_FAILED;
}

static void explain_tileiras(struct lc_arena *arena, const struct lazycuda_plan *plan,
			     const struct lk_piece *piece, const char *toolkit,
			     const struct lk_limits *limits, struct lk_product *product)
{
	product->code = code_of(product, limits);
	product->message = lk_failure(arena, lc_format(arena, "tileiras %s",
						       lk_version(arena, plan->tileiras)),
				      piece->name, product, NULL);
	product->message = lc_format(arena, "%s%s%s", product->message, what_it_lacks(arena, toolkit),
				     limit_of(arena, limits));
}

/* `toolkit` is where tileiras lies. */
static void judge_tileiras(struct lc_arena *arena, const struct lazycuda_plan *plan,
		  const struct lk_piece *piece, const struct lk_child *child, const char *toolkit,
		  const struct lk_limits *limits, struct lk_product *product)
{
	char *printed = lk_child_printed(child, arena);

	/* Somebody else in the process may have taken its status: then the image tells. */
	if (child->status > 0) {
		product->call = "tileiras";
		product->status = WIFEXITED(child->status) ? WEXITSTATUS(child->status) :
							     -WTERMSIG(child->status);
		product->error_log = printed;
		explain_tileiras(arena, plan, piece, toolkit, limits, product);
		return;
	}
	product->info_log = printed;
	take_image(arena, child, product);
}

static void stop_tileiras(struct lk_product *product, enum lazycuda_code code, const char *why)
{
	product->call = "tileiras";
	lk_product_stop(product, code, why);
}

void lk_tileiras_compile(struct lc_arena *arena, const struct lk_job *job,
			 const struct lk_limits *limits, struct lk_product *product)
{
	const struct lazycuda_plan *plan = job->plan;
	const struct lk_piece *piece = job->pieces;
	const char *program = lk_tileiras_file(plan->tileiras);
	const char *const *variables = program ? own_toolkit(arena, program) : NULL;
	const char *const words[] = { lk_child_program(arena), LK_CHILD_COMMAND,
		lc_format(arena, "%ld", (long)getpid()),
		lc_format(arena, "%llu", (unsigned long long)limits->memory),
		program, plan->option_count ? plan->options[0] : "", OWN_FILE "0", "-o",
		OWN_FILE "3", NULL };
	const char *const *command = words + (limits->isolated ? 0 : 4);
	enum lk_ending ending = LK_NOT_STARTED;
	struct lk_child child;

	if (!program) {
		stop_tileiras(product, LAZYCUDA_CODE_BACKEND_MISSING, "the plan's tileiras is not here");
		return;
	}
	if (lk_child_open(&child) && !ftruncate(child.report, 0) && variables &&
	    lk_write_all(child.job, piece->bytes, piece->length) &&
	    !lseek(child.job, 0, SEEK_SET))
		ending = lk_child_run(&child, arena, command, variables, limits->deadline,
				      limits->cancel);
	if (ending == LK_ENDED)
		judge_tileiras(arena, plan, piece, &child, strchr(variables[0], '=') + 1,
			       limits, product);
	else if (ending == LK_OUT_OF_TIME)
		stop_tileiras(product, LAZYCUDA_CODE_TIME_LIMIT, "tileiras did not end within the time limit");
	else if (ending == LK_CANCELLED)
		stop_tileiras(product, LAZYCUDA_CODE_CANCELLED, "tileiras was cancelled");
	else
		stop_tileiras(product, LAZYCUDA_CODE_NO_CHILD, lk_child_not_started(arena, command[0]));
	lk_child_close(&child);
}
