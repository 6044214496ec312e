/* SPDX-License-Identifier: MIT */
/*
 * linker.c - links with one real nvJitLink, each link in a child of its own:
 * `linker LIBNVJITLINK SECONDS < JOBS`
 *
 * A job is a line of tab-separated fields: the file for the image or "-", the
 * number of options, the options, and then KIND:FILE for each input, KIND as
 * nvJitLink counts.  Prints a line for each:
 *
 *	no CALL CODE		what failed, and with which code
 *	crash SIGNAL, hang	what the child came to
 *	yes			an image that could be loaded, by all that its bytes tell
 *	empty, malformed WHY	SUCCESS, with an image that is none
 *	foreign TOOLKIT		SUCCESS, but the code in the image is of a newer toolkit
 *				than the library, which copied what it does not know
 *
 * No header of CUDA's is needed.  The image is looked at by code of its own, so
 * that what is tested does not judge itself.
 */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_FIELDS = 160, MAX_OPTIONS = 32, EM_CUDA_ = 190, TOOLKIT_ATTRIBUTE = 0x37 };

static void *library;
/* Where answers go: what a library prints by itself is none. */
static FILE *answers;
static char answer[256];
static int version;			/* 129, as cubins count */

/* What a child says counts only if it comes to its end. */
static int say(const char *format, ...)
{
	va_list words;

	va_start(words, format);
	vsnprintf(answer, sizeof answer, format, words);
	va_end(words);
	return 0;
}

/* 12.0 to 12.2 have no names without a version. */
static void *find(const char *name)
{
	char versioned[96];
	void *found = dlsym(library, name);

	for (int minor = 2; !found && minor >= 0; minor--) {
		snprintf(versioned, sizeof versioned, "__%s_12_%d", name, minor);
		found = dlsym(library, versioned);
	}
	return found;
}

static void find_version(void)
{
	int (*ask)(unsigned *, unsigned *) = dlsym(library, "nvJitLinkVersion");
	unsigned major = 12, minor = 2;
	char name[64];

	if (ask) {
		ask(&major, &minor);
	} else {
		do
			snprintf(name, sizeof name, "__nvJitLinkCreate_12_%u", minor);
		while (!dlsym(library, name) && minor--);
	}
	version = 10 * major + minor;
}

/* ---- the image ---- */

static const void *at(const unsigned char *image, size_t length, uint64_t offset, uint64_t size)
{
	return offset <= length && size <= length - offset ? image + offset : NULL;
}

/* The newest toolkit that attributes of the code in a .nv.info section name. */
static int newest_toolkit(const unsigned char *info, size_t length)
{
	uint32_t newest = 0, value;
	uint16_t size;

	for (size_t at = 0; at + 4 <= length; ) {
		memcpy(&size, info + at + 2, 2);
		if (info[at] == 4) {		/* a format with `size` bytes behind it */
			if (info[at + 1] == TOOLKIT_ATTRIBUTE && size >= 4 && at + 8 <= length) {
				memcpy(&value, info + at + 4, 4);
				newest = value > newest ? value : newest;
			}
			at += size;
		}
		at += 4;
	}
	return newest;
}

/* What nvJitLink 13 writes has its section headers at any offset. */
typedef Elf64_Shdr Section __attribute__((aligned(1)));
typedef Elf64_Sym Symbol __attribute__((aligned(1)));

struct seen {
	int code, kernel, undefined, toolkit;
};

/* The driver has these, and fills in .nv.reservedSmem.offset0 from sm_90 on. */
static int is_the_drivers(const char *name)
{
	static const char *const names[] = { "vprintf", "malloc", "free", "__assertfail" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(name, names[i]))
			return 1;
	return !strncmp(name, ".nv.", 4);
}

static void see_symbols(struct seen *seen, const unsigned char *image, size_t length,
			const Section *symbols, const Section *names)
{
	const Symbol *symbol = at(image, length, symbols->sh_offset, symbols->sh_size);
	const char *text = at(image, length, names->sh_offset, names->sh_size);

	for (size_t i = 0; symbol && text && i < symbols->sh_size / sizeof *symbol; i++) {
		const char *name = symbol[i].st_name < names->sh_size ?
			text + symbol[i].st_name : "";

		if (!*name || is_the_drivers(name))
			continue;
		if (symbol[i].st_shndx == SHN_UNDEF)
			seen->undefined = 1;
		else if (!strcmp(name, "kernel"))
			seen->kernel = 1;
	}
}

