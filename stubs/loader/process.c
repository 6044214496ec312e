/* SPDX-License-Identifier: MIT */
/* process.c - what is loaded in this process */
#include "process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "aside.h"
#include "../base/auxiliary.h"
#include "../base/count.h"
#include "../base/image.h"
#include "../base/object.h"
#include "../base/objects.h"
#include "../base/regular.h"
#include "../base/verdict.h"
#include "settings.h"
#include "unknown.h"
#include "../base/glibc.h"

static bool match_private(const struct lc_node *node, void *found)
{
	return *(bool *)found = !strcmp(node->name, LC_PRIVATE_NODE);
}

static bool is_stub(const struct lc_image *image)
{
	bool found = false;

	lc_image_nodes(image, match_private, &found);
	return found;
}

/* Returns false for an object that is not well-formed ELF; such an object is ignored. */
static bool read_loaded(const struct dl_phdr_info *info, struct lc_image *image)
{
	return !lc_image_loaded(image, info) && image->dynamic_count;
}

/*
 * Visits every loaded object, in load order.  ld.so holds a lock meanwhile, so the
 * results go into memory allocated in advance: the program may have replaced
 * malloc(), with a lock that another thread holds while it calls ld.so.  If the
 * memory is too small, the walk starts again with more, and all that it has `found` is zeroed.
 */
static void walk_loaded(struct lc_arena *arena, lc_visit_object *visit, void *walk, void *found,
			size_t size)
{
	for (size_t bytes = 4 * 1024; ; bytes *= 4) {
		memset(found, 0, size);
		if (!lc_arena_reserve(arena, bytes))
			return;
		lc_each_object(visit, walk);
		if (lc_arena_unreserve(arena))
			return;
	}
}

/* Returns true if an object has something of that size there, which is writable once in a while. */
static bool holds_record(const struct dl_phdr_info *info, uintptr_t record)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const uintptr_t start = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_LOAD && p->p_flags & PF_W && record >= start &&
		    record % sizeof(void *) == 0 && record - start + LC_RECORD_BYTES <= p->p_memsz)
			return true;
	}
	return false;
}

static uintptr_t header_of(const struct dl_phdr_info *info)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD && !info->dlpi_phdr[i].p_offset)
			return info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
	return 0;
}

typedef void visit_record(void *record, void *data);

struct record_walk {
	const struct dl_phdr_info *info;
	visit_record *visit;
	void *data;
};

/* What LC_RECORD_NOTE leads to: as it lies, and if it was moved, as patchelf moves a library's notes;
 * a program's are where they were, and its ELF header is not. */
static bool visit_note(const void *bytes, size_t size, void *data)
{
	const struct record_walk *walk = data;
	uintptr_t moved, there;
	int32_t words[2];

	if (size < sizeof(words))
		return false;
	memcpy(words, bytes, sizeof(words));
	moved = header_of(walk->info) + (uintptr_t)(words[0] - words[1] - (int32_t)sizeof(*words));
	there = (uintptr_t)bytes + (uintptr_t)words[0];
	if (holds_record(walk->info, moved))
		walk->visit((void *)moved, walk->data);
	if (there != moved && holds_record(walk->info, there))
		walk->visit((void *)there, walk->data);
	return false;
}

static void each_record(const struct dl_phdr_info *info, const struct lc_image *image,
			visit_record *visit, void *data)
{
	lc_image_records(image, visit_note, &(struct record_walk){ info, visit, data });
}

struct stub_walk {
	struct lc_arena *arena;
	struct { struct lc_stub *stubs; size_t count; } found;
};

struct embedded {
	struct stub_walk *walk;
	const char *path;
};

static void note_embedded(void *record, void *data)
{
	struct embedded *embedded = data;
	struct stub_walk *walk = embedded->walk;
	struct lc_stub *stub = lc_grow(walk->arena, &walk->found.stubs, &walk->found.count, sizeof(*stub));

	if (stub)
		*stub = (struct lc_stub){ .path = lc_text(walk->arena, embedded->path), .soname = "",
					  .record = record, .embedded = true };
}

static int visit_stub(struct dl_phdr_info *info, size_t size, void *data)
{
	struct stub_walk *walk = data;
	struct lc_names names;
	struct lc_image image;
	struct lc_stub *stub;
	const char *soname;

	bool read = read_loaded(info, &image);

	(void)size;
	each_record(info, &image, note_embedded, &(struct embedded){ walk, info->dlpi_name });
	if (!read || !is_stub(&image))
		return 0;
	stub = lc_grow(walk->arena, &walk->found.stubs, &walk->found.count, sizeof(*stub));
	if (!stub)
		return 0;
	stub->path = lc_text(walk->arena, info->dlpi_name);
	soname = lc_image_string(&image, DT_SONAME);
	lc_names_of(&image, LC_PRIVATE_NODE, &names);
	if (!names.strings || !lc_names_find(&names, LC_PEER_SYMBOL, &stub->record))
		stub->record = NULL;
	stub->soname = soname ? lc_text(walk->arena, soname) : lc_basename(stub->path);
	return 0;
}

