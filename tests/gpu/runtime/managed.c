/* SPDX-License-Identifier: MIT */
/* managed.c - a little managed memory: advice and prefetch, whose interface 13 changed */
#include "runtime.h"

enum { BYTES = 65536 };

#if CUDART_VERSION >= 13000
# define LOCATION(device) ((struct cudaMemLocation){ \
	.type = (device) < 0 ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice, \
	.id = (device) < 0 ? 0 : (device) })
# define PREFETCH(p, device) cudaMemPrefetchAsync(p, BYTES, LOCATION(device), 0, NULL)
#else
# define LOCATION(device) device
# define PREFETCH(p, device) cudaMemPrefetchAsync(p, BYTES, device, NULL)
#endif
#define ADVISE(p, advice, device) cudaMemAdvise(p, BYTES, advice, LOCATION(device))

static int ranged(void *p, enum cudaMemRangeAttribute which)
{
	int got = -99;

	return cudaMemRangeGetAttribute(&got, sizeof(got), which, p, BYTES) ? -98 : got;
}

static void advice(void)
{
	int *p;

	if (attribute(89) != 1) {	/* concurrentManagedAccess */
		printf("- advice the device has no concurrent managed access\n");
		return;
	}
	DO(cudaMallocManaged((void **)&p, BYTES, cudaMemAttachGlobal));
	for (int i = 0; i < BYTES / 4; i++)
		p[i] = i;
	DO(ADVISE(p, cudaMemAdviseSetReadMostly, 0));
	value("read-mostly", "%d", ranged(p, cudaMemRangeAttributeReadMostly));
	DO(ADVISE(p, cudaMemAdviseUnsetReadMostly, 0));
	value("read-mostly-unset", "%d", ranged(p, cudaMemRangeAttributeReadMostly));
	DO(ADVISE(p, cudaMemAdviseSetPreferredLocation, 0));
	value("preferred", "%d", ranged(p, cudaMemRangeAttributePreferredLocation));
	DO(ADVISE(p, cudaMemAdviseSetPreferredLocation, -1));
	value("preferred-host", "%d", ranged(p, cudaMemRangeAttributePreferredLocation));
	DO(ADVISE(p, cudaMemAdviseUnsetPreferredLocation, 0));
	DO(ADVISE(p, cudaMemAdviseSetAccessedBy, 0));
	value("accessed", "%d", ranged(p, cudaMemRangeAttributeAccessedBy));
	DO(PREFETCH(p, 0));
	DO(cudaDeviceSynchronize());
	value("prefetched", "%d", ranged(p, cudaMemRangeAttributeLastPrefetchLocation));
	DO(PREFETCH(p, -1));
	DO(cudaDeviceSynchronize());
	value("prefetched-host", "%d", ranged(p, cudaMemRangeAttributeLastPrefetchLocation));
	is_right("kept", p[0] == 0 && p[BYTES / 4 - 1] == BYTES / 4 - 1);
	RESULT("no-device", PREFETCH(p, 77));
	/* Within 12.9 cudaMemAdvise() says 101, and cudaMemAdvise_v2(), which has 13's interface, 1. */
	value("no-device-advice", "%d", ADVISE(p, cudaMemAdviseSetAccessedBy, 77) != 0);
	cudaGetLastError();
	DO(cudaFree(p));
}

PROGRAM(RUN(advice))
