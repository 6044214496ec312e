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
	int driver;		/* only code that a driver of this CUDA loads, 12040; 0: any */
};

/* Entries that are alike. */
struct code_group {
	enum lazycuda_kind kind;	/* CUBIN, PTX or LTOIR */
	struct lk_arch arch;
	int toolkit, isa;	/* of what made it; 0 if that is not known */
	int driver;		/* the oldest that loads it; 0 if that is not known */
	size_t count;
	bool loadable;		/* linked, or PTX that the driver compiles by itself */
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

/* Unpacks payloads: what made a compressed cubin is said in it. */
void code_read(struct lc_arena *arena, const void *bytes, size_t size, struct code *code);

/* What serves a target. */
struct code_answer {
	enum code_service service;
	const struct code_group *group;	/* NULL for BY_NOTHING */
	const struct code_group *not_loaded;	/* would be better, but the driver does not take it */
};
struct code_answer code_serves(const struct code *code, const struct code_wish *wish,
			       const struct lk_arch *target);

/* "cubin", "ptx", "relocatable" or "ltoir"; NULL for BY_NOTHING. */
const char *code_service_name(enum code_service service);

/* One line for each of these. */
const char *code_text(struct lc_arena *arena, const struct code *code);
const char *code_advice(struct lc_arena *arena, const struct code_wish *wish,
			const struct lk_arch *target, const struct code_answer *answer);
const char *code_mixed_text(struct lc_arena *arena, const struct code *code);

/* Writes the object "device_code". */
void code_json(struct lc_arena *arena, const struct code *code, const struct code_wish *wish);

#endif
