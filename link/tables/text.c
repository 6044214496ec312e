/* SPDX-License-Identifier: MIT */
/* text.c - which texts may stand in a message as they are */
#include "text.h"

bool lk_is_plain(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || (unsigned char)*text >= 0x7f)
			return false;
	return true;
}
