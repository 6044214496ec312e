/* SPDX-License-Identifier: MIT */
/*
 * stack.c - a search has a stack of its own where the caller's may be small
 *
 * A call of the real library may need a few hundred bytes of stack, and a program may make it in a
 * coroutine or on a signal stack of 4 KiB.  A search, dlopen() and the constructors of the
 * library need more, which the program would have had at its start.
 */
#include "stack.h"

#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "forks.h"
#include "../base/auxiliary.h"
#include "../base/objects.h"
#include "../base/thread.h"
#include "../entry/stub.h"

#define ENOUGH ((size_t)1 << 20)

/* syscall() reads all arguments that there may be, also above the outermost frame. */
#define ABOVE 256

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#else
#define __sanitizer_start_switch_fiber(saved, bottom, size) (void)(saved)
#define __sanitizer_finish_switch_fiber(saved, bottom, size) (void)(saved)
#endif

/*
 * lc_call_on(top, function, data) calls the function on the stack that ends at `top`.  Debuggers and
 * exceptions find the way back by the frame pointer.  The shadow stack of a CPU that has one
 * stays: calls and returns match.
 *
 * System calls go through syscall(), because ld.so looks up every function that a stub imports.
 */
#if defined(LC_X86_64)
#define LC_HAS_CALL_ON
__asm__(
	".pushsection .text\n"
	".globl lc_call_on\n"
	".hidden lc_call_on\n"
	".type lc_call_on, @function\n"
	"lc_call_on:\n"
	".cfi_startproc\n"
	LC_LANDING
	"pushq %rbp\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset %rbp, -16\n"
	"movq %rsp, %rbp\n"
	".cfi_def_cfa_register %rbp\n"
	"movq %rdi, %rsp\n"
	"movq %rdx, %rdi\n"
	"call *%rsi\n"
	"movq %rbp, %rsp\n"
	"popq %rbp\n"
	".cfi_def_cfa %rsp, 8\n"
	"ret\n"
	".cfi_endproc\n"
	".size lc_call_on, .-lc_call_on\n"
	".popsection\n");
#elif defined(LC_AARCH64)
#define LC_HAS_CALL_ON
#if defined(__ARM_FEATURE_PAC_DEFAULT) && (__ARM_FEATURE_PAC_DEFAULT & 1)
#define LC_SIGN_RETURN "hint #25\n.cfi_negate_ra_state\n"	/* paciasp */
#define LC_CHECK_RETURN "hint #29\n.cfi_negate_ra_state\n"	/* autiasp */
#else
#define LC_SIGN_RETURN ""
#define LC_CHECK_RETURN ""
#endif
__asm__(
	".pushsection .text\n"
	".globl lc_call_on\n"
	".hidden lc_call_on\n"
	".type lc_call_on, %function\n"
	"lc_call_on:\n"
	".cfi_startproc\n"
	LC_LANDING
	LC_SIGN_RETURN
	"stp x29, x30, [sp, #-16]!\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset 29, -16\n"
	".cfi_offset 30, -8\n"
	"mov x29, sp\n"
	".cfi_def_cfa_register 29\n"
	"mov sp, x0\n"
	"mov x0, x2\n"
	"blr x1\n"
	"mov sp, x29\n"
	".cfi_def_cfa_register 31\n"
	"ldp x29, x30, [sp], #16\n"
	".cfi_def_cfa_offset 0\n"
	".cfi_restore 29\n"
	".cfi_restore 30\n"
	LC_CHECK_RETURN
	"ret\n"
	".cfi_endproc\n"
	".size lc_call_on, .-lc_call_on\n"
	".popsection\n");
#endif

/* The thread sanitizer knows no stacks but those of threads. */
#if !defined(LC_HAS_CALL_ON) || LC_THREAD_SANITIZED

void lc_call_with_stack(void (*function)(void *data), void *data)
{
	function(data);
}

#else

void lc_call_on(char *top, void (*function)(void *), void *data) LC_HIDDEN;

/* Returns true if this is the stack that the process was started with, and enough of it is left.
 * The kernel has put the program's name at its end. */
static bool main_has_enough(void)
{
	const uintptr_t end = lc_auxval(AT_EXECFN), here = (uintptr_t)__builtin_frame_address(0);
	struct rlimit limit;

	return end > here && !syscall(SYS_prlimit64, 0, RLIMIT_STACK, NULL, &limit) &&
	       end - here < limit.rlim_cur && limit.rlim_cur - (end - here) > ENOUGH &&
	       end - here < (size_t)1 << 30;
}