size_t lc_process_stubs(struct lc_arena *arena, struct lc_stub **stubs)
{
	struct stub_walk walk = { .arena = arena };

	walk_loaded(arena, visit_stub, &walk, &walk.found, sizeof(walk.found));
	*stubs = walk.found.stubs;
	return arena->failed ? 0 : walk.found.count;
}

/* The beginning of a name that concerns some stub. */
struct lead {
	size_t length, stub;	/* `stub` indexes walk.stubs */
	const char *text;
	struct lead *next;	/* in its bucket, in the order of the stubs */
};

#define LEADS 64

struct walk {
	struct lc_arena *arena;
	const struct lc_stub *stubs;
	size_t stub_count;
	struct lc_process *process;
	size_t seen;		/* objects to skip: they were read before */
	bool callers;
	struct lead *needed[LEADS];	/* names of stubs */
	struct lead *real[LEADS];	/* SONAMEs and nodes of libraries, up to ".so" */
	char program[PATH_MAX];	/* its path, once it was needed */
	char version[16];	/* "python3.11", if the program is called so */
};

/*
 * Returns true if the program was started with auditors for ld.so: LD_AUDIT, or --audit if ld.so
 * was run as a command.  They stay even if the program changes its environment.  So this reads
 * the original arguments and environment, which the kernel put between these two on the stack.
 */
static bool was_audited(void)
{
	static const char variable[] = "\0LD_AUDIT=", argument[] = "\0--audit";
	const char *from, *to, *found;

	/* A privileged program's environment does not tell. */
	if (lc_is_privileged() || lc_variable("LD_AUDIT"))
		return true;
	if (!lc_started_with(&from, &to))
		return false;
	found = memmem(from, (size_t)(to - from), variable, sizeof(variable) - 1);
	return (found && found[sizeof(variable) - 1]) ||
	       memmem(from, (size_t)(to - from), argument, sizeof(argument));
}

static struct lead **leads_like(struct lead **leads, const char *text, size_t length)
{
	return &leads[lc_hash(text, length) % LEADS];
}

/* Leads with the same text are in the same bucket. */
static void add_lead(struct walk *walk, struct lead **leads, const char *text, size_t length,
		     size_t stub)
{
	struct lead **last = leads_like(leads, text, length);
	struct lead *lead;

	for (; *last; last = &(*last)->next)
		if ((*last)->stub == stub && (*last)->length == length &&
		    !memcmp((*last)->text, text, length))
			return;
	lead = lc_alloc(walk->arena, sizeof(*lead));
	if (lead)
		*lead = (struct lead){ length, stub, text, NULL };
	*last = lead;
}

/* Returns the next lead with this text after `lead`, or the first if `lead` is NULL; NULL if there
 * is none. */
static const struct lead *next_lead(struct lead *const *leads, const char *text, size_t length,
				    const struct lead *lead)
{
	lead = lead ? lead->next : *leads_like((struct lead **)leads, text, length);
	while (lead && (lead->length != length || memcmp(lead->text, text, length)))
		lead = lead->next;
	return lead;
}

/* The length of a SONAME or node without ".so" and what follows. */
static size_t stem_length(const char *name)
{
	const char *ending = strstr(name, ".so");

	return ending ? (size_t)(ending - name) : strlen(name);
}

static void add_leads(struct walk *walk)
{
	for (size_t i = 0; i < walk->stub_count; i++) {
		const struct lc_stub *stub = &walk->stubs[i];
		const char *file = lc_basename(stub->path);

		if (!stub->embedded) {
			add_lead(walk, walk->needed, stub->soname, strlen(stub->soname), i);
			add_lead(walk, walk->needed, file, strlen(file), i);
		}
		for (size_t k = 0; k < stub->library->major_count; k++) {
			const char *soname = stub->library->majors[k].soname;

			add_lead(walk, walk->real, soname, stem_length(soname), i);
		}
	}
}

static int major_of_soname(const struct lc_library *library, const char *soname)
{
	for (size_t i = 0; i < library->major_count; i++)
		if (!strcmp(soname, library->majors[i].soname))
			return library->majors[i].major;
	return -1;
}

/*
 * Returns the major that a node names; below 0 if it is no node of this library.  A real
 * library has one version node, named like the SONAME that the file had before auditwheel or
 * anybody else renamed it.
 */
