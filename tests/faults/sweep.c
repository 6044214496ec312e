/* SPDX-License-Identifier: MIT */
/*
 * sweep.c - everything that a stub calls fails in turn: `sweep SCENARIO STUB ANSWER [FILE]`
 *
 * A scenario runs once for each call of each function in a process of its own,
 * in which that call fails, and once more with all later ones failing too.  Each
 * time what comes of it has to be success or the documented error, with outputs
 * defined; nothing may be lost or held; and once the fault is over, a call has to
 * reach the real library, whose function answers ANSWER; 0: there is none.  FILE
 * is a real library that appears meanwhile.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <lazycuda.h>

#include "../lib/open_files.h"
#include "inject.h"

enum {
	NO_SUCH_CALL = 3,
	REMEMBERED = 16,	/* blocks: one more status, with what was known when it was made,
				   and one more error message */
	SHOWN = 5,
#ifdef SANITIZED
	EVERY = 10,		/* a process takes long: of later calls only some fail */
#else
	EVERY = 1 << 30,	/* up to this call each fails */
#endif
	TOO_OLD = 35,		/* the driver, for what is left */
	DRIVER = 12040,
	BRANCH = 550,		/* of the driver that is there */
	FAKE = 0x40000000,	/* what fakes answer with at least */
};

/* What a scenario needs of the stub. */
static struct stub {
	const char *library, *file;
	int missing, absent;	/* what calls return without the library, without the name */
	const char *node, *name, *out;	/* two functions; the second has an output first */
	int (*call)(void *, void *);
	int (*call_out)(void *, void *, void *, void *);
} stubs[] = {
	{ "cudart", "/libcudart_stub.so", 303, 302, "libcudart.so.13", "cudaDeviceSynchronize",
	  "cudaMalloc", NULL, NULL },
	{ "cuda", "/libcuda_stub.so", 34, 500, NULL, "cuCtxSynchronize", "cuMemAlloc_v2",
	  NULL, NULL },
};

static struct stub *stub;
static void *handle;
static int answer;
static bool believed;		/* what failed was taken for an answer */
static const char *appearing;

/* Of the process in which something fails, seen by the one that started it. */
static struct seen {
	struct held held;
	char said[400];
	int failures;
} *seen;

#define CHECK(condition, ...) \
	do { \
		if (!(condition) && !seen->failures++) \
			snprintf(seen->said, sizeof(seen->said), __VA_ARGS__); \
	} while (0)

static void *find(const char *name, const char *node)
{
	void *symbol = node ? dlvsym(handle, name, node) : dlsym(handle, name);

	if (!symbol) {
		printf("%s\n", dlerror());
		exit(2);
	}
	return symbol;
}
#define CALL(type, name, ...) (((type)find(name, NULL))(__VA_ARGS__))

/* ---- what is done, with a fault and after it ---- */

static void check_status(void)
{
	const struct lazycuda_status *status =
		CALL(const struct lazycuda_status *(*)(const char *), "lazycuda_get_status",
		     stub->library);

	CHECK(status && status->size && status->reason && status->library, "no status");
	CHECK(status && (status->state == LAZYCUDA_STATE_USABLE) == (status->path != NULL),
	      "a status of state %d with path %s", status->state, status->path);
	for (size_t i = 0; status && i < status->candidate_count; i++)
		CHECK(status->candidates[i].path && status->candidates[i].reason,
		      "a candidate without a reason");
}

static void check_error(void)
{
	const struct lazycuda_error *error =
		CALL(const struct lazycuda_error *(*)(const char *), "lazycuda_get_error",
		     stub->library);

	CHECK(error && error->message[0] && error->function, "no error");
	CHECK(error && (error->cause == LAZYCUDA_CAUSE_NO_LIBRARY || believed), "cause %d",
	      error->cause);
}

/* Whether a function may return this: what it does, or the documented error. */
static bool is_answer(int said)
{
	if (said == stub->missing || (answer && said == answer))
		return true;
	/* Without that name of a function it is another one of the same interface. */
	return believed && answer && (said == stub->absent || said == 801 ||
				      said == TOO_OLD || said >= FAKE);
}

