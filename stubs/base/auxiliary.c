/* SPDX-License-Identifier: MIT */
/* auxiliary.c - what the kernel told the process, and whose libc this is */
#include "auxiliary.h"

#include <fcntl.h>
#include <link.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arena.h"
#include "glibc.h"
#include "thread.h"

const char *lc_own_file(char *buffer, const char *name)
{
	lc_print(buffer, LC_OWN_PATH, "/proc/self/task/%d/%s", (int)lc_thread_id(), name);
	return buffer;
}

#ifndef PR_GET_AUXV
# define PR_GET_AUXV 0x41555856
#endif

/* Linux since 6.4 tells without /proc, which a chroot may lack.  A process of which this cannot be
 * told is taken for privileged, and for one with the smallest pages. */
static unsigned long from_kernel(unsigned long type)
{
	char buffer[LC_OWN_PATH];
	int fd = LC_AGAIN(open(lc_own_file(buffer, "auxv"), O_RDONLY | O_CLOEXEC));
	ElfW(auxv_t) values[64];
	ssize_t length = fd >= 0 ? LC_AGAIN(pread(fd, values, sizeof(values), 0)) :
			 syscall(SYS_prctl, PR_GET_AUXV, values, sizeof(values), 0, 0);
	unsigned long value = type == AT_PAGESZ ? 4096 : type == AT_SECURE;

	for (ssize_t i = 0; (i + 1) * (ssize_t)sizeof(*values) <= length; i++)
		if (values[i].a_type == type)
			value = values[i].a_un.a_val;
	if (fd >= 0)
		close(fd);
	return value;
}

/* Where ld.so has started nothing, getauxval() of glibc 2.31 follows a null pointer. */
unsigned long lc_auxval(unsigned long type)
{
	return lc_is_in_static_program() ? from_kernel(type) : getauxval(type);
}

bool lc_is_privileged(void)
{
	return lc_auxval(AT_SECURE);
}
