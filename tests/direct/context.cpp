// SPDX-License-Identifier: MIT
// An object of static lifetime waits for the device, gives its context back, and looks again.
#include <cstdio>

extern "C" {
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuDevicePrimaryCtxRelease_v2(int device);
int cuCtxSynchronize(void);
}

namespace {

struct Context {
	~Context()
	{
		std::printf("%d", cuCtxSynchronize());
		std::printf(" %d", cuDevicePrimaryCtxRelease_v2(0));
		std::printf(" %d\n", cuCtxSynchronize());
	}
};

Context owner;

}

int main()
{
	void *context;

	std::printf("%d\n", cuDevicePrimaryCtxRetain(&context, 0));
}
