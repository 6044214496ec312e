/* SPDX-License-Identifier: MIT */
/*
 * calls.c - a caller of the made-up library, compiled for major 3
 *
 * It has prototypes of its own, as a program compiled with the real library's
 * headers has, and so have the real_ functions that it hands to the loader.
 * Each function is called without a library, and twice with one: through the
 * slow function and straight.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define MISSING 11
#define REFUSED 13

/* Without assembly nothing is known to call a function without a prototype. */
#ifdef LC_C_ONLY
#define UNKNOWN(real) REFUSED
#define UNKNOWN_PTR(real) NULL
#define ASKING 2
#else
#define UNKNOWN(real) (real)
#define UNKNOWN_PTR(real) (real)
#define ASKING 0
#endif

struct big { uint64_t a, b, c; };
struct choice { int kind; union { void *address; uint64_t number; } as; };
struct dim { unsigned x, y, z; };
struct floats { float f[4]; };
struct mixed { double d; int i; };
struct nested { struct dim dims[6]; struct nested *next; };
struct pair { uint64_t x, y; };
struct small { short a; int b; };

/* What loader.c adds; import libraries know nothing of it. */
static void set_loaded(int value)
{
	((void (*)(int))dlsym(RTLD_DEFAULT, "lazycuda_set_loaded"))(value);
}

static unsigned asked(void)
{
	return ((unsigned (*)(void))dlsym(RTLD_DEFAULT, "lazycuda_asked"))();
}

static int failures;
static const char *doing = "";

static void check(int good, int line)
{
	if (good)
		return;
	printf("line %d: wrong %s\n", line, doing);
	failures++;
}
#define CHECK(condition) check(!!(condition), __LINE__)

/* DECLARE(result, name, (params)): the library's function, and the real one. */
#define FUNCTION(result, name, params) \
	result name params; \
	result real_##name params; \
	result real_##name params

FUNCTION(int, all_kinds, (signed char a, unsigned char b, short c, unsigned short d, int e,
			  unsigned f, int64_t g, uint64_t h, float i, double j, void *k))
{
	CHECK(a == -1 && b == 255 && c == -2 && d == 65535 && e == -5 && f == 6 && g == -7);
	CHECK(h == 8 && i == 9.5f && j == 10.5 && k == (void *)11);
	return 101;
}

FUNCTION(int, by_big, (struct big a, int b, struct small c))
{
	CHECK(a.a == 1 && a.b == 2 && a.c == 3 && b == 4 && c.a == -5 && c.b == 6);
	return 102;
}

FUNCTION(int, by_choice, (struct choice a, int b))
{
	CHECK(a.kind == 1 && a.as.number == 0x1122334455667788 && b == 3);
	return 103;
}

FUNCTION(int, by_dim, (void *a, struct dim b, struct dim c, void **d, uint64_t e, void *f))
{
	CHECK(a == (void *)1 && b.x == 2 && b.y == 3 && b.z == 4 && c.x == 5 && c.y == 6);
	CHECK(c.z == 7 && d == (void **)8 && e == 9 && f == (void *)10);
	return 104;
}

FUNCTION(int, by_floats, (struct floats a, double b, int c, struct pair d))
{
	CHECK(a.f[0] == 1 && a.f[1] == 2 && a.f[2] == 3 && a.f[3] == 4 && b == 5 && c == 6);
	CHECK(d.x == 7 && d.y == 8);
	return 105;
}

FUNCTION(int, by_late, (int64_t a, int64_t b, int64_t c, int64_t d, int64_t e, struct pair f,
			int64_t g, struct small h))
{
	CHECK(a == 1 && b == 2 && c == 3 && d == 4 && e == 5 && f.x == 6 && f.y == 7 && g == 8);
	CHECK(h.a == 9 && h.b == 10);
	return 106;
}

FUNCTION(int, by_mixed, (struct mixed a, struct pair b, int c))
{
	CHECK(a.d == 1.5 && a.i == 2 && b.x == 3 && b.y == 4 && c == 5);
	return 108;
}

FUNCTION(int, by_nested, (struct nested a, int b))
{
	CHECK(a.dims[0].x == 1 && a.dims[5].z == 2 && a.next == (void *)3 && b == 4);
	return 109;
}

