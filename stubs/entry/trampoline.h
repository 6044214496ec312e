/* SPDX-License-Identifier: MIT */
/*
 * trampoline.h - first calls whose arguments are passed on as they are
 *
 * C cannot pass on the arguments of a function that no header declares, and it
 * would copy those of a function that takes a struct by value.  Assembly passes on
 * both unseen.  The entry is the same jump as any other.  The slot first
 * leads to a few instructions that store the slot's number and jump to the
 * trampoline.  The trampoline saves every register that can hold an argument
 * and calls lc_slow().  Then it either restores the registers and jumps to the
 * function that is now in the slot, or returns the status (lc_trampoline_null:
 * NULL, for functions that return an address).  Arguments on the stack stay
 * where they are.  Vector registers are saved only as far as double and 128-bit
 * arguments use them.
 *
 * On a CPU without this code, functions that no header declares are always refused.
 */
#ifndef TRAMPOLINE_H
#define TRAMPOLINE_H

#include "entry.h"

#if defined(LC_X86_64)

__asm__(
	".pushsection .text.unlikely,\"ax\",@progbits\n"
	LC_GLOBAL("lc_trampoline")
	LC_GLOBAL("lc_trampoline" "_null")
	".type lc_trampoline, @function\n"
	"lc_trampoline" "_null:\n"	/* %r11w: slot */
	".cfi_startproc\n"
	"movzwl %r11w, %r11d\n"
	"orl $0x10000, %r11d\n"
	"jmp 2f\n"
	"lc_trampoline:\n"
	"movzwl %r11w, %r11d\n"
	"2:\n"
	"subq $200, %rsp\n"
	".cfi_adjust_cfa_offset 200\n"
	"movq %rdi, (%rsp)\n"
	"movq %rsi, 8(%rsp)\n"
	"movq %rdx, 16(%rsp)\n"
	"movq %rcx, 24(%rsp)\n"
	"movq %r8, 32(%rsp)\n"
	"movq %r9, 40(%rsp)\n"
	"movq %rax, 48(%rsp)\n"		/* %al: how many vector registers, if variadic */
	"movq %r10, 56(%rsp)\n"
	"movl %r11d, 192(%rsp)\n"
	"movaps %xmm0, 64(%rsp)\n"
	"movaps %xmm1, 80(%rsp)\n"
	"movaps %xmm2, 96(%rsp)\n"
	"movaps %xmm3, 112(%rsp)\n"
	"movaps %xmm4, 128(%rsp)\n"
	"movaps %xmm5, 144(%rsp)\n"
	"movaps %xmm6, 160(%rsp)\n"
	"movaps %xmm7, 176(%rsp)\n"
	"movzwl %r11w, %edi\n"
	"call lc_slow\n"
	"movl 192(%rsp), %ecx\n"
	"testl %eax, %eax\n"
	"jne 1f\n"
	"movzwl %cx, %ecx\n"
	"leaq lc_slot_table(%rip), %r11\n"
	"movq (%r11,%rcx,8), %r11\n"
	"movaps 176(%rsp), %xmm7\n"
	"movaps 160(%rsp), %xmm6\n"
	"movaps 144(%rsp), %xmm5\n"
	"movaps 128(%rsp), %xmm4\n"
	"movaps 112(%rsp), %xmm3\n"
	"movaps 96(%rsp), %xmm2\n"
	"movaps 80(%rsp), %xmm1\n"
	"movaps 64(%rsp), %xmm0\n"
	"movq 56(%rsp), %r10\n"
	"movq 48(%rsp), %rax\n"
	"movq 40(%rsp), %r9\n"
	"movq 32(%rsp), %r8\n"
	"movq 24(%rsp), %rcx\n"
	"movq 16(%rsp), %rdx\n"
	"movq 8(%rsp), %rsi\n"
	"movq (%rsp), %rdi\n"
	"addq $200, %rsp\n"
	".cfi_remember_state\n"
	".cfi_adjust_cfa_offset -200\n"
	"jmp *%r11\n"
	".cfi_restore_state\n"
	"1:\n"
	"shrl $16, %ecx\n"
	"decl %ecx\n"			/* all ones for a status, 0 for NULL */
	"andl %ecx, %eax\n"
	"addq $200, %rsp\n"
	".cfi_adjust_cfa_offset -200\n"
	"ret\n"
	".cfi_endproc\n"
	".size lc_trampoline, .-lc_trampoline\n"
	".popsection\n");

#define LC_SLOW_IN_ASSEMBLY(number, null) \
	"movw $" #number ", %r11w\n" \
	"jmp lc_trampoline" null "\n"

#elif defined(LC_AARCH64)