static int major_of_node(const struct lc_library *library, const char *node)
{
	int major = major_of_soname(library, node);

	if (major >= 0)
		return major;
	major = lc_unknown_major(library, node);
	return major ? major : -1;
}

/* Returns true if every version of the major exports the name of this row. */
static bool always_has(const struct lc_library *library, const struct lc_major *major,
		       const struct lc_export *row)
{
	const struct lc_slot *slot = &library->slots[row->slot];

	for (size_t i = slot->first; i < slot->first + (size_t)slot->count; i++) {
		const struct lc_provider *c = &library->providers[i];

		if (c->name == row->name && c->from <= major->oldest && c->to >= major->newest)
			return true;
	}
	return false;
}

/* Of so many names of a library, evenly spread, some belong to the major and are looked up. */
#define SAMPLE 256

/* Returns true if an object is not called like the library, as a tool is that hooks all its
 * functions.  Who renames a copy keeps the beginning: libcudart-1a2b3c4d.so.12. */
static bool has_other_name(const struct lc_image *image, const struct lc_major *major)
{
	const char *soname = lc_image_string(image, DT_SONAME);

	return !soname || strncmp(soname, major->soname, stem_length(major->soname));
}

/*
 * Returns true if an object with the library's node exports half of what the real one of that
 * major does: tools that hook a few functions have the node as well, and other projects' stand-ins
 * lack a few.
 */
static bool is_whole_library(const struct lc_image *image, const struct lc_library *library, int number)
{
	const struct lc_major *major = lc_listed_major(library, number);
	const size_t step = 1 + library->export_count / SAMPLE;
	size_t had = 0, asked = 0;
	struct lc_names names;
	void *address;

	if (!major || !lc_has_nodes(library))
		return true;
	if (has_other_name(image, major))
		return false;
	lc_names_of(image, lc_image_has(image, DT_VERDEF) ? major->soname : NULL, &names);
	for (size_t i = 0; names.strings && i < library->export_count; i += step) {
		const struct lc_export *row = &library->exports[i];

		if (row->major != number || !always_has(library, major, row))
			continue;
		asked++;
		had += !lc_names_find(&names, library->names + row->name, &address) || address;
	}
	return 2 * had >= asked;
}

/* A library, and its major by one of its nodes; below 0: it has none of them. */
struct match {
	const struct lc_library *library;
	int major;
};

static bool match_real(const struct lc_node *node, void *data)
{
	struct match *match = data;

	match->major = major_of_node(match->library, node->name);
	return match->major >= 0;
}

/* Returns the major of an object; below 0: the object is not this library. */
static int major_of(const struct lc_image *image, const struct lc_library *library)
{
	struct match match = { library, -1 };
	const char *soname = lc_image_string(image, DT_SONAME);

	if (!lc_has_nodes(library))
		return soname ? major_of_soname(library, soname) : -1;
	lc_image_nodes(image, match_real, &match);
	return match.major;
}

/* Judges by the names in memory: the file may have been replaced by now. */
static lc_version version_of(const struct lc_image *image, const struct lc_library *library,
			     int number)
{
	const struct lc_major *major = lc_listed_major(library, number);

	return lc_has_majors(library) && major && image->strings ?
		lc_proven_version(library, major, image->strings, image->strings_size) : 0;
}

/* What an object is: a stub, the library of one of them, or neither. */
struct object_kind {
	const struct walk *walk;
	bool stub;
	size_t of;		/* index of that library's stub, the first if there are copies */
	int major;
};

static void note_kind(struct object_kind *kind, const char *name, bool node)
{
	const struct walk *walk = kind->walk;
	const struct lead *lead = NULL;
	size_t length;

	if (strncmp(name, "lib", 3))
		return;		/* most are nodes of glibc */
	length = stem_length(name);
	while ((lead = next_lead(walk->real, name, length, lead)) && lead->stub < kind->of) {
		const struct lc_library *library = walk->stubs[lead->stub].library;
		int major = lc_has_nodes(library) != node ? -1 :
			    node ? major_of_node(library, name) : major_of_soname(library, name);

		if (major < 0)
			continue;
		kind->of = lead->stub;
		kind->major = major;
	}
}

static bool note_node(const struct lc_node *node, void *data)
{
	struct object_kind *kind = data;

	kind->stub = !strcmp(node->name, LC_PRIVATE_NODE);
	if (!kind->stub)
		note_kind(kind, node->name, true);
	return kind->stub;
}

static struct object_kind kind_of(const struct walk *walk, const struct lc_image *image)
{
	struct object_kind kind = { .walk = walk, .of = SIZE_MAX };
	const char *soname = lc_image_string(image, DT_SONAME);

