/* SPDX-License-Identifier: MIT */
/* of_thread.c - a library that has a variable of each thread, at a fixed place as libgomp's */

extern char *mine(void);

char *mine(void)
{
	static __thread __attribute__((tls_model("initial-exec"))) char room[128];

	return room;
}
