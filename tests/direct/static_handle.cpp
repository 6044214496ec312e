// SPDX-License-Identifier: MIT
// What owns a handle of nvJitLink has static lifetime, as in a JIT's cache.
#include "handle.h"

namespace {

struct Owner {
	~Owner()
	{
		destroy_handle();
	}
};

Owner owner;

}

// An extension has no main(), and is told to begin, and its Python may tell it to end.
#ifdef END
extern "C" void end()
{
	destroy_handle();
}
#endif

#ifdef EXTENSION
extern "C" int begin()
#else
int main()
#endif
{
	return make_handle();
}
