// SPDX-License-Identifier: MIT
// A thread opens the extension FILE and makes the first call there; meanwhile main returns.
// With -DEXTENSION this is the extension.
#include <cstdio>

#ifdef EXTENSION
extern "C" {
int curandCreateGenerator(void **generator, int kind);

void call(void)
{
	void *generator = nullptr;

	std::printf("create %d\n", curandCreateGenerator(&generator, 0));
	std::fflush(stdout);
}
}
#else
#include <atomic>
#include <dlfcn.h>

#include "pause.h"

namespace {

std::atomic<bool> opened;

void work(const char *file)
{
	auto *call = reinterpret_cast<void (*)()>(dlsym(dlopen(file, RTLD_NOW), "call"));

	opened = true;
	call();
}

}

int main(int, char **arguments)
{
	std::thread(work, arguments[1]).detach();
	while (!opened)
		pause_for(1);
	pause_for(200);
}
#endif
