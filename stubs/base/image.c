/* SPDX-License-Identifier: MIT */
/* image.c - reads what an ELF file, or an object in memory, is and imports */
#include "image.h"

#include <string.h>

#define MAX_PHDRS 256
#define MAX_DYNAMIC 65536	/* entries; the largest file seen needs a hundred libraries */
#define MAX_NODES 4096		/* version nodes that one file may define or need */

/* The `size` bytes at this address of the file; NULL if no segment holds them all. */
static const void *at(const struct lc_image *image, ElfW(Addr) address, size_t size)
{
	for (size_t i = 0; i < image->phdr_count; i++) {
		ElfW(Phdr) p;
		size_t inside, length;

		memcpy(&p, (const char *)image->phdrs + i * sizeof(p), sizeof(p));
		if (p.p_type != PT_LOAD || address < p.p_vaddr)
			continue;
		inside = address - p.p_vaddr;
		length = lc_mapped_size(&p);
		if (!image->bytes && length < p.p_memsz)
			length = p.p_memsz;
		/* lc_image_open() has checked that segments lie within the file. */
		if (image->bytes && length > image->size - p.p_offset)
			length = image->size - p.p_offset;
		if (inside > length || size > length - inside)
			continue;
		if (!image->bytes)
			return (const void *)(image->base + address);
		return image->bytes + p.p_offset + inside;
	}
	return NULL;
}

/* Copies, since nothing in a file need be aligned. */
static bool read_at(const struct lc_image *image, ElfW(Addr) address, void *data, size_t size)
{
	const void *from = at(image, address, size);

	if (from)
		memcpy(data, from, size);
	return from;
}

/* NULL, too, unless the table ends with a NUL, which makes every index a string. */
const char *lc_image_strings(const struct lc_image *image)
{
	const char *table = at(image, image->strings, image->strings_size);

	return table && image->strings_size && !table[image->strings_size - 1] ? table : NULL;
}

static const char *string(const struct lc_image *image, size_t index)
{
	const char *table = index < image->strings_size ? lc_image_strings(image) : NULL;

	return table ? table + index : NULL;
}

/* glibc turns some addresses of a loaded dynamic section into pointers.  A value
 * below the base is still the address from the file. */
static ElfW(Addr) address_of(const struct lc_image *image, ElfW(Addr) value)
{
	return !image->bytes && value >= image->base ? value - image->base : value;
}

static void note_entry(struct lc_image *image, const ElfW(Dyn) *entry)
{
	ElfW(Addr) address = address_of(image, entry->d_un.d_ptr);
	bool table = true;

	switch (entry->d_tag) {
	case DT_STRTAB:		image->strings = address; break;
	case DT_SYMTAB:		image->symbols = address; break;
	case DT_VERSYM:		image->versym = address; break;
	case DT_VERNEED:	image->verneed = address; break;
	case DT_VERDEF:		image->verdef = address; break;
	case DT_HASH:		image->hash = address; break;
	case DT_GNU_HASH:	image->gnu_hash = address; break;
	case DT_REL: case DT_RELA: case DT_JMPREL: case DT_INIT: case DT_FINI:
		break;
	case DT_STRSZ:		image->strings_size = entry->d_un.d_val; table = false; break;
	case DT_VERNEEDNUM:	image->verneed_count = entry->d_un.d_val; table = false; break;
	case DT_VERDEFNUM:	image->verdef_count = entry->d_un.d_val; table = false; break;
	default:		table = false;
	}
	if (table && image->table_count < sizeof(image->tables) / sizeof(*image->tables))
		image->tables[image->table_count++] = address;
}

static bool read_entry(const struct lc_image *image, size_t index, ElfW(Dyn) *entry)
{
	return index < image->dynamic_count &&
	       read_at(image, image->dynamic + index * sizeof(*entry), entry, sizeof(*entry)) &&
	       entry->d_tag != DT_NULL;
}

