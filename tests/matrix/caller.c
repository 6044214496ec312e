/* SPDX-License-Identifier: MIT */
/*
 * caller.c - calls functions of the stub as a program compiled for one major
 * does, and writes down what became of it
 *
 * FUNCTIONS names a generated file with a matrix_function for each name.  The
 * plan, argv[1], is a text of
 *
 *     call NAME STATUS OTHER end|guard DRIVER AFTER
 *                                  the fake runtime is to return STATUS, from the
 *                                  call AFTER on, and to write its other outputs
 *                                  if OTHER is 1; memory ends with the argument or
 *                                  goes on behind it; the driver is of version
 *                                  DRIVER, and fails if OTHER is 1
 *     v HEX                        an argument by value
 *     b HEX                        the address of these bytes
 *     h                            a handle from __cudaRegisterFatBinary
 *     go
 *
 * and what is printed is
 *
 *     call NAME
 *     at NAME                      the fake runtime's function was reached, or
 *                                  the fake driver's
 *     v HEX | a ADDRESS HEX        with these arguments; - stands for NULL
 *     crash SIGNAL
 *     returned HEX
 *     b HEX                        the bytes of each b, with what lies behind
 *     error CAUSE STATUS LAST FUNCTION TEXT    if the stub refused
 *     last STATUS                  what cudaGetLastError() says after another error
 *     end
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <lazycuda.h>

#include "caller.h"

#include FUNCTIONS

#define BUFFERS ((unsigned char *)0x210000000000)
#define BUFFER_SIZE 0x40000
#define BUFFER_END 0x20000	/* where memory ends in the middle of each */
#define OPAQUE ((unsigned char *)0x200000000000)
#define GUARD 64
#define MAX 12

int32_t matrix_status, matrix_other;
static int32_t driver_version, status_after;
static int quiet = 1;
static sigjmp_buf escape;

static void hex(const void *bytes, size_t length)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *b = bytes;

	for (size_t i = 0; i < length; i++) {
		putchar_unlocked(digits[b[i] >> 4]);
		putchar_unlocked(digits[b[i] & 15]);
	}
}

static unsigned long number(const struct matrix_parameter *p, const void *value)
{
	unsigned long n = 0;

	memcpy(&n, value, p->size < sizeof n ? p->size : sizeof n);
	return n;
}

void matrix_reached(const char *name, int count, const struct matrix_parameter *parameters,
		    const void *const *values)
{
	if (!quiet)
		printf("at %s\n", name);
	for (int i = 0; i < count; i++) {
		const struct matrix_parameter *p = &parameters[i];
		unsigned char *pointee = NULL;
		unsigned long many = 1;

		if (p->kind == 'v') {
			if (!quiet) {
				printf("v ");
				hex(values[i], p->size);
				putchar('\n');
			}
			continue;
		}
		memcpy(&pointee, values[i], sizeof pointee);
		if (p->count >= 0)
			many = number(&parameters[p->count], values[p->count]);
		if (many > 4096)
			many = 1;
		if (!quiet) {
			printf("a %lx ", (unsigned long)pointee);
			if (!pointee)
				putchar('-');
			else if (p->kind == 'i' || p->kind == 'x')
				hex(pointee, p->size * many);
			else if (p->kind == 's')
				hex(pointee, strlen((char *)pointee));
			putchar('\n');
		}
		if (pointee && p->fill)
			for (unsigned j = 0; j < p->fills; j++)
				memcpy(pointee + j * p->size, p->fill, p->size);
		if (pointee && p->fill && matrix_other && p->other >= 0)
			memcpy(pointee, &p->other, sizeof p->other);
	}
}

int32_t matrix_result(void)
{
	return !quiet && status_after-- > 0 ? 0 : matrix_status;
}

/* --- the driver whose functions the fake runtimes hand out --- */

#define DRIVER_FAILED 4712
#define CONTEXT 0x600000000000

static int32_t driver_reached(const char *name, int count, const uint64_t *words)
{
	printf("at %s\n", name);
	for (int i = 0; i < count; i++) {
		printf("v ");
		hex(&words[i], sizeof *words);
		putchar('\n');
	}
	return matrix_other ? DRIVER_FAILED : 0;
}

