/* SPDX-License-Identifier: MIT */
/* key.c - the key of a link, for caches of images */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../include/lazycuda.h"
#include "handle.h"
#include "sha256.h"

/* A length goes before all bytes, so that no two lists are the same bytes. */
static void hash_bytes(struct lk_sha256 *sum, const void *bytes, size_t length)
{
	const uint64_t count = bytes ? length : UINT64_MAX;

	lk_sha256_add(sum, &count, sizeof(count));
	if (bytes)
		lk_sha256_add(sum, bytes, length);
}

static void hash_text(struct lk_sha256 *sum, const char *text)
{
	hash_bytes(sum, text, text ? strlen(text) : 0);
}

static void hash_texts(struct lk_sha256 *sum, const char *const *texts, size_t count)
{
	hash_bytes(sum, &count, sizeof(count));
	for (size_t i = 0; i < count; i++)
		hash_text(sum, texts[i]);
}

/* Adds an input, or that of a support module. */
static bool hash_input(struct lazycuda_link *link, struct lk_sha256 *sum, size_t input,
		       size_t support)
{
	const struct lazycuda_step whole = { .input = input, .support = support, .name = "" };
	const struct lazycuda_input *what = lk_input_of(link, &whole);
	char *bytes = NULL;
	size_t length = what->length;

	if (!what->bytes) {
		bytes = lk_read_input(link, &whole, &length);
		if (!bytes)
			return false;
	}
	hash_bytes(sum, &what->kind, sizeof(what->kind));
	hash_bytes(sum, &what->flags, sizeof(what->flags));
	hash_bytes(sum, bytes ? bytes : what->bytes, length);
	free(bytes);
	hash_texts(sum, what->name_expressions, what->name_expression_count);
	hash_texts(sum, what->include_names, what->header_count);
	hash_texts(sum, what->headers, what->header_count);
	return true;
}

/* With the modules that source may turn out to need. */
static bool hash_inputs(struct lazycuda_link *link, struct lk_sha256 *sum)
{
	const bool supported = !(link->request.flags & LAZYCUDA_LINK_NO_SUPPORT);

	for (size_t i = 0; i < link->count; i++)
		if (!hash_input(link, sum, i, LAZYCUDA_NO_INDEX))
			return false;
	for (size_t i = 0; supported && i < link->support_count; i++) {
		const struct lazycuda_support *support = link->support[i];

		if (!support->enabled)
			continue;
		hash_texts(sum, support->functions, support->function_count);
		if (!hash_input(link, sum, LAZYCUDA_NO_INDEX, i))
			return false;
	}
	return true;
}

static void hash_steps(const struct lazycuda_plan *plan, struct lk_sha256 *sum)
{
	for (size_t i = 0; i < plan->step_count; i++) {
		const struct lazycuda_step *step = plan->steps[i];
		const size_t words[] = { step->input, step->support, step->entry,
					 (size_t)step->form, (size_t)step->kind };

		hash_bytes(sum, words, sizeof(words));
		hash_text(sum, step->name);
	}
}

/* All that takes part: the driver alone where it links. */
static void hash_plan(const struct lazycuda_link *link, struct lk_sha256 *sum)
{
	const struct lazycuda_plan *plan = link->plan;
	const bool driver = plan->backend == LAZYCUDA_BACKEND_DRIVER;
	const int words[] = {
		(int)plan->backend, (int)link->request.output, (int)plan->compile_to,
		(int)plan->nvvm_to,
		plan->backend == LAZYCUDA_BACKEND_NVJITLINK ? plan->nvjitlink : 0,
		plan->compile_to == LAZYCUDA_KIND_UNKNOWN ? 0 : plan->nvrtc, plan->nvvm,
		driver ? link->environment.driver : 0, driver ? link->environment.branch : 0,
		plan->tileiras,
	};

	hash_text(sum, lazycuda_version());
	hash_text(sum, plan->arch);
	hash_bytes(sum, words, sizeof(words));
	hash_texts(sum, plan->options, plan->option_count);
	hash_texts(sum, plan->compile_options, plan->compile_option_count);
	hash_texts(sum, plan->nvvm_options, plan->nvvm_option_count);
	hash_texts(sum, link->request.symbols, link->request.symbol_count);
}

const char *lazycuda_link_key(struct lazycuda_link *link)
{
	struct lk_sha256 sum = lk_sha256_new();
	unsigned char digest[LK_SHA256_BYTES];
	char *key = link ? lc_alloc(link->arena, 2 * sizeof(digest) + 1) : NULL;

	if (!key || link->ran || !lk_inspect_inputs(link) || !lk_decide(link))
		return NULL;
	hash_plan(link, &sum);
	hash_steps(link->plan, &sum);
	if (!hash_inputs(link, &sum))
		return NULL;
	lk_sha256_end(&sum, digest);
	for (size_t i = 0; i < sizeof(digest); i++)
		snprintf(key + 2 * i, 3, "%02x", digest[i]);
	return key;
}
