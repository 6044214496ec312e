/* SPDX-License-Identifier: MIT */
/* image.c - reads what an ELF file, or an object in memory, is, imports and exports */
#include "image.h"
#include "count.h"
#include "../entry/note.h"

#include <string.h>

#define MAX_PHDRS 256
#define MAX_DYNAMIC 65536	/* entries; the largest file seen needs a hundred libraries */
#define MAX_NODES 4096		/* version nodes that one file may define */
#define MAX_NOTES 4096
#define MAX_NEEDS 0x7fff	/* version nodes that one may need: an index has 15 bits */
#define PAGE 256		/* version indexes that are looked up in one pass, a power of two */

/* ---- bytes ---- */

/* The bytes of one segment from some address on, or a whole file. */
struct extent {
	uint64_t offset, size;
};

/* The bytes from `at` on; NULL if they do not all lie in the run.  They are copied to
 * `to`, since nothing in a file need be aligned, or left in place if it is NULL. */
static const void *get_bytes(const struct lc_image *image, const struct extent *run, uint64_t at,
			     uint64_t size, void *to)
{
	const struct lc_source *source = &image->source;
	const void *from;

	if (at > run->size || size > run->size - at)
		return NULL;
	if (source->read)
		return source->read(source->data, run->offset + at, size, to);
	from = (const void *)((uintptr_t)source->bytes + run->offset + at);
	return to ? memcpy(to, from, size) : from;
}

/* Finds the first segment that has `least` bytes from this address on. */
static bool find_bytes(const struct lc_image *image, ElfW(Addr) address, uint64_t least,
		       struct extent *run)
{
	for (size_t i = 0; i < image->phdr_count; i++) {
		const lc_phdr *p = &image->phdrs[i];
		uint64_t inside = address - p->p_vaddr, size;

		if (p->p_type != PT_LOAD || address < p->p_vaddr)
			continue;
		size = lc_mapped_size(p);
		if (image->loaded && size < p->p_memsz)
			size = p->p_memsz;
		/* lc_image_open() has checked that segments lie within the file. */
		if (!image->loaded && size > image->source.size - p->p_offset)
			size = image->source.size - p->p_offset;
		if (inside > size || least > size - inside)
			continue;
		run->offset = (image->loaded ? p->p_vaddr : p->p_offset) + inside;
		run->size = size - inside;
		return true;
	}
	return false;
}

/* ---- the dynamic section ---- */

/* The address in a dynamic entry, 0 without one.  glibc turns some addresses of a loaded
 * dynamic section into pointers.  A value below the base is still the address from the file. */
static ElfW(Addr) address_of(const struct lc_image *image, ElfW(Sxword) tag)
{
	ElfW(Addr) base = image->loaded ? (uintptr_t)image->source.bytes : 0;
	ElfW(Addr) value = lc_entry(image, tag);

	return value >= base ? value - base : value;
}

static void note_entry(struct lc_image *image, const lc_dyn *entry)
{
	ElfW(Xword) value = entry->d_un.d_val;
	unsigned index = lc_tag_index(entry->d_tag);

	image->values[index] = value;
	if ((index == DT_NEEDED || index == DT_SONAME || index == DT_RPATH || index == DT_RUNPATH) &&
	    value > image->last_string)
		image->last_string = value;
}

/* A table without a NUL at its end is treated as empty: not every index in it is a string. */
static const char *read_strings(struct lc_image *image)
{
	size_t size = lc_entry(image, DT_STRSZ);
	struct extent run;

	if (size) {
		if (!find_bytes(image, address_of(image, DT_STRTAB), size, &run))
			return "has a damaged dynamic section";
		image->strings = get_bytes(image, &run, 0, size, NULL);
		if (!image->strings)
			return "is truncated";
		if (!image->strings[size - 1])
			image->strings_size = size;
	}
	if (!image->strings_size)
		image->strings = NULL;
	return image->last_string && image->last_string >= image->strings_size ?
		"has a damaged dynamic section" : NULL;
}

