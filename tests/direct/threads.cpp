// SPDX-License-Identifier: MIT
// A thread goes on calling while exit() runs.
#include <cstdio>

#include "pause.h"

extern "C" {
int cudaEventCreate(void **event);
int cudaEventDestroy(void *event);
int cudaGetLastError(void);
}

namespace {

void work()
{
	for (;;) {
		void *event = nullptr;

		if (!cudaEventCreate(&event))
			cudaEventDestroy(event);
		cudaGetLastError();
	}
}

}

int main()
{
	std::thread(work).detach();
	pause_for(100);
	std::puts("leaves");
}
