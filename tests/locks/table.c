/* SPDX-License-Identifier: MIT */
/*
 * table.c - watches the table of slots from within the stub, linked with
 * --wrap=mprotect; says at the end
 *
 *     how often it was made writable, how often of these without the lock, and
 *     whether it can be written to: when the stub was loaded, and now
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "loader/forks.h"
#include "entry/own.h"

static atomic_int opened, unlocked, locked;
static int writable_at_first;

int __real_mprotect(void *start, size_t size, int protection);
int __wrap_mprotect(void *start, size_t size, int protection);

static void *take_lock(void *unused)
{
	lc_lock();
	locked = 1;
	lc_unlock();
	return unused;
}

/* Another thread does not get the lock if this one has it. */
int __wrap_mprotect(void *start, size_t size, int protection)
{
	pthread_t thread;

	if (protection & PROT_WRITE) {
		opened++;
		locked = 0;
		pthread_create(&thread, NULL, take_lock, NULL);
		pthread_detach(thread);
		for (int i = 0; i < 500 && !locked; i++)
			lc_nap();
		unlocked += locked;
	}
	return __real_mprotect(start, size, protection);
}

static int is_writable(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long start, end, slot = (unsigned long)lc_slot_table;
	char line[4096], access[5];
	int writable = -1;

	while (fgets(line, sizeof line, maps))
		if (sscanf(line, "%lx-%lx %4s", &start, &end, access) == 3 &&
		    slot >= start && slot < end)
			writable = access[1] == 'w';
	fclose(maps);
	return writable;
}

static __attribute__((constructor)) void begin(void)
{
	writable_at_first = is_writable();
}

static __attribute__((destructor)) void end(void)
{
	printf("%d %d %d %d\n", opened, unlocked, writable_at_first, is_writable());
}