static const char *read_dynamic(struct lc_image *image)
{
	ElfW(Dyn) entry;

	for (size_t i = 0; i < image->phdr_count; i++) {
		ElfW(Phdr) p;

		memcpy(&p, (const char *)image->phdrs + i * sizeof(p), sizeof(p));
		if (p.p_type != PT_DYNAMIC)
			continue;
		image->dynamic = p.p_vaddr;
		image->dynamic_count = p.p_memsz / sizeof(entry);
	}
	if (image->dynamic_count > MAX_DYNAMIC)
		return "has a dynamic section of an unlikely size";
	if (image->dynamic_count &&
	    !at(image, image->dynamic, image->dynamic_count * sizeof(entry)))
		return "has a dynamic section outside its segments";
	for (size_t i = 0; read_entry(image, i, &entry); i++)
		note_entry(image, &entry);
	if (image->dynamic_count && !at(image, image->strings, image->strings_size))
		return "has a damaged dynamic section";
	return NULL;
}

const char *lc_image_open(struct lc_image *image, const void *bytes, size_t size)
{
	ElfW(Ehdr) header;

	*image = (struct lc_image){ .bytes = bytes, .size = size };
	if (size < sizeof(header) || memcmp(bytes, ELFMAG, SELFMAG))
		return size >= SELFMAG && !memcmp(bytes, ELFMAG, SELFMAG) ? "is truncated" :
									    "is not an ELF file";
	memcpy(&header, bytes, sizeof(header));
	if (header.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
	    header.e_ident[EI_DATA] != (__BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB))
		return "was built for another kind of CPU";
	if (header.e_phnum && header.e_phentsize != sizeof(ElfW(Phdr)))
		return "has a damaged ELF header";
	if (header.e_phnum > MAX_PHDRS)
		return "has an unlikely number of segments";
	if (header.e_phoff > size || header.e_phnum * sizeof(ElfW(Phdr)) > size - header.e_phoff)
		return "is truncated";
	image->phdrs = (const ElfW(Phdr) *)((const char *)bytes + header.e_phoff);
	image->phdr_count = header.e_phnum;
	for (size_t i = 0; i < image->phdr_count; i++) {
		ElfW(Phdr) p;

		memcpy(&p, (const char *)image->phdrs + i * sizeof(p), sizeof(p));
		if (p.p_type == PT_LOAD && (p.p_offset > size || p.p_filesz > size - p.p_offset))
			return "is truncated";
	}
	return read_dynamic(image);
}

const char *lc_image_loaded(struct lc_image *image, const struct dl_phdr_info *info)
{
	*image = (struct lc_image){
		.base = info->dlpi_addr, .phdrs = info->dlpi_phdr, .phdr_count = info->dlpi_phnum,
	};
	return read_dynamic(image);
}

const char *lc_image_string(const struct lc_image *image, ElfW(Sxword) tag)
{
	ElfW(Dyn) entry;

	/* Index 0 of a string table is the empty string, which counts as none. */
	for (size_t i = 0; read_entry(image, i, &entry); i++)
		if (entry.d_tag == tag && entry.d_un.d_val)
			return string(image, entry.d_un.d_val);
	return NULL;
}

bool lc_image_is_lazy(const struct lc_image *image)
{
	bool functions = false;
	ElfW(Dyn) entry;

	for (size_t i = 0; read_entry(image, i, &entry); i++) {
		functions |= entry.d_tag == DT_JMPREL;
		if (entry.d_tag == DT_BIND_NOW ||
		    (entry.d_tag == DT_FLAGS && entry.d_un.d_val & DF_BIND_NOW) ||
		    (entry.d_tag == DT_FLAGS_1 && entry.d_un.d_val & DF_1_NOW))
			return false;
	}
	return functions;
}

const char *lc_image_needed(const struct lc_image *image,
			    bool (*each)(const char *soname, void *data), void *data)
{
	ElfW(Dyn) entry;

	for (size_t i = 0; read_entry(image, i, &entry); i++) {
		const char *soname;

		if (entry.d_tag != DT_NEEDED)
			continue;
		soname = string(image, entry.d_un.d_val);
		if (!soname)
			return "has a damaged list of needed libraries";
		if (each(soname, data))
			break;
	}
	return NULL;
}

