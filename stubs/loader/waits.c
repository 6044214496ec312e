/* SPDX-License-Identifier: MIT */
/* waits.c - waiting for a thread that does what this one needs */
#include "waits.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <linux/futex.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../base/arena.h"
#include "../base/auxiliary.h"
#include "../base/count.h"
#include "../base/glibc.h"

#define WAITS_A_SECOND (1000 / LC_WAIT_MS)
/* Where the kernel tells nothing. */
#define BLIND_SECONDS 10

enum worker_state { UNKNOWN, WORKS, WAITS_FOR_LDSO, NEVER_ENDS };

void lc_work_begin(struct lc_work *work, const void *frame)
{
	*work = (struct lc_work){ lc_this_thread(), lc_thread_id(), frame };
}

void lc_wake(const _Atomic int *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* Returns true if an address is in ld.so, whose locks are variables of its own. */
static bool is_in_ldso(uintptr_t address)
{
	uintptr_t base = lc_auxval(AT_BASE);
	const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)base;
	const ElfW(Phdr) *phdrs = (const ElfW(Phdr) *)(base + (base ? header->e_phoff : 0));

	for (size_t i = 0; base && i < header->e_phnum; i++)
		if (phdrs[i].p_type == PT_LOAD &&
		    address - base - phdrs[i].p_vaddr < phdrs[i].p_memsz)
			return true;
	return false;
}

/* Returns true if this thread holds the mutex that another one is waiting for.  glibc's mutexes
 * begin with the word that is waited for, a count and the owner. */
static bool is_held_here(uintptr_t mutex)
{
	const int *words = (const int *)mutex;

	/* The word need not be a mutex's: it may be the last of a page. */
	return mutex % 4096 <= 4096 - 3 * sizeof(int) && words[2] == lc_thread_id();
}

/* `line` is what the kernel says of the thread: the number of the system call that it is in, six
 * arguments, stack pointer and program counter; or else "running", or "-1" and the last two. */
static enum worker_state judge_thread(const struct lc_work *work, const char *line)
{
	uintptr_t words[8];
	char *end;

	if (*line < '0' || *line > '9')
		return WORKS;
	for (size_t i = 0; i < LC_COUNT(words); i++, line = end)
		words[i] = (uintptr_t)strtol(line, &end, 0);
	/* A shorter stack means that the thread has left the work; a far address is of another stack. */
	if (words[7] - (uintptr_t)work->frame < 64 << 20)
		return NEVER_ENDS;
	if (words[0] != SYS_futex)
		return WORKS;
	if (is_held_here(words[1]))
		return NEVER_ENDS;
	return is_in_ldso(words[1]) ? WAITS_FOR_LDSO : WORKS;
}

#define TASKS "/proc/self/task"

static bool is_gone(pid_t thread)
{
	char path[64];
	struct stat st;

	lc_print(path, sizeof(path), TASKS "/%d", (int)thread);
	return !stat(TASKS, &st) && stat(path, &st) && errno == ENOENT;
}

static enum worker_state worker_state_of(const struct lc_work *work)
{
	char path[64], line[256];
	ssize_t length;
	int fd;

	lc_print(path, sizeof(path), TASKS "/%d/syscall", (int)work->thread);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return is_gone(work->thread) ? NEVER_ENDS : UNKNOWN;
	length = pread(fd, line, sizeof(line) - 1, 0);
	close(fd);
	if (length <= 0)
		return UNKNOWN;
	line[length] = 0;
	return judge_thread(work, line);
}

/* Returns false if it is no use to wait on, after this many waits. */
static bool may_end(const struct lc_work *work, int waits)
{
	int cancellation = PTHREAD_CANCEL_ENABLE;
	enum worker_state state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellation);
	state = worker_state_of(work);
	pthread_setcancelstate(cancellation, &cancellation);
	switch (state) {
	case NEVER_ENDS:
		return false;
	case WAITS_FOR_LDSO:
		return waits < WAITS_A_SECOND;
	case UNKNOWN:
		return waits < BLIND_SECONDS * WAITS_A_SECOND;
	default:
		return true;
	}
}

bool lc_wait_for(const struct lc_work *work, const _Atomic int *word, int value, int *waits)
{
	const struct timespec time = { .tv_nsec = LC_WAIT_MS * 1000000 };

	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &time, NULL, 0);
	return atomic_load(word) != value || may_end(work, ++*waits);
}
