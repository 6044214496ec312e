// SPDX-License-Identifier: MIT
// A stand-in for cuRAND that has C++ objects of static lifetime, and no check of a handle.
#include <chrono>
#include <map>
#include <string>
#include <thread>

namespace {

struct Generators {
	std::map<int, std::string> *all = new std::map<int, std::string>;

	Generators()
	{
		for (int i = 0; i < 100; i++)
			(*all)[i] = "a generator";
	}

	~Generators()
	{
		delete all;
		all = nullptr;
	}
};

Generators generators;

#ifdef SLOW
// Exit handlers that are registered by now may run while this goes on.
struct Slow {
	Slow()
	{
		std::this_thread::sleep_for(std::chrono::milliseconds(400));
	}
};

Slow slow;
#endif

}

extern "C" {

int curandGetVersion(int *version)
{
	*version = 10300;
	return 0;
}

int curandCreateGenerator(void **generator, int)
{
	*generator = &generators;
	return 0;
}

int curandDestroyGenerator(void *generator)
{
	return static_cast<Generators *>(generator)->all->size() == 100 ? 0 : 1;
}

int curandGenerateSeeds(void *generator)
{
	return curandDestroyGenerator(generator);
}

}