static const char *read_dynamic(struct lc_image *image)
{
	ElfW(Addr) address = 0;
	size_t count = 0, i;
	struct extent run;

	for (i = 0; i < image->phdr_count; i++) {
		const lc_phdr *p = &image->phdrs[i];

		if (p->p_type != PT_DYNAMIC)
			continue;
		address = p->p_vaddr;
		count = p->p_memsz / sizeof(ElfW(Dyn));
	}
	if (!count)
		return NULL;
	if (count > MAX_DYNAMIC)
		return "has a dynamic section of an unlikely size";
	if (!find_bytes(image, address, count * sizeof(ElfW(Dyn)), &run))
		return "has a dynamic section outside its segments";
	image->dynamic = get_bytes(image, &run, 0, count * sizeof(ElfW(Dyn)), NULL);
	if (!image->dynamic)
		return "is truncated";
	for (i = 0; i < count; i++) {
		const lc_dyn *entry = &image->dynamic[i];

		if (entry->d_tag == DT_NULL)
			break;
		note_entry(image, entry);
	}
	image->dynamic_count = i;
	return read_strings(image);
}

static const char *read_header(struct lc_image *image)
{
	const struct extent file = { 0, image->source.size };
	ElfW(Ehdr) header;

	memset(&header, 0, sizeof(header));
	if (!get_bytes(image, &file, 0, file.size < sizeof(header) ? file.size : sizeof(header), &header) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG))
		return "is not an ELF file";
	if (file.size < sizeof(header))
		return "is truncated";
	if (header.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
	    header.e_ident[EI_DATA] != (__BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB))
		return "was built for another architecture";
	image->type = header.e_type;
	image->machine = header.e_machine;
	if (header.e_phnum && header.e_phentsize != sizeof(ElfW(Phdr)))
		return "has a damaged ELF header";
	if (header.e_phnum > MAX_PHDRS)
		return "has an unlikely number of segments";
	image->phdrs = get_bytes(image, &file, header.e_phoff, header.e_phnum * sizeof(ElfW(Phdr)), NULL);
	if (!image->phdrs)
		return "is truncated";
	image->phdr_count = header.e_phnum;
	return NULL;
}

const char *lc_image_open(struct lc_image *image, const struct lc_source *source)
{
	const char *why;

	*image = (struct lc_image){ .source = *source };
	why = read_header(image);
	if (why)
		return why;
	for (size_t i = 0; i < image->phdr_count; i++) {
		const lc_phdr *p = &image->phdrs[i];

		/* ld.so would map such a file and die of SIGBUS. */
		if (p->p_type == PT_LOAD &&
		    (p->p_offset > source->size || p->p_filesz > source->size - p->p_offset))
			return "is truncated";
	}
	return read_dynamic(image);
}

const char *lc_image_loaded(struct lc_image *image, const struct dl_phdr_info *info)
{
	*image = (struct lc_image){
		.source.bytes = (const void *)info->dlpi_addr, .loaded = true,
		.phdrs = info->dlpi_phdr, .phdr_count = info->dlpi_phnum,
	};
	return read_dynamic(image);
}

static const char *image_string(const struct lc_image *image, size_t index)
{
	return index < image->strings_size ? image->strings + index : NULL;
}

const char *lc_image_string(const struct lc_image *image, ElfW(Sxword) tag)
{
	ElfW(Xword) index = lc_entry(image, tag);

	/* Index 0 of a string table is the empty string, which counts as none. */
	return index ? image_string(image, index) : NULL;
}

bool lc_image_has(const struct lc_image *image, ElfW(Sxword) tag)
{
	for (size_t i = 0; i < image->dynamic_count; i++)
		if (image->dynamic[i].d_tag == tag)
			return true;
	return false;
}

