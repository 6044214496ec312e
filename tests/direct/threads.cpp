// SPDX-License-Identifier: MIT
// A thread goes on calling while exit() runs.
#include <chrono>
#include <cstdio>
#include <thread>

extern "C" {
int cudaEventCreate(void **event);
int cudaEventDestroy(void *event);
int cudaGetLastError(void);
}

namespace {

void pause_for(int milliseconds)
{
	std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

struct Slow {
	~Slow()
	{
		pause_for(100);
	}
};

Slow slow;

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