#define DRIVER(name, count, write) \
static int32_t name(uint64_t a, uint64_t b, uint64_t c, uint64_t d) \
{ \
	uint64_t words[] = { a, b, c, d }; \
	int32_t status = driver_reached(#name, count, words); \
\
	if (!status) { \
		write; \
	} \
	return status; \
}
DRIVER(cuStreamGetId, 1, *(uint64_t *)b = 0x1122334455667788)
DRIVER(cuStreamGetId_ptsz, 1, *(uint64_t *)b = 0x1122334455667788)
DRIVER(cuStreamGetCtx, 1, *(uint64_t *)b = CONTEXT)
DRIVER(cuStreamGetCtx_ptsz, 1, *(uint64_t *)b = CONTEXT)
DRIVER(cuCtxPushCurrent, 1, )
DRIVER(cuCtxGetDevice, 0, *(int32_t *)a = 5)
DRIVER(cuCtxPopCurrent, 0, *(uint64_t *)a = CONTEXT)
DRIVER(cuCtxGetCurrent, 0, *(uint64_t *)a = CONTEXT)
DRIVER(cuCtxSetCurrent, 1, )
DRIVER(cuKernelSetAttribute, 4, )
DRIVER(cuProfilerInitialize, 3, )

static int32_t cuDriverGetVersion(int32_t *version)
{
	*version = driver_version;
	return 0;
}

static int32_t cuGetProcAddress(const char *symbol, void **function, int32_t version,
				uint64_t flags);
static int32_t cuGetProcAddress_v2(const char *symbol, void **function, int32_t version,
				   uint64_t flags, int32_t *found);

static const struct of_driver {
	const char *name;
	int32_t since;
	void *function, *per_thread;
} of_driver[] = {
	{ "cuGetProcAddress", 12000, cuGetProcAddress_v2, NULL },
	{ "cuGetProcAddress", 11030, cuGetProcAddress, NULL },
	{ "cuDriverGetVersion", 2020, cuDriverGetVersion, NULL },
	{ "cuStreamGetId", 12000, cuStreamGetId, cuStreamGetId_ptsz },
	{ "cuStreamGetCtx", 9020, cuStreamGetCtx, cuStreamGetCtx_ptsz },
	{ "cuCtxPushCurrent", 4000, cuCtxPushCurrent, NULL },
	{ "cuCtxGetDevice", 2000, cuCtxGetDevice, NULL },
	{ "cuCtxPopCurrent", 4000, cuCtxPopCurrent, NULL },
	{ "cuCtxGetCurrent", 4000, cuCtxGetCurrent, NULL },
	{ "cuCtxSetCurrent", 4000, cuCtxSetCurrent, NULL },
	{ "cuKernelSetAttribute", 12000, cuKernelSetAttribute, NULL },
	{ "cuProfilerInitialize", 4000, cuProfilerInitialize, NULL },
};

static const struct of_driver *known(const char *symbol, int32_t version)
{
	for (size_t i = 0; i < sizeof of_driver / sizeof *of_driver; i++)
		if (!strcmp(of_driver[i].name, symbol) && of_driver[i].since <= version)
			return &of_driver[i];
	return NULL;
}

/* What has no function here has an address that says what was asked for; names that
 * begin with cuNo are not there. */
static void *driver_function(const char *symbol, int32_t version, uint64_t flags)
{
	const struct of_driver *found =
		known(symbol, version < driver_version ? version : driver_version);

	if (found)
		return flags == 2 && found->per_thread ? found->per_thread : found->function;
	return strncmp(symbol, "cuNo", 4) && !known(symbol, INT32_MAX) ?
	       (void *)(0x700000000000 + (uint64_t)version * 16 + flags) : NULL;
}

static int32_t cuGetProcAddress(const char *symbol, void **function, int32_t version,
				uint64_t flags)
{
	void *found = driver_function(symbol, version, flags);

	if (flags > 2)
		return 1;
	if (!found)
		return 500;
	*function = found;
	return 0;
}

static int32_t cuGetProcAddress_v2(const char *symbol, void **function, int32_t version,
				   uint64_t flags, int32_t *found)
{
	*function = driver_function(symbol, version, flags);
	if (found)
		*found = *function ? 0 : driver_function(symbol, driver_version, flags) ? 2 : 1;
	return flags > 2;
}

void matrix_driver_gives(const char *symbol, void **function, int32_t version)
{
	if (symbol && known(symbol, version))
		*function = driver_function(symbol, version, 0);
}

static unsigned char digit(char c)
{
	return (unsigned char)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static size_t unhex(const char *text, unsigned char *bytes)
{
	size_t length = 0;

	for (; text[0] > ' ' && text[1] > ' '; text += 2)
		bytes[length++] = (unsigned char)(digit(text[0]) << 4 | digit(text[1]));
	return length;
}

static const struct matrix_function *find(const char *name)
{
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		if (!strcmp(functions[i].name, name))
			return &functions[i];
	fprintf(stderr, "caller: no %s\n", name);
	exit(2);
}

static uint64_t call1(const char *name, uint64_t argument)
{
	uint64_t result = 0;

	quiet = 1;
	find(name)->call((void *[]){ &argument }, &result);
	quiet = 0;
	return result;
}

static void crashed(int signal)
{
	siglongjmp(escape, signal);
}

struct argument {
	union {
		uint64_t word;
		unsigned char bytes[512];
	};
	unsigned char *buffer;	/* or NULL */
	size_t length;
};

static struct argument arguments[MAX];
static int argument_count;

static void add_buffer(char *text, int to_the_end)
{
	struct argument *a = &arguments[argument_count];
	unsigned char *base = BUFFERS + (size_t)argument_count * BUFFER_SIZE;

	a->length = (strlen(text) - 1) / 2;
	a->buffer = to_the_end ? base + BUFFER_END - a->length : base + 4096;
	if (!to_the_end)
		memset(a->buffer + a->length, 0xa5, GUARD);
	unhex(text, a->buffer);
	a->word = (uint64_t)a->buffer;
	argument_count++;
}

static void go(const struct matrix_function *function, int to_the_end)
{
	void *values[MAX];
	unsigned char result[512] = { 0 };
	int32_t status, signal;

	for (int i = 0; i < argument_count; i++)
		values[i] = arguments[i].bytes;
	call1("cudaGetLastError", 0);
	printf("call %s\n", function->name);
	signal = sigsetjmp(escape, 1);
	if (signal)
		printf("\ncrash %d\n", signal);
	else
		function->call(values, result);
	printf("returned ");
	hex(result, function->result);
	putchar('\n');
	for (int i = 0; i < argument_count; i++) {
		struct argument *a = &arguments[i];

		if (!a->buffer)
			continue;
		printf("b ");
		hex(a->buffer, a->length + (to_the_end ? 0 : GUARD));
		putchar('\n');
	}
	memcpy(&status, result, sizeof status);
	if (status == 801 || status == 302) {
		const struct lazycuda_error *error = lazycuda_get_error("cudart");

		printf("error %d %d %d %s %s\n", error->cause, error->status,
		       (int)call1("cudaGetLastError", 0), error->function, error->message);
	} else if (status) {
		printf("last %d\n", (int)call1("cudaGetLastError", 0));
	}
	puts("end");
}

static void *map(unsigned char *at, size_t size)
{
	return mmap(at, size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
}

int main(int argc, char **argv)
{
	static char line[1 << 20], output[1 << 20];
	const struct matrix_function *function = NULL;
	struct sigaction action = { .sa_handler = crashed, .sa_flags = SA_NODEFER };
	FILE *plan = argc > 1 ? fopen(argv[1], "r") : NULL;
	int to_the_end = 0;

	setvbuf(stdout, output, _IOFBF, sizeof output);
	if (!plan || lazycuda_load("cudart"))
		return 2;
	memset(map(OPAQUE, 0x20000), 0x5c, 0x20000);
	map(BUFFERS, (size_t)MAX * BUFFER_SIZE);
	for (int i = 0; i < MAX; i++)
		mprotect(BUFFERS + (size_t)i * BUFFER_SIZE + BUFFER_END, 4096, PROT_NONE);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGABRT, &action, NULL);
	quiet = 0;
	while (fgets(line, sizeof line, plan)) {
		char name[128], where[16];

		if (sscanf(line, "call %127s %d %d %15s %d %d", name, &matrix_status,
			   &matrix_other, where, &driver_version, &status_after) == 6) {
			function = find(name);
			to_the_end = !strcmp(where, "end");
			argument_count = 0;
			memset(arguments, 0, sizeof arguments);
		} else if (line[0] == 'v') {
			unhex(line + 2, arguments[argument_count++].bytes);
		} else if (line[0] == 'b') {
			add_buffer(line + 2, to_the_end);
		} else if (line[0] == 'h') {
			int32_t status = matrix_status;
			matrix_status = 0;
			arguments[argument_count++].word =
				call1("__cudaRegisterFatBinary", (uint64_t)OPAQUE);
			matrix_status = status;
		} else {
			go(function, to_the_end);
		}
	}
	puts("done");
	fflush(stdout);
	_exit(0);
}