bool lc_image_is_lazy(const struct lc_image *image)
{
	return !lc_image_has(image, DT_BIND_NOW) && lc_entry(image, DT_JMPREL) &&
	       !(lc_entry(image, DT_FLAGS) & DF_BIND_NOW) &&
	       !(lc_entry(image, DT_FLAGS_1) & DF_1_NOW);
}

void lc_image_needed(const struct lc_image *image,
		     bool (*each)(const char *soname, void *data), void *data)
{
	for (size_t i = 0; i < image->dynamic_count; i++) {
		const lc_dyn *entry = &image->dynamic[i];
		const char *soname = entry->d_tag == DT_NEEDED ? image_string(image, entry->d_un.d_val) : NULL;

		if (soname && each(soname, data))
			break;
	}
}

/* ---- notes ---- */

/* Other notes need not be well-formed: they are not ours. */
const char *lc_image_records(const struct lc_image *image,
			     bool (*each)(const void *bytes, size_t size, void *data), void *data)
{
	static const char owner[] = "lazycuda";
	unsigned count = 0;

	for (size_t i = 0; i < image->phdr_count; i++) {
		const lc_phdr *p = &image->phdrs[i];
		const uint64_t size = image->loaded ? p->p_memsz : p->p_filesz, ones = p->p_align == 8 ? 7 : 3;
		struct extent run = { p->p_offset, size };
		ElfW(Nhdr) note;

		if (p->p_type != PT_NOTE)
			continue;
		/* Some tools leave one that is in the file alone. */
		if (image->loaded && !find_bytes(image, p->p_vaddr, size, &run))
			continue;
		run.size = size;
		if (!image->loaded && (run.offset > image->source.size || size > image->source.size - run.offset))
			return "is truncated";
		for (uint64_t at = 0; get_bytes(image, &run, at, sizeof(note), &note);
		     at = (at + note.n_descsz + ones) & ~ones) {
			const void *name = get_bytes(image, &run, at + sizeof(note), note.n_namesz, NULL), *bytes;
			const bool ours = name && note.n_type == LC_NOTE_RECORD && note.n_namesz == sizeof(owner) &&
					  !memcmp(name, owner, sizeof(owner));

			if (++count > MAX_NOTES)
				return "has an unlikely number of notes";
			at = (at + sizeof(note) + note.n_namesz + ones) & ~ones;
			bytes = get_bytes(image, &run, at, note.n_descsz, NULL);
			if (ours && !bytes)
				return "has a damaged note";
			if (ours && each(bytes, note.n_descsz, data))
				return NULL;
		}
	}
	return NULL;
}

/* ---- versions ---- */

/* Returns true if a list of records does not end with the last one: ld.so goes by the distance to the
 * next, which is 0, and others by how many there are. */
static bool ends_twice(size_t i, size_t count, uint32_t next)
{
	return (i + 1 == count) == (next != 0);
}

const char *lc_image_nodes(const struct lc_image *image,
			   bool (*each)(const struct lc_node *node, void *data), void *data)
{
	const char *const damaged = "has damaged version definitions";
	size_t count = lc_entry(image, DT_VERDEFNUM);
	struct extent run;
	uint64_t at = 0;

	if (!lc_entry(image, DT_VERDEF)) {
		struct lc_node own = { .name = lc_image_string(image, DT_SONAME), .index = 1,
				       .own_name = true };

		if (own.name)
			each(&own, data);
		return NULL;
	}
	if (!count || !find_bytes(image, address_of(image, DT_VERDEF), 1, &run))
		return damaged;
	for (size_t i = 0; i < count; i++) {
		struct lc_node node;
		ElfW(Verdaux) aux;
		ElfW(Verdef) def;

		if (i == MAX_NODES || !get_bytes(image, &run, at, sizeof(def), &def) ||
		    !get_bytes(image, &run, at + def.vd_aux, sizeof(aux), &aux) ||
		    !(node.name = image_string(image, aux.vda_name)) || ends_twice(i, count, def.vd_next))
			return damaged;
		node.index = def.vd_ndx & 0x7fff;
		node.own_name = def.vd_flags & VER_FLG_BASE;
		if (each(&node, data))
			break;
		at += def.vd_next;
	}
	return NULL;
}

