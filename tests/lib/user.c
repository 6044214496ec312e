/* SPDX-License-Identifier: MIT */
/* user.c - a library that needs a stub, as an extension of a wheel does */
int CALLS(void);

int user_call(void)
{
	return CALLS();
}
