/* SPDX-License-Identifier: MIT */
/*
 * entry.h - entry points, for generated code
 *
 * An entry is a C function that calls its slot with the same arguments and
 * returns the result.  Compilers turn that into a jump and leave the arguments
 * where they are, so a new CPU needs nothing here.  On two CPUs some compilers
 * need help, because they emit more instructions than necessary:
 *
 *	x86-64	gcc emits `jmp *slot(%rip)`; clang 14 loads the slot first
 *	aarch64	adrp, ldr, br; gcc moves the slot to x16 before it jumps, clang
 *		reloads stack arguments
 *
 * All of these compilers take structs apart and rebuild them.  So on these CPUs
 * a function that takes or returns a struct by value has its jump in assembly.
 *
 * Build generated code with optimization, whatever flags the rest is built with.
 */
#ifndef ENTRY_H
#define ENTRY_H

#include <string.h>

#include "own.h"

/* A naked function does not use its parameters: clang 11 warns about that, clang 14 does not. */
#if defined(__clang__) && __clang_major__ < 14
#pragma clang diagnostic ignored "-Wunused-parameter"
#endif

/* Entries have default visibility only for the version script.  It drops these
 * names and keeps the versioned ones that LC_EXPORT derives from them. */
#ifdef LC_EMBEDDED
#define LC_VISIBLE LC_HIDDEN
#else
#define LC_VISIBLE __attribute__((visibility("default")))
#endif
#define LC_ENTRY __attribute__((no_instrument_function, aligned(16))) LC_VISIBLE LC_NAKED

/* Who compiles an embedded stub may do so without optimization, and gcc has what that needs since 8. */
#if defined(LC_X86_64) && (defined(__clang__) || (defined(LC_EMBEDDED) && __GNUC__ >= 8))
#define LC_NAKED __attribute__((naked))
#define LC_JUMP(slot, args) \
	__asm__("jmp *lc_slot_table+%c0(%%rip)" :: "i"(offsetof(struct lc_slots, slot)))
#elif defined(LC_AARCH64) && defined(__clang__)
#define LC_NAKED __attribute__((naked))
#define LC_JUMP(slot, args) \
	__asm__("adrp x16, lc_slot_table+%c0\n\t" \
		"ldr x16, [x16, #:lo12:lc_slot_table+%c0]\n\t" \
		"br x16" :: "i"(offsetof(struct lc_slots, slot)))
#elif defined(LC_AARCH64)
#define LC_NAKED
#define LC_JUMP(slot, args) \
	register __typeof__(lc_slots.slot) function __asm__("x16") = lc_slots.slot; \
	__asm__("" : "+r"(function)); \
	return function args
#else
#define LC_NAKED
#define LC_JUMP(slot, args) return lc_slots.slot args
#endif

/* A failing call zeroes the target of an output parameter. */
#define LC_ZERO(pointer, bytes) do { if (pointer) memset(pointer, 0, bytes); } while (0)

#define LC_FILLED(slot) __atomic_load_n(&lc_slots.slot, __ATOMIC_RELAXED)