/*
 * The version needs that the caller wants, by version index, for one page of indexes.  Nearly
 * every file has one page.  Each further page takes another pass over the symbols, so that any
 * number of needs is read in constant memory.
 */
struct selection {
	bool (*wanted)(const char *node, void *data);
	void *data;
	unsigned page, next;	/* the page that is read; the next that has a node, or 0 */
	struct need {
		ElfW(Word) file, node;	/* in the string table */
		unsigned index;		/* 0: no wanted node has this place */
	} needs[PAGE];
	bool any;
};

static const char *select_need(const struct lc_image *image, const ElfW(Verneed) *file,
			       const ElfW(Vernaux) *aux, struct selection *selection)
{
	const char *node = image_string(image, aux->vna_name);
	unsigned index = aux->vna_other & 0x7fff;
	struct need *need = &selection->needs[index % PAGE];

	if (!node)
		return "has damaged version needs";
	/* Indexes 0 and 1 are those of symbols without a version. */
	if (index / PAGE > selection->page &&
	    (!selection->next || index / PAGE < selection->next))
		selection->next = index / PAGE;
	if (index < 2 || index / PAGE != selection->page || need->index ||
	    !selection->wanted(node, selection->data))
		return NULL;
	*need = (struct need){ file->vn_file, aux->vna_name, index };
	selection->any = true;
	return NULL;
}

static const char *select_needs(const struct lc_image *image, struct selection *selection)
{
	const char *const damaged = "has damaged version needs";
	size_t count = lc_entry(image, DT_VERNEEDNUM), left;
	struct extent run;
	uint64_t at = 0;

	selection->any = false;
	selection->next = 0;
	memset(selection->needs, 0, sizeof(selection->needs));
	if (!lc_entry(image, DT_VERNEED))
		return NULL;
	if (!count || !find_bytes(image, address_of(image, DT_VERNEED), 1, &run))
		return damaged;
	/* Every verneed has at least one vernaux, and no record overlaps another. */
	left = run.size / sizeof(ElfW(Vernaux));
	if (left > 2 * MAX_NEEDS)
		left = 2 * MAX_NEEDS;
	for (size_t i = 0; i < count; i++) {
		ElfW(Verneed) file;
		uint64_t next;

		if (!left-- || !get_bytes(image, &run, at, sizeof(file), &file) || !file.vn_cnt ||
		    !image_string(image, file.vn_file) || ends_twice(i, count, file.vn_next))
			return damaged;
		next = at + file.vn_aux;
		for (unsigned j = 0; j < file.vn_cnt; j++) {
			ElfW(Vernaux) aux;
			const char *why;

			if (!left-- || !get_bytes(image, &run, next, sizeof(aux), &aux) ||
			    ends_twice(j, file.vn_cnt, aux.vna_next))
				return damaged;
			why = select_need(image, &file, &aux, selection);
			if (why)
				return why;
			next += aux.vna_next;
		}
		at += file.vn_next;
	}
	return NULL;
}

/* The need that a version index stands for; NULL if it is not wanted or of another page.
 * Indexes 0 and 1 stand for no version, and so for `plain`. */
static const struct need *need_of(const struct selection *selection, const struct need *plain,
				  unsigned index)
{
	const struct need *need = &selection->needs[index % PAGE];

	if (index < 2)
		return plain;
	return need->index == index ? need : NULL;
}

/* ---- symbols ---- */

struct gnu_hash {
	uint32_t bucket_count, first;
	const lc_word *buckets, *chains;	/* chains: of a loaded object only */
	size_t room;	/* one past the last symbol that a chain may have */
	size_t count;	/* one past the last symbol; 0: the table is empty, which does not tell
			   how many symbols lie before it */
};

