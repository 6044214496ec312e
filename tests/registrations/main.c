/* SPDX-License-Identifier: MIT */
/* main.c - a program that nvcc.c is linked into; argv[1] says whether it calls */
#include <stdio.h>
#include <stdlib.h>

int user_call(void);

int main(int argc, char **argv)
{
	if (argc > 1 && atoi(argv[1]))
		printf("%d\n", user_call());
	else
		puts("nothing called");
	return 0;
}
