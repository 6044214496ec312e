// SPDX-License-Identifier: MIT
// Time for another thread: a pause, and an object whose destructor takes a second of exit().
#include <chrono>
#include <thread>

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

}