static const char *see_sections(struct seen *seen, const unsigned char *image, size_t length)
{
	const Elf64_Ehdr *header = (const void *)image;
	const Section *sections = at(image, length, header->e_shoff,
					(uint64_t)header->e_shnum * sizeof *sections);
	const char *names;

	if (!sections || header->e_shstrndx >= header->e_shnum)
		return "no sections";
	names = (const char *)image + sections[header->e_shstrndx].sh_offset;
	for (int i = 0; i < header->e_shnum; i++) {
		const Section *section = &sections[i];
		const char *name = names + section->sh_name;
		const void *bytes = at(image, length, section->sh_offset, section->sh_size);

		if (section->sh_type == SHT_NOBITS)
			continue;
		if (!bytes)
			return "section behind the end";
		if (!strcmp(name, ".text.kernel") && section->sh_size)
			seen->code = 1;
		if (section->sh_type == SHT_SYMTAB && section->sh_link < header->e_shnum)
			see_symbols(seen, image, length, section, &sections[section->sh_link]);
		if (!strncmp(name, ".nv.info", 8)) {
			int toolkit = newest_toolkit(bytes, section->sh_size);

			seen->toolkit = toolkit > seen->toolkit ? toolkit : seen->toolkit;
		}
	}
	return NULL;
}

static void judge_cubin(const unsigned char *image, size_t length, int relocatable)
{
	const Elf64_Ehdr *header = (const void *)image;
	struct seen seen = { 0 };
	const char *wrong;

	if (length < sizeof *header || memcmp(image, ELFMAG, SELFMAG) ||
	    header->e_machine != EM_CUDA_) {
		say("malformed no cubin");
		return;
	}
	wrong = see_sections(&seen, image, length);
	if (wrong)
		say("malformed %s", wrong);
	else if (!seen.code || !seen.kernel)
		say("empty");
	else if (header->e_type != (relocatable ? ET_REL : ET_EXEC))
		say("malformed type %d", header->e_type);
	else if (seen.undefined && !relocatable)
		say("malformed undefined symbol");
	else if (header->e_ident[EI_ABIVERSION] == 7 && !(header->e_flags >> 16 & 0xff))
		say("malformed no virtual architecture");
	else if (seen.toolkit > version)
		say("foreign %d", seen.toolkit);
	else
		say("yes");
}

static void judge_ptx(const char *text, size_t length)
{
	char *copy = calloc(1, length + 1);

	memcpy(copy, text, length);
	if (!strstr(copy, ".version") || !strstr(copy, ".entry kernel"))
		say("malformed no kernel");
	else
		say("yes");
}

/* ---- one link ---- */

/* A file, with a NUL behind it, and right behind that a page that nobody may read. */
static void *read_guarded(const char *path, size_t *length)
{
	size_t page = sysconf(_SC_PAGESIZE), room, got = 0;
	int file = open(path, O_RDONLY);
	struct stat status;
	unsigned char *bytes;

	if (file < 0 || fstat(file, &status))
		return NULL;
	*length = status.st_size;
	room = (*length + 16 + page - 1) / page * page;
	bytes = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (bytes == MAP_FAILED || mprotect(bytes + room, page, PROT_NONE))
		return NULL;
	bytes += (room - *length - 1) / 16 * 16;
	for (ssize_t more = 1; got < *length && more > 0; got += more)
		more = read(file, bytes + got, *length - got);
	close(file);
	return bytes;
}

static int has(char **options, int count, const char *option)
{
	for (int i = 0; i < count; i++)
		if (!strcmp(options[i], option))
			return 1;
	return 0;
}

static int take_image(void *handle, const char *path, const char *what, int relocatable)
{
	int (*get_size)(void *, size_t *), (*get)(void *, void *);
	char name[64];
	size_t size = 0;
	void *image;
	int result;

	snprintf(name, sizeof name, "nvJitLinkGetLinked%sSize", what);
	get_size = find(name);
	snprintf(name, sizeof name, "nvJitLinkGetLinked%s", what);
	get = find(name);
	if (!get_size || !get)
		return say("no %s %d", name, -1);
	result = get_size(handle, &size);
	if (result)
		return say("no %s %d", "size", result);
	image = malloc(size + 1);
	result = get(handle, image);
	if (result)
		return say("no %s %d", "get", result);
	if (strcmp(path, "-")) {
		FILE *file = fopen(path, "w");

		if (!file || !fwrite(image, size, 1, file) || fclose(file))
			return say("cannot write %s", path);
	}
	if (!strcmp(what, "Ptx"))
		judge_ptx(image, size);
	else if (!strcmp(what, "LTOIR"))
		say("%s", size > 100 && !memcmp(image, "\355CN\177", 4) ? "yes" : "malformed");
	else
		judge_cubin(image, size, relocatable);
	return 0;
}

