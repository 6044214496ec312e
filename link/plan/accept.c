/* SPDX-License-Identifier: MIT */
/* accept.c - may this linker, of this version, take this entry for this target? */
#include "accept.h"

#include "../formats/formats.h"
#include "../tables/text.h"
#include "../tables/versions.h"

#define COMPRESSED (LAZYCUDA_ENTRY_LZ4 | LAZYCUDA_ENTRY_ZSTD)

/* NVVM IR 2.0: no nvJitLink reads what is older. */
#define LTOIR_OLDEST LC_CUDA(12, 0)

struct lk_linker lk_linker(enum lazycuda_backend backend, int version,
			   const struct lk_arch *target, unsigned flags, bool strict)
{
	struct lk_linker linker = { .backend = backend, .version = version, .target = *target,
				    .flags = flags, .strict = strict };

	if (version <= 0)
		linker.version = LAZYCUDA_VERSION_UNKNOWN;
	else
		linker.isa = lk_isa_of_cuda(version);
	return linker;
}

const char *lk_linker_text(const struct lk_linker *linker, char text[LK_LINKER_TEXT])
{
	bool driver = linker->backend == LAZYCUDA_BACKEND_DRIVER;
	const char *tool = linker->backend == LAZYCUDA_BACKEND_NVRTC ? "nvrtc" :
			   linker->backend == LAZYCUDA_BACKEND_TILEIRAS ? "tileiras" : "nvJitLink";
	char version[LK_VERSION_TEXT];

	if (linker->version <= 0) {
		lk_put(lk_put(text, driver ? "the driver" : tool), " of unknown version");
		return text;
	}
	lk_version_text(linker->version, version);
	lk_put(lk_put(lk_put(lk_put(text, driver ? "the driver (CUDA" : tool), " "), version),
	       driver ? ")" : "");
	return text;
}

bool lk_entry_toolkits(const struct lazycuda_entry *entry, int *oldest, int *newest)
{
	bool ltoir = entry->kind == LAZYCUDA_KIND_LTOIR;
	int toolkit = entry->toolkit;

	if (entry->kind == LAZYCUDA_KIND_PTX)
		toolkit = lk_cuda_of_isa(entry->isa);
	else if (!toolkit && ltoir)
		toolkit = lk_cuda_of_ltoir(entry->container, entry->ir);
	*oldest = *newest = toolkit;
	if (!toolkit && ltoir && entry->container)
		lk_cuda_range_of_container(entry->container, oldest, newest);
	return *oldest;
}

/* ---- the version ---- */

/* Returns true if a version is no later than the linker's, or if that is unknown. */
static bool reaches(const struct lk_linker *linker, int version)
{
	return linker->version < 0 || version <= linker->version;
}

static enum lazycuda_code ptx_version(const struct lk_linker *linker,
				      const struct lazycuda_entry *entry, bool *doubt)
{
	if (!entry->isa)
		*doubt = true;
	return linker->isa && entry->isa > linker->isa ? LAZYCUDA_CODE_PTX_TOO_NEW :
							 LAZYCUDA_CODE_OK;
}

static enum lazycuda_code cubin_version(const struct lk_linker *linker,
					const struct lazycuda_entry *entry, bool *doubt)
{
	if (!entry->toolkit)
		*doubt = true;
	if (entry->abi && entry->abi < LK_ABI_OLDEST)
		return LAZYCUDA_CODE_UNSUPPORTED_KIND;
	/* 12.5 to 12.9 take cubins of 13 and spoil them, or crash. */
	if (entry->abi > LK_ABI_NEWEST || !reaches(linker, lk_cuda_of_cubin(entry)))
		return LAZYCUDA_CODE_CUBIN_TOO_NEW;
	return LAZYCUDA_CODE_OK;
}

static enum lazycuda_code ltoir_version(const struct lk_linker *linker,
					const struct lazycuda_entry *entry, bool *doubt)
{
	bool across = linker->flags & LAZYCUDA_LINK_LTO_ACROSS_MAJORS;
	int oldest, newest;

	if (linker->backend == LAZYCUDA_BACKEND_DRIVER)
		return LAZYCUDA_CODE_LTOIR_ON_DRIVER;
	if (entry->level == LK_LEVEL_OPTIX)
		return LAZYCUDA_CODE_UNSUPPORTED_KIND;
	if (!lk_entry_toolkits(entry, &oldest, &newest)) {
		*doubt = true;
		return LAZYCUDA_CODE_OK;
	}
	if (newest < LTOIR_OLDEST)
		return LAZYCUDA_CODE_LTOIR_CROSS_MAJOR;
	if (linker->version < 0)
		return LAZYCUDA_CODE_OK;
	if (lk_linker_reads(entry->kind, oldest, linker->version, across) == LK_TOO_NEW)
		return LAZYCUDA_CODE_LTOIR_TOO_NEW;
	switch (lk_linker_reads(entry->kind, newest, linker->version, across)) {
	case LK_CROSS_MAJOR:
		return LAZYCUDA_CODE_LTOIR_CROSS_MAJOR;
	case LK_TOO_NEW:
		*doubt = true;
		break;
	case LK_READS:
		break;
	}
	return LAZYCUDA_CODE_OK;
}