const char *lc_image_nodes(const struct lc_image *image, bool own_name,
			   bool (*each)(const char *node, void *data), void *data)
{
	ElfW(Addr) address = image->verdef;

	for (size_t i = 0; image->verdef && i < image->verdef_count && i < MAX_NODES; i++) {
		ElfW(Verdaux) aux;
		ElfW(Verdef) def;
		const char *node;

		if (!read_at(image, address, &def, sizeof(def)) ||
		    !read_at(image, address + def.vd_aux, &aux, sizeof(aux)) ||
		    !(node = string(image, aux.vda_name)))
			return "has damaged version definitions";
		if ((own_name || !(def.vd_flags & VER_FLG_BASE)) && each(node, data))
			break;
		if (!def.vd_next)
			break;
		address += def.vd_next;
	}
	return NULL;
}

/* ---- version needs ---- */

struct need {
	const char *file, *node;
	unsigned index;		/* its version index, as in versym */
};

/* Calls `each` with every version need until `each` returns true. */
static const char *walk_needs(const struct lc_image *image,
			      bool (*each)(const struct need *need, void *data), void *data)
{
	ElfW(Addr) address = image->verneed;
	size_t left = MAX_NODES;

	for (size_t i = 0; image->verneed && i < image->verneed_count; i++) {
		ElfW(Addr) next;
		ElfW(Verneed) file;
		struct need need;

		if (!left-- || !read_at(image, address, &file, sizeof(file)) ||
		    !(need.file = string(image, file.vn_file)))
			return "has damaged version needs";
		next = address + file.vn_aux;
		for (unsigned j = 0; j < file.vn_cnt; j++) {
			ElfW(Vernaux) aux;

			if (!left-- || !read_at(image, next, &aux, sizeof(aux)) ||
			    !(need.node = string(image, aux.vna_name)))
				return "has damaged version needs";
			need.index = aux.vna_other & 0x7fff;
			if (each(&need, data))
				return NULL;
			next += aux.vna_next;
		}
		if (!file.vn_next)
			break;
		address += file.vn_next;
	}
	return NULL;
}

/* ---- symbols ---- */

/* How many elements of `size` bytes fit into a table before the next table or the
 * end of the segment. */
static size_t room_for(const struct lc_image *image, ElfW(Addr) table, size_t size)
{
	ElfW(Addr) end = 0;

	for (size_t i = 0; i < image->table_count; i++)
		if (image->tables[i] > table && (!end || image->tables[i] < end))
			end = image->tables[i];
	for (size_t i = 0; i < image->phdr_count; i++) {
		ElfW(Phdr) p;

		memcpy(&p, (const char *)image->phdrs + i * sizeof(p), sizeof(p));
		if (p.p_type != PT_LOAD || table < p.p_vaddr || table - p.p_vaddr >= p.p_filesz)
			continue;
		if (!end || p.p_vaddr + p.p_filesz < end)
			end = p.p_vaddr + p.p_filesz;
		return (end - table) / size;
	}
	return 0;
}

/* One past the last symbol that the GNU hash table covers.  0 if it covers none:
 * an empty table does not tell how many symbols lie before it. */
static size_t gnu_hash_count(const struct lc_image *image, size_t most)
{
	ElfW(Addr) buckets, chains;
	uint32_t head[4], last = 0, hash;
	const unsigned char *bytes;

	if (!image->gnu_hash || !read_at(image, image->gnu_hash, head, sizeof(head)))
		return 0;
	buckets = image->gnu_hash + sizeof(head) + (ElfW(Addr))head[2] * sizeof(ElfW(Addr));
	chains = buckets + (ElfW(Addr))head[0] * sizeof(uint32_t);
	bytes = at(image, buckets, (size_t)head[0] * sizeof(uint32_t));
	if (!bytes)
		return 0;
	for (size_t i = 0; i < head[0]; i++) {
		uint32_t bucket;

		memcpy(&bucket, bytes + i * sizeof(bucket), sizeof(bucket));
		if (bucket > last)
			last = bucket;
	}
	if (!last || last < head[1])
		return 0;
	do {
		if (last >= most ||
		    !read_at(image, chains + (ElfW(Addr))(last - head[1]) * sizeof(hash), &hash,
			     sizeof(hash)))
			return 0;
		last++;
	} while (!(hash & 1));
	return last;
}

