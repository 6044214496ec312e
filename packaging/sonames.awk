# SPDX-License-Identifier: MIT
#
# sonames.awk - the real SONAMEs in libraries/, a line CUDA/LIBRARY/MAJOR/SONAME for each CUDA that
# one is of
#
# Where the majors are the library's own, rows say of which CUDA a SONAME is, and one without
# a row goes with any of the `majors'.  A library with a row `compat none' is left out.

$1 == "library" {
	library = $2
	own = count = left_out = 0
	split("", of)
	in_head = 1
}
in_head && $1 == "soname" {
	soname[++count] = $2
	major[count] = int($3)
}
in_head && $1 == "majors" {
	own = 1
}
in_head && $1 == "compat" {
	left_out = $2 == "none"
}
in_head && $1 == "cuda" {
	name = $2
	$1 = $2 = ""
	of[name] = $0
}
in_head && ($1 == "functions" || $1 == "enum" || $1 == "struct") {
	in_head = 0
	for (i = 1; i <= count && !left_out; i++) {
		words = !own ? major[i] : soname[i] in of ? of[soname[i]] : majors
		number = split(words, cuda, " ")
		for (m = 1; m <= number; m++)
			print cuda[m] "/" library "/" major[i] "/" soname[i]
	}
}
