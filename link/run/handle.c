/* SPDX-License-Identifier: MIT */
/* handle.c - the result of a link, and the blocks that it keeps */
#include <stdlib.h>

#include "handle.h"
#include "../formats/inspection.h"

bool lk_stop(struct lazycuda_link *link, enum lazycuda_code code, size_t input,
	     const char *message)
{
	link->result.code = code;
	link->result.input = input;
	link->result.message = message;
	return false;
}

bool lk_stop_without_memory(struct lazycuda_link *link)
{
	return lk_stop(link, LAZYCUDA_CODE_NO_MEMORY, LAZYCUDA_NO_INDEX, LK_NO_MEMORY);
}

bool lk_own(struct lazycuda_link *link, void *block)
{
	void **slot = lc_grow(link->arena, &link->blocks, &link->block_count, sizeof(*slot));

	if (!slot) {
		free(block);
		return lk_stop_without_memory(link);
	}
	*slot = block;
	return true;
}

static const char *join(struct lc_arena *arena, const char *one, const char *other)
{
	if (!other)
		return one;
	return *one ? lc_format(arena, "%s\n%s", one, other) : other;
}

bool lk_take_product(struct lazycuda_link *link, const struct lk_product *product, size_t input)
{
	struct lazycuda_result *result = &link->result;

	result->info_log = join(link->arena, result->info_log, product->info_log);
	result->error_log = join(link->arena, result->error_log, product->error_log);
	result->backend_call = product->call;
	result->backend_status = product->status;
	return product->code == LAZYCUDA_CODE_OK ||
	       lk_stop(link, product->code, input, product->message);
}
