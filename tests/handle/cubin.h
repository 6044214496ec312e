/* SPDX-License-Identifier: MIT */
/* cubin.h - a linked cubin that is whole and does nothing, for fakes to hand out */
#ifndef CUBIN_H
#define CUBIN_H

#include <elf.h>
#include <string.h>

enum { CUBIN_SM = 80 };

struct cubin {
	Elf64_Ehdr header;
	char section_names[40], names[8];
	Elf64_Sym symbols[2];
	char code[16];
	Elf64_Shdr sections[5];
};

#define PLACE(field) offsetof(struct cubin, field), sizeof(((struct cubin *)0)->field)

static inline Elf64_Shdr cubin_section(unsigned name, unsigned type, size_t offset, size_t size)
{
	return (Elf64_Shdr){ .sh_name = name, .sh_type = type, .sh_offset = offset,
			     .sh_size = size, .sh_addralign = 1 };
}

/* sm_80, made by 12.0, with one kernel k. */
static inline struct cubin make_cubin(void)
{
	struct cubin cubin = {
		.header = {
			.e_ident = "\177ELF\2\1\1\x33\7", .e_type = ET_EXEC, .e_machine = 190,
			.e_version = 120, .e_flags = CUBIN_SM << 16 | 0x500 | CUBIN_SM,
			.e_ehsize = sizeof(Elf64_Ehdr), .e_shentsize = sizeof(Elf64_Shdr),
			.e_shoff = offsetof(struct cubin, sections), .e_shnum = 5, .e_shstrndx = 1,
		},
		.section_names = "\0.shstrtab\0.strtab\0.symtab\0.text.k",
		.names = "\0k",
	};

	cubin.symbols[1] = (Elf64_Sym){
		.st_name = 1, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_other = 0x10,
		.st_shndx = 4, .st_size = 16,
	};
	cubin.sections[1] = cubin_section(1, SHT_STRTAB, PLACE(section_names));
	cubin.sections[2] = cubin_section(11, SHT_STRTAB, PLACE(names));
	cubin.sections[3] = cubin_section(19, SHT_SYMTAB, PLACE(symbols));
	cubin.sections[3].sh_link = 2;
	cubin.sections[3].sh_info = 1;
	cubin.sections[3].sh_entsize = sizeof(Elf64_Sym);
	cubin.sections[4] = cubin_section(27, SHT_PROGBITS, PLACE(code));
	cubin.sections[4].sh_flags = SHF_ALLOC | SHF_EXECINSTR;
	cubin.sections[4].sh_link = 3;
	cubin.sections[4].sh_info = 1;
	return cubin;
}

#endif
