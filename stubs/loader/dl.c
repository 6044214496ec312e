/* SPDX-License-Identifier: MIT */
/* dl.c - dlopen(), and why it failed */
#include "dl.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../base/count.h"
#include "../base/folders.h"
#include "../base/glibc.h"
#include "../base/object.h"
#include "../base/regular.h"

/* Returns true if the text ends like glibc's word for an error, in the locale's language. */
static bool ends_with_error(const char *text, int error)
{
	const char *word = strerror(error);
	const size_t length = strlen(text), rest = strlen(word);

	return length >= rest && !strcmp(text + length - rest, word);
}

/* Returns true if the file that the text is about may not be mapped as code, as in a folder that
 * is mounted noexec. */
static bool is_no_code(const char *text)
{
	const char *end = strstr(text, ": ");
	char path[512];
	struct stat st;
	void *page;
	bool is;
	int fd;

	if (*text != '/' || !end || (size_t)(end - text) >= sizeof(path))
		return false;
	memcpy(path, text, (size_t)(end - text));
	path[end - text] = 0;
	fd = lc_open_regular(path, &st);
	if (fd < 0)
		return false;
	page = mmap(NULL, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	is = page == MAP_FAILED && (errno == EPERM || errno == EACCES);
	if (page != MAP_FAILED)
		munmap(page, 1);
	close(fd);
	return is;
}

/* A text of glibc's in the locale's language.  dgettext() is not imported: ld.so would look it up
 * for each stub. */
static const char *translated(const char *text)
{
	char *(*translate)(const char *domain, const char *text);
	void *address = dlsym(RTLD_DEFAULT, "dgettext");

	if (!address)
		return text;
	memcpy(&translate, &address, sizeof(translate));
	return translate("libc", text);
}

/* glibc leaves errno at 0 where a mapping fails, and does not name the error. */
static bool is_of_want(const char *text)
{
	static const char words[][48] = {
		"failed to map segment from shared object", "cannot map zero-fill pages",
		"cannot change memory protections", "out of memory",
	};
	static const int errors[] = { ENOMEM, EMFILE, ENFILE, EINTR };

	for (size_t i = 0; i < LC_COUNT(errors); i++)
		if (ends_with_error(text, errors[i]))
			return true;
	for (size_t i = 0; i < LC_COUNT(words); i++)
		if (strstr(text, translated(words[i])))
			return !is_no_code(text);
	return false;
}

/* Returns true if ld.so replaces a part of the path. */
static bool has_token(const char *path)
{
	static const char tokens[][12] = { "LIB", "ORIGIN", "PLATFORM" };
	const char *end = path + strlen(path);

	while ((path = strchr(path, '$'))) {
		for (size_t i = 0; i < LC_COUNT(tokens); i++)
			if (lc_token_length(path, end, tokens[i]))
				return true;
		path++;
	}
	return false;
}

/* The length of the folders that both paths begin with, and of the slash behind them. */
static size_t common_length(const char *a, const char *b)
{
	size_t length = 0;

	for (size_t i = 0; a[i] && a[i] == b[i]; i++)
		if (a[i] == '/')
			length = i + 1;
	return length;
}

const char *lc_dlopen_name(struct lc_arena *arena, const char *path)
{
	const char *own, *relative = "";
	size_t common;

	if (!has_token(path))
		return path;
	own = lc_this_file();
	if (!own || own[0] != '/')
		return NULL;
	common = common_length(own, path);
	if (has_token(path + common))
		return NULL;
	for (const char *at = own + common; (at = strchr(at, '/')); at++)
		relative = lc_format(arena, "../%s", relative);
	relative = lc_format(arena, "/%s%s", relative, path + common);
	/* Behind a symbolic link `..` may be another folder. */
	if (!lc_lead_to_same(lc_format(arena, "%.*s%s", (int)(strrchr(own, '/') - own), own, relative),
			     path))
		return NULL;
	return lc_format(arena, "$ORIGIN%s", relative);
}

void *lc_dlopen(struct lc_arena *arena, const char *path, int flags, const char **said)
{
	const char *text, *name = lc_dlopen_name(arena, path);
	void *handle;
	int error;

	*said = NULL;
	if (!name)
		return NULL;
	for (int i = 0; i < LC_AGAIN_TIMES; i++) {
		errno = 0;
		handle = dlopen(name, flags);
		if (handle)
			return handle;
		error = errno;
		text = dlerror();
		*said = text ? lc_text(arena, text) : NULL;
		if (!text || !ends_with_error(text, EINTR))
			break;
	}
	lc_arena_note_error(arena, error);
	if (*said && is_of_want(*said))
		arena->starved = true;
	return NULL;
}