/* Both functions, with the output checked. */
static void call(void)
{
	static char poison;
	void *out = &poison, *words[8] = { &out };
	int said = stub->call(words, NULL), other;

	CHECK(is_answer(said), "%s returns %d", stub->name, said);
	other = stub->call_out(&out, &out, &out, &out);
	CHECK(other != stub->missing || !out, "%s leaves its output undefined", stub->out);
	check_status();
	if (said == stub->missing)
		check_error();
}

static void load(void)
{
	int unusable = CALL(int (*)(const char *), "lazycuda_load", NULL);

	CHECK(unusable >= 0 && unusable <= 3, "lazycuda_load returns %d", unusable);
	check_status();
}

static void *call_in_thread(void *said)
{
	void *words[8] = { NULL };

	*(int *)said = stub->call(words, NULL);
	return NULL;
}

/* Another thread can call, and gets what there is. */
static void call_at_last(void)
{
	int expected = answer ? answer : stub->missing, said = -1;
	pthread_t thread;

	pthread_create(&thread, NULL, call_in_thread, &said);
	pthread_join(thread, NULL);
	CHECK(said == expected || (believed && is_answer(said)),
	      "once the fault is over %s returns %d, not %d", stub->name, said, expected);
	check_status();
}

static void nothing(void)
{
}

/* ---- the driver ---- */

static void ask(int unknown)
{
	struct lazycuda_driver driver =
		CALL(struct lazycuda_driver (*)(void), "lazycuda_get_driver");

	CHECK(driver.version == DRIVER || (unknown && !driver.version), "a driver for %d",
	      driver.version);
	CHECK(driver.branch == BRANCH || (unknown && !driver.branch), "a driver of branch %d",
	      driver.branch);
}

static void ask_driver(void)
{
	ask(1);
}

static void ask_at_last(void)
{
	ask(believed);
}

/* ---- errors in words ---- */

static void tell(void)
{
	const char *(*string)(int) = find("cudaGetErrorString", stub->node);
	const char *(*name)(int) = find("cudaGetErrorName", stub->node);
	int (*last)(void) = find("cudaGetLastError", stub->node);

	call();
	CHECK(string(303) && string(303)[0], "no error string");
	CHECK(name(303) && !strcmp(name(303), "cudaErrorSharedObjectInitFailed"), "no error name");
	last();
	CHECK(string(801) && string(12345), "no error string");
}

/* ---- a library that appears ---- */

static void appear(void)
{
	call();
	if (!dlopen(appearing, RTLD_NOW)) {
		printf("%s\n", dlerror());
		_exit(2);
	}
}

/* ---- nvcc's registrations ---- */

static void **binary;
static const char function[1];

static void record(void)
{
	static const int wrapper[6];
	void **(*begin)(const void *) = find("__cudaRegisterFatBinary", stub->node);
	void (*end)(void **) = find("__cudaRegisterFatBinaryEnd", stub->node);
	void (*one)(void **, const void *, char *, const char *, int, void *, void *, void *,
		    void *, int *) = find("__cudaRegisterFunction", stub->node);

	binary = begin(wrapper);
	for (int i = 0; i < 3; i++)
		one(binary, function, (char *)"k", "k", -1, NULL, NULL, NULL, NULL, NULL);
	end(binary);
}

static void record_and_call(void)
{
	record();
	call();
}

static void unregister(void)
{
	void (*remove)(void **) = find("__cudaUnregisterFatBinary", stub->node);

	call_at_last();
	remove(binary);
}

/* ---- fork ---- */

static void call_in_child(void)
{
	int status = -1;
	pid_t child;

	call_at_last();
	child = fork();
	if (child == 0) {
		alarm(20);
		call_at_last();
		_exit(seen->failures);
	}
	waitpid(child, &status, 0);
	CHECK(!status, "a child of fork() ends with %#x", status);
}

static const struct scenario {
	const char *name;
	void (*before)(void), (*act)(void), (*after)(void);
} scenarios[] = {
	{ "call", nothing, call, call_at_last },
	{ "load", nothing, load, call_at_last },
	{ "ask", nothing, ask_driver, ask_at_last },
	{ "tell", nothing, tell, call_at_last },
	{ "appear", appear, call, call_at_last },
	{ "record", nothing, record_and_call, unregister },
	{ "replay", record, call, unregister },
	{ "fork", nothing, call, call_in_child },
};