static enum lazycuda_code version(const struct lk_linker *linker,
				  const struct lazycuda_entry *entry, bool *doubt)
{
	switch (entry->kind) {
	case LAZYCUDA_KIND_PTX:
		return ptx_version(linker, entry, doubt);
	case LAZYCUDA_KIND_CUBIN:
		return cubin_version(linker, entry, doubt);
	case LAZYCUDA_KIND_LTOIR:
		return ltoir_version(linker, entry, doubt);
	default:
		return LAZYCUDA_CODE_UNSUPPORTED_KIND;
	}
}

/* ---- the rest ---- */

/* Only relocatable cubins are linked: nvJitLink from 12.6 on silently drops any
 * other, and earlier ones refuse it. */
static enum lazycuda_code linkable(const struct lazycuda_entry *entry, bool *doubt)
{
	if (entry->kind != LAZYCUDA_KIND_CUBIN || entry->flags & LAZYCUDA_ENTRY_RELOCATABLE)
		return LAZYCUDA_CODE_OK;
	if (entry->flags & LAZYCUDA_ENTRY_UNSEEN && !(entry->flags & LAZYCUDA_ENTRY_LINKED)) {
		*doubt = true;
		return LAZYCUDA_CODE_OK;
	}
	return LAZYCUDA_CODE_LINKED_CUBIN;
}

static enum lazycuda_code arch(const struct lk_linker *linker, const struct lazycuda_entry *entry,
			       bool *doubt)
{
	struct lk_arch code = { entry->arch, entry->suffix, false };

	if (!entry->arch) {
		*doubt = true;
		return LAZYCUDA_CODE_OK;
	}
	return lk_arch_fits(entry->kind, &code, &linker->target, linker->version) ?
	       LAZYCUDA_CODE_OK : LAZYCUDA_CODE_ARCH_MISMATCH;
}

/* The form in which an entry is handed over.  nvJitLink may unpack an entry that
 * cannot be unpacked here. */
static enum lazycuda_code form(const struct lk_linker *linker, const struct lazycuda_entry *entry,
			       enum lazycuda_form *form)
{
	bool obfuscated = entry->flags & LAZYCUDA_ENTRY_OBFUSCATED;

	*form = entry->flags & LAZYCUDA_ENTRY_NOT_ASCII ? LAZYCUDA_FORM_UNPACKED :
							 LAZYCUDA_FORM_AS_IS;
	if (!(entry->flags & (COMPRESSED | LAZYCUDA_ENTRY_OBFUSCATED)))
		return LAZYCUDA_CODE_OK;
	*form = LAZYCUDA_FORM_UNPACKED;
	if (!obfuscated && !(entry->flags & LAZYCUDA_ENTRY_UNSEEN))
		return LAZYCUDA_CODE_OK;
	*form = LAZYCUDA_FORM_FATBIN;
	if (linker->backend == LAZYCUDA_BACKEND_DRIVER)
		return LAZYCUDA_CODE_CANNOT_UNPACK;
	if (reaches(linker, LK_NVJITLINK_ZSTD))
		return LAZYCUDA_CODE_OK;
	if (obfuscated)
		return LAZYCUDA_CODE_NVJITLINK_TOO_OLD;
	return entry->flags & LAZYCUDA_ENTRY_ZSTD ? LAZYCUDA_CODE_CANNOT_UNPACK : LAZYCUDA_CODE_OK;
}

struct lk_acceptance lk_accept(const struct lk_linker *linker,
			       const struct lazycuda_entry *entry)
{
	struct lk_acceptance is = { .code = LAZYCUDA_CODE_BAD_INPUT };

	if (entry->flags & LAZYCUDA_ENTRY_OVER_LIMIT)
		is.code = LAZYCUDA_CODE_UNPACK_LIMIT;
	if (entry->error)
		return is;
	is.code = version(linker, entry, &is.doubt);
	if (!is.code)
		is.code = linkable(entry, &is.doubt);
	if (!is.code)
		is.code = arch(linker, entry, &is.doubt);
	if (!is.code)
		is.code = form(linker, entry, &is.form);
	if (!is.code && is.doubt && linker->strict)
		is.code = LAZYCUDA_CODE_INSUFFICIENT_METADATA;
	return is;
}