/* The return address is spilled to the stack: sign it if the compiler does. */
#if defined(__ARM_FEATURE_PAC_DEFAULT) && (__ARM_FEATURE_PAC_DEFAULT & 1)
#define LC_SIGN "hint #25\n.cfi_negate_ra_state\n"		/* paciasp */
#define LC_AUTHENTICATE "hint #29\n.cfi_negate_ra_state\n"	/* autiasp */
#else
#define LC_SIGN ""
#define LC_AUTHENTICATE ""
#endif

#define LC_LEAVE \
	"ldp x29, x30, [sp], #240\n" \
	".cfi_def_cfa_offset 0\n" \
	".cfi_restore 29\n" \
	".cfi_restore 30\n" \
	LC_AUTHENTICATE

__asm__(
	".pushsection .text.unlikely,\"ax\",@progbits\n"
	LC_GLOBAL("lc_trampoline")
	LC_GLOBAL("lc_trampoline" "_null")
	".type lc_trampoline, %function\n"
	"lc_trampoline" "_null:\n"	/* w16: slot */
	".cfi_startproc\n"
	"mov w17, #1\n"
	"b 2f\n"
	"lc_trampoline:\n"
	"mov w17, #0\n"
	"2:\n"
	LC_SIGN
	"stp x29, x30, [sp, #-240]!\n"
	".cfi_def_cfa_offset 240\n"
	".cfi_offset 29, -240\n"
	".cfi_offset 30, -232\n"
	"mov x29, sp\n"
	"stp x0, x1, [sp, #16]\n"
	"stp x2, x3, [sp, #32]\n"
	"stp x4, x5, [sp, #48]\n"
	"stp x6, x7, [sp, #64]\n"
	"stp x8, x16, [sp, #80]\n"
	"str x17, [sp, #96]\n"
	"stp q0, q1, [sp, #112]\n"
	"stp q2, q3, [sp, #144]\n"
	"stp q4, q5, [sp, #176]\n"
	"stp q6, q7, [sp, #208]\n"
	"mov w0, w16\n"
	"bl lc_slow\n"
	"cbnz w0, 1f\n"
	"ldp q6, q7, [sp, #208]\n"
	"ldp q4, q5, [sp, #176]\n"
	"ldp q2, q3, [sp, #144]\n"
	"ldp q0, q1, [sp, #112]\n"
	"ldp x8, x16, [sp, #80]\n"
	"ldp x6, x7, [sp, #64]\n"
	"ldp x4, x5, [sp, #48]\n"
	"ldp x2, x3, [sp, #32]\n"
	"ldp x0, x1, [sp, #16]\n"
	"adrp x17, lc_slot_table\n"
	"add x17, x17, #:lo12:lc_slot_table\n"
	"ldr x16, [x17, x16, lsl #3]\n"
	".cfi_remember_state\n"
	LC_LEAVE
	"br x16\n"
	".cfi_restore_state\n"
	"1:\n"
	"ldr x17, [sp, #96]\n"
	"cmp w17, #0\n"
	"csel x0, x0, xzr, eq\n"
	LC_LEAVE
	"ret\n"
	".cfi_endproc\n"
	".size lc_trampoline, .-lc_trampoline\n"
	".popsection\n");

#define LC_SLOW_IN_ASSEMBLY(number, null) \
	"mov w16, #" #number "\n" \
	"b lc_trampoline" null "\n"

#endif

/* LC_UNDECLARED: a function that no header declares; `null`: it returns an address.
 * LC_FORWARD_STATUS: a function that takes a struct by value and whose failing call only returns a
 * status. */
#ifdef LC_ASM_ENTRY
#define LC_BY_TRAMPOLINE(slot, number, null) \
	_Static_assert((number) <= UINT16_MAX, #slot); \
	LC_ASM_ENTRY(slot, number, \
		     LC_GLOBAL("lc_slow_" #slot) \
		     LC_ASM_FUNCTION("lc_slow_" #slot, LC_SLOW_IN_ASSEMBLY(number, null)))
#define LC_NULL_0 ""
#define LC_NULL_1 "_null"
#define LC_UNDECLARED(slot, number, null) \
	void lc_slow_##slot(void) LC_HIDDEN; \
	LC_BY_TRAMPOLINE(slot, number, LC_NULL_##null)
#define LC_FORWARD_STATUS(slot, number, params, args) \
	int32_t lc_slow_##slot params LC_HIDDEN; \
	LC_BY_TRAMPOLINE(slot, number, "")
#else
#define LC_FORWARD_STATUS(slot, number, params, args) \
	LC_FORWARD(int32_t, slot, params, args, error,)
#define LC_UNDECLARED(slot, number, null) \
	int32_t lc_entry_##slot(void) __attribute__((visibility("default"))); \
	int32_t lc_entry_##slot(void) \
	{ \
		int32_t error = lc_slow(LC_SLOT_##slot); \
		return null ? 0 : error ? error : lc_status_of(LC_SLOT_##slot, LC_REFUSED); \
	} \
	static void lc_slow_##slot(void) { }
#endif

#endif
