/* SPDX-License-Identifier: MIT */
/* symbols.c - the symbols of one entry, without duplicates */
#include "symbols.h"

#include <string.h>
#include <sys/auxv.h>

#include "../../stubs/base/count.h"

#define FIRST_CAPACITY 32

/* ---- the hash: SipHash-1-3 ---- */

/*
 * The author of a file chooses its names.  Under a hash without a key, all of them could
 * collide, and every lookup would compare with all of them.  The key is the 16 random
 * bytes that the kernel gives every program it starts (AT_RANDOM); nobody else knows
 * them.
 */
static void take_key(uint64_t key[2])
{
	static const void *found;
	const void *random = __atomic_load_n(&found, __ATOMIC_RELAXED);

	if (!random) {
		random = (const void *)getauxval(AT_RANDOM);
		if (!random)
			random = "no key, and yet";
		__atomic_store_n(&found, random, __ATOMIC_RELAXED);
	}
	memcpy(key, random, 2 * sizeof(*key));
}

static inline uint64_t rotate(uint64_t word, int by)
{
	return word << by | word >> (64 - by);
}

static inline void mix(uint64_t state[4])
{
	state[0] += state[1];
	state[2] += state[3];
	state[1] = rotate(state[1], 13) ^ state[0];
	state[3] = rotate(state[3], 16) ^ state[2];
	state[0] = rotate(state[0], 32) + state[3];
	state[2] += state[1];
	state[3] = rotate(state[3], 21) ^ state[0];
	state[1] = rotate(state[1], 17) ^ state[2];
	state[2] = rotate(state[2], 32);
}

static inline void absorb(uint64_t state[4], uint64_t word)
{
	state[3] ^= word;
	mix(state);
	state[0] ^= word;
}

static uint32_t hash_of(const char *name, size_t length)
{
	uint64_t key[2], last = (uint64_t)length << 56, word;
	uint64_t state[4];
	size_t left = length;

	take_key(key);
	state[0] = key[0] ^ UINT64_C(0x736f6d6570736575);
	state[1] = key[1] ^ UINT64_C(0x646f72616e646f6d);
	state[2] = key[0] ^ UINT64_C(0x6c7967656e657261);
	state[3] = key[1] ^ UINT64_C(0x7465646279746573);
	for (; left >= sizeof(word); left -= sizeof(word), name += sizeof(word)) {
		memcpy(&word, name, sizeof(word));
		absorb(state, word);
	}
	for (size_t i = 0; i < left; i++)
		last |= (uint64_t)(unsigned char)name[i] << 8 * i;
	absorb(state, last);
	state[2] ^= 0xff;
	for (int i = 0; i < 3; i++)
		mix(state);
	word = state[0] ^ state[1] ^ state[2] ^ state[3];
	return (uint32_t)(word ^ word >> 32);
}

/* ---- the table ---- */

/* Returns the slot that holds the name, or the free slot where it belongs. */
static uint32_t *find_slot(const struct lk_symbols *symbols, const char *name, size_t length,
			   uint32_t hash)
{
	for (size_t i = hash;; i++) {
		uint32_t *slot = &symbols->slots[i & (symbols->slot_count - 1)];
		const struct lazycuda_symbol *symbol;

		if (!*slot)
			return slot;
		symbol = &symbols->list[*slot - 1];
		if (symbol->hash == hash && !strncmp(symbol->name, name, length) &&
		    !symbol->name[length])
			return slot;
	}
}

struct lazycuda_symbol *lk_symbols_find(const struct lk_symbols *symbols, const char *name,
					size_t length)
{
	uint32_t *slot;

	if (!symbols->slot_count)
		return NULL;
	slot = find_slot(symbols, name, length, hash_of(name, length));
	return *slot ? &symbols->list[*slot - 1] : NULL;
}

/* Enlarges the list of symbols and the slots, so that at most half of the slots are used. */
static bool enlarge(struct lk_symbols *symbols, size_t capacity)
{
	struct lazycuda_symbol *list;
	size_t wanted = 2;
	uint32_t *slots;

	if (capacity >= UINT32_MAX / 2)
		return false;
	while (wanted < 2 * capacity)
		wanted *= 2;
	list = lc_alloc(symbols->arena, wanted / 2 * sizeof(*list));
	slots = lc_alloc(symbols->arena, wanted * sizeof(*slots));
	if (!list || !slots)
		return false;
	for (size_t i = 0; i < symbols->count; i++) {
		size_t at = symbols->list[i].hash;

		list[i] = symbols->list[i];
		while (slots[at & (wanted - 1)])
			at++;
		slots[at & (wanted - 1)] = (uint32_t)i + 1;
	}
	symbols->list = list;
	symbols->capacity = wanted / 2;
	symbols->slots = slots;
	symbols->slot_count = wanted;
	return true;
}

