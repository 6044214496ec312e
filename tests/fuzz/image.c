/* SPDX-License-Identifier: MIT */
/*
 * image.c - fuzzing what reads ELF files and loaded objects
 *
 * The same bytes are a file to be audited, and the memory of an object that the
 * dynamic linker has loaded: its segment it has checked, all else it has not.
 */
#include "../../stubs/base/image.h"

#include "../../tools/findings.h"
#include "../../tools/ready.h"
#include "fuzzing.h"

/* One without majors, as the driver's are. */
static const struct lc_major no_major[] = {
	{ 0, "libcuda.so.1", NULL, LC_VERSION(11, 7), LC_VERSION(13, 5) },
};
static const char driver_names[] = "cuInit\0cuDriverGetVersion";
static const struct lc_export driver_exports[] = { { 7, 0, 1 }, { 0, 0, 0 } };

/* Of `lazycuda stub`: CUDA's majors under other numbers, and a library whose imports are
 * told by its file, since no version node is called as that is. */
static const struct lc_major fft_majors[] = {
	{ 13, "libfft.so.12", NULL, LC_VERSION(13, 0), LC_VERSION(13, 0) },
	{ 12, "libfft.so.11", NULL, LC_VERSION(12, 0), LC_VERSION(12, 0) },
};
static const char fft_names[] = "fftNew\0fftPlan";
static const struct lc_export fft_exports[] = { { 0, 13, 1 }, { 7, 12, 0 }, { 7, 13, 2 } };
static const struct lc_major bar_majors[] = {
	{ 2, "libbar.so.2", NULL, LC_VERSION(2, 0), LC_VERSION(2, 0) },
};
static const struct lc_export bar_exports[] = { { 0, 2, 0 } };

#define OWN(called, has_majors, has_names, has_exports) \
	.name = called, .stub = "lib" called "_stub.so", .variable = "LAZYCUDA_OWN", \
	.majors = has_majors, .major_count = COUNT(has_majors), \
	.known_majors = fuzz_known_majors, .known_major_count = COUNT(fuzz_known_majors), \
	.names = has_names, .exports = has_exports, .export_count = COUNT(has_exports)

static const struct lc_library libraries[] = {
	FUZZ_LIBRARY("cudart"), FUZZ_LIBRARY("nvrtc"), FUZZ_LIBRARY("nvJitLink"),
	{ OWN("cuda", no_major, driver_names, driver_exports), .witness = driver_names + 7 },
	{ OWN("nvml", no_major, driver_names, driver_exports), .witness = driver_names + 7 },
	{ OWN("fft", fft_majors, fft_names, fft_exports) },
	{ OWN("bar", bar_majors, "barA", bar_exports), .own_majors = 1, .by_soname = 1 },
};
static const char *const stems[COUNT(libraries)] = {
	"libcudart", "libnvrtc", "libnvJitLink", "libcuda", "libnvidia-ml", "libfft", "libbar",
};

/* By the name's length, so that a mutation comes to each answer. */
bool ready_lists(const char *soname)
{
	return strlen(soname) % 4 == 1;
}

bool ready_bundled(const char *soname)
{
	return strlen(soname) % 4 == 2;
}

/* The tables are those above: no stub is loaded for what an input needs. */
bool ready_is_cudas(const char *soname)
{
	return strlen(soname) % 4 == 3;
}

bool ready_is_systems(const char *soname)
{
	return strlen(soname) % 8 == 4;
}

bool ready_may_have(const char *name)
{
	return strlen(name) % 2;
}

void ready_add_all(struct tables *tables, const char *command)
{
	(void)tables;
	(void)command;
}

void ready_add(struct tables *tables, const char *command, const char *soname)
{
	(void)tables;
	(void)command;
	touch_text(soname);
}

static bool see_text(const char *text, void *data)
{
	(void)data;
	touch_text(text);
	return false;
}

static bool see_node(const struct lc_node *node, void *data)
{
	return see_text(node->name, data);
}

static bool see_defined(const struct lc_defined *symbol, void *data)
{
	return see_text(symbol->name, data);
}

static bool see_symbol(const struct lc_undefined *symbol, void *data)
{
	(void)data;
	touch_text(symbol->name);
	touch_text(symbol->node);
	touch_text(symbol->file);
	return false;
}

static bool every_second(const char *node, void *data)
{
	unsigned *count = data;

	touch_text(node);
	return ++*count % 2;
}

static void see(const struct lc_image *image)
{
	static const ElfW(Sxword) tags[] = { DT_SONAME, DT_RPATH, DT_RUNPATH, DT_NULL };
	unsigned count = 0;

	for (size_t i = 0; i < COUNT(tags); i++)
		touch_text(lc_image_string(image, tags[i]));
	lc_image_needed(image, see_text, NULL);
	lc_image_nodes(image, see_node, NULL);
	lc_image_defined(image, see_defined, NULL);
	lc_image_undefined(image, every_second, see_symbol, &count);
}

static void see_loaded(const unsigned char *bytes, size_t size)
{
	uint16_t where = 0;
	struct lc_image image;

	if (size < 4)
		return;
	memcpy(&where, bytes, sizeof(where));
	where %= size;
	const ElfW(Phdr) phdrs[] = {
		/* A byte of .bss, so that the segment ends there and not with its page. */
		{ .p_type = PT_LOAD, .p_filesz = size - 1, .p_memsz = size },
		{ .p_type = PT_DYNAMIC, .p_vaddr = where, .p_filesz = size - where,
		  .p_memsz = size - where },
	};
	const struct dl_phdr_info info = {
		.dlpi_addr = (uintptr_t)bytes, .dlpi_phdr = phdrs, .dlpi_phnum = COUNT(phdrs),
	};
	if (!lc_image_loaded(&image, &info))
		see(&image);
}

static void audit(const unsigned char *bytes, size_t size)
{
	struct lc_arena arena = { .failed = false };
	struct tables tables = { .count = COUNT(libraries) };
	struct findings findings;

	for (size_t i = 0; i < COUNT(libraries); i++)
		tables.all[i] = (struct table){
			.library = &libraries[i], .stem = stems[i],
			.stem_length = strlen(stems[i]), .own = i >= LIBRARIES,
		};
	findings_read(&arena, &tables, bytes, size, &findings);
	must(!findings.error || *findings.error);
	for (size_t i = 0; i < findings.import_count; i++) {
		touch_text(findings.imports[i].file);
		touch_text(findings.imports[i].needed);
		for (size_t k = 0; k < findings.imports[i].name_count; k++)
			touch_text(findings.imports[i].names[k].name);
	}
	for (size_t i = 0; i < findings.constants.opens.count; i++)
		touch_text(findings.constants.opens.list[i]);
	lc_arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned char *bytes = copy_of(data, size);
	struct lc_image image;

	if (!lc_image_open(&image, &(struct lc_source){ bytes, .size = size }))
		see(&image);
	audit(bytes, size);
	see_loaded(bytes, size);
	free(bytes);
	return 0;
}
