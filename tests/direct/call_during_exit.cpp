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

std::atomic<bool> ends, begins;

void call(bool waits)
{
	while (waits && !ends)
		pause_for(1);

	begins = true;
	make_handle();
	destroy_handle();
}

// Until the call goes on: on a busy machine the thread is late.
void wait_for_call(int milliseconds = 200)
{
	while (!begins)
		pause_for(1);
	pause_for(milliseconds);
}

// Not for as long as the stub lets exit() go on before it loads a library.
void end()
{
	ends = true;
	wait_for_call(50);
}

void leave()
{
	wait_for_call();
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
	wait_for_call();
}