	lc_image_nodes(image, note_node, &kind);
	if (soname && !kind.stub)
		note_kind(&kind, soname, false);
	return kind;
}

static bool read_program_from(struct walk *walk, const char *link)
{
	long length = syscall(SYS_readlinkat, AT_FDCWD, link, walk->program,
			      sizeof(walk->program) - 1);

	walk->program[length < 0 ? 0 : length] = 0;
	return length > 0;
}

/* Sets the program's path as the kernel has it, also where a preloaded readlink() tells another one;
 * false: there is no /proc.  proot runs programs itself, and tells ld.so their path: that is asked
 * first. */
static bool read_program(struct walk *walk)
{
	char buffer[LC_OWN_PATH];

	return read_program_from(walk, "/proc/self/exe") ||
	       read_program_from(walk, lc_own_file(buffer, "exe"));
}

/* ld.so has "" as the path of the program. */
static const char *copy_path(struct walk *walk, const char *path)
{
	if (!*path && !walk->program[0])
		read_program(walk);
	return lc_text(walk->arena, *path ? path : walk->program);
}

/* Returns true if an object has not the SONAME of its major, as the copy that a wheel bundles. */
static bool is_private(const struct lc_image *image, const struct lc_library *library, int number)
{
	const struct lc_major *major = lc_listed_major(library, number);
	const char *soname = lc_image_string(image, DT_SONAME);

	return major && soname && strcmp(soname, major->soname);
}

static void note_real(struct walk *walk, const struct lc_image *image,
		      const struct object_kind *kind, const char *path)
{
	const struct lc_library *library = walk->stubs[kind->of].library;
	struct lc_real *real;

	if (lc_is_aside(walk->stubs[kind->of].aside, path))
		return;
	real = lc_grow(walk->arena, &walk->process->reals, &walk->process->real_count,
		       sizeof(*real));
	if (real)
		*real = (struct lc_real){ .library = library, .major = kind->major,
					  .version = version_of(image, library, kind->major),
					  .path = copy_path(walk, path),
					  .private = is_private(image, library, kind->major) };
	if (real && library->own_majors)
		lc_cuda_needed(image, &real->needs);
}

static struct lc_user *note_user(struct walk *walk, const struct lc_image *image, const char *path,
				 const struct lc_library *needs)
{
	const char *rpath = lc_image_string(image, DT_RPATH);
	const char *runpath = lc_image_string(image, DT_RUNPATH);
	struct lc_user *user = lc_grow(walk->arena, &walk->process->users,
				       &walk->process->user_count, sizeof(*user));

	if (!user)
		return NULL;
	user->path = copy_path(walk, path);
	user->needs = needs;
	if (runpath)	/* ld.so ignores DT_RPATH then */
		user->runpath = lc_text(walk->arena, runpath);
	else if (rpath)
		user->rpath = lc_text(walk->arena, rpath);
	return user;
}

/* Notes the major of a version node, and wants none of the imports themselves. */
static bool note_major(const char *node, void *data)
{
	struct lc_user *user = data;
	int major = node ? lc_node_major(user->needs, node) : 0;

	if (major > 0 && major < 32)
		user->majors |= 1u << major;
	return false;
}

/* An object whose DT_NEEDED entries are being read. */
struct needing {
	struct walk *walk;
	const struct lc_image *image;
	const char *path;
	size_t first;		/* of its entries among the process's users */
};

static void note_caller(struct needing *needing, const struct lc_library *library)
{
	struct walk *walk = needing->walk;
	struct lc_process *process = walk->process;
	struct lc_user *user;

	for (size_t i = needing->first; i < process->user_count; i++)
		if (process->users[i].needs == library)
			return;		/* by another name, or as another copy */
	user = note_user(walk, needing->image, needing->path, library);
	if (user)
		lc_image_undefined(needing->image, note_major, NULL, user);
	if (user && walk->callers)
		lc_callers_note(walk->arena, &process->callers, library, needing->image, user->path);
}

static bool note_needed(const char *soname, void *data)
{
	struct needing *needing = data;
	struct walk *walk = needing->walk;
	const char *file = lc_basename(soname);
	const struct lead *lead = NULL;
	const size_t length = strlen(file);

	while ((lead = next_lead(walk->needed, file, length, lead)))
		note_caller(needing, walk->stubs[lead->stub].library);
	return false;
}

/* The object of an embedded stub is its caller. */
static void note_embedding(void *record, void *data)
{
	struct needing *needing = data;
	struct walk *walk = needing->walk;

	for (size_t i = 0; i < walk->stub_count; i++) {
		const struct lc_stub *stub = &walk->stubs[i];
		struct lc_user *user = stub->embedded && stub->record == record ?
			note_user(walk, needing->image, needing->path, stub->library) : NULL;

		if (user && stub->callers)
			user->majors = 1u << stub->callers;
	}
}

