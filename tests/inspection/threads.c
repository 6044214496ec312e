/* SPDX-License-Identifier: MIT */
/* threads.c - sixteen threads inspect one file, and take code out of one inspection */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../include/lazycuda_link.h"

#define THREADS 16
#define ROUNDS 50

static const char *path;
static struct lazycuda_inspection *shared;
static pthread_barrier_t start;

static unsigned sum_of(const struct lazycuda_inspection *inspection)
{
	unsigned sum = 0;

	for (size_t i = 0; i < inspection->entry_count; i++) {
		const char *error = NULL;
		size_t length;
		unsigned char *bytes = lazycuda_entry_payload(inspection, i, 1, &length, &error);

		for (size_t j = 0; bytes && j < length; j++)
			sum = sum * 31 + bytes[j];
		sum += bytes ? (unsigned)length : (unsigned)strlen(error);
		free(bytes);
	}
	return sum;
}

static void *work(void *unused)
{
	(void)unused;
	pthread_barrier_wait(&start);
	for (int i = 0; i < ROUNDS; i++) {
		struct lazycuda_inspection *own;

		own = lazycuda_inspect_file(path, LAZYCUDA_INSPECT_PAYLOADS);
		if (!own || own->error || sum_of(own) != sum_of(shared)) {
			fputs("a thread saw something else\n", stderr);
			exit(1);
		}
		lazycuda_inspection_free(own);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	if (argc != 2)
		return 2;
	path = argv[1];
	shared = lazycuda_inspect_file(path, 0);
	pthread_barrier_init(&start, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	lazycuda_inspection_free(shared);
	return 0;
}
