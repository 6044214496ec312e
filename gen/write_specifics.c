/* SPDX-License-Identifier: MIT */
/* write_specifics.c - what a stub says of itself, where it does nothing but forward */
#include "write.h"

void write_specifics(struct files *files, const struct plan *plan)
{
	struct text *c = new_file(files, plan, ".specifics.c", "/* ", " */");

	/* A list has no quotes and no backslashes. */
	add(c, "#include \"loader/specifics.h\"\n\n"
	    "const struct lc_specifics lc_specifics = {\n"
	    "\t.unknown = LC_UNKNOWN(\"%s\"),\n\t.advice = \"%s\",\n};\n",
	    plan->library->name, plan->library->advice);
}
