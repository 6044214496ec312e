/* SPDX-License-Identifier: MIT */
/* audit_code.h - which GPUs the device code in a file serves */
#ifndef AUDIT_CODE_H
#define AUDIT_CODE_H

#include "../link/tables/arch.h"
#include "../stubs/base/arena.h"

#define CODE_TARGETS 32

/* What is asked about device code. */
struct code_wish {
	bool any;		/* --device-code or --arch */
	struct lk_arch targets[CODE_TARGETS];
	size_t target_count;
};

/* Entries that are alike. */
struct code_group {
	enum lazycuda_kind kind;	/* CUBIN, PTX or LTOIR */
	struct lk_arch arch;
	size_t count;
	bool loadable;		/* not relocatable code of a host object */
};

/* How a target is served, best first. */
enum code_service { BY_CUBIN, BY_PTX, BY_RELOCATABLE, BY_LTOIR, BY_NOTHING };

struct code {
	struct code_group *groups;
	size_t group_count;
	size_t mixed;		/* fatbins that hold LTO-IR and something else */
	const char *error;	/* what is wrong with the device code, or NULL */
};

/* Reads "sm_80,sm_90a"; false for what is no such list. */
bool code_wish_read(struct code_wish *wish, const char *list);

/* Reads headers alone: payloads are not unpacked. */
void code_read(struct lc_arena *arena, const void *bytes, size_t size, struct code *code);

enum code_service code_serves(const struct code *code, const struct lk_arch *target);

/* "cubin", "ptx", "relocatable" or "ltoir"; NULL for BY_NOTHING. */
const char *code_service_name(enum code_service service);

/* One line for each of these. */
const char *code_text(struct lc_arena *arena, const struct code *code);
const char *code_advice(struct lc_arena *arena, const struct lk_arch *target,
			enum code_service service);
const char *code_mixed_text(struct lc_arena *arena, const struct code *code);

/* Writes the object "device_code". */
void code_json(struct lc_arena *arena, const struct code *code, const struct code_wish *wish);

#endif