/* An object of glibc, in which the dynamic loader's functions may be. */
static void note_libc(struct walk *walk, const struct dl_phdr_info *info, bool libc)
{
	if (libc)
		walk->process->libc = lc_text(walk->arena, info->dlpi_name);
	walk->process->own_dlopen |= lc_object_holds(info, (void *)dlopen);
}

static void add_neighbour(struct lc_arena *arena, struct lc_process *process,
			  struct lc_neighbour neighbour)
{
	struct lc_neighbour *added;

	if (!neighbour.site)	/* the walk starts again, with more memory */
		return;
	for (size_t i = 0; i < process->neighbour_count; i++)
		if (!strcmp(process->neighbours[i].site, neighbour.site))
			return;
	added = lc_grow(arena, &process->neighbours, &process->neighbour_count, sizeof(*added));
	if (added)
		*added = neighbour;
}

/* Notes the site-packages that an object lies in, which has that name. */
static void note_neighbour(struct walk *walk, const char *path)
{
	static const char ending[] = "-packages/";
	size_t length = 0;

	for (const char *at = path; (at = strstr(at, ending)); at++)
		if (at - path >= 5 && (!memcmp(at - 5, "/site", 5) || !memcmp(at - 5, "/dist", 5)))
			length = (size_t)(at - path) + sizeof(ending) - 2;	/* the nearest */
	if (length && path[0] == '/')
		add_neighbour(walk->arena, walk->process, (struct lc_neighbour){
			      lc_copy(walk->arena, path, length), lc_text(walk->arena, path) });
}

/* Returns the absolute path of a program that was started by a relative one, where the shell was
 * then; NULL: it is not there. */
static const char *from_shell(struct lc_arena *arena, const char *name)
{
	const char *folder = lc_variable_at_start(arena, "PWD"), *path;
	char buffer[LC_OWN_PATH];

	if (!folder || *folder != '/' || !strchr(name, '/'))
		return NULL;
	while (!strncmp(name, "./", 2))
		name += 2;
	path = lc_path(arena, folder, name);
	return lc_lead_to_same(path, lc_own_file(buffer, "exe")) ? path : NULL;
}

/*
 * Returns the path by which Python was started: in a virtual environment a link to the file that
 * /proc/self/exe leads to.  The kernel knows what was executed, which may be a script, and libc how
 * Python is called.  NULL: the program is not Python, or its path is not known.
 */
static const char *python_path(struct lc_arena *arena)
{
	const char *const names[] = { (const char *)lc_auxval(AT_EXECFN),
				       program_invocation_name };

	for (size_t i = 0; i < LC_COUNT(names) && !lc_is_privileged(); i++) {
		const char *name = names[i];

		if (!name || strncmp(lc_basename(name), "python", 6))
			continue;
		if (*name != '/')
			name = from_shell(arena, name);
		if (name)
			return name;
	}
	return NULL;
}

/* What comes before the last slash of an absolute path. */
static const char *folder_above(struct lc_arena *arena, const char *path)
{
	return lc_copy(arena, path, (size_t)(strrchr(path, '/') - path));
}

/* Notes the site-packages below a Python's folder, by Python's name for it and by Debian's, unless
 * it is that of another Python.  A folder called python3 serves each. */
static void note_python(struct walk *walk, const char *name, const char *path, const char *object)
{
	if (strncmp(name, "python3", 7) ||
	    (name[7] && walk->version[0] && strcmp(name, walk->version)))
		return;
	add_neighbour(walk->arena, walk->process, (struct lc_neighbour){
		      lc_path(walk->arena, path, "site-packages"), object });
	add_neighbour(walk->arena, walk->process, (struct lc_neighbour){
		      lc_path(walk->arena, path, "dist-packages"), object });
}

static void note_wheel(struct walk *walk, const char *name, const char *path, const char *object)
{
	const char *ending = strrchr(name, '.');

	if (ending && !strcmp(ending, ".whl"))
		add_neighbour(walk->arena, walk->process, (struct lc_neighbour){ path, object });
}

static void note_each_in(struct walk *walk, const char *folder, const char *object,
			 void (*note)(struct walk *walk, const char *name, const char *path,
				      const char *object))
{
	DIR *directory = LC_AGAIN_IF(opendir(folder), !done);
	struct dirent *entry;

	if (!directory) {
		lc_arena_note_error(walk->arena, errno);
		return;
	}
	while ((entry = readdir(directory)))
		note(walk, entry->d_name, lc_path(walk->arena, folder, entry->d_name), object);
	closedir(directory);
}

