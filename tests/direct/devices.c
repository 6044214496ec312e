/* SPDX-License-Identifier: MIT */
/* A plugin that counts devices. */
int cudaGetDeviceCount(int *count);
int begin(void);

int begin(void)
{
	int count;

	return cudaGetDeviceCount(&count);
}
