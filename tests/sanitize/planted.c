/* SPDX-License-Identifier: MIT */
/* planted.c - a program with the defect that argv[1] names */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int shared_by_threads;

static void *write_shared(void *nothing)
{
	shared_by_threads++;
	return nothing;
}

static void race(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, write_shared, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	const char *defect = argc > 1 ? argv[1] : "";
	char *volatile block = malloc(8);

	if (!strcmp(defect, "overrun"))
		block[8] = 0;
	if (!strcmp(defect, "leak"))
		block = NULL;
	if (!strcmp(defect, "overflow"))
		printf("%d\n", INT_MAX + argc);
	if (!strcmp(defect, "race"))
		race();
	free(block);
	return 0;
}