/* Notes those of a Python whose programs are in a folder; or those of a user, for that Python. */
static void note_prefix(struct walk *walk, const char *prefix, const char *object)
{
	static const char *const below[] = { "lib", "lib64", "local/lib" };

	for (size_t i = 0; prefix && *prefix == '/' && i < LC_COUNT(below); i++)
		note_each_in(walk, lc_path(walk->arena, prefix, below[i]), object, note_python);
}

/* Returns the value of a line "key = value"; NULL: there is none. */
static const char *value_of(struct lc_arena *arena, const char *text, const char *key)
{
	const size_t length = strlen(key);

	for (const char *line = text; *line; line += strspn(line, "\r\n")) {
		const char *value = line + length;

		if (!strncmp(line, key, length) && (value += strspn(value, " \t"), *value++ == '=')) {
			value += strspn(value, " \t");
			return lc_copy(arena, value, strcspn(value, " \t\r\n"));
		}
		line += strcspn(line, "\r\n");
	}
	return NULL;
}

static const char *next_argument(const char *argument, const char *end)
{
	argument += strlen(argument) + 1;
	return argument < end ? argument : NULL;
}

/*
 * Returns the file or folder that Python was told to run.  NULL: none, or a relative path, or its
 * code came in another way.  Sets *without if Python shall do without the user's site-packages.
 * What follows the last argument is the environment.
 */
static const char *python_script(bool *without)
{
	const char *from, *end, *argument = program_invocation_name;

	if (!lc_started_with(&from, &end) || argument < from || argument >= end)
		return NULL;
	while ((argument = next_argument(argument, end)) && argument[0] == '-') {
		const char *letter = argument + strcspn(argument, "cmWX");
		const char *alone = argument + strcspn(argument, "sI");

		*without |= *alone && alone < letter;
		if (!argument[1] || *letter == 'c' || *letter == 'm')
			return NULL;
		if (*letter && !letter[1] && !(argument = next_argument(argument, end)))
			return NULL;	/* it was the value of -W or -X */
	}
	return argument && argument[0] == '/' ? argument : NULL;
}

/* What `pip install --user` writes to. */
static void note_user_site(struct walk *walk, const char *bin)
{
	const char *none = lc_variable_at_start(walk->arena, "PYTHONNOUSERSITE");
	const char *base = lc_variable_at_start(walk->arena, "PYTHONUSERBASE");
	const char *home = lc_variable_at_start(walk->arena, "HOME");
	bool without = false;

	python_script(&without);
	if (without || (none && *none))
		return;
	note_prefix(walk, base || !home ? base : lc_path(walk->arena, home, ".local"), bin);
}

/* Notes the wheels of what PEX has made: a folder that Python runs, or its __main__.py.  Each is a
 * site-packages of its own, which the program adds to sys.path. */
static void note_pex(struct walk *walk)
{
	bool without = false;
	const char *path = python_path(walk->arena) ? python_script(&without) : NULL;

	if (!path)
		return;
	path = strcmp(lc_basename(path), "__main__.py") ? lc_text(walk->arena, path) :
							  folder_above(walk->arena, path);
	note_each_in(walk, lc_path(walk->arena, path, ".deps"), path, note_wheel);
}

/* Python's file is called like its folder, but for a letter of some builds. */
static void note_version(struct walk *walk)
{
	const char *name = lc_basename(walk->program);
	size_t length = strlen("python3.");

	if (strncmp(name, "python3.", length))
		return;
	length += strspn(name + length, "0123456789");
	length += name[length] == 't';	/* without the global lock */
	if (length < sizeof(walk->version))
		memcpy(walk->version, name, length);
}

/*
 * Notes the site-packages of the Python that runs the program, in the order of Python's site.py:
 * a virtual environment sees those of the Python that it was made of, and the user's, only if its
 * pyvenv.cfg says so.  An extension may lie elsewhere, as what pip calls editable does.
 */
static void note_interpreter(struct walk *walk)
{
	const char *name = python_path(walk->arena), *bin = name ? folder_above(walk->arena, name) : NULL;
	const char *prefix = bin && *bin ? folder_above(walk->arena, bin) : NULL;
	const char *venv, *shares, *home;
	struct stat st;

	/* What makes a folder a virtual environment. */
	venv = prefix ? lc_read_regular(walk->arena, lc_path(walk->arena, prefix, "pyvenv.cfg"), 4096, &st) :
			NULL;
	if (prefix && (walk->program[0] || read_program(walk)))
		note_version(walk);
	if (venv)
		note_prefix(walk, prefix, bin);
	shares = venv ? value_of(walk->arena, venv, "include-system-site-packages") : NULL;
	if (!prefix || (shares && (*shares | ' ') != 't'))	/* "true" */
		return;
	note_user_site(walk, bin);
	if (!venv)
		note_prefix(walk, prefix, bin);
	home = venv ? value_of(walk->arena, venv, "home") : NULL;
	if (!home && (walk->program[0] || read_program(walk)))
		home = folder_above(walk->arena, walk->program);
	if (home && *home == '/')
		note_prefix(walk, folder_above(walk->arena, home), home);
}

