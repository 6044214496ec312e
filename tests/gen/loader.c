/* SPDX-License-Identifier: MIT */
/*
 * loader.c - a loader for the made-up library
 *
 * There is no real library: a slot's function is `real_NAME` in the program.
 * lc_slow() overwrites every register that it may, as any C function could.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

#include "loader/errors.h"
#include "libthing_stub.h"
#include "loader/loader.h"
#include "loader/specifics.h"

#define EXPORT __attribute__((visibility("default")))

static int loaded;
static unsigned asked;

EXPORT void lazycuda_set_loaded(int value) { loaded = value; }
EXPORT unsigned lazycuda_asked(void) { return asked; }
EXPORT const struct lc_library *lazycuda_library(void) { return &lc_library; }

static void overwrite_registers(void)
{
#if defined(__x86_64__)
	__asm__ volatile(
		"mov $-1, %%rax\n mov %%rax, %%rcx\n mov %%rax, %%rdx\n mov %%rax, %%rsi\n"
		"mov %%rax, %%rdi\n mov %%rax, %%r8\n mov %%rax, %%r9\n mov %%rax, %%r10\n"
		"mov %%rax, %%r11\n"
		"pcmpeqd %%xmm0, %%xmm0\n pcmpeqd %%xmm1, %%xmm1\n pcmpeqd %%xmm2, %%xmm2\n"
		"pcmpeqd %%xmm3, %%xmm3\n pcmpeqd %%xmm4, %%xmm4\n pcmpeqd %%xmm5, %%xmm5\n"
		"pcmpeqd %%xmm6, %%xmm6\n pcmpeqd %%xmm7, %%xmm7\n"
		::: "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "xmm0", "xmm1",
		"xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7");
#elif defined(__aarch64__)
	__asm__ volatile(
		"mov x0, #-1\n mov x1, x0\n mov x2, x0\n mov x3, x0\n mov x4, x0\n mov x5, x0\n"
		"mov x6, x0\n mov x7, x0\n mov x8, x0\n mov x16, x0\n mov x17, x0\n"
		"movi v0.16b, #255\n movi v1.16b, #255\n movi v2.16b, #255\n movi v3.16b, #255\n"
		"movi v4.16b, #255\n movi v5.16b, #255\n movi v6.16b, #255\n movi v7.16b, #255\n"
		::: "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x16", "x17", "v0", "v1",
		"v2", "v3", "v4", "v5", "v6", "v7");
#endif
}

int32_t lc_slow(unsigned slot)
{
	const struct lc_slot *wanted = &lc_library.slots[slot];
	int32_t error = lc_library.errors[LC_MISSING];

	asked++;
	if (loaded) {
		char name[64];

		snprintf(name, sizeof(name), "real_%s", lc_library.names + wanted->name);
		lc_slot_table[slot] = (lc_function)dlsym(RTLD_DEFAULT, name);
		error = lc_slot_table[slot] ? 0 : lc_library.errors[LC_ABSENT];
	}
	overwrite_registers();
	return error;
}

int32_t lc_status_of(unsigned slot, enum lc_refusal why)
{
	(void)slot;
	return lc_library.errors[why];
}

enum lc_refusal lc_load_for(unsigned slot)
{
	return lc_slow(slot) ? LC_MISSING : LC_NONE;
}

const char *lc_text_instead(int32_t value)
{
	return value == 2 ? "instead of 2" : "instead";
}

const struct lazycuda_error *lc_last_error(void)
{
	static const struct lazycuda_error error = { .message = "the last" };

	return &error;
}

int32_t lc_hook_hooked(int32_t number, struct lc_dim dim, struct lc_pair pair, unsigned slot)
{
	if (!loaded)
		return 1000 + number;
	return lc_slots.hooked(number, dim, pair) + (slot == LC_SLOT_hooked);
}

void *lc_hook_hooked_ptr(int32_t number, unsigned slot)
{
	return loaded ? lc_slots.hooked_ptr(number) : (void *)(uintptr_t)slot;
}
