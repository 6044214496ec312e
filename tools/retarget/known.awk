# SPDX-License-Identifier: MIT
#
# known.awk - known.h for Python, and the libraries of which there is a list
#
#	awk -v libraries="cudart cublas" -f tools/retarget/known.awk tools/known.h >known.py

BEGIN { print "# SPDX-License-Identifier: MIT\n\"\"\"Whose a library is, by its name.\"\"\"" }
/^static/ { sub(/.*known_/, ""); sub(/\[.*/, " = ("); print }
/^\t/ { gsub(/\{/, "("); gsub(/\}/, ")"); sub(/^\t/, "    "); print }
/^};/ { print ")" }
END { print "listed = frozenset(\"" libraries "\".split())" }
