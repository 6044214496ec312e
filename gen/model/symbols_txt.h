/* SPDX-License-Identifier: MIT */
/*
 * symbols_txt.h - symbols.txt in memory
 *
 *	list.c		reads the list; rejects malformed lines
 *	check.c		rejects a list that is inconsistent or incomplete
 *	model.c		queries on a list
 *	util.c		memory, text, errors
 *
 * gen writes code from the list; gen/scan writes the list, and checks libraries against
 * it.  Both programs run once and free nothing.
 */
#ifndef SYMBOLS_TXT_H
#define SYMBOLS_TXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- memory and text ---- */

void *allocate(size_t count, size_t size);	/* zeroed, never NULL */

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* A growable array; push() returns the new item. */
#define ARRAY(type) struct { type *items; size_t count, capacity; }
void *grow(void *items, size_t count, size_t *capacity, size_t size);
#define push(array) \
	((array)->items = grow((array)->items, (array)->count, &(array)->capacity, \
			       sizeof(*(array)->items)), \
	 &(array)->items[(array)->count++])

/* A growable array of pointers. */
struct list {
	void **items;
	size_t count, capacity;
};
static inline void list_add(struct list *list, const void *item)
{
	*push(list) = (void *)item;
}

bool list_has(const struct list *list, const char *text);	/* of texts */

