/* SPDX-License-Identifier: MIT */
/*
 * verdicts.c - linked into a stub: for every name that callers can import, what
 * the tables say will become of it and what the loader has made of it, written
 * to the file that the environment names
 *
 *     {"name": "cudaMalloc", "major": 12, "verdict": 0, "status": 0,
 *      "cause": 0, "object": "/.../libcudart.so.13", "symbol": "cudaMalloc"}
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loader/errors.h"
#include "loader/loader.h"
#include "loader/specifics.h"
#include "base/verdict.h"

__attribute__((visibility("default"))) long lazycuda_test_verdicts(void);

long lazycuda_test_verdicts(void)
{
	FILE *out = fopen(getenv("VERDICTS"), "w");
	const struct lazycuda_status *status;

	if (!out || !lc_load())
		return 1;
	status = lc_status();
	for (size_t i = 0; i < lc_library.export_count; i++) {
		const struct lc_export *row = &lc_library.exports[i];
		const char *name = lc_library.names + row->name;
		enum lc_verdict verdict = lc_judge(&lc_library, lc_specifics.adaptors, row,
						   LC_VERSION(status->major, status->minor));
		int outcome = lc_slow(row->slot);
		void *function;
		Dl_info info = { .dli_fname = "" };

		memcpy(&function, &lc_slot_table[row->slot], sizeof(function));
		if (!outcome)
			dladdr(function, &info);
		if (lc_find_export(&lc_library, name, row->major) != row)
			return 2;
		fprintf(out, "{\"name\": \"%s\", \"major\": %d, \"verdict\": %d, \"status\": %d,"
		       " \"cause\": %d, \"object\": \"%s\", \"symbol\": \"%s\"}\n", name,
		       row->major, verdict, outcome, outcome ? (int)lc_last_error()->cause : 0,
		       info.dli_fname, info.dli_sname ? info.dli_sname : "");
	}
	fclose(out);
	return lc_find_export(&lc_library, "cudaNothing", 12) ? 3 : 0;
}
