/* SPDX-License-Identifier: MIT */
/* pieces.c - turns the steps of the plan into bytes for a backend */
#include "handle.h"
#include "../formats/inspection.h"
#include "../formats/source.h"

/*
 * Takes trailing NULs off the length of PTX, and returns true if a NUL follows the
 * text.  The driver wants one.  nvJitLink is told the length, but from 12.3 on it reads
 * up to a NUL all the same.
 */
static bool has_nul(const char *bytes, size_t *length, size_t room)
{
	size_t all = *length;

	while (*length && !bytes[*length - 1])
		--*length;
	return *length < all || (all < room && !bytes[all]);
}

/* Uses the payload where it lies in the caller's memory.  Returns false if it has to be
 * copied. */
static bool borrow(const struct lazycuda_link *link, const struct lazycuda_step *step,
		   struct lk_piece *piece)
{
	const struct lazycuda_input *input = lk_input_of(link, step);
	const struct lk_source source = { .bytes = input->bytes, .length = input->length };
	const struct lazycuda_entry *entry;

	if (step->form != LAZYCUDA_FORM_AS_IS || !input->bytes || step->entry == LAZYCUDA_NO_INDEX)
		return false;
	entry = input->inspection->entries[step->entry];
	if (!lk_source_has(&source, entry->offset, entry->length))
		return false;
	piece->bytes = source.bytes + entry->offset;
	piece->length = (size_t)entry->length;
	return step->kind != LAZYCUDA_KIND_PTX ||
	       has_nul(piece->bytes, &piece->length, (size_t)(source.length - entry->offset));
}

/* Copies the input or entry of a step.  The copy is freed when the link has run. */
static bool copy(struct lazycuda_link *link, const struct lazycuda_step *step,
		 struct lk_piece *piece)
{
	const struct lazycuda_input *input = lk_input_of(link, step);
	const char *error = "cannot be read";
	void *bytes;

	if (step->entry == LAZYCUDA_NO_INDEX) {
		bytes = lk_read_input(link, step, &piece->length);
		if (!bytes)
			return false;
	} else if (step->form == LAZYCUDA_FORM_FATBIN) {
		bytes = lazycuda_entry_fatbin(input->inspection, step->entry, &piece->length,
					      &error);
	} else {
		bytes = lazycuda_entry_payload(input->inspection, step->entry,
					       step->form == LAZYCUDA_FORM_UNPACKED,
					       &piece->length, &error);
	}
	if (!bytes && error == LK_NO_MEMORY)
		return lk_stop_without_memory(link);
	if (!bytes)
		return lk_stop(link, step->form == LAZYCUDA_FORM_UNPACKED ?
			       LAZYCUDA_CODE_CANNOT_UNPACK : LAZYCUDA_CODE_BAD_INPUT, step->input,
			       lc_format(link->arena, "%s: %s",
					 lc_printable(link->arena, step->name), error));
	piece->bytes = bytes;
	return lk_own(link, bytes);
}

struct lk_piece *lk_make_pieces(struct lazycuda_link *link)
{
	size_t count = link->plan->step_count;
	struct lk_piece *pieces = lc_alloc(link->arena, (count + 1) * sizeof(*pieces));

	if (!pieces) {
		lk_stop_without_memory(link);
		return NULL;
	}
	for (size_t i = 0; i < count; i++) {
		const struct lazycuda_step *step = link->plan->steps[i];
		const struct lk_compiled *compiled = &link->compiled[i];

		pieces[i].kind = step->kind;
		pieces[i].name = step->name;
		if (compiled->bytes) {
			pieces[i].bytes = compiled->bytes;
			pieces[i].length = compiled->length;
		} else if (!borrow(link, step, &pieces[i]) && !copy(link, step, &pieces[i])) {
			return NULL;
		}
	}
	return pieces;
}
