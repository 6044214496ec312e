// SPDX-License-Identifier: MIT
// The destructor of an object of static lifetime links a program.
#include "handle.h"

#include <cstring>

extern "C" {
int nvJitLinkAddData(void *handle, int type, const void *data, std::size_t size,
		     const char *name);
int nvJitLinkComplete(void *handle);
}

namespace {

enum { PTX = 2 };

struct Linker {
	~Linker()
	{
		static const char ptx[] = ".version 7.0\n.target sm_80\n.address_size 64\n"
					  ".visible .entry kernel() { ret; }\n";

		if (make_handle())
			return;
		printf("add %d\n", nvJitLinkAddData(handle, PTX, ptx, sizeof(ptx), "kernel"));
		printf("complete %d\n", nvJitLinkComplete(handle));
		destroy_handle();
	}
};

Linker linker;

}

int main()
{
	int result = make_handle();

	destroy_handle();
	return result;
}
