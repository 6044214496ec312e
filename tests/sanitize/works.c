/* SPDX-License-Identifier: MIT */
/* works.c - compiles and runs where the sanitizer does */
int main(void)
{
	return 0;
}
