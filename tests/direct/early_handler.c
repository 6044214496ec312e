/* SPDX-License-Identifier: MIT */
/* An exit handler that was registered before the library's first call gives a handle back.
 *
 *	-DLEAVE=quick_exit	... or one of another kind, for that way to leave
 *	-DFINI			... or a function of DT_FINI_ARRAY does
 * With THREAD in the environment a second thread leaves. */
#include "handle.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#ifndef LEAVE
#define LEAVE exit
#endif

#ifdef FINI
static void __attribute__((destructor)) fini(void)
{
	destroy_handle();
}
#endif

static void *leave(void *status)
{
	LEAVE((int)(size_t)status);
	return NULL;
}

int main(void)
{
	size_t result;
	pthread_t thread;

#ifndef FINI
	atexit(destroy_handle);
	at_quick_exit(destroy_handle);
#endif
	result = (size_t)make_handle();
	if (getenv("THREAD") && !pthread_create(&thread, NULL, leave, (void *)result))
		pause();
	leave((void *)result);
	return 1;
}
