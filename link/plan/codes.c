/* SPDX-License-Identifier: MIT */
/* codes.c - the names of the reasons why there is no image */
#include "../../include/lazycuda_link.h"

const char *lazycuda_code_name(enum lazycuda_code code)
{
	switch (code) {
#include "generated/codes.h"
	}
	return NULL;
}
