/* SPDX-License-Identifier: MIT */
/*
 * failing.c - an inspection for which memory runs out
 *
 *     failing FILE...
 *
 * Inspects each file and takes out all its code, first with all the memory in
 * the world, then with the first allocation failing, the second, and so on until
 * none does.  Each time all or nothing has to come, and no memory be left behind.
 * Prints how many allocations failed.
 */
#include <stdio.h>

#include "../../include/lazycuda_link.h"
#include "../lib/memory.h"

static void must(int holds, const char *what, const char *file, long number)
{
	if (holds)
		return;
	room = -1;
	fprintf(stderr, "%s: allocation %ld: %s\n", file, number, what);
	exit(1);
}

/* How many pieces of code came. */
static size_t take_out(const struct lazycuda_inspection *inspection)
{
	size_t count = 0;

	for (size_t i = 0; i < inspection->entry_count; i++) {
		void *bytes[3];
		size_t length;

		bytes[0] = lazycuda_entry_payload(inspection, i, 0, &length, NULL);
		bytes[1] = lazycuda_entry_payload(inspection, i, 1, &length, NULL);
		bytes[2] = lazycuda_entry_fatbin(inspection, i, &length, NULL);
		for (int j = 0; j < 3; j++) {
			count += bytes[j] != NULL;
			free(bytes[j]);
		}
	}
	return count;
}

static int has_errors(const struct lazycuda_inspection *inspection)
{
	for (size_t i = 0; i < inspection->entry_count; i++)
		if (inspection->entries[i]->error)
			return 1;
	return inspection->error != NULL;
}

static long try_all(const char *file)
{
	size_t expected = 0;

	for (long number = -1; ; number++) {
		struct lazycuda_inspection *inspection;
		long before = live;
		size_t count = 0;

		ran_out = false;
		room = number;
		inspection = lazycuda_inspect_file(file, LAZYCUDA_INSPECT_PAYLOADS);
		must(inspection || ran_out, "nothing came", file, number);
		if (inspection) {
			must(!ran_out, "an inspection came without its memory", file, number);
			must(!has_errors(inspection), "an error was blamed on the file", file, number);
			count = take_out(inspection);
		}
		room = -1;
		lazycuda_inspection_free(inspection);
		must(number < 0 || live == before, "memory was left behind", file, number);
		if (number < 0)
			expected = count;
		must(ran_out ? count < expected || !expected : count == expected,
		     "not all came, or all did", file, number);
		if (number >= 0 && !ran_out)
			return number;
	}
}

int main(int argc, char **argv)
{
	long count = 0;

	for (int i = 1; i < argc; i++)
		count += try_all(argv[i]);
	printf("%ld\n", count);
	return 0;
}
