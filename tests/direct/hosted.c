/* SPDX-License-Identifier: MIT */
/* hosted.c - what host.c opens, linked to the real library itself */
int cudaRuntimeGetVersion(int *version);

int hosted_call(void)
{
	int version;

	return cudaRuntimeGetVersion(&version);
}
