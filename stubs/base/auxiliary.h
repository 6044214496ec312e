/* SPDX-License-Identifier: MIT */
/* auxiliary.h - what the kernel told the process, and whose libc this is */
#ifndef AUXILIARY_H
#define AUXILIARY_H

#include <stdbool.h>
#include <sys/auxv.h>

/* Returns true in what a program that was linked statically has opened.  dlopen() brought a
 * libc with it, for which ld.so has prepared nothing. */
static inline bool lc_is_in_static_program(void)
{
	/* ld.so sets it when it starts a program. */
	extern void *__libc_stack_end __attribute__((weak));

	return &__libc_stack_end && !__libc_stack_end;
}

/* Bytes for such a path as /proc/self/exe, and the path in it: a file that tells of the process, as
 * long as this thread lives.  Those in /proc/self itself end with the main thread. */
#define LC_OWN_PATH 64
const char *lc_own_file(char *buffer, const char *name);

/* getauxval(), also there. */
unsigned long lc_auxval(unsigned long type);

/*
 * Returns true if this program was started with more rights than its caller.  Then the
 * program's location cannot be trusted either: anybody may have linked to it.
 */
bool lc_is_privileged(void);

#endif
