/* SPDX-License-Identifier: MIT */
/* variables.c - the real library's variables, for those who have the stub's */
#include "variables.h"

#include <link.h>
#include <string.h>
#include <sys/mman.h>

#include "../base/auxiliary.h"
#include "../base/glibc.h"
#include "../base/image.h"
#include "../base/objects.h"

#ifdef __x86_64__
# define LC_GLOB_DAT R_X86_64_GLOB_DAT
# define LC_ADDRESS R_X86_64_64
#else
# define LC_GLOB_DAT R_AARCH64_GLOB_DAT
# define LC_ADDRESS R_AARCH64_ABS64
#endif

struct sharing {
	const struct lc_variable *variable;
	void *real;
};

/* Returns true if the address lies in a segment that is writable while the object is loaded; sets
 * *sealed if ld.so has made it read-only since. */
static bool is_writable(const struct dl_phdr_info *info, uintptr_t address, bool *sealed)
{
	bool writable = false;

	*sealed = false;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const uintptr_t start = info->dlpi_addr + p->p_vaddr;

		if (address < start || address - start + sizeof(void *) > p->p_memsz)
			continue;
		writable |= p->p_type == PT_LOAD && p->p_flags & PF_W;
		*sealed |= p->p_type == PT_GNU_RELRO;
	}
	return writable;
}

static void write_address(void **slot, void *address, bool sealed)
{
	const uintptr_t size = lc_auxval(AT_PAGESZ), page = (uintptr_t)slot & ~(size - 1);

	if (sealed && mprotect((void *)page, size, PROT_READ | PROT_WRITE))
		return;
	__atomic_store_n(slot, address, __ATOMIC_RELEASE);
	if (sealed)
		mprotect((void *)page, size, PROT_READ);
}

/* Where ld.so wrote the address of the stub's variable into an object, that of the real one is
 * written.  Nothing else has this address. */
static int share_with(struct dl_phdr_info *info, size_t size, void *data)
{
	const struct sharing *sharing = data;
	struct lc_image image;
	uintptr_t table;

	(void)size;
	if (lc_image_loaded(&image, info) || !lc_entry(&image, DT_RELA))
		return 0;
	/* glibc turns this into a pointer, where it can write to the dynamic section. */
	table = lc_entry(&image, DT_RELA);
	table += table < info->dlpi_addr ? info->dlpi_addr : 0;
	for (size_t at = 0; at + sizeof(ElfW(Rela)) <= lc_entry(&image, DT_RELASZ);
	     at += sizeof(ElfW(Rela))) {
		ElfW(Rela) one;
		void **slot;
		bool sealed;

		memcpy(&one, (const void *)(table + at), sizeof(one));
		slot = (void **)(info->dlpi_addr + one.r_offset);
		if ((ELF64_R_TYPE(one.r_info) == LC_GLOB_DAT || ELF64_R_TYPE(one.r_info) == LC_ADDRESS) &&
		    is_writable(info, (uintptr_t)slot, &sealed) && *slot == sharing->variable->ours)
			write_address(slot, sharing->real, sealed);
	}
	return 0;
}

void lc_share_variables(struct lc_found *found)
{
	for (const struct lc_variable *one = found->library->variables; one && one->name; one++) {
		struct sharing sharing = { .variable = one };
		lc_function real = lc_find_found(one->name, found);

		memcpy(&sharing.real, &real, sizeof(real));
		if (!real || sharing.real == one->ours)
			continue;
		/* For code that has read the address already, and for programs that have a copy. */
		memcpy(one->ours, sharing.real, one->size);
		lc_each_object(share_with, &sharing);
	}
}