void lk_symbols_expect(struct lk_symbols *symbols, size_t count)
{
	if (count > symbols->capacity - symbols->count)
		enlarge(symbols, symbols->count + count);
}

static struct lazycuda_symbol *append(struct lk_symbols *symbols, const char *name, size_t length,
				      uint32_t hash)
{
	struct lazycuda_symbol *symbol;
	char *copy = lc_copy(symbols->arena, name, length);

	if (!copy)
		return NULL;
	symbol = &symbols->list[symbols->count++];
	symbol->name = copy;
	symbol->hash = hash;
	return symbol;
}

void lk_symbols_add(struct lk_symbols *symbols, const char *name, size_t length,
		    const struct lazycuda_symbol *like)
{
	uint32_t hash = hash_of(name, length);
	struct lazycuda_symbol *symbol;
	uint32_t *slot;

	if (symbols->count == symbols->capacity &&
	    !enlarge(symbols, symbols->capacity ? 2 * symbols->capacity : FIRST_CAPACITY))
		return;
	slot = find_slot(symbols, name, length, hash);
	symbol = *slot ? &symbols->list[*slot - 1] : append(symbols, name, length, hash);
	if (!symbol)
		return;
	*slot = (uint32_t)(symbol - symbols->list) + 1;
	symbol->defined |= like->defined;
	symbol->weak |= like->weak;
	symbol->kernel |= like->kernel;
	symbol->flags |= like->flags;
}

/* ---- what no input defines ---- */

/* The functions that may stay undefined in an image, since the driver has them: those that
 * nvJitLink 12.9 or 13.5 lets pass, of all names in either and in headers of the device runtime. */
static const char *const provided[] = {
	"__assertfail", "__profile", "cnpCtxSynchronize", "cnpDeviceGetAttribute",
	"cnpDeviceGetName", "cnpDeviceGetTotalMem", "cnpEventCreate", "cnpEventDestroy",
	"cnpEventRecord", "cnpFuncGetAttribute", "cnpGetCacheConfig", "cnpGetDevice",
	"cnpGetDeviceCount", "cnpGetLastError", "cnpGetLimit", "cnpGetParameterBuffer",
	"cnpGetParameterBufferV2", "cnpGetSharedMemConfig", "cnpLaunchDevice",
	"cnpLaunchDeviceV2", "cnpSetLastError", "cnpStreamCreate", "cnpStreamDestroy",
	"cnpStreamWaitEvent", "cudaDeviceMemcpyAsync", "cudaDeviceMemcpyBatchAsync",
	"cudaFabricOpErrorStatusCount", "cudaFabricOpErrorStatusGet",
	"cudaGraphKernelNodeSetEnabled", "cudaGraphKernelNodeSetGridDim",
	"cudaGraphKernelNodeSetParam", "cudaGraphKernelNodeUpdatesApply", "cudaGraphLaunch",
	"cudaGraphSetConditional", "cudaResizeSharedMemory",
	"cudaSubgridScheduleManageWarpSpecializedWorkspaceAndDependencies",
	"cudaSubgridSynchronousWorkspaceAdvanceWorkset",
	"cudaSubgridSynchronousWorkspaceCompleteAndFetchWorkItem",
	"cudaSubgridSynchronousWorkspaceGetWorksetUserData",
	"cudaSubgridSynchronousWorkspaceInitialize",
	"cudaSubgridWarpSpecializedWorkspaceAdvanceWorkset",
	"cudaSubgridWarpSpecializedWorkspaceCompleteWorkItem",
	"cudaSubgridWarpSpecializedWorkspaceFetchWorkItem",
	"cudaSubgridWarpSpecializedWorkspaceGetWorksetUserData",
	"cudaSubgridWarpSpecializedWorkspaceInitialize",
	"cudaSubgridWarpSpecializedWorkspaceWaitOnWorkItemDependencies", "free", "malloc",
	"vfprintf", "vprintf",
};

/* All that begin so may stay undefined. */
static const char syscalls[] = "__cuda_syscall";

bool lk_symbol_is_provided(const char *name)
{
	return !strncmp(name, syscalls, strlen(syscalls)) ||
	       lc_is_among(name, provided, LC_COUNT(provided));
}
