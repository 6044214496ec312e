// SPDX-License-Identifier: MIT
// A static object owns threads that link, or with -DCOMPILES compile, until it is destroyed, and
// waits for them then.
#include <atomic>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

extern "C" {
#ifdef COMPILES
int nvrtcCreateProgram(void **program, const char *source, const char *name, int count,
		       const char **headers, const char **names);
int nvrtcCompileProgram(void *program, int count, const char **options);
int nvrtcDestroyProgram(void **program);
#else
int nvJitLinkCreate(void **handle, unsigned count, const char **options);
int nvJitLinkAddData(void *handle, int type, const void *data, std::size_t size, const char *name);
int nvJitLinkComplete(void *handle);
int nvJitLinkDestroy(void **handle);
#endif
}

namespace {

#ifdef COMPILES
bool work()
{
	void *program = nullptr;

	if (nvrtcCreateProgram(&program, "__global__ void f(float *x) { *x = sinf(*x); }", "f.cu", 0,
			       nullptr, nullptr))
		return false;
	return !nvrtcCompileProgram(program, 0, nullptr) & !nvrtcDestroyProgram(&program);
}
#else
enum { PTX = 2 };

std::string source()
{
	std::string all = ".version 7.0\n.target sm_80\n.address_size 64\n";

	for (int i = 0; i < 50; i++)
		all += ".visible .entry f" + std::to_string(i) + "() { ret; }\n";
	return all;
}

bool work()
{
	static const std::string ptx = source();
	const char *options[] = { "-arch=sm_90" };
	void *handle = nullptr;

	if (nvJitLinkCreate(&handle, 1, options))
		return false;
	return !nvJitLinkAddData(handle, PTX, ptx.c_str(), ptx.size() + 1, "f") &
	       !nvJitLinkComplete(handle) & !nvJitLinkDestroy(&handle);
}
#endif

struct Pool {
	std::vector<std::thread> threads;
	std::atomic<bool> ends{false};
	std::atomic<int> done{0};

	void go_on()
	{
		while (!ends)
			if (work())
				done++;
			else
				std::this_thread::yield();
	}

	~Pool()
	{
		ends = true;
		for (std::thread &one : threads)
			one.join();
		std::puts("joined");
	}
};

Pool pool;

}

int main()
{
	for (int i = 0; i < 3; i++)
		pool.threads.emplace_back(&Pool::go_on, &pool);
	while (pool.done < 6)
		std::this_thread::yield();
}