static int visit_object(struct dl_phdr_info *info, size_t size, void *data)
{
	struct walk *walk = data;
	const char *path = info->dlpi_name, *name;
	struct lc_image image;
	struct object_kind kind;

	(void)size;
	if (walk->process->object_count++ < walk->seen || !read_loaded(info, &image))
		return 0;
	if (!path[0]) {		/* the program; a namespace of dlmopen() has none */
		walk->process->audited |= lc_image_has(&image, DT_AUDIT) ||
					  lc_image_has(&image, DT_DEPAUDIT);
		/* The program's DT_RPATH applies to every object in the process. */
		if (lc_image_string(&image, DT_RPATH) && !lc_image_string(&image, DT_RUNPATH)) {
			struct lc_user *program = note_user(walk, &image, "", NULL);

			if (program)
				program->program = true;
		}
	}
	note_neighbour(walk, path);
	each_record(info, &image, note_embedding, &(struct needing){ walk, &image, path, 0 });
	kind = kind_of(walk, &image);
	if (kind.stub) {
		note_user(walk, &image, path, NULL);
		return 0;
	}
	name = lc_basename(path);
	if (!strcmp(name, "libc.so.6") || !strcmp(name, "libdl.so.2"))
		note_libc(walk, info, name[3] == 'c');
	if (kind.of != SIZE_MAX && is_whole_library(&image, walk->stubs[kind.of].library, kind.major))
		note_real(walk, &image, &kind, path);
	lc_image_needed(&image, note_needed,
			&(struct needing){ walk, &image, path, walk->process->user_count });
	return 0;
}

/* Enough for a folder that was named from another one. */
#define ORIGIN_BYTES (4 * PATH_MAX)

/* Returns the path of an object in the folder that ld.so has for $ORIGIN; NULL if that is not
 * known.  ld.so would fail in a folder without a path. */
static const char *path_by_origin(struct lc_arena *arena, void *handle, const char *name)
{
	char *origin = lc_alloc(arena, ORIGIN_BYTES);

	if (!origin || !getcwd(origin, PATH_MAX) || dlinfo(handle, RTLD_DI_ORIGIN, origin))
		return NULL;
	return lc_path(arena, origin, lc_basename(name));
}

static void set_program(struct walk *walk, const char *path)
{
	if (path && strlen(path) < sizeof(walk->program))
		strcpy(walk->program, path);
}

/* Returns true if a file is a program that needs ld.so. */
static bool needs_loader(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ElfW(Phdr) p = { .p_type = PT_NULL };
	ElfW(Ehdr) header;

	if (fd < 0)
		return true;
	if (pread(fd, &header, sizeof(header), 0) == (ssize_t)sizeof(header))
		for (size_t i = 0; i < header.e_phnum && p.p_type != PT_INTERP; i++)
			if (pread(fd, &p, sizeof(p),
				  (off_t)(header.e_phoff + i * sizeof(p))) != (ssize_t)sizeof(p))
				break;
	close(fd);
	return p.p_type == PT_INTERP;
}

/* If ld.so was run as a command and told the program, the kernel names ld.so.  It gives such a
 * process no address of an interpreter. */
static void find_program(struct walk *walk)
{
	void *program;

	if (lc_auxval(AT_BASE) || !read_program(walk) || needs_loader(walk->program))
		return;
	program = dlopen(NULL, RTLD_LAZY);
	if (program)
		set_program(walk, path_by_origin(walk->arena, program,
						 (const char *)lc_auxval(AT_EXECFN)));
	if (program)
		dlclose(program);
}

/* ld.so has the path that dlopen() was given, which may be relative to a folder that was the
 * current one then.  It has remembered that for $ORIGIN. */
static const char *absolute_path(struct lc_arena *arena, const char *path)
{
	void *handle = *path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	const char *found = handle ? path_by_origin(arena, handle, path) : NULL;

	if (handle)
		dlclose(handle);
	return found ? found : path;
}

static void read_process(struct walk *walk)
{
	add_leads(walk);
	walk_loaded(walk->arena, visit_object, walk, walk->process, sizeof(*walk->process));
}