/* ---- one run ---- */

/* Present where the run is sanitized. */
extern int __lsan_do_recoverable_leak_check(void) __attribute__((weak));

static int run(const struct scenario *scenario, struct injection wanted)
{
	int files = open_files();

	alarm(10);
	scenario->before();
	injection = wanted;
	believed = wanted.fault && !wanted.fault->passes;
	scenario->act();
	injection.fault = NULL;
	if (wanted.fault && injection.calls < wanted.at)
		return NO_SUCH_CALL;
	scenario->after();
	CHECK(open_files() == files, "%d files are open, not %d", open_files(), files);
	CHECK(!held.pages && !held.folders, "%ld pages and %ld folders are lost",
	      held.pages, held.folders);
	if (__lsan_do_recoverable_leak_check)
		CHECK(!__lsan_do_recoverable_leak_check(), "memory is lost");
	seen->held = held;
	return 0;
}

/* Returns run()'s status; anything else that ends a process is a failure. */
static int in_process(const struct scenario *scenario, struct injection wanted)
{
	int status;
	pid_t child;

	*seen = (struct seen){ .failures = 0 };
	fflush(stdout);
	child = fork();
	if (child == 0)
		_exit(run(scenario, wanted));
	waitpid(child, &status, 0);
	CHECK(WIFEXITED(status), "%s", strsignal(WTERMSIG(status)));
	CHECK(!WIFEXITED(status) || !WEXITSTATUS(status) || WEXITSTATUS(status) == NO_SUCH_CALL,
	      "exit status %d", WEXITSTATUS(status));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

/* ---- all of them ---- */

static int failures;

static void report(const struct injection *wanted)
{
	if (seen->failures && failures++ < SHOWN)
		printf("%s %ld%s fails (%s): %s\n", wanted->fault->function, wanted->at,
		       wanted->lasting ? " and on" : "", strerror(wanted->fault->error),
		       seen->said);
}

static long fail_all(const struct scenario *scenario, const struct fault *fault, bool lasting,
		     const struct held *usual)
{
	struct injection wanted = { .fault = fault, .at = 1, .lasting = lasting };

	for (long calls = 0;; calls++) {
		if (in_process(scenario, wanted) == NO_SUCH_CALL)
			return calls;
		CHECK(seen->held.handles <= usual->handles, "%ld handles are held, not %ld",
		      seen->held.handles, usual->handles);
		CHECK(seen->held.blocks <= usual->blocks + REMEMBERED,
		      "%ld blocks are held, not %ld", seen->held.blocks, usual->blocks);
		report(&wanted);
		wanted.at += 1 + (wanted.at >= EVERY ? wanted.at / 2 : 0);
	}
}

static void sweep(const struct scenario *scenario)
{
	struct held usual;
	long calls = 0;

	if (in_process(scenario, (struct injection){ .fault = NULL }) || seen->failures) {
		printf("without a fault: %s\n", seen->said);
		exit(2);
	}
	usual = seen->held;
	for (size_t i = 0; i < fault_count; i++) {
		failures = 0;
		for (int lasting = 0; lasting < 2; lasting++)
			calls += fail_all(scenario, &faults[i], lasting, &usual);
		if (failures)
			printf("%s: %d failures\n", faults[i].function, failures);
	}
	printf("calls failed: %ld\n", calls);
}

int main(int argc, char **argv)
{
	if (argc < 4 || !(handle = dlopen(argv[2], RTLD_NOW))) {
		printf("%s\n", argc < 4 ? "usage: sweep SCENARIO STUB ANSWER [FILE]" : dlerror());
		return 2;
	}
	for (size_t i = 0; i < sizeof(stubs) / sizeof(*stubs); i++)
		if (strstr(argv[2], stubs[i].file))
			stub = &stubs[i];
	stub->call = find(stub->name, stub->node);
	stub->call_out = find(stub->out, stub->node);
	answer = atoi(argv[3]);
	appearing = argv[4];
	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(*scenarios); i++)
		if (!strcmp(argv[1], scenarios[i].name))
			sweep(&scenarios[i]);
	return 0;
}