/* Of the words in which glibc keeps what it knows of this thread, as many as there are in any glibc. */
#define OF_THREAD_WORDS 220
#if defined(LC_X86_64)
#define OF_THREAD_START(pointer) (pointer)
#else
#define OF_THREAD_START(pointer) ((pointer) - OF_THREAD_WORDS)
#endif

/*
 * Returns true if this is the stack that the thread was started with, and enough of it is left.
 * glibc notes three words in a row: where the block begins that has the stack and, at its end, the
 * thread's own variables; its size; and that of the guard.  pthread_getattr_np() would hold a lock,
 * and ask for memory meanwhile, whoever serves that.
 */
static bool thread_has_enough(void)
{
	const uintptr_t *const pointer = lc_this_thread(), *const words = OF_THREAD_START(pointer);
	const uintptr_t here = (uintptr_t)__builtin_frame_address(0), end = (uintptr_t)pointer;

	if (lc_is_in_static_program() || here > end)
		return false;
	for (size_t i = 0; i + 2 < OF_THREAD_WORDS; i++) {
		const uintptr_t start = words[i], size = words[i + 1], guard = words[i + 2];

		if (start && start < here && guard < size && size - (end - start) < ENOUGH)
			return here - start > guard + ENOUGH;
	}
	return false;
}

/* Collectors of garbage that serve malloc() read the thread's own stack alone. */
static bool has_enough(void)
{
	return main_has_enough() || thread_has_enough();
}

/* A call on another stack, as it goes on there. */
struct moved {
	void (*function)(void *data);
	void *data;
	char *stack;
	stack_t signals;	/* if the caller is on a signal stack: that one */
	void *fake;		/* AddressSanitizer's */
	const void *bottom;	/* of the caller's stack, as AddressSanitizer knows it */
	size_t size;
};

/*
 * If the caller is on a signal stack, the kernel would take that for free now, and a second signal
 * would overwrite it.  Until the caller is back there is none.
 */
static void go_on_here(void *data)
{
	static const stack_t none = { .ss_flags = SS_DISABLE };
	struct moved *moved = data;
	const bool signalled = moved->signals.ss_flags & SS_ONSTACK;

	__sanitizer_finish_switch_fiber(NULL, &moved->bottom, &moved->size);
	if (signalled)
		syscall(SYS_sigaltstack, &none, NULL);
	moved->function(moved->data);
	moved->signals.ss_flags &= ~SS_ONSTACK;
	if (signalled)
		syscall(SYS_sigaltstack, &moved->signals, NULL);
	__sanitizer_start_switch_fiber(NULL, moved->bottom, moved->size);
}

/* Maps a stack at a multiple of its size, with a guard below; NULL if there is no room. */
static char *new_stack(void)
{
	const size_t size = LC_STACK_BYTES;
	char *block = mmap(NULL, 2 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	char *stack;

	if (block == MAP_FAILED)
		return NULL;
	stack = (char *)(((uintptr_t)block + size - 1) & ~(size - 1));
	if (stack > block)
		munmap(block, (size_t)(stack - block));
	if (stack < block + size)
		munmap(stack + size, (size_t)(block + size - stack));
	if (!mprotect(stack + (64 << 10), size - (64 << 10), PROT_READ | PROT_WRITE))
		return stack;
	munmap(stack, size);
	return NULL;
}

void lc_call_with_stack(void (*function)(void *data), void *data)
{
	struct moved moved = { .function = function, .data = data };
	uint32_t left;

	moved.stack = has_enough() ? NULL : new_stack();
	if (!moved.stack) {
		function(data);
		return;
	}
	syscall(SYS_sigaltstack, NULL, &moved.signals);
	left = lc_move_in(moved.stack);
	__sanitizer_start_switch_fiber(&moved.fake, moved.stack, LC_STACK_BYTES);
	lc_call_on(moved.stack + LC_STACK_BYTES - ABOVE, go_on_here, &moved);
	__sanitizer_finish_switch_fiber(moved.fake, NULL, NULL);
	lc_move_back(left);
	munmap(moved.stack, LC_STACK_BYTES);
}

#endif