void lc_process_read(struct lc_arena *arena, const struct lc_stub *stubs, size_t stub_count,
		     bool callers, struct lc_process *process)
{
	struct walk walk = { .arena = arena, .stubs = stubs, .stub_count = stub_count,
			     .process = process, .callers = callers };

	find_program(&walk);
	read_process(&walk);
	for (size_t i = 0; i < process->user_count && !arena->failed; i++)
		if (process->users[i].path[0] != '/')
			process->users[i].path = absolute_path(arena, process->users[i].path);
	process->audited |= was_audited();
}

void lc_process_read_python(struct lc_arena *arena, struct lc_process *process)
{
	struct walk walk = { .arena = arena, .process = process };

	if (process->python)
		return;
	process->python = true;
	find_program(&walk);
	process->loaded_neighbour_count = process->neighbour_count;
	note_pex(&walk);
	note_interpreter(&walk);
}

/* Appends so many elements to an array. */
static void append_rows(struct lc_arena *arena, void *array_pointer, size_t *count, const void *more,
			size_t more_count, size_t size)
{
	for (size_t i = 0; i < more_count && !arena->failed; i++) {
		void *added = lc_grow(arena, array_pointer, count, size);

		if (added)
			memcpy(added, (const char *)more + i * size, size);
	}
}

bool lc_process_update(struct lc_arena *arena, const struct lc_stub *stubs, size_t stub_count,
		       struct lc_process *process)
{
	struct lc_process more;
	struct walk walk = { .arena = arena, .stubs = stubs, .stub_count = stub_count,
			     .process = &more, .seen = process->object_count };
	size_t count;

	read_process(&walk);
	append_rows(arena, &process->reals, &process->real_count, more.reals, more.real_count,
		    sizeof(*more.reals));
	append_rows(arena, &process->users, &process->user_count, more.users, more.user_count,
		    sizeof(*more.users));
	process->object_count = more.object_count;
	count = process->neighbour_count;
	for (size_t i = 0; i < more.neighbour_count; i++)
		add_neighbour(arena, process, more.neighbours[i]);
	return !arena->failed && !more.user_count && process->neighbour_count == count;
}

struct real_walk {
	const struct lc_library *library;
	const struct link_map *map;	/* the object to judge; NULL: searches for any */
	const struct lc_aside *aside;	/* objects that do not count */
	int major;	/* below 0: none was found */
	struct lc_image image;	/* of the last object that was looked at */
};

static int visit_real(struct dl_phdr_info *info, size_t size, void *data)
{
	struct real_walk *walk = data;

	(void)size;
	if (walk->map && (info->dlpi_addr != walk->map->l_addr ||
			  strcmp(info->dlpi_name, walk->map->l_name)))
		return 0;
	if (lc_is_aside(walk->aside, info->dlpi_name))
		return 0;
	if (read_loaded(info, &walk->image) && !is_stub(&walk->image))
		walk->major = major_of(&walk->image, walk->library);
	return walk->map || (lc_listed_major(walk->library, walk->major) &&
			     is_whole_library(&walk->image, walk->library, walk->major));
}

bool lc_process_has(const struct lc_library *library, const struct lc_aside *aside)
{
	struct real_walk walk = { .library = library, .aside = aside, .major = -1 };

	return lc_each_object(visit_real, &walk);
}

struct soname_walk {
	struct lc_arena *arena;
	const char *soname, *path;
};

static int visit_soname(struct dl_phdr_info *info, size_t size, void *data)
{
	struct soname_walk *walk = data;
	struct lc_image image;
	const char *soname = read_loaded(info, &image) ? lc_image_string(&image, DT_SONAME) : NULL;

	(void)size;
	if (!soname || strcmp(soname, walk->soname) || is_stub(&image))
		return 0;
	walk->path = lc_text(walk->arena, info->dlpi_name);
	return 1;
}

const char *lc_process_path_of(struct lc_arena *arena, const char *soname)
{
	struct soname_walk walk = { .arena = arena, .soname = soname };

	walk_loaded(arena, visit_soname, &walk, &walk.path, sizeof(walk.path));
	return walk.path;
}

int lc_process_major(const struct link_map *map, const struct lc_library *library,
		     struct lc_image *image)
{
	struct real_walk walk = { .library = library, .map = map, .major = -1 };

	lc_each_object(visit_real, &walk);
	*image = walk.image;
	return walk.major;
}

static int note_loads(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	*(struct lc_loads *)data = (struct lc_loads){ info->dlpi_adds, info->dlpi_subs };
	return 1;
}

struct lc_loads lc_process_loads(void)
{
	struct lc_loads loads = { 0 };

	lc_each_object(note_loads, &loads);
	return loads;
}
