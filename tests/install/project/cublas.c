/* SPDX-License-Identifier: MIT */
/* A caller of a library whose stub only forwards. */
int cublasCreate_v2(void **handle);

int main(void)
{
	void *handle;

	return cublasCreate_v2(&handle);
}