static int link_inputs(char **inputs, int count, void *handle)
{
	int (*add)(void *, int, const void *, size_t, const char *) = find("nvJitLinkAddData");
	int result = 0;

	for (int i = 0; !result && i < count; i++) {
		char *colon = strchr(inputs[i], ':');
		size_t length = 0;
		void *bytes = colon ? read_guarded(colon + 1, &length) : NULL;

		if (!bytes)
			return say("no %s %d", "input", -1);
		result = add(handle, atoi(inputs[i]), bytes, length, colon + 1);
	}
	return result ? say("no %s %d", "add", result) : 1;
}

static int run(char **fields, int count)
{
	int (*create)(void **, uint32_t, const char **) = find("nvJitLinkCreate");
	int (*complete)(void *) = find("nvJitLinkComplete");
	int (*destroy)(void **) = find("nvJitLinkDestroy");
	int option_count = atoi(fields[1]), result, linked_ltoir;
	const char *options[MAX_OPTIONS];
	void *handle = NULL;

	if (option_count > MAX_OPTIONS || option_count + 2 > count)
		return say("no %s %d", "job", -1);
	/* "-linked-ltoir" is ours: it says what to ask for, and is no option. */
	linked_ltoir = has(fields + 2, option_count, "-linked-ltoir");
	for (int i = 0; i < option_count - linked_ltoir; i++)
		options[i] = fields[2 + i];
	result = create(&handle, option_count - linked_ltoir, options);
	if (result)
		return say("no %s %d", "create", result);
	if (!link_inputs(fields + 2 + option_count, count - 2 - option_count, handle))
		return 0;
	result = complete(handle);
	if (result)
		return say("no %s %d", "complete", result);
	take_image(handle, fields[0], linked_ltoir ? "LTOIR" :
		   has(fields + 2, option_count, "-ptx") ? "Ptx" : "Cubin",
		   has(fields + 2, option_count, "-r"));
	return destroy(&handle);
}

static void run_in_child(char **fields, int count, int seconds)
{
	struct rlimit no_core = { 0, 0 };
	int status;
	pid_t child;

	fflush(answers);
	child = fork();
	if (child < 0) {
		perror("fork");
		exit(2);
	}
	if (!child) {
		setrlimit(RLIMIT_CORE, &no_core);
		signal(SIGALRM, SIG_DFL);
		alarm(seconds);
		run(fields, count);
		fprintf(answers, "%s\n", answer);
		fflush(answers);
		_exit(0);
	}
	waitpid(child, &status, 0);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		fprintf(answers, "hang\n");
	else if (WIFSIGNALED(status))
		fprintf(answers, "crash %d\n", WTERMSIG(status));
	else if (WEXITSTATUS(status))
		fprintf(answers, "crash exit %d\n", WEXITSTATUS(status));
}

int main(int argc, char **argv)
{
	char *line = NULL, *fields[MAX_FIELDS], *rest;
	size_t room = 0;
	int seconds = argc == 3 ? atoi(argv[2]) : 0;

	library = seconds > 0 ? dlopen(argv[1], RTLD_NOW) : NULL;
	if (!library) {
		fprintf(stderr, "%s\n", seconds > 0 ? dlerror() : "usage: linker LIB SECONDS");
		return 2;
	}
	answers = fdopen(dup(STDOUT_FILENO), "w");
	if (!answers || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
		perror("stdout");
		return 2;
	}
	find_version();
	while (getline(&line, &room, stdin) > 0) {
		int count = 0;

		for (char *field = strtok_r(line, "\t\n", &rest); field && count < MAX_FIELDS;
		     field = strtok_r(NULL, "\t\n", &rest))
			fields[count++] = field;
		if (count >= 2)
			run_in_child(fields, count, seconds);
		else
			fprintf(answers, "no job -1\n");
	}
	free(line);
	return fclose(answers) ? 2 : 0;
}
