// SPDX-License-Identifier: MIT
// A thread makes the first call while exit() runs, which goes on after that.
#include <chrono>
#include <cstdio>
#include <thread>

extern "C" {
int curandCreateGenerator(void **generator, int kind);
int curandDestroyGenerator(void *generator);
}

namespace {

void pause_for(int milliseconds)
{
	std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

struct Lasting {
	~Lasting()
	{
		pause_for(1000);
	}
};

Lasting lasting;

void call()
{
	void *generator = nullptr;
	int result = curandCreateGenerator(&generator, 0);

	std::printf("create %d\n", result);
	if (!result)
		std::printf("destroy %d\n", curandDestroyGenerator(generator));
	std::fflush(stdout);
}

}

int main()
{
	std::thread(call).detach();
	pause_for(200);
}
