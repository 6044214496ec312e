/* SPDX-License-Identifier: MIT */
/* take_inputs.c - the inputs of a link: taken from the caller, inspected, read, and made into what a
 * backend is given */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../stubs/base/glibc.h"
#include "../../stubs/base/regular.h"
#include "handle.h"
#include "../formats/inspection.h"
#include "../plan/planning.h"
#include "../tables/sized.h"

bool lk_take_struct(void *into, size_t size, const void *from)
{
	/* The plan refuses a struct without a size. */
	if (!lk_sized_copy(into, size, from))
		return false;
	memcpy(into, &size, sizeof(size));
	return true;
}

static struct lazycuda_support *take_support(struct lc_arena *arena,
					     const struct lazycuda_support *from)
{
	struct lazycuda_support *support = lc_alloc(arena, sizeof(*support));
	struct lazycuda_input *input = lc_alloc(arena, sizeof(*input));

	if (!support || !input)
		return NULL;
	lk_take_struct(support, sizeof(*support), from);
	if (support->input) {
		lk_take_struct(input, sizeof(*input), support->input);
		support->input = input;
	}
	return support;
}

bool lk_take_request(struct lazycuda_link *link, const struct lazycuda_request *from)
{
	struct lazycuda_request *request = &link->request;

	lk_take_struct(request, sizeof(*request), from);
	/* The plan refuses a request that makes no sense. */
	if (!request->support || request->support_count > LK_MAX_SUPPORT)
		return true;
	link->support_count = request->support_count;
	link->support = lc_alloc(link->arena, LK_MAX_SUPPORT * sizeof(*link->support));
	if (!link->support)
		return false;
	for (size_t i = 0; i < link->support_count; i++) {
		if (!request->support[i])
			continue;
		link->support[i] = take_support(link->arena, request->support[i]);
		if (!link->support[i])
			return false;
	}
	request->support = (const struct lazycuda_support *const *)link->support;
	return true;
}

bool lk_add_support(struct lazycuda_link *link, const struct lazycuda_input *input)
{
	struct lazycuda_request *request = &link->request;
	const struct lazycuda_support support = { .size = sizeof(support), .name = input->name,
						  .enabled = 1, .input = input };

	if (link->support_count == LK_MAX_SUPPORT || (request->flags & LAZYCUDA_LINK_NO_SUPPORT))
		return false;
	if (!link->support)
		link->support = lc_alloc(link->arena, LK_MAX_SUPPORT * sizeof(*link->support));
	if (!link->support)
		return false;
	link->support[link->support_count] = take_support(link->arena, &support);
	if (!link->support[link->support_count])
		return false;
	link->inputs[0]->needs |= UINT64_C(1) << link->support_count;
	request->support_count = ++link->support_count;
	request->support = (const struct lazycuda_support *const *)link->support;
	return true;
}

static bool inspect_input(struct lazycuda_link *link, struct lazycuda_input *input)
{
	struct lazycuda_inspection **slot;

	if (input->inspection || !input->size)
		return true;
	/* The inspection keeps its file open until the link is freed. */
	slot = lc_grow(link->arena, &link->inspected, &link->inspected_count, sizeof(*slot));
	if (slot)
		*slot = lk_inspect_input(link->arena, input, LAZYCUDA_INSPECT_PAYLOADS,
					 link->request.unpack_limit);
	input->inspection = slot ? *slot : NULL;
	return input->inspection || lk_stop_without_memory(link);
}

bool lk_inspect_inputs(struct lazycuda_link *link)
{
	for (size_t i = 0; i < link->count; i++)
		if (!inspect_input(link, link->inputs[i]))
			return false;
	for (size_t i = 0; i < link->support_count; i++) {
		struct lazycuda_support *support = link->support[i];

		if (support && support->enabled && support->input &&
		    !inspect_input(link, (struct lazycuda_input *)support->input))
			return false;
	}
	return true;
}

