// SPDX-License-Identifier: MIT
// What owns a generator of cuRAND has static lifetime.
#include <cstdio>

extern "C" {
int curandCreateGenerator(void **generator, int kind);
int curandDestroyGenerator(void *generator);
}

namespace {

struct Generator {
	void *generator = nullptr;

	~Generator()
	{
		if (!generator)
			return;
		std::printf("destroy %d\n", curandDestroyGenerator(generator));
		std::fflush(stdout);
	}
};

Generator generator;

}

int main()
{
	std::printf("create %d\n", curandCreateGenerator(&generator.generator, 0));
	std::fflush(stdout);
}
