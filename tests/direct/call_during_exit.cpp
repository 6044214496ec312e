// SPDX-License-Identifier: MIT
// A thread makes the first call, and while that goes on main returns or another thread leaves; or
// it makes the call when main has just returned.  Or all this is in a child that a thread has made.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

#define GENERATOR
#include "handle.h"
#include "pause.h"

namespace {

std::atomic<bool> ends;

void end()
{
	ends = true;
	pause_for(50);
}

void call(bool waits)
{
	while (waits && !ends)
		pause_for(1);

	make_handle();
	destroy_handle();
}

void leave()
{
	pause_for(200);
	std::exit(0);
}

void go_on_in_child()
{
	int status;
	pid_t child = fork();

	if (!child) {
		std::thread(call, false).detach();
		leave();
	}
	waitpid(child, &status, 0);
	_exit(status);
}

}

int main(int, char **arguments)
{
	bool waits = !std::strcmp(arguments[1], "main before it");

	if (!std::strcmp(arguments[1], "a thread's child"))
		std::thread(go_on_in_child).join();
	std::thread(call, waits).detach();
	if (waits) {
		std::atexit(end);
		return 0;
	}
	if (!std::strcmp(arguments[1], "another"))
		std::thread(leave).join();
	pause_for(200);
}