const struct lazycuda_input *lk_input_of(const struct lazycuda_link *link,
					 const struct lazycuda_step *step)
{
	return step->input != LAZYCUDA_NO_INDEX ? link->inputs[step->input] :
		link->support[step->support]->input;
}

const struct lazycuda_entry *lk_entry_of(const struct lazycuda_link *link, size_t i)
{
	const struct lazycuda_step *step = link->plan->steps[i];
	const struct lazycuda_inspection *compiled = link->compiled[i].inspection;

	if (compiled)
		return compiled->entry_count == 1 ? compiled->entries[0] : NULL;
	return step->entry == LAZYCUDA_NO_INDEX ? NULL :
	       lk_input_of(link, step)->inspection->entries[step->entry];
}

static char *read_whole(const struct lk_source *source, size_t *length)
{
	const struct lazycuda_entry whole = { .length = source->length };
	unsigned char *bytes;
	const char *wrong = lk_payload_load(source, &whole, false, &bytes, length);

	if (wrong)
		errno = wrong == LK_NO_MEMORY ? ENOMEM : EIO;
	return wrong ? NULL : (char *)bytes;
}

char *lk_read_file(const char *path, size_t *length)
{
	struct stat st;
	struct lk_source source = { .fd = lc_open_regular(path, &st) };
	char *bytes;
	int error;

	if (source.fd < 0)
		return NULL;
	source.length = (uint64_t)st.st_size;
	bytes = read_whole(&source, length);
	error = errno;
	close(source.fd);
	errno = error;
	return bytes;
}

char *lk_read_input(struct lazycuda_link *link, const struct lazycuda_step *step, size_t *length)
{
	const struct lazycuda_input *input = lk_input_of(link, step);
	const struct lk_source source = { .bytes = input->bytes, .length = input->length };
	char *bytes;

	errno = ENOENT;
	bytes = input->bytes ? read_whole(&source, length) :
		input->path ? lk_read_file(input->path, length) : NULL;
	if (bytes)
		return bytes;
	if (errno == ENOMEM)
		lk_stop_without_memory(link);
	else
		lk_stop(link, LAZYCUDA_CODE_BAD_INPUT, step->input, "%s: cannot be read: %s",
			lc_printable(link->arena, step->name), strerror(errno));
	return NULL;
}

const char *lk_read_step(struct lazycuda_link *link, const struct lazycuda_step *step, size_t *length)
{
	const struct lazycuda_inspection *inspection = lk_input_of(link, step)->inspection;
	const bool unpacked = step->form == LAZYCUDA_FORM_UNPACKED;
	const char *error = "cannot be read";
	char *bytes;

	if (step->entry == LAZYCUDA_NO_INDEX)
		bytes = lk_read_input(link, step, length);
	else if (step->form == LAZYCUDA_FORM_FATBIN)
		bytes = lazycuda_entry_fatbin(inspection, step->entry, length, &error);
	else
		bytes = lazycuda_entry_payload(inspection, step->entry, unpacked, length, &error);
	if (bytes)
		return lk_own(link, bytes) ? bytes : NULL;
	if (error == LK_NO_MEMORY)
		lk_stop_without_memory(link);
	else if (step->entry != LAZYCUDA_NO_INDEX)
		lk_stop(link, unpacked ? LAZYCUDA_CODE_CANNOT_UNPACK : LAZYCUDA_CODE_BAD_INPUT, step->input,
			"%s: %s", lc_printable(link->arena, step->name), error);
	return NULL;
}

/* ---- for a backend ---- */

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
		const struct lazycuda_input *compiled = &link->compiled[i];

		pieces[i].kind = step->kind;
		pieces[i].name = step->name;
		if (compiled->bytes) {
			pieces[i].bytes = compiled->bytes;
			pieces[i].length = compiled->length;
		} else if (!borrow(link, step, &pieces[i])) {
			pieces[i].bytes = lk_read_step(link, step, &pieces[i].length);
			if (!pieces[i].bytes)
				return NULL;
		}
	}
	return pieces;
}