struct symbol_table {
	const lc_sym *entries;
	const lc_half *versions;	/* NULL: there are none */
	size_t count;
	bool none_defined;
	bool guess;		/* `count` is an upper bound: the last ones may not be symbols */
	struct gnu_hash names;	/* names.count is 0 if it was not read: DT_HASH told the count */
};

/* Finds a table, which ends where the next one begins. */
static bool find_table(const struct lc_image *image, ElfW(Sxword) tag, struct extent *run)
{
	static const ElfW(Word) tables[] = {
		DT_STRTAB, DT_SYMTAB, DT_VERSYM, DT_VERNEED, DT_VERDEF, DT_HASH, DT_GNU_HASH,
		DT_REL, DT_RELA, DT_JMPREL, DT_INIT, DT_FINI,
	};
	ElfW(Addr) table = address_of(image, tag);

	if (!table || !find_bytes(image, table, 1, run))
		return false;
	for (size_t i = 0; i < LC_COUNT(tables); i++) {
		ElfW(Addr) other = address_of(image, tables[i]);

		if (other > table && other - table < run->size)
			run->size = other - table;
	}
	return true;
}

/* Finds the table, and in it the chains; returns false if there is none, or if it is damaged. */
static bool find_gnu_hash(const struct lc_image *image, struct gnu_hash *table, struct extent *chains)
{
	uint32_t head[4];
	uint64_t buckets, end;
	struct extent run;

	table->count = 0;
	if (!lc_entry(image, DT_GNU_HASH) ||
	    !find_bytes(image, address_of(image, DT_GNU_HASH), sizeof(head), &run) ||
	    !get_bytes(image, &run, 0, sizeof(head), head))
		return false;
	*table = (struct gnu_hash){ .bucket_count = head[0], .first = head[1] };
	buckets = sizeof(head) + (uint64_t)head[2] * sizeof(ElfW(Addr));
	end = buckets + (uint64_t)table->bucket_count * sizeof(uint32_t);
	table->buckets = get_bytes(image, &run, buckets, end - buckets, NULL);
	if (!table->buckets)
		return false;
	table->chains = table->buckets + table->bucket_count;
	*chains = (struct extent){ run.offset + end, run.size - end };
	table->room = table->first + chains->size / sizeof(uint32_t);
	return true;
}

/* Counts the symbols, too; returns false as well if there are `most` or more. */
static bool read_gnu_hash(const struct lc_image *image, size_t most, struct gnu_hash *table)
{
	uint32_t last = 0, hash;
	struct extent chains;

	if (!find_gnu_hash(image, table, &chains))
		return false;
	for (size_t i = 0; i < table->bucket_count; i++)
		if (table->buckets[i] > last)
			last = table->buckets[i];
	if (!last)
		return true;
	if (last < table->first)
		return false;
	do {
		if (last >= most || !get_bytes(image, &chains, (uint64_t)(last - table->first) * sizeof(hash),
					       sizeof(hash), &hash))
			return false;
		last++;
	} while (!(hash & 1));
	table->count = last;
	return true;
}

/* Finds the symbols and their versions, and how many there can be; false: the tables are damaged. */
static bool find_entries(const struct lc_image *image, struct extent *entries, struct extent *versions,
			 size_t *most)
{
	const bool versioned = lc_entry(image, DT_VERSYM);

	if (!find_table(image, DT_SYMTAB, entries) || (versioned && !find_table(image, DT_VERSYM, versions)))
		return false;
	*most = entries->size / sizeof(ElfW(Sym));
	if (versioned && versions->size / sizeof(ElfW(Half)) < *most)
		*most = versions->size / sizeof(ElfW(Half));
	return true;
}