/* The dynamic section does not give the number of symbols; the hash tables do.
 * Without either, *guess is set: what follows the symbols may be taken for some. */
static size_t symbol_count(const struct lc_image *image, bool *guess)
{
	size_t most = room_for(image, image->symbols, sizeof(ElfW(Sym))), count;
	uint32_t head[2];

	if (image->versym && room_for(image, image->versym, sizeof(ElfW(Half))) < most)
		most = room_for(image, image->versym, sizeof(ElfW(Half)));
	*guess = false;
	if (image->hash && read_at(image, image->hash, head, sizeof(head)) && head[1] <= most)
		return head[1];
	count = gnu_hash_count(image, most);
	*guess = !count;
	return count ? count : most;
}

/* The version needs that the caller wants, by which versym's indexes are looked up. */
struct selection {
	bool (*wanted)(const char *node, void *data);
	void *data;
	struct need needs[32];
	size_t count;
};

static bool select_need(const struct need *need, void *data)
{
	struct selection *selection = data;

	if (selection->count < sizeof(selection->needs) / sizeof(*selection->needs) &&
	    selection->wanted(need->node, selection->data))
		selection->needs[selection->count++] = *need;
	return false;
}

/* The need that a version index stands for; NULL if it is not wanted.  Indexes
 * 0 and 1 stand for no version, and so for `plain`. */
static const struct need *need_of(const struct selection *selection, const struct need *plain,
				  unsigned index)
{
	if (index < 2)
		return plain;
	for (size_t i = 0; i < selection->count; i++)
		if (selection->needs[i].index == index)
			return &selection->needs[i];
	return NULL;
}

const char *lc_image_undefined(const struct lc_image *image,
			       bool (*wanted)(const char *node, void *data),
			       bool (*each)(const struct lc_undefined *symbol, void *data),
			       void *data)
{
	struct selection selection = { .wanted = wanted, .data = data };
	static const struct need none;
	const struct need *plain = wanted(NULL, data) ? &none : NULL;
	const char *why = walk_needs(image, select_need, &selection);
	const unsigned char *symbols, *versym;
	const char *strings = lc_image_strings(image);
	size_t count;
	bool guess;

	if (why || !image->symbols || (!selection.count && !plain))
		return why;
	count = symbol_count(image, &guess);
	symbols = at(image, image->symbols, count * sizeof(ElfW(Sym)));
	versym = image->versym ? at(image, image->versym, count * sizeof(ElfW(Half))) : NULL;
	if (!strings || !symbols || (image->versym && !versym))
		return "has a damaged symbol table";
	for (size_t i = 1; i < count; i++) {
		struct lc_undefined undefined;
		const struct need *need;
		ElfW(Half) index = 0;
		ElfW(Sym) symbol;

		if (versym)
			memcpy(&index, versym + i * sizeof(index), sizeof(index));
		need = need_of(&selection, plain, index & 0x7fff);
		if (!need)
			continue;
		memcpy(&symbol, symbols + i * sizeof(symbol), sizeof(symbol));
		if (symbol.st_shndx != SHN_UNDEF || !symbol.st_name)
			continue;
		if (symbol.st_name >= image->strings_size) {
			if (guess)
				continue;
			return "has a damaged symbol table";
		}
		undefined.name = strings + symbol.st_name;
		undefined.node = need->node;
		undefined.file = need->file;
		if (each(&undefined, data))
			break;
	}
	return NULL;
}
