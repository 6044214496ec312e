/* SPDX-License-Identifier: MIT */
/* product.c - shared by all backends: fetch logs and images, report what failed */
#include "backends.h"

#include <stdlib.h>
#include <string.h>

#include "../plan/choose.h"
#include "../tables/versions.h"
#include "../../stubs/base/count.h"

/* A library that claims a larger size is broken. */
#define LOG_LIMIT ((size_t)1 << 26)
#define IMAGE_LIMIT ((size_t)1 << 32)

/* nvrtc and libnvvm of 13.5 say of each success with LTO-IR: "INFO: NVVM70 LTOIR Container created
 * (1756 bytes)", or Solid in place of NVVM70. */
static bool is_noise(const char *line, size_t length)
{
	static const char begin[] = "INFO: ", created[] = " LTOIR Container created ";

	return !strncmp(line, begin, strlen(begin)) &&
	       memmem(line, length, created, strlen(created));
}

/* Takes the lines of noise out of a log. */
static void quieten(char *log)
{
	for (char *line = log; *line;) {
		size_t length = strcspn(line, "\n");

		length += line[length] == '\n';
		if (!is_noise(line, length))
			line += length;
		else
			memmove(line, line + length, strlen(line + length) + 1);
	}
}

char *lk_fetch_log(struct lc_arena *arena, const struct lk_getter *getter, void *handle)
{
	size_t size = 0;
	char *log;

	if (getter->size(handle, &size) || !size || size > LOG_LIMIT)
		return NULL;
	log = lc_alloc(arena, size + 1);
	if (!log || getter->get(handle, log))
		return NULL;
	log[size] = 0;
	quieten(log);
	return *log ? log : NULL;
}

static void *allocate_image(struct lc_arena *arena, size_t size, struct lk_product *product)
{
	char *image;

	if (!size || size > IMAGE_LIMIT) {
		lk_product_stop(product, LAZYCUDA_CODE_BAD_IMAGE, lc_format(arena,
			"the linker reported success and an image of %zu bytes", size));
		return NULL;
	}
	image = malloc(size + 1);
	if (image)
		image[size] = 0;
	else
		lk_product_stop(product, LAZYCUDA_CODE_NO_MEMORY,
				"there is no memory for the image");
	return image;
}

bool lk_fetch_image(struct lc_arena *arena, const struct lk_getter *getter, void *handle,
		    struct lk_product *product)
{
	size_t size = 0;

	if (!LK_CALL(product, getter->size_name, getter->size(handle, &size)))
		return false;
	product->call = getter->name;
	product->image = allocate_image(arena, size, product);
	if (!product->image)
		return false;
	product->length = size;
	if (LK_CALL(product, getter->name, getter->get(handle, product->image))) {
		product->call = NULL;
		return true;
	}
	free(product->image);
	product->image = NULL;
	product->length = 0;
	return false;
}

bool lk_copy_image(struct lc_arena *arena, const void *bytes, size_t length,
		   struct lk_product *product)
{
	product->image = allocate_image(arena, bytes ? length : 0, product);
	if (!product->image)
		return false;
	memcpy(product->image, bytes, length);
	product->length = length;
	return true;
}

/* Phrases in the logs of all versions of the linkers, the driver's included. */
static const struct { const char *text; enum lazycuda_code code; } phrases[] = {
	{ "Undefined reference to '", LAZYCUDA_CODE_UNDEFINED_SYMBOL },
	{ "Unresolved extern ", LAZYCUDA_CODE_UNDEFINED_SYMBOL },
	{ "Unsupported .version ", LAZYCUDA_CODE_PTX_TOO_NEW },
	{ "may need newer version of nvJitLink", LAZYCUDA_CODE_LTOIR_TOO_NEW },
	{ "' cannot be compiled for architecture '", LAZYCUDA_CODE_ARCH_MISMATCH },
	{ "Multiple definition of '", LAZYCUDA_CODE_DUPLICATE_SYMBOL },
	{ "symbol multiply defined", LAZYCUDA_CODE_DUPLICATE_SYMBOL },
};

enum lazycuda_code lk_code_of_log(const char *log, enum lazycuda_code otherwise)
{
	for (size_t i = 0; log && i < LC_COUNT(phrases); i++)
		if (strstr(log, phrases[i].text))
			return phrases[i].code;
	return otherwise;
}

/* Where a line has the word that says what it is: "k.cu(3): error: ...", "ptxas fatal   : ...". */
static const char *find_word(const char *line, const char *word)
{
	const char *at = line;

	while ((at = strstr(at, word))) {
		const char after = at[strlen(word)];

		if ((at == line || at[-1] == ' ') && (after == ' ' || after == ':'))
			return at;
		at++;
	}
	return NULL;
}

/* A line of source, quoted after what is said of it, begins with blanks. */
static bool is_error(const char *line)
{
	const char *error = find_word(line, "error"), *warning = find_word(line, "warning");

	if (!error)
		error = find_word(line, "fatal");
	return error && *line != ' ' && (!warning || error < warning);
}

const char *lk_telling_line(struct lc_arena *arena, const char *log)
{
	const char *first = NULL, *warning = NULL;

	for (; log && *log; log += strcspn(log, "\n"), log += *log == '\n') {
		size_t length = strcspn(log, "\n");
		const char *line = length ? lc_copy(arena, log, length) : NULL;
		const char **kept = line && (*line == ' ' || find_word(line, "warning")) ? &warning :
				    &first;

		if (!line)
			continue;
		if (is_error(line))
			return lc_printable(arena, line);
		if (!*kept)
			*kept = line;
	}
	if (!first)
		first = warning;
	return first ? lc_printable(arena, first) : NULL;
}

const char *lk_failure(struct lc_arena *arena, const char *who, const char *piece,
		       const struct lk_product *product, const char *result_name)
{
	const char *line = lk_telling_line(arena, product->error_log);

	return lc_format(arena, "%s: %s%s%s returned %d%s%s%s%s%s", who, product->call,
			 piece ? " of " : "", piece ? lc_printable(arena, piece) : "",
			 product->status, result_name ? " (" : "", result_name ? result_name : "",
			 result_name ? ")" : "", line ? ": " : "", line ? line : "");
}

enum { OUT_OF_MEMORY = 1 };	/* of nvrtcResult and nvvmResult; the log explains all others */

void lk_explain_compiler(struct lc_arena *arena, const char *compiler, int version,
			 const char *source, const char *result_name, struct lk_product *product)
{
	product->code = product->status == OUT_OF_MEMORY ? LAZYCUDA_CODE_NO_MEMORY :
		LAZYCUDA_CODE_COMPILE_FAILED;
	product->message = lk_failure(arena, lc_format(arena, "%s %s", compiler, lk_version(arena, version)),
				      source, product, result_name);
}

void lk_product_stop(struct lk_product *product, enum lazycuda_code code, const char *message)
{
	product->code = code;
	product->message = message;
}
