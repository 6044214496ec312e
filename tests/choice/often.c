/* SPDX-License-Identifier: MIT */
/*
 * often.c - threads set a constraint again and again: `often`
 *
 * Prints "flat" if the process has not grown meanwhile.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <lazycuda.h>

enum { THREADS = 3, ROUNDS = 8000, PAGES = 60 };

static long resident(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long size, pages;

	if (!file || fscanf(file, "%ld %ld", &size, &pages) != 2)
		exit(2);
	fclose(file);
	return pages;
}

static void *set(void *unused)
{
	static const char *const texts[] = { ">=12", "", "<14,>=11.8", ">=12" };

	for (int i = 0; i < ROUNDS; i++)
		if (lazycuda_set_constraint(texts[i % 4]))
			exit(3);
	return unused;
}

static void race(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, set, NULL))
			exit(4);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

int main(void)
{
	long first;

	race();
	first = resident();
	race();
	puts(resident() - first < PAGES ? "flat" : "it grows");
	return 0;
}
