/* SPDX-License-Identifier: MIT */
/* write_specifics.c - writes lc_specifics of a stub that only forwards */
#include "writers.h"

void write_specifics(struct files *files, const struct plan *plan)
{
	struct text *c = new_file(files, plan, ".specifics.c", "/* ", " */");

	/* No escaping: list.c rejects quotes and backslashes. */
	put(c, "#include \"loader/specifics.h\"\n\n"
	    "const struct lc_specifics lc_specifics = {\n"
	    "\t.unknown = LC_UNKNOWN(\"%s\"),\n\t.advice = \"%s\",\n};\n",
	    plan->library->name, plan->library->advice);
}
