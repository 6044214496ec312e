/* SPDX-License-Identifier: MIT */
/* works.c - compiles where the sanitizer is there */
int main(void)
{
	return 0;
}
