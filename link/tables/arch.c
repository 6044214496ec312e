/* SPDX-License-Identifier: MIT */
/* arch.c - GPU architectures: which exist, which tools know them, what fits what */
#include "arch.h"

#include <string.h>

#include "text.h"
#include "versions.h"
#include "../../stubs/base/count.h"

/* The first and the last version of a tool that knows an architecture.  The last is
 * 0 if the newest still does.  { 0, 0 }: none ever did. */
struct span {
	int since, until;
};

/*
 * Sorted; an architecture's variants follow it.  nvrtc's columns are what
 * nvrtcGetSupportedArchs and the compiler said, from 11.7 on; nvJitLink's are
 * what every version linked for; the driver's is the CUDA version whose PTX
 * knows the target.  The driver has no last version: a driver that has dropped a
 * GPU does not see it, so nothing is linked for it.
 */
static const struct known {
	int sm;
	char suffix;
	struct span tools[3];	/* by enum lk_tool */
} archs[] = {
	/*          nvrtc             nvJitLink         driver */
	{  35,   0, { { 11000, 11080 }, {     0,     0 }, { 11000, 0 } } },
	{  37,   0, { { 11000, 11080 }, {     0,     0 }, { 11000, 0 } } },
	{  50,   0, { { 11000, 12090 }, { 12000, 12090 }, { 11000, 0 } } },
	{  52,   0, { { 11000, 12090 }, { 12000, 12090 }, { 11000, 0 } } },
	{  53,   0, { { 11000, 12090 }, { 12000, 12090 }, { 11000, 0 } } },
	{  60,   0, { { 11000, 12090 }, { 12000, 12090 }, { 11000, 0 } } },
	{  61,   0, { { 11000, 12090 }, { 12000, 12090 }, { 11000, 0 } } },
	{  62,   0, { { 11000, 12090 }, { 12000, 12090 }, { 11000, 0 } } },
	{  70,   0, { { 11000, 12090 }, { 12000, 12090 }, { 11000, 0 } } },
	{  72,   0, { { 11000, 12090 }, { 12000, 12090 }, { 11000, 0 } } },
	{  75,   0, { { 11000,     0 }, { 12000,     0 }, { 11000, 0 } } },
	{  80,   0, { { 11000,     0 }, { 12000,     0 }, { 11000, 0 } } },
	{  86,   0, { { 11010,     0 }, { 12000,     0 }, { 11010, 0 } } },
	{  87,   0, { { 11040,     0 }, { 12000,     0 }, { 11040, 0 } } },
	{  88,   0, { { 13000,     0 }, { 13000,     0 }, { 13000, 0 } } },
	{  89,   0, { { 11080,     0 }, { 12000,     0 }, { 11080, 0 } } },
	{  90,   0, { { 11080,     0 }, { 12000,     0 }, { 11080, 0 } } },
	{  90, 'a', { { 12000,     0 }, { 12000,     0 }, { 12000, 0 } } },
	{ 100,   0, { { 12080,     0 }, { 12080,     0 }, { 12070, 0 } } },
	{ 100, 'a', { { 12080,     0 }, { 12080,     0 }, { 12070, 0 } } },
	{ 100, 'f', { { 12090,     0 }, { 12090,     0 }, { 12090, 0 } } },
	{ 101,   0, { { 12080, 12090 }, { 12080, 12090 }, { 12070, 0 } } },
	{ 101, 'a', { { 12080, 12090 }, { 12080, 12090 }, { 12070, 0 } } },
	{ 101, 'f', { { 12090, 12090 }, { 12090, 12090 }, { 12090, 0 } } },
	{ 103,   0, { { 12090,     0 }, { 12090,     0 }, { 12090, 0 } } },
	{ 103, 'a', { { 12090,     0 }, { 12090,     0 }, { 12090, 0 } } },
	{ 103, 'f', { { 12090,     0 }, { 12090,     0 }, { 12090, 0 } } },
	{ 107,   0, { { 13040,     0 }, { 13040,     0 }, { 13040, 0 } } },
	{ 107, 'a', { { 13040,     0 }, { 13040,     0 }, { 13040, 0 } } },
	{ 107, 'f', { { 13040,     0 }, { 13040,     0 }, { 13040, 0 } } },
	{ 110,   0, { { 13000,     0 }, { 13000,     0 }, { 13000, 0 } } },
	{ 110, 'a', { { 13000,     0 }, { 13000,     0 }, { 13000, 0 } } },
	{ 110, 'f', { { 13000,     0 }, { 13000,     0 }, { 13000, 0 } } },
	{ 120,   0, { { 12080,     0 }, { 12080,     0 }, { 12080, 0 } } },
	{ 120, 'a', { { 12080,     0 }, { 12080,     0 }, { 12080, 0 } } },
	{ 120, 'f', { { 12090,     0 }, { 12090,     0 }, { 12090, 0 } } },
	{ 121,   0, { { 12090,     0 }, { 12090,     0 }, { 12090, 0 } } },
	{ 121, 'a', { { 12090,     0 }, { 12090,     0 }, { 12090, 0 } } },
	{ 121, 'f', { { 12090,     0 }, { 12090,     0 }, { 12090, 0 } } },
};

/* ---- names ---- */

bool lk_arch_parse(const char *text, struct lk_arch *arch)
{
	static const struct {
		const char *text;
		bool virtual;
	} prefixes[] = { { "sm_", false }, { "compute_", true }, { "lto_", true } };
	int digits = 0, sm = 0;

	for (size_t i = 0; i < LC_COUNT(prefixes); i++) {
		size_t length = strlen(prefixes[i].text);

		if (strncmp(text, prefixes[i].text, length))
			continue;
		for (text += length; *text >= '0' && *text <= '9' && digits < 4; text++, digits++)
			sm = 10 * sm + *text - '0';
		if (digits < 2 || sm < 10 || (*text && *text != 'a' && *text != 'f') ||
		    (*text && text[1]))
			return false;
		*arch = (struct lk_arch){ sm, *text, prefixes[i].virtual };
		return true;
	}
	return false;
}