/* The slow function, to which a slot leads until it is filled. */
#define LC_SLOW(type, slot, params, args, failure, zero) \
	static __attribute__((cold, noinline)) type lc_slow_##slot params \
	{ \
		int32_t error = lc_slow(LC_SLOT_##slot); \
		if (!error) \
			return LC_FILLED(slot) args; \
		zero \
		return failure; \
	}

#define LC_C_ENTRY(type, slot, params, args) \
	LC_ENTRY type lc_entry_##slot params; \
	LC_ENTRY type lc_entry_##slot params { LC_JUMP(slot, args); }

/* An entry that forwards. */
#define LC_FORWARD(type, slot, params, args, failure, zero) \
	LC_SLOW(type, slot, params, args, failure, zero) \
	LC_C_ENTRY(type, slot, params, args)

/* An entry for a function that describes a status.  Such a call is never recorded as
 * a refusal: the thread's last refusal stays, and `text` may describe it. */
#define LC_FORWARD_TEXT(type, slot, params, args, text) \
	static __attribute__((cold, noinline)) type lc_slow_##slot params \
	{ \
		return lc_load_reaches(LC_SLOT_##slot) ? LC_FILLED(slot) args : (type)text; \
	} \
	LC_C_ENTRY(type, slot, params, args)

/* An entry for a function that writes such a text into a parameter, and returns a status. */
#define LC_FORWARD_WRITTEN_TEXT(type, slot, params, args, failure, into, text) \
	static __attribute__((cold, noinline)) type lc_slow_##slot params \
	{ \
		const char *said = lc_load_reaches(LC_SLOT_##slot) ? NULL : text; \
		int32_t error = lc_slow(LC_SLOT_##slot); \
		if (!error) \
			return LC_FILLED(slot) args; \
		if (into) \
			memcpy(into, &said, sizeof(said)); \
		return failure; \
	} \
	LC_C_ENTRY(type, slot, params, args)

/* An entry in assembly, which touches no argument. */
#if defined(LC_X86_64)
#define LC_ASM_JUMP(number) \
	"jmp *lc_slot_table+8*" #number "(%rip)\n"
#elif defined(LC_AARCH64)
#define LC_ASM_JUMP(number) \
	"adrp x16, lc_slot_table+8*" #number "\n" \
	"ldr x16, [x16, #:lo12:lc_slot_table+8*" #number "]\n" \
	"br x16\n"
#endif

/* With link-time optimization C and assembly come into different objects. */
#ifdef LC_EMBEDDED
#define LC_GLOBAL(name) ".globl " name "\n.hidden " name "\n"
#else
#define LC_GLOBAL(name) ""
#endif

#ifdef LC_ASM_JUMP
/* Nothing in this section moves the stack pointer.  So it needs one entry in .eh_frame, and not
 * two for each slot, which were a third of a stub of thousands of names: LC_ASM_BEGIN and
 * LC_ASM_END stand around all of them. */
#define LC_IN_ASM(text) ".pushsection .text.lazycuda,\"ax\",@progbits\n" text ".popsection\n"
#define LC_ASM_BEGIN __asm__(LC_IN_ASM(".cfi_startproc\n"));
#define LC_ASM_END __asm__(LC_IN_ASM(".cfi_endproc\n"));
#define LC_ASM_FUNCTION(name, code) \
	".type " name ", %function\n" \
	name ":\n" \
	LC_LANDING \
	code \
	".size " name ", .-" name "\n"
/* `slow` is what stands behind the entry: on x86-64 both have room in 16 bytes. */
#define LC_ASM_ENTRY(slot, number, slow) \
	_Static_assert(LC_SLOT_##slot == (number), #slot); \
	__asm__(LC_IN_ASM( \
		".globl lc_entry_" #slot "\n" \
		LC_GLOBAL("lc_entry_" #slot) \
		".balign 16\n" \
		LC_ASM_FUNCTION("lc_entry_" #slot, LC_ASM_JUMP(number)) \
		slow));
#define LC_FORWARD_STRUCT(type, slot, number, params, args, failure, zero) \
	LC_SLOW(type, slot, params, args, failure, zero) \
	LC_ASM_ENTRY(slot, number, "")
#else
#define LC_ASM_BEGIN
#define LC_ASM_END
#define LC_FORWARD_STRUCT(type, slot, number, params, args, failure, zero) \
	LC_FORWARD(type, slot, params, args, failure, zero)
#endif

/* An entry that the stub answers itself. */
#define LC_ANSWER(type, slot, hook, hook_args, params, args, failure, zero) \
	LC_SLOW(type, slot, params, args, failure, zero) \
	LC_VISIBLE type lc_entry_##slot params; \
	type lc_entry_##slot params { return hook hook_args; }

/* One that it answers until the slot is filled. */
#define LC_ANSWER_SLOWLY(type, slot, hook, hook_args, params, args, failure, zero) \
	static __attribute__((cold, noinline)) type lc_slow_##slot params { return hook hook_args; } \
	LC_C_ENTRY(type, slot, params, args)

/* -DLC_COMPAT='"libcudart.so.12"' builds the stub with this SONAME.  It has the version
 * nodes of that library alone, and each name's default is the node named like the SONAME. */
#ifdef LC_COMPAT
#define LC_STUB_NAME(name) LC_COMPAT
#define LC_AT(at) "@@"
#define LC_OF(soname, text) ".ifeqs \"" soname "\", \"" LC_COMPAT "\"\n" text ".endif\n"
#define LC_ANY(text) ""
#else
#define LC_STUB_NAME(name) name
#define LC_AT(at) at
#define LC_OF(soname, text) text
#define LC_ANY(text) text
#endif

/* A name of an embedded entry, which C has made, or assembly. */
#define LC_NAME(slot, name) \
	extern __typeof__(lc_entry_##slot) name __attribute__((alias("lc_entry_" #slot))) LC_VISIBLE;
#ifdef LC_ASM_JUMP
#define LC_NAME_IN_ASM(slot, name) \
	__asm__(LC_IN_ASM(".globl " #name "\n.hidden " #name "\n.set " #name ", lc_entry_" #slot "\n"));
#else
#define LC_NAME_IN_ASM LC_NAME
#endif

/* Assemblers before binutils 2.35 need a separate symbol for each version. */
#define LC_VERSIONED(slot, name, at, node) \
	".globl \"lc." #name "." node "\"\n" \
	".set \"lc." #name "." node "\", lc_entry_" #slot "\n" \
	".symver \"lc." #name "." node "\", \"" #name at node "\"\n"

/* A version of an entry: LC_EXPORT(cudaMalloc, cudaMalloc, "@@", "libcudart.so.13"). */
#define LC_EXPORT(slot, name, at, soname) \
	__asm__(LC_OF(soname, LC_VERSIONED(slot, name, LC_AT(at), soname)));

/* Another version node, of the library with this SONAME; "": of an older library. */
#define LC_EXPORT_NODE(slot, name, node, soname) \
	__asm__(LC_OF(soname, LC_VERSIONED(slot, name, "@", node)));

/* A name without a version that only dlsym() and references without a version find, at run time:
 * it is hidden from linkers. */
#define LC_EXPORT_ANY(slot, name) __asm__(LC_ANY(LC_VERSIONED(slot, name, "@", "")));

/* A version of an entry for everybody: none. */
#define LC_EXPORT_PLAIN(slot, name) \
	__asm__(".globl " #name "\n" \
		".set " #name ", lc_entry_" #slot "\n");

/* A variable that the real library exports, at first with these bytes. */
#define LC_DATA(name, size, ...) \
	char lc_entry_##name[size] __attribute__((aligned(16))) LC_VISIBLE = __VA_ARGS__;

/* The linker puts sections of this name into RELRO. */
#define LC_TABLE LC_USED __attribute__((section(".data.rel.ro.lazycuda")))

/* lc_slots as an array. */
#define LC_TABLE_OF_SLOTS \
	extern lc_function lc_slot_table[LC_SLOTS] \
		__attribute__((alias("lc_slots"))) LC_HIDDEN LC_USED;

#endif
