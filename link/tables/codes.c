/* SPDX-License-Identifier: MIT */
/* codes.c - the names of the reasons why there is no image */
#include "../../include/lazycuda_link.h"

#define CODE(name) { LAZYCUDA_CODE_##name, #name }

static const struct {
	enum lazycuda_code code;
	const char *name;
} codes[] = {
	CODE(OK),
	CODE(NO_INPUTS),
	CODE(BAD_ARCH),
	CODE(BAD_OPTION),
	CODE(BAD_REQUEST),
	CODE(BAD_INPUT),
	CODE(UNKNOWN_KIND),
	CODE(UNSUPPORTED_KIND),
	CODE(KIND_MISMATCH),
	CODE(NO_DEVICE_CODE),
	CODE(NO_USABLE_ENTRY),
	CODE(LINKED_CUBIN),
	CODE(DUPLICATE_SYMBOL),
	CODE(CANNOT_UNPACK),
	CODE(UNPACK_LIMIT),
	CODE(PTX_TOO_NEW),
	CODE(CUBIN_TOO_NEW),
	CODE(LTOIR_TOO_NEW),
	CODE(LTOIR_CROSS_MAJOR),
	CODE(ARCH_MISMATCH),
	CODE(ARCH_UNSUPPORTED),
	CODE(OPTION_UNSUPPORTED),
	CODE(PTX_NEEDS_LTO),
	CODE(NO_BACKEND),
	CODE(NVJITLINK_REQUIRED),
	CODE(NVJITLINK_TOO_OLD),
	CODE(NVRTC_REQUIRED),
	CODE(NVRTC_TOO_NEW),
	CODE(CROSS_MAJOR),
	CODE(LTOIR_ON_DRIVER),
	CODE(DRIVER_TOO_OLD),
	CODE(CONSTRAINT),
	CODE(INSUFFICIENT_METADATA),
	CODE(COMPILE_FAILED),
	CODE(LINK_FAILED),
	CODE(UNDEFINED_SYMBOL),
	CODE(BAD_IMAGE),
	CODE(BACKEND_MISSING),
	CODE(DRIVER_FAILED),
	CODE(NO_MEMORY),
};

const char *lazycuda_code_name(enum lazycuda_code code)
{
	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		if (codes[i].code == code)
			return codes[i].name;
	return NULL;
}