const char *lk_arch_text(const struct lk_arch *arch, char text[LK_ARCH_TEXT])
{
	const char suffix[2] = { arch->suffix, '\0' };

	stpcpy(lk_put_number(stpcpy(text, arch->virtual ? "compute_" : "sm_"), arch->sm), suffix);
	return text;
}

/* ---- which tools know them ---- */

static const struct known *find_known(const struct lk_arch *arch)
{
	for (size_t i = 0; i < LC_COUNT(archs); i++)
		if (archs[i].sm == arch->sm && archs[i].suffix == arch->suffix)
			return &archs[i];
	return NULL;
}

int lk_arch_known(const struct lk_arch *arch)
{
	return find_known(arch) ? 1 : arch->sm < archs[0].sm ? -1 : 0;
}

bool lk_arch_supported(const struct lk_arch *arch, enum lk_tool tool, int version)
{
	const struct known *known = find_known(arch);
	bool any = version == LAZYCUDA_VERSION_UNKNOWN;

	if (!known)
		return arch->sm > archs[0].sm && (any || version > lk_newest_cuda());
	const struct span *span = &known->tools[tool];
	return span->since && (any || (version >= span->since &&
				       (!span->until || version <= span->until)));
}

int lk_arch_since(const struct lk_arch *arch, enum lk_tool tool)
{
	const struct known *known = find_known(arch);

	return known ? known->tools[tool].since : 0;
}

int lk_arch_until(const struct lk_arch *arch, enum lk_tool tool)
{
	const struct known *known = find_known(arch);

	return known ? known->tools[tool].until : 0;
}

/* ---- what fits what ---- */

/* Thor was sm_101 before 13.0 and has been sm_110 since. */
static int renamed(int sm)
{
	return sm == 101 ? 110 : sm;
}

static bool text_fits(const struct lk_arch *code, const struct lk_arch *target)
{
	int from = renamed(code->sm), to = renamed(target->sm);

	switch (code->suffix) {
	case 'a':
		return target->suffix == 'a' && from == to;
	case 'f':
		return from / 10 == to / 10 && from <= to;
	default:
		return code->sm <= target->sm;
	}
}

/*
 * Which cubins are linked for another architecture than their own, measured for
 * every pair on every nvJitLink.  13.0 cannot link three pairs that others can.
 * The documentation has no binary compatibility between desktop and Tegra, and
 * 13.2 and later link for both.
 */
static const struct relation {
	int code, target;
	int since;		/* the first nvJitLink; 0: all that know the target */
	int broken;		/* one after it that does not, or 0 */
} relations[] = {
	{  50,  52, 0, 0 },
	{  60,  61, 0, 0 },
	{  70,  75, 0, LC_CUDA(13, 0) },
	{  80,  86, 0, 0 },
	{  80,  87, LC_CUDA(13, 2), 0 },
	{  80,  88, LC_CUDA(13, 2), 0 },
	{  80,  89, 0, 0 },
	{  86,  87, LC_CUDA(13, 2), 0 },
	{  86,  88, LC_CUDA(13, 2), 0 },
	{  86,  89, 0, 0 },
	{  87,  88, LC_CUDA(13, 2), 0 },
	{  87,  89, LC_CUDA(13, 2), 0 },
	{  88,  89, LC_CUDA(13, 2), 0 },
	{ 100, 103, 0, LC_CUDA(13, 0) },
	{ 100, 107, 0, 0 },
	{ 101, 110, LC_CUDA(13, 1), 0 },
	{ 103, 107, 0, 0 },
	{ 120, 121, 0, 0 },
};

static bool cubin_fits(const struct lk_arch *code, const struct lk_arch *target, int linker)
{
	bool unknown = linker == LAZYCUDA_VERSION_UNKNOWN;

	/* Up to 13.0 the linker takes such a cubin for other targets too, but should not. */
	if (code->suffix == 'a' && target->suffix != 'a')
		return false;
	if (code->sm == target->sm)
		return true;
	for (size_t i = 0; i < LC_COUNT(relations); i++) {
		const struct relation *row = &relations[i];

		if (row->code != code->sm || row->target != target->sm)
			continue;
		if (code->suffix == 'a' && renamed(code->sm) != target->sm)
			return false;
		return unknown ? !row->since && !row->broken :
				 linker >= row->since && linker != row->broken;
	}
	return false;
}

bool lk_arch_fits(enum lazycuda_kind kind, const struct lk_arch *code,
		  const struct lk_arch *target, int linker)
{
	if (kind == LAZYCUDA_KIND_CUBIN)
		return cubin_fits(code, target, linker);
	return text_fits(code, target);
}

/* ---- what drivers load ---- */

int lk_driver_for(const struct lazycuda_entry *entry)
{
	struct lk_arch arch = { entry->arch, entry->suffix, false };
	int toolkit = lk_cuda_of_cubin(entry), known;

	if (entry->kind == LAZYCUDA_KIND_PTX)
		return lk_cuda_of_isa(entry->isa);
	if (entry->kind != LAZYCUDA_KIND_CUBIN || !toolkit || entry->abi > LK_ABI_NEWEST)
		return 0;
	known = entry->arch ? lk_arch_since(&arch, LK_DRIVER) : 0;
	toolkit = LC_CUDA(LC_CUDA_MAJOR(toolkit), 0);
	return known > toolkit ? known : toolkit;
}
