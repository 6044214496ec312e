/* SPDX-License-Identifier: MIT */
/*
 * by_environment.c - linked into a program: what fails is said by the environment
 *
 *     FAULT="NUMBER CALL"      what stands there in `faults`, at this call of it
 *
 * The program ends with status 99 if there was no such call.
 */
#include "inject.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void end(void)
{
	if (injection.calls < injection.at)
		_exit(99);
}

static __attribute__((constructor)) void begin(void)
{
	const char *text = getenv("FAULT");
	size_t number;

	if (!text || sscanf(text, "%zu %ld", &number, &injection.at) != 2 || number >= fault_count)
		return;
	atexit(end);
	injection.fault = &faults[number];
}
