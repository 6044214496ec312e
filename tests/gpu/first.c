/* SPDX-License-Identifier: MIT */
/*
 * first.c - how long a process takes that makes one call: argv[1], a command of sh,
 * through the stub, against argv[2], directly
 */
#include "claim.h"
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 3 };

/* In milliseconds; 0 if it failed. */
static double once(const char *command)
{
	struct timespec begin, end;
	int status = -1;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	if (!fork()) {
		if (!freopen("/dev/null", "w", stdout))
			_exit(126);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	wait(&status);
	clock_gettime(CLOCK_MONOTONIC, &end);
	return status ? 0 : (double)(end.tv_sec - begin.tv_sec) * 1e3 +
			    (double)(end.tv_nsec - begin.tv_nsec) / 1e6;
}

int main(int count, char **words)
{
	double best[2] = { 1e18, 1e18 };

	if (count != 3)
		return 2;
	for (int i = 0; i < ROUNDS; i++)
		for (int side = 0; side < 2; side++) {
			const double took = once(words[1 + side]);

			/* As one.c ends where there is no device. */
			if (!took)
				skip("no device: the first call fails");
			best[side] = took < best[side] ? took : best[side];
		}
	printf("%% a process with one call: %.1f ms through the stub, %.1f ms directly, ratio %.3f\n",
	       best[0], best[1], best[0] / best[1]);
	is_right("ratio", best[0] / best[1] < 1.5);
	return finish();
}
