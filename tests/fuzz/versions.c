/* SPDX-License-Identifier: MIT */
/* versions.c - fuzzing what reads text: versions, constraints, architectures, options */
#include "../../link/tables/arch.h"
#include "../../link/tables/options.h"
#include "../../link/tables/versions.h"
#include "fuzzing.h"

static const int versions[] = {
	LAZYCUDA_VERSION_UNKNOWN, LC_CUDA(11, 8), LC_CUDA(12, 0), LC_CUDA(12, 9), LC_CUDA(13, 2),
	LC_CUDA(14, 0),
};

/* What was read and is written is read as the same. */
static void check_version(const char *text)
{
	char written[LK_VERSION_TEXT];
	int version, again;

	if (!lk_version_parse(text, &version))
		return;
	must(version >= 0);
	lk_version_text(version, written);
	must(version == LAZYCUDA_VERSION_NONE ||
	     (lk_version_parse(written, &again) && again == version));
}

static void check_constraint(const char *text, size_t length)
{
	for (size_t i = 0; i < COUNT(versions); i++) {
		const char *wrong = text;
		int holds = lc_constraint_holds(text, versions[i], &wrong);

		must(holds == 1 || holds == 0 || holds == -1);
		must(holds >= 0 || (wrong >= text && wrong <= text + length));
	}
}

static void check_arch(const char *text)
{
	char written[LK_ARCH_TEXT];
	struct lk_arch arch, again;

	if (!lk_arch_parse(text, &arch))
		return;
	lk_arch_text(&arch, written);
	must(lk_arch_parse(written, &again) && again.sm == arch.sm &&
	     again.suffix == arch.suffix && again.virtual == arch.virtual);
	for (enum lk_tool tool = LK_NVRTC; tool <= LK_DRIVER; tool++) {
		lk_arch_since(&arch, tool);
		lk_arch_until(&arch, tool);
		for (size_t i = 0; i < COUNT(versions); i++)
			lk_arch_supported(&arch, tool, versions[i]);
	}
	for (enum lazycuda_kind kind = LAZYCUDA_KIND_PTX; kind <= LAZYCUDA_KIND_LTOIR; kind++)
		lk_arch_fits(kind, &arch, &again, LAZYCUDA_VERSION_UNKNOWN);
}

static void check_option(const char *text)
{
	for (size_t i = 0; i < COUNT(versions); i++)
		for (enum lazycuda_backend backend = LAZYCUDA_BACKEND_NVJITLINK;
		     backend <= LAZYCUDA_BACKEND_DRIVER; backend++) {
			struct lk_option_verdict verdict;

			verdict = lk_option_judge(text, backend, versions[i]);
			must(verdict.fate == LK_OPTION_TAKEN || (verdict.why && *verdict.why));
		}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = next_text(&data, &size);

	check_version(text);
	check_constraint(text, strlen(text));
	check_arch(text);
	check_option(text);
	free(text);
	return 0;
}
