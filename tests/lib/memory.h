/* SPDX-License-Identifier: MIT */
/* memory.h - a program's own malloc(), of which a call may fail; SANITIZED: that of the sanitizer */
#ifndef MEMORY_H
#define MEMORY_H

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

static long live;	/* blocks that there are */
static long room = -1;	/* allocations until one fails; -1: none does */
static bool ran_out;	/* one has failed */

#ifndef SANITIZED
void *__libc_malloc(size_t size), *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void __libc_free(void *block);

static bool runs_out(void)
{
	if (room < 0 || room--)
		return false;
	errno = ENOMEM;
	return ran_out = true;
}

static void *counted(void *block)
{
	live += block != NULL;
	return block;
}

void *malloc(size_t size)
{
	return runs_out() ? NULL : counted(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
	return runs_out() ? NULL : counted(__libc_calloc(count, size));
}

void *realloc(void *block, size_t size)
{
	if (runs_out())
		return NULL;
	live -= block != NULL;
	return counted(__libc_realloc(block, size));
}

void free(void *block)
{
	live -= block != NULL;
	__libc_free(block);
}
#endif

#endif
