/* SPDX-License-Identifier: MIT */
/* handle.c - the result of a link, and the blocks that it keeps */
#include <stdlib.h>
#include <string.h>

#include "handle.h"
#include "../formats/inspection.h"
#include "../plan/planning.h"

bool lk_stop(struct lazycuda_link *link, enum lazycuda_code code, size_t input,
	     const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	link->result.message = lc_format_list(link->arena, format, arguments);
	va_end(arguments);
	link->result.code = code;
	link->result.input = input;
	return false;
}

bool lk_stop_without_memory(struct lazycuda_link *link)
{
	lk_stop(link, LAZYCUDA_CODE_NO_MEMORY, LAZYCUDA_NO_INDEX, "%s", LK_NO_MEMORY);
	link->result.message = LK_NO_MEMORY;	/* no memory may be left for a copy */
	return false;
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

static bool was_told(const struct lazycuda_link *link, enum lazycuda_log kind, size_t input,
		     const char *text)
{
	for (size_t i = 0; i < link->told_count; i++)
		if (link->told[i].kind == kind && link->told[i].input == input &&
		    !strcmp(link->told[i].text, text))
			return true;
	return false;
}

static void tell(struct lazycuda_link *link, enum lazycuda_log kind, size_t input, const char *text)
{
	struct lk_told *slot;

	if (!link->request.log || !text || !*text || was_told(link, kind, input, text))
		return;
	slot = lc_grow(link->arena, &link->told, &link->told_count, sizeof(*slot));
	if (!slot)
		return;
	*slot = (struct lk_told){ kind, input, text };
	link->request.log(link->request.log_data, kind, input, text);
}

void lk_tell_notes(struct lazycuda_link *link, const struct lazycuda_plan *plan)
{
	for (size_t i = 0; i < plan->note_count; i++)
		tell(link, LAZYCUDA_LOG_NOTE, LAZYCUDA_NO_INDEX, plan->notes[i]);
}

bool lk_add_note(struct lazycuda_link *link, const char *format, ...)
{
	const char *note;
	va_list arguments;

	va_start(arguments, format);
	note = lc_format_list(link->arena, format, arguments);
	va_end(arguments);
	lk_plan_note(link->arena, link->plan, note);
	tell(link, LAZYCUDA_LOG_NOTE, LAZYCUDA_NO_INDEX, note);
	return !link->arena->failed || lk_stop_without_memory(link);
}

static const char *join(struct lc_arena *arena, const char *one, const char *other)
{
	if (!other)
		return one;
	return *one ? lc_format(arena, "%s\n%s", one, other) : other;
}

/* An error log may have hundreds of warnings before the error: the reason comes first. */
static const char *with_reason(struct lc_arena *arena, const struct lk_product *product)
{
	if (!product->error_log || product->code == LAZYCUDA_CODE_OK)
		return product->error_log;
	return lc_format(arena, "%s\n%s", product->message, product->error_log);
}

bool lk_take_product(struct lazycuda_link *link, const struct lk_product *product, size_t input)
{
	struct lazycuda_result *result = &link->result;
	const char *error_log = with_reason(link->arena, product);

	result->info_log = join(link->arena, result->info_log, product->info_log);
	result->error_log = join(link->arena, result->error_log, error_log);
	tell(link, LAZYCUDA_LOG_INFO, input, product->info_log);
	tell(link, LAZYCUDA_LOG_ERROR, input, error_log);
	result->backend_call = product->call;
	result->backend_status = product->status;
	return product->code == LAZYCUDA_CODE_OK ||
	       lk_stop(link, product->code, input, "%s", product->message);
}
