/* SPDX-License-Identifier: MIT */
/*
 * semaphores.c - external semaphores, as far as one device and CUDA alone go
 *
 * A semaphore comes of another interface, say Vulkan; without one there is what the
 * runtime says of handles that are none, and of no semaphores at all.
 */
#include "runtime.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static int import(int type, int fd, unsigned flags)
{
	struct cudaExternalSemaphoreHandleDesc description;
	cudaExternalSemaphore_t semaphore = NULL;
	int result;

	memset(&description, 0, sizeof(description));
	description.type = (enum cudaExternalSemaphoreHandleType)type;
	description.handle.fd = fd;
	description.flags = flags;
	result = (int)cudaImportExternalSemaphore(&semaphore, &description);
	cudaGetLastError();
	if (!result)
		cudaDestroyExternalSemaphore(semaphore);
	return result;
}

/* Files that are open, and none of them a semaphore.  Who failed to import one has left it
 * alone. */
static void imports(void)
{
	const int kind = cudaExternalSemaphoreHandleTypeOpaqueFd;
	const int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
	const int memory = memfd_create("no semaphore", MFD_CLOEXEC);

	value("no-file", "%d", import(kind, -1, 0));
	value("closed", "%d", import(kind, 1000, 0));
	value("no-semaphore", "%d", import(kind, file, 0));
	value("memory", "%d", import(kind, memory, 0));
	value("flags", "%d", import(kind, file, 1234));
	value("timeline", "%d", import(cudaExternalSemaphoreHandleTypeTimelineSemaphoreFd, file, 0));
	value("no-type", "%d", import(99, file, 0));
	value("windows", "%d", import(cudaExternalSemaphoreHandleTypeOpaqueWin32, file, 0));
	RESULT("last", cudaGetLastError());
	value("still-open", "%d %d", fcntl(file, F_GETFD), fcntl(memory, F_GETFD));
}

/* The structs are not the same in all majors; none of them is none in each. */
static void none(void)
{
	cudaStream_t stream;

	DO(cudaStreamCreate(&stream));
	RESULT("signal", cudaSignalExternalSemaphoresAsync(NULL, NULL, 0, stream));
	RESULT("wait", cudaWaitExternalSemaphoresAsync(NULL, NULL, 0, stream));
	RESULT("last", cudaGetLastError());
	RESULT("synchronize", cudaStreamSynchronize(stream));
	DO(cudaStreamDestroy(stream));
}

static void memory(void)
{
	const int files[] = { -1, open("/dev/null", O_RDONLY | O_CLOEXEC),
			      memfd_create("no memory of a device", MFD_CLOEXEC) };
	static const char *const keys[] = { "no-file", "no-memory", "of-the-host" };

	for (int i = 0; i < 3; i++) {
		struct cudaExternalMemoryHandleDesc description;
		cudaExternalMemory_t got = NULL;
		int result;

		memset(&description, 0, sizeof(description));
		description.type = cudaExternalMemoryHandleTypeOpaqueFd;
		description.handle.fd = files[i];
		description.size = 4096;
		result = (int)cudaImportExternalMemory(&got, &description);
		value(keys[i], "%d", result);
		if (!result)
			cudaDestroyExternalMemory(got);
	}
	RESULT("last", cudaGetLastError());
}

int main(void)
{
	begin();
	RUN(imports);
	RUN(none);
	RUN(memory);
	return finish();
}
