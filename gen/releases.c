/* SPDX-License-Identifier: MIT */
/*
 * releases.c - which functions give something back
 *
 * Once the real library has begun to shut down, such a call has nothing left to do: it
 * succeeds, where any other fails, but for those of the driver and the runtime, which tell
 * such callers that the process ends.  Names tell, all but a few.
 */
#include "slots.h"

#include <ctype.h>
#include <string.h>

/* Words of a name, which no small letter follows. */
static const char *const words[] = {
	"Abort", "Close", "DeInitialize", "Deinitialize", "Deregister", "Destroy", "Detach",
	"Disconnect", "Finalize", "Free", "Release", "Shutdown", "Unbind", "Unload", "Unmap",
	"Unregister", "Unsubscribe",
};

static const struct {
	const char *name;
	bool releases;
} exceptions[] = {
	{ "cuDevicePrimaryCtxReset", true },
	{ "cuDevicePrimaryCtxReset_v2", true },
	{ "cudaDeviceReset", true },
	{ "cudaThreadExit", true },
	/* A node that will free memory. */
	{ "cuGraphAddMemFreeNode", false },
	{ "cuGraphMemFreeNodeGetParams", false },
	{ "cudaGraphAddMemFreeNode", false },
	{ "cudaGraphMemFreeNodeGetParams", false },
	/* It completes a descriptor. */
	{ "cudnnBackendFinalize", false },
	/* They change the machine, for other processes, too. */
	{ "nvmlComputeInstanceDestroy", false },
	{ "nvmlDeviceVgpuForceGspUnload", false },
	{ "nvmlGpuInstanceDestroy", false },
};

static bool has_word(const char *name, const char *word)
{
	size_t length = strlen(word);

	for (; (name = strstr(name, word)); name += length)
		if (!islower((unsigned char)name[length]))
			return true;
	return false;
}

bool is_release(const char *name)
{
	for (size_t i = 0; i < COUNT(exceptions); i++)
		if (!strcmp(name, exceptions[i].name))
			return exceptions[i].releases;
	for (size_t i = 0; i < COUNT(words); i++)
		if (has_word(name, words[i]))
			return true;
	return false;
}
