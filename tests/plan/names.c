/* SPDX-License-Identifier: MIT */
/* names.c - prints the name of every code */
#include <stdio.h>

#include <lazycuda_link.h>

int main(void)
{
	for (int code = -1000; code < 1000; code++)
		if (lazycuda_code_name(code))
			printf("%d %s\n", code, lazycuda_code_name(code));
	return 0;
}