FUNCTION(int, hooked, (int a, struct dim b, struct pair c))
{
	CHECK(a == 1 && b.x == 2 && b.y == 3 && b.z == 4 && c.x == 5 && c.y == 6);
	return 110;
}

FUNCTION(void *, hooked_ptr, (int a))
{
	CHECK(a == 1);
	return (void *)0x1234567890;
}

FUNCTION(int64_t, negative, (void *a, uint64_t b))
{
	CHECK(a == (void *)1);
	return (int64_t)b;
}

FUNCTION(int, negative_int, (struct dim a))
{
	CHECK(a.x == 1 && a.y == 2);
	return (int)a.z;
}

FUNCTION(int, outs, (int *a, void **b, struct big *c, int *d, char *e, double *f,
		     const uint64_t *g))
{
	if (a)
		*a = 1;
	if (b)
		*b = (void *)2;
	if (c)
		*c = (struct big){ 3, 4, 5 };
	if (d)
		*d += 6;
	if (e)
		strcpy(e, "7");
	if (f)
		*f = *g;
	return 112;
}

FUNCTION(struct big, returns_big, (int a, int64_t b, int64_t c, int64_t d, int64_t e, int64_t f))
{
	CHECK(a == 1 && b == 2 && c == 3 && d == 4 && e == 5 && f == 6);
	return (struct big){ 1, 2, 3 };
}

FUNCTION(double, returns_double, (double a)) { return 2 * a; }
FUNCTION(signed char, returns_i8, (signed char a)) { return a; }
FUNCTION(struct pair, returns_pair, (int a)) { return (struct pair){ (uint64_t)a, 2 }; }
FUNCTION(void *, returns_ptr, (void *a)) { return a; }
FUNCTION(void, returns_void, (int *a)) { *a = 5; }

FUNCTION(const char *, says, (int a)) { return a == 2 ? "2" : "other"; }
FUNCTION(const char *, says_last, (void *a)) { return a; }

/* What nobody told the generator of. */
FUNCTION(int, unknown, (int64_t a, int64_t b, int64_t c, int64_t d, int64_t e, int64_t f,
			int64_t g, int64_t h, double i, double j, double k, double l, double m,
			double n, double o, double p, int64_t q, double r))
{
	CHECK(a == 1 && b == 2 && c == 3 && d == 4 && e == 5 && f == 6 && g == 7 && h == 8);
	CHECK(i == 9 && j == 10 && k == 11 && l == 12 && m == 13 && n == 14 && o == 15 && p == 16);
	CHECK(q == 17 && r == 18);
	return 113;
}

FUNCTION(void *, unknown_ptr, (long double a, struct big b))
{
	CHECK(a == 1.25L && b.a == 2 && b.c == 4);
	return (void *)0x1234567890;
}

int unknown_new(void);

