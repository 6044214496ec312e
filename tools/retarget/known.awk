# SPDX-License-Identifier: MIT
#
# known.awk - known.h for Python, the libraries of which there is a list, and the CUDAs of symbols.txt
#
#	awk -v libraries="cudart cublas" -f tools/retarget/known.awk tools/known.h symbols.txt >known.py

BEGIN { print "# SPDX-License-Identifier: MIT\n\"\"\"Whose a library is, by its name.\"\"\"" }
/^static/ { sub(/.*known_/, ""); sub(/\[.*/, " = ("); print }
/^\t/ { gsub(/\{/, "("); gsub(/\}/, ")"); sub(/^\t/, "    "); print }
/^toolkits / { sub(/ /, " = \""); print $0 "\".split()" }
/^};/ { print ")" }
END { print "listed = frozenset(\"" libraries "\".split())" }
