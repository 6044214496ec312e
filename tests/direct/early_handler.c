/* SPDX-License-Identifier: MIT */
/* An exit handler that was registered before the library's first call gives a handle back.
 *
 *	-DLATE			... or one from after it
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

static void *leave(void *unused)
{
	LEAVE(0);
	return unused;
}

int main(void)
{
	pthread_t thread;

#ifdef LATE
	make_handle();
#endif
#ifndef FINI
	atexit(destroy_handle);
	at_quick_exit(destroy_handle);
#endif
#ifndef LATE
	make_handle();
#endif
	if (getenv("THREAD") && !pthread_create(&thread, NULL, leave, NULL))
		pause();
	leave(NULL);
	return 1;
}