struct text {
	char *bytes;
	size_t length, capacity;
};
void put(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *format(const char *format, ...) __attribute__((format(printf, 1, 2)));
uint32_t hash_of(const char *bytes, size_t length);	/* that of GNU's symbol tables, as lc_hash() */
size_t word_length(const char *text);	/* of the letters, digits and underscores that it begins with */

/* ---- errors: print to stderr and exit with status 2 ---- */

/* For what fail() says: this program; and what a user has called, NULL if that is this program. */
extern const char *program_name, *command_name;

struct position { const char *file; unsigned line, column; };
/* subject is a file, or NULL if it is about no file. */
_Noreturn void fail(const char *subject, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
_Noreturn void fail_at(struct position position, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- command lines ---- */

/* Its value goes to `text` or is added to `list`; one that has no value sets `given`.  A table ends
 * with a row without a name. */
struct option {
	const char *name, **text;
	struct list *list;
	bool *given;
};
/* Takes the option that a word is, and its value.  Returns what is behind them.  `usage` goes below
 * what is said of another word, or of a value that is missing. */
char **take_option(char **word, const struct option *options, const char *usage);

/* ---- versions ---- */

#define MAX_TOOLKITS 63
#define MAX_CUDA 31	/* a set of CUDA's majors has a bit for each */
#define MAX_MAJOR 654	/* the loader keeps 100 * major + minor in 16 bits */
#define MAX_MINOR 99
#define MAX_NUMBER 13	/* characters; lc_numbered has room for these */
struct version { unsigned major, minor; };

/* A set of toolkits: bit n is the n-th oldest; the bit after the newest stands for
 * all later toolkits. */
typedef uint64_t toolkits;
#define BIT(n) ((toolkits)1 << (n))

/* ---- types ---- */

enum kind {
	I8, U8, I16, U16, I32, U32, I64, U64, F32, F64, PTR,
	STRUCT, VOID, STATUS
};
extern const char *const kind_names[];	/* up to VOID; STRUCT has none */
extern const unsigned kind_sizes[];	/* up to PTR */

struct type {
	enum kind kind;
	const char *name;		/* of the struct, if the kind is STRUCT */
	struct record *record;		/* the struct of that name, once resolved */
	bool pointer;			/* *STRUCT in a field, or behind a parameter */
	unsigned count;			/* elements, for an array in a field; else 1 */
	struct position position;
};

enum direction { BY_VALUE, IN, OUT, INOUT, BUF };
struct param {
	enum direction direction;
	struct type type;		/* of the value, or of the pointer's target */
};

/* Those that check.c sorts begin like a struct word: this one, records, rows and enumerators. */
struct field {
	const char *name;
	struct position position;
	struct type type;
	unsigned offset;
	toolkits in;
};

struct size {
	struct position position;
	unsigned bytes;
	char letter;
	toolkits in;
};

struct record {
	const char *name;
	struct position position;
	ARRAY(struct size) sizes;
	ARRAY(struct field) fields;
};

/* A line of a functions block. */
struct row {
	const char *name;
	struct position position, range_position;
	toolkits in;
	bool unknown;			/* (?) */
	ARRAY(struct param) params;
	struct type result;
	const char *family;		/* defaults to the function's own name */
	struct position family_position;
	bool hook, slow, text, negative, apart, undeclared;
};

struct enumerator {
	const char *name;
	struct position position;
	int32_t value;
	toolkits in;
};

struct enumeration {
	const char *name;
	struct position position;
	ARRAY(struct enumerator) values;
};

/* ---- libraries ---- */

/* A text that holds in a range of toolkits: a SONAME, a folder. */
struct ranged {
	const char *text;
	struct position position;
	toolkits in;
};

struct node {
	const char *name;
	struct position position;
	unsigned major;
};

struct word {
	const char *text;
	struct position position;
};

/* A variable that a library exports. */
struct variable {
	const char *name;
	const char *bytes;		/* what it holds at first, in hexadecimal; NULL: zeroes */
	struct position position;
	unsigned size;
	toolkits in;
};

/* What a library of one CUDA opens by name, and where pip puts that. */
struct opened {
	unsigned cuda;		/* 0: of any, in its own folder */
	const char *soname, *folder;
	struct position position;
};

/* The majors of CUDA that a SONAME is in, a bit for each. */
struct cuda {
	const char *soname;
	struct position position;
	uint32_t in;
};

/* The version of the library that a CUDA ships. */
struct shipped {
	struct version cuda, version;
	struct position position;
};

/* What people call a version of the library. */
struct called {
	struct version version;
	const char *number;
	struct position position;
};

enum error_kind {
	ON_MISSING = 1, ON_ABSENT, ON_REFUSED, ON_DRIVER, ON_INCOHERENT,
	ON_ENDING, ON_RELEASED,	/* optional, for any library */
	ERROR_KINDS
};

extern const char *const error_names[];	/* by error_kind */

/* What calls return to callers that were compiled for these toolkits. */
struct error {
	int32_t value;
	struct position position;
	toolkits in;
};

struct library {
	const char *name, *stub, *variable, *companion, *status, *witness;
	struct position position, stub_position, variable_position, companion_position, status_position;
	struct position witness_position;
	ARRAY(struct ranged) sonames;
	ARRAY(struct ranged) folders;
	ARRAY(struct word) packages;
	ARRAY(struct node) nodes;
	ARRAY(struct variable) variables;
	ARRAY(struct ranged) homes;		/* these have no range */
	bool without_majors;
	bool own_majors;		/* the majors are not CUDA's */
	struct position majors_position;
	ARRAY(struct opened) opens;
	ARRAY(struct shipped) ships;	/* by CUDA, oldest first */
	ARRAY(struct called) called;	/* the versions that have another number */
	ARRAY(struct cuda) cuda;	/* for each SONAME, or none: it goes with any CUDA */
	enum { NODES_SONAME, NODES_NONE, NODES_OTHER } node_names;
	struct position node_names_position;
	struct position compat_position;	/* of `compat none`, if it is there */
	const char *advice;		/* NULL if the stub has a source of its own */
	struct position advice_position;
	ARRAY(struct error) errors[ERROR_KINDS];
	ARRAY(struct enumeration) enums;
	ARRAY(struct record) records;	/* sorted by name, once read */
	ARRAY(struct row) rows;		/* sorted by name and range, once read */
	ARRAY(struct word) reserved;	/* names of fields that hold nothing yet */
	struct enumeration *statuses;	/* the enum that `status` names, or NULL */
	struct position functions_position;
	toolkits in;			/* toolkits that some SONAME covers */
};

struct symbols {
	struct version toolkits[MAX_TOOLKITS];
	unsigned toolkit_count;
	struct position toolkits_position;
	bool without_majors;	/* every toolkit counts as major 0 */
	ARRAY(struct library) libraries;
};

/* The bytes of a file, with a NUL behind them. */
char *load_file(const char *path, size_t *length);

/* Reads and checks the whole file. */
void read_list(struct symbols *list, const char *path);

/* Checks one library; call it once the whole file is read. */
void check_library(const struct symbols *list, struct library *library);

/* ---- queries ---- */

/* Returns a copy of the list that has no majors if the library has none. */
struct symbols view_of(const struct symbols *list, const struct library *library);

/* Returns true if a `reserved` row with this word means the field: the word is the last part
 * of the field's name, apart from digits at its end.  "reserved" means "reserved1" and
 * "params.sync.reserved", but not "reservedSharedMemPerBlock", which is a property. */
bool means_field(const char *word, const char *field);
bool is_reserved(const struct library *library, const char *field);

/* The status of calls by callers of one toolkit; 0 if the library has none of this kind. */
int32_t error_in(const struct library *library, enum error_kind kind, unsigned toolkit);

/* The size row of a struct in one toolkit; NULL if it has none there. */
const struct size *size_in(const struct record *record, unsigned toolkit);

/* The bytes that a field takes in one toolkit. */
uint64_t field_bytes(const struct field *field, unsigned toolkit);

/* The major of the toolkit that a bit stands for. */
unsigned major_at(const struct symbols *list, unsigned bit);

/* Returns true if a toolkit is the newest of its major. */
bool is_newest_of_major(const struct symbols *list, unsigned toolkit);

/* All bits of one major. */
toolkits major_set(const struct symbols *list, unsigned major);

/* The lowest and the highest bit of a set, which must not be empty. */
unsigned first_bit(toolkits set);
unsigned last_bit(toolkits set);

/* "12.9", or "versions later than 13.5". */
const char *bit_text(const struct symbols *list, unsigned bit);

#endif
