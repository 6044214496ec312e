/* SPDX-License-Identifier: MIT */
/* inspect.c - fuzzing the inspector: any bytes, both ways, and all that it hands out */
#include "../../include/lazycuda_link.h"
#include "fuzzing.h"

static void check_entry(const struct lazycuda_entry *entry, size_t size)
{
	must(entry->offset <= size && entry->length <= size - entry->offset);
	must(entry->header <= entry->offset);
	must(entry->kind <= LAZYCUDA_KIND_BUNDLE);
	must(!entry->error || *entry->error);
	must(entry->kind != LAZYCUDA_KIND_UNKNOWN || entry->error);
	touch_text(entry->error);
	touch_text(entry->member);
	touch_text(entry->section);
	for (size_t i = 0; i < entry->symbol_count; i++)
		touch_text(entry->symbols[i].name);
}

/* A fatbin of one entry holds just that. */
static void check_fatbin(const void *fatbin, size_t length, const struct lazycuda_entry *entry)
{
	struct lazycuda_inspection *alone;

	alone = lazycuda_inspect(fatbin, length, NULL, 0);
	must(alone && !alone->error && alone->entry_count == 1);
	must(!alone->entries[0]->error && alone->entries[0]->length == entry->length);
	lazycuda_inspection_free(alone);
}

static void check_payloads(const struct lazycuda_inspection *inspection, size_t index)
{
	const struct lazycuda_entry *entry = inspection->entries[index];
	const char *error = NULL;
	size_t length;
	void *bytes;

	for (int unpack = 0; unpack < 2; unpack++) {
		bytes = lazycuda_entry_payload(inspection, index, unpack, &length, &error);
		/* The byte behind it is there, too, and zero. */
		must(bytes ? !((char *)bytes)[length] || entry->kind == LAZYCUDA_KIND_PTX
			   : error && *error);
		must(bytes || unpack || entry->error);
		if (bytes)
			touch(bytes, length + 1);
		free(bytes);
	}
	bytes = lazycuda_entry_fatbin(inspection, index, &length, &error);
	/* An image of an offload binary has no fatbin around it. */
	must(bytes ? !entry->error : entry->error || entry->fatbin < 0 ||
				     entry->header == entry->offset);
	if (bytes)
		check_fatbin(bytes, length, entry);
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (unsigned flags = 0; flags <= LAZYCUDA_INSPECT_PAYLOADS; flags++) {
		struct lazycuda_inspection *inspection;

		inspection = lazycuda_inspect(data, size, "input.ptx", flags);
		must(inspection && inspection->length == size);
		must(!inspection->error || *inspection->error);
		touch_text(inspection->error);
		touch_text(inspection->warning);
		for (size_t i = 0; i < inspection->entry_count; i++) {
			check_entry(inspection->entries[i], size);
			check_payloads(inspection, i);
		}
		lazycuda_inspection_free(inspection);
	}
	return 0;
}