/* `wanted` is what a status is expected to be: MISSING, or what real_ returns. */
static void call_all(int real)
{
	struct pair pair;
	struct big big;
	int number = 1;

	doing = real ? "with a library" : "without a library";
#define STATUS(result, call) CHECK((call) == (real ? (result) : MISSING))
	STATUS(101, all_kinds(-1, 255, -2, 65535, -5, 6, -7, 8, 9.5f, 10.5, (void *)11));
	STATUS(102, by_big((struct big){ 1, 2, 3 }, 4, (struct small){ -5, 6 }));
	STATUS(103, by_choice((struct choice){ 1, { .number = 0x1122334455667788 } }, 3));
	STATUS(104, by_dim((void *)1, (struct dim){ 2, 3, 4 }, (struct dim){ 5, 6, 7 },
			   (void **)8, 9, (void *)10));
	STATUS(105, by_floats((struct floats){ { 1, 2, 3, 4 } }, 5, 6, (struct pair){ 7, 8 }));
	STATUS(106, by_late(1, 2, 3, 4, 5, (struct pair){ 6, 7 }, 8, (struct small){ 9, 10 }));
	STATUS(108, by_mixed((struct mixed){ 1.5, 2 }, (struct pair){ 3, 4 }, 5));
	STATUS(109, by_nested((struct nested){ { { 1, 0, 0 }, [5] = { 0, 0, 2 } }, (void *)3 }, 4));
	STATUS(UNKNOWN(113), unknown(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18));

	CHECK(hooked(1, (struct dim){ 2, 3, 4 }, (struct pair){ 5, 6 }) == (real ? 111 : 1001));
	CHECK(real ? hooked_ptr(1) == (void *)0x1234567890 : hooked_ptr(1) != NULL);
	CHECK(unknown_ptr(1.25L, (struct big){ 2, 3, 4 }) ==
	      (real ? UNKNOWN_PTR((void *)0x1234567890) : NULL));
	CHECK(!strcmp(says(2), real ? "2" : "instead of 2"));
	CHECK(!strcmp(says_last("3"), real ? "3" : "the last"));
	CHECK(returns_double(1.5) == (real ? 3 : 0));
	CHECK(returns_i8(-5) == (real ? -5 : 0));
	CHECK(returns_ptr(&number) == (real ? &number : NULL));
	CHECK(negative((void *)1, 1ull << 40) == (real ? 1ll << 40 : -MISSING));
	CHECK(negative_int((struct dim){ 1, 2, 3 }) == (real ? 3 : -MISSING));
	returns_void(&number);
	CHECK(number == (real ? 5 : 1));
	pair = returns_pair(7);
	CHECK(pair.x == (real ? 7 : 0) && pair.y == (real ? 2 : 0));
	memset(&big, 0xaa, sizeof(big));
	big = returns_big(1, 2, 3, 4, 5, 6);
	CHECK(real ? big.a == 1 && big.b == 2 && big.c == 3 : !big.a && !big.b && !big.c);
}

/* ---- outputs ---- */

/* A variable between bytes that must not change. */
#define GUARDED(type) struct { unsigned char before[16]; type value; unsigned char after[16]; }
#define FILL(guarded) memset(&(guarded), 0xaa, sizeof(guarded))

static int all_are(const void *bytes, int value, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (((const unsigned char *)bytes)[i] != value)
			return 0;
	return 1;
}

#define ZEROED(guarded, bytes) ( \
	all_are((guarded).before, 0xaa, 16) && all_are((guarded).after, 0xaa, 16) && \
	all_are(&(guarded).value, 0, bytes) && \
	all_are((char *)&(guarded).value + (bytes), 0xaa, sizeof((guarded).value) - (bytes)))

typedef char bytes64[64];

static void check_outputs(void)
{
	int fills(void *), shrinks(void *, void *);
	int (*old)(void *, void *) = (int (*)(void *, void *))dlvsym(RTLD_DEFAULT, "shrinks",
								     "libthing.so.1");
	GUARDED(int) a;
	GUARDED(void *) b;
	GUARDED(struct big) c;
	GUARDED(int) d;
	GUARDED(bytes64) e;
	GUARDED(double) f;
	uint64_t g = 8;

	doing = "outputs";
	FILL(a), FILL(b), FILL(c), FILL(d), FILL(e), FILL(f);
	CHECK(outs(&a.value, &b.value, &c.value, &d.value, e.value, &f.value, &g) == MISSING);
	CHECK(ZEROED(a, 4) && ZEROED(b, 8) && ZEROED(c, 24) && ZEROED(f, 8));
	CHECK(ZEROED(d, 0) && ZEROED(e, 0) && g == 8);
	CHECK(outs(NULL, NULL, NULL, NULL, NULL, NULL, NULL) == MISSING);
	FILL(e);
	CHECK(fills(e.value) == MISSING && ZEROED(e, 40));
	FILL(e);
	CHECK(shrinks(e.value, NULL) == MISSING && ZEROED(e, 32));
	/* Its callers of major 1 may have 28 bytes there, or 32. */
	FILL(e);
	CHECK(old(e.value, NULL) == MISSING && ZEROED(e, 28));
}

int main(void)
{
	unsigned before;

	call_all(0);
	check_outputs();
	CHECK(unknown_new() == MISSING);
	set_loaded(1);
	call_all(1);
	before = asked();
	call_all(1);
	doing = "without asking again";
	CHECK(asked() - before == ASKING);
	doing = "with an absent function";
	CHECK(unknown_new() == 12);
	printf("%d failures\n", failures);
	return failures != 0;
}