/* Sets where so many of them are; returns false if the file ends before. */
static bool get_entries(const struct lc_image *image, const struct extent *entries, const struct extent *versions,
			size_t count, struct symbol_table *symbols)
{
	const bool versioned = lc_entry(image, DT_VERSYM);

	symbols->entries = get_bytes(image, entries, 0, count * sizeof(ElfW(Sym)), NULL);
	symbols->versions = versioned ? get_bytes(image, versions, 0, count * sizeof(ElfW(Half)), NULL) : NULL;
	return symbols->entries && (symbols->versions || !versioned);
}

/* The dynamic section does not give the number of symbols; the hash tables do. */
static const char *find_symbols(const struct lc_image *image, struct symbol_table *symbols)
{
	const char *const damaged = "has a damaged symbol table";
	struct extent entries, versions, hash;
	uint32_t head[2];
	size_t most;

	*symbols = (struct symbol_table){ .count = 0 };
	if (!find_entries(image, &entries, &versions, &most))
		return damaged;
	if (lc_entry(image, DT_HASH) && find_bytes(image, address_of(image, DT_HASH), sizeof(head), &hash) &&
	    get_bytes(image, &hash, 0, sizeof(head), head) && head[1] <= most) {
		symbols->count = head[1];
	} else {
		symbols->none_defined = read_gnu_hash(image, most, &symbols->names) &&
				       !symbols->names.count;
		symbols->count = symbols->names.count;
		symbols->guess = !symbols->count;
		if (symbols->guess)
			symbols->count = most;
	}
	return get_entries(image, &entries, &versions, symbols->count, symbols) ? NULL : damaged;
}

/* The index of a symbol's version node, and HIDDEN if only those who name that node bind to it. */
#define HIDDEN 0x8000u

static unsigned version_at(const struct symbol_table *symbols, size_t index)
{
	return symbols->versions ? symbols->versions[index] & ~HIDDEN : 0;
}

/* Passes on the undefined symbols of one page.  Returns true if `each` did, or with *why set. */
static bool pass_undefined(const struct lc_image *image, const struct symbol_table *symbols,
			   const struct selection *selection, const struct need *plain,
			   bool (*each)(const struct lc_undefined *symbol, void *data),
			   const char **why)
{
	for (size_t i = 1; i < symbols->count; i++) {
		const lc_sym *symbol = &symbols->entries[i];
		struct lc_undefined undefined;
		const struct need *need;

		if (symbol->st_shndx != SHN_UNDEF || !symbol->st_name)
			continue;
		need = need_of(selection, plain, version_at(symbols, i));
		if (!need)
			continue;
		undefined.name = image_string(image, symbol->st_name);
		if (!undefined.name && !symbols->guess)
			*why = "has a damaged symbol table";
		if (*why)
			return true;
		if (!undefined.name)
			continue;
		undefined.node = need == plain ? NULL : image_string(image, need->node);
		undefined.file = need == plain ? NULL : image_string(image, need->file);
		undefined.weak = ELF64_ST_BIND(symbol->st_info) == STB_WEAK;
		if (each(&undefined, selection->data))
			return true;
	}
	return false;
}

const char *lc_image_undefined(const struct lc_image *image,
			       bool (*wanted)(const char *node, void *data),
			       bool (*each)(const struct lc_undefined *symbol, void *data),
			       void *data)
{
	struct selection selection;
	static const struct need none;
	const struct need *plain = wanted(NULL, data) ? &none : NULL;
	struct symbol_table symbols;
	const char *why = NULL;
	bool found = false;

	selection.wanted = wanted;
	selection.data = data;
	selection.page = 0;
	for (;; selection.page = selection.next, plain = NULL) {
		why = select_needs(image, &selection);
		if (why || !lc_entry(image, DT_SYMTAB))
			return why;
		if (!found && (selection.any || plain)) {
			why = find_symbols(image, &symbols);
			found = true;
		}
		if (why || ((selection.any || plain) &&
			    pass_undefined(image, &symbols, &selection, plain, each, &why)))
			return why;
		if (!selection.next)
			return NULL;
	}
}

