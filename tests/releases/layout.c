/* SPDX-License-Identifier: MIT */
/*
 * layout.c - what a stub reads of another release's record, and where: it
 * compiles as long as that stays where it is
 *
 * Stubs of wheels that were made at other times meet in a process.  A field may
 * be added at the end of a struct; a line here never changes.  Rows of tables
 * cannot grow, so for them there is their size.
 */
#include "loader/peers.h"
#include "loader/loader.h"
#include "loader/specifics.h"

#define FIELD(type, field, offset, bytes) \
	_Static_assert(offsetof(type, field) == (offset), #type "." #field " has moved"); \
	_Static_assert(sizeof(((type *)0)->field) == (bytes), #type "." #field " has grown");
#define ROW(type, bytes) _Static_assert(sizeof(type) == (bytes), #type " has grown");

FIELD(struct lc_peer, size, 0, 4)
FIELD(struct lc_peer, process_major, 4, 4)
FIELD(struct lc_peer, loaded, 8, 4)
FIELD(struct lc_peer, library, 16, 8)
FIELD(struct lc_peer, load, 24, 8)
FIELD(struct lc_peer, status, 32, 8)
FIELD(struct lc_peer, error, 40, 8)
FIELD(struct lc_peer, specifics, 48, 8)
FIELD(struct lc_peer, looking, 56, 4)
FIELD(struct lc_peer, registered, 64, 8)
FIELD(struct lc_registration, name, 0, 8)
FIELD(struct lc_registration, major, 8, 4)
FIELD(struct lc_registration, words, 12, 4)
FIELD(struct lc_registration, word, 16, 8)
FIELD(struct lc_library, name, 0, 8)
FIELD(struct lc_library, stub, 8, 8)
FIELD(struct lc_library, variable, 16, 8)
FIELD(struct lc_library, companion, 24, 8)
FIELD(struct lc_library, majors, 32, 8)
FIELD(struct lc_library, major_count, 40, 8)
FIELD(struct lc_library, known_majors, 48, 8)
FIELD(struct lc_library, known_major_count, 56, 8)
FIELD(struct lc_library, errors, 64, 24)
FIELD(struct lc_library, names, 88, 8)
FIELD(struct lc_library, slots, 96, 8)
FIELD(struct lc_library, slot_count, 104, 8)
FIELD(struct lc_library, candidates, 112, 8)
FIELD(struct lc_library, enumerators, 120, 8)
FIELD(struct lc_library, enumerator_count, 128, 8)
FIELD(struct lc_library, since, 136, 8)
FIELD(struct lc_library, since_count, 144, 8)
FIELD(struct lc_library, exports, 152, 8)
FIELD(struct lc_library, export_count, 160, 8)
FIELD(struct lc_library, witness, 168, 8)
FIELD(struct lc_library, homes, 176, 8)
FIELD(struct lc_library, own_majors, 184, 1)
FIELD(struct lc_library, by_soname, 185, 1)
FIELD(struct lc_specifics, unused, 0, 80)
FIELD(struct lc_specifics, advice, 80, 8)
FIELD(struct lc_specifics, version, 88, 8)
FIELD(struct lc_specifics, adaptors, 96, 8)
FIELD(struct lc_specifics, replay_pending, 104, 8)
FIELD(struct lc_specifics, replay_next, 112, 8)
FIELD(struct lc_major, major, 0, 4)
FIELD(struct lc_major, soname, 8, 8)
FIELD(struct lc_major, folder, 16, 8)
FIELD(struct lc_major, oldest, 24, 2)
FIELD(struct lc_major, newest, 26, 2)
FIELD(struct lc_candidate, name, 0, 4)
FIELD(struct lc_candidate, from, 4, 2)
FIELD(struct lc_candidate, to, 6, 2)
FIELD(struct lc_slot, name, 0, 4)
FIELD(struct lc_slot, first, 4, 2)
FIELD(struct lc_slot, count, 6, 2)
FIELD(struct lc_export, name, 0, 4)
FIELD(struct lc_export, major, 4, 2)
FIELD(struct lc_export, slot, 6, 2)
FIELD(struct lc_enumerator, name, 0, 4)
FIELD(struct lc_enumerator, value, 4, 4)
FIELD(struct lc_enumerator, from, 8, 2)
FIELD(struct lc_enumerator, to, 10, 2)
FIELD(struct lc_since, name, 0, 4)
FIELD(struct lc_since, version, 4, 2)
FIELD(struct lc_adaptor, slot, 0, 2)
FIELD(struct lc_adaptor, needs, 2, 2)
FIELD(struct lc_adaptor, function, 8, 8)
ROW(struct lc_registration, 24)
ROW(struct lc_major, 32)
ROW(struct lc_candidate, 8)
ROW(struct lc_slot, 8)
ROW(struct lc_export, 8)
ROW(struct lc_enumerator, 12)
ROW(struct lc_since, 8)
ROW(struct lc_adaptor, 16)
