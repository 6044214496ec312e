// SPDX-License-Identifier: MIT
// What owns a handle has static lifetime, as in a JIT's cache; with -DAGAIN it makes another one.
#include "handle.h"

namespace {

struct Owner {
	~Owner()
	{
		destroy_handle();
#ifdef AGAIN
		make_handle();
		destroy_handle();
#endif
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