const char *lc_image_defined(const struct lc_image *image,
			     bool (*each)(const struct lc_defined *symbol, void *data),
			     void *data)
{
	struct symbol_table symbols;
	const char *why;

	why = find_symbols(image, &symbols);
	if (why || symbols.none_defined)
		return why;
	if (symbols.guess)
		return "has no hash table, or a damaged one";
	for (size_t i = 1; i < symbols.count; i++) {
		struct lc_defined defined = { .entry = symbols.entries[i] };

		if (defined.entry.st_shndx == SHN_UNDEF)
			continue;
		defined.name = image_string(image, defined.entry.st_name);
		if (!defined.name)
			return "has a damaged symbol table";
		defined.node = version_at(&symbols, i);
		if (each(&defined, data))
			break;
	}
	return NULL;
}

/* ---- names ---- */

struct node_search {
	const char *name;
	unsigned index, count;
};

static bool match_name(const struct lc_node *node, void *data)
{
	struct node_search *search = data;

	if (!node->own_name && !strcmp(node->name, search->name)) {
		search->index = node->index;
		search->count++;
	}
	return false;
}

void lc_names_of(const struct lc_image *image, const char *node, struct lc_names *names)
{
	struct node_search search = { .name = node };
	struct extent entries, versions, chains;
	struct symbol_table symbols;
	struct gnu_hash table;
	size_t most;

	*names = (struct lc_names){ .strings = NULL };
	if (!image->loaded || (node && lc_image_nodes(image, match_name, &search)) ||
	    search.count != (node != NULL) ||
	    !find_gnu_hash(image, &table, &chains) || !table.bucket_count ||
	    !find_entries(image, &entries, &versions, &most) ||
	    !get_entries(image, &entries, &versions, most, &symbols) || (node && !symbols.versions))
		return;
	*names = (struct lc_names){
		.strings = image->strings, .strings_size = image->strings_size,
		.base = image->source.bytes,
		.symbols = symbols.entries, .versions = symbols.versions,
		.buckets = table.buckets, .chains = table.chains,
		.bucket_count = table.bucket_count, .first = table.first,
		.count = table.room < most ? table.room : most, .node = search.index,
	};
}

/* The table's last string ends within it: read_strings() has seen to that. */
static bool is_name(const struct lc_names *names, size_t index, const char *name)
{
	const size_t at = names->symbols[index].st_name;

	return at < names->strings_size && !strcmp(names->strings + at, name);
}

static bool is_of_node(const struct lc_names *names, size_t index)
{
	const unsigned versym = names->versions ? names->versions[index] : 0;

	return names->node ? (versym & ~HIDDEN) == names->node : !(versym & HIDDEN);
}

bool lc_names_find_hashed(const struct lc_names *names, const char *name, uint32_t hash,
			  void **address)
{
	size_t i = names->buckets[hash % names->bucket_count];
	bool last = i < names->first;

	*address = NULL;
	for (; !last && i < names->count; i++) {
		const uint32_t link = names->chains[i - names->first];
		const lc_sym *symbol = &names->symbols[i];

		last = link & 1;
		if ((link ^ hash) > 1 || !is_of_node(names, i) || !is_name(names, i, name))
			continue;
		*address = (void *)((uintptr_t)names->base + symbol->st_value);
		return symbol->st_shndx != SHN_UNDEF && symbol->st_shndx != SHN_ABS &&
		       (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC ||
			ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT) &&
		       ELF64_ST_BIND(symbol->st_info) != STB_LOCAL && symbol->st_value;
	}
	return true;
}

bool lc_names_find(const struct lc_names *names, const char *name, void **address)
{
	return lc_names_find_hashed(names, name, lc_hash(name, strlen(name)), address);
}
