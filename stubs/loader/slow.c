/* SPDX-License-Identifier: MIT */
/* slow.c - a call through a slot that does not lead to a real function, or not yet */
#include "errors.h"
#include "loader.h"

int32_t lc_slow(unsigned slot)
{
	enum lc_refusal refusal = lc_load_for(slot);

	return refusal == LC_NONE ? 0 : lc_refuse(slot, refusal);
}
