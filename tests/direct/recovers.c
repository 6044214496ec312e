/* SPDX-License-Identifier: MIT */
/*
 * recovers.c - a first call while something is short, which then comes back: `recovers as|nofile`
 *
 * Makes it in children, each of which has a little more than the one before.  Prints what their
 * second calls returned, each answer once.
 */
#include "asks.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned long size_now(void)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	if (!file || fscanf(file, "%lu", &pages) != 1)
		return 0;
	fclose(file);
	return pages * (unsigned long)sysconf(_SC_PAGESIZE);
}

static int with_limit(int resource, rlim_t value)
{
	struct rlimit before, now;
	int ends[2], answer = -1;

	if (pipe(ends) || getrlimit(resource, &before))
		return -1;
	if (!fork()) {
		now = (struct rlimit){ value, before.rlim_max };
		setrlimit(resource, &now);
		ask();
		setrlimit(resource, &before);
		answer = ask();
		_exit(write(ends[1], &answer, sizeof(answer)) < 0);
	}
	close(ends[1]);
	if (read(ends[0], &answer, sizeof(answer)) != sizeof(answer))
		answer = -1;
	close(ends[0]);
	wait(NULL);
	return answer;
}

int main(int argc, char **argv)
{
	int memory = argc > 1 && !strcmp(argv[1], "as"), last = 0;
	rlim_t size = memory ? size_now() : 0, step = memory ? 192 << 10 : 1;

	for (int i = 0; i < 32; i++, size += step) {
		int answer = with_limit(memory ? RLIMIT_AS : RLIMIT_NOFILE, size);

		if (answer != last)
			printf("%d\n", answer);
		last = answer;
	}
	return 0;
}
