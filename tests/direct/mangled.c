/* SPDX-License-Identifier: MIT */
/* Calls a function of C++ that no header declares. */
int _Z15cuFileLoggerDbgPKcS0_(const char *a, const char *b);

int main(void)
{
	return _Z15cuFileLoggerDbgPKcS0_("two", "texts");
}
