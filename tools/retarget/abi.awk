# SPDX-License-Identifier: MIT
#
# abi.awk - lazycuda_link.h for ctypes: its enumerations, constants, structs and functions
#
#	awk -f tools/retarget/abi.awk include/lazycuda_link.h >link_abi.py
#
# Everything that the header declares has a name, also arguments; each member of an enumeration has a number.

BEGIN {
	split("size_t int unsigned char uint32_t uint64_t", c)
	split("c_size_t c_int c_uint c_char c_uint32 c_uint64", python)
	for (i in c)
		of[c[i]] = python[i]
	of["unsigned char"] = "c_ubyte"
	of["char *"] = "c_char_p"
	of["void *"] = of["struct lazycuda_link *"] = "c_void_p"
	of["void"] = "None"
	print "# SPDX-License-Identifier: MIT\n\"\"\"lazycuda_link.h for ctypes.\"\"\""
	print "from ctypes import (CFUNCTYPE, POINTER, c_char, c_char_p, c_int, c_size_t, c_ubyte, c_uint,"
	print "                    c_uint32, c_uint64, c_void_p)\n"
	print "from .link_types import Number, Struct"
}

# lazycuda_setting_kind: SettingKind
function camel(name,    words, count, i, made)
{
	count = split(name, words, "_")
	for (i = words[1] == "lazycuda" ? 2 : 1; i <= count; i++)
		made = made toupper(substr(words[i], 1, 1)) substr(words[i], 2)
	return made
}

# Sets `name`, `base` and `stars` of "const char *name"; without a base it is that of the one before.
function declared(text)
{
	match(text, /[a-z_0-9]+$/)
	name = substr(text, RSTART)
	text = substr(text, 1, RSTART - 1)
	gsub(/const /, "", text)
	stars = gsub(/\*/, "", text)
	gsub(/^ +| +$/, "", text)
	if (text != "")
		base = text
}

# Python's for `base` and `stars`.
function type(    made, i)
{
	i = stars
	if (i && base " *" in of) {
		made = of[base " *"]
		i--
	} else {
		made = base in of ? of[base] : base ~ /^enum / ? "c_int" : camel(substr(base, 8))
	}
	for (; i; i--)
		made = "POINTER(" made ")"
	return made
}

# "const char *text, int *version": their types
function arguments(text,    one, count, i, made)
{
	if (text == "void")
		return ""
	count = split(text, one, ", ")
	for (i = 1; i <= count; i++) {
		declared(one[i])
		made = made (i > 1 ? ", " : "") type()
	}
	return made
}

function enumeration(own, body,    prefix, one, count, i)
{
	print "\n\nclass " camel(own) "(Number):\n    \"\"\"enum lazycuda_" own "\"\"\""
	prefix = toupper(own)
	sub(/_KIND$/, "", prefix)
	sub(/[, ]*$/, "", body)
	count = split(body, one, ",")
	for (i = 1; i <= count; i++) {
		sub("^ *LAZYCUDA_" prefix "_", "", one[i])
		print "    " one[i]
	}
}

# A pointer to a function is a type of its own.
function structure(own, body,    member, one, many, count, i, j, fields, made)
{
	count = split(body, member, ";")
	for (i = 1; i < count; i++) {
		sub(/^ +/, "", member[i])
		if (split(member[i], one, /[()]+\*?/) > 2) {
			made = camel(own) camel(one[2])
			print "\n" made " = CFUNCTYPE(None, " arguments(one[3]) ")"
			fields = fields "        (\"" one[2] "\", " made "),\n"
			continue
		}
		many = split(member[i], one, ", ")
		for (j = 1; j <= many; j++) {
			declared(one[j])
			fields = fields "        (\"" name "\", " type() "),\n"
		}
	}
	print "\n\nclass " camel(own) "(Struct):\n    _fields_ = [\n" fields "    ]"
}

function prototype(text,    part, taken)
{
	split(text, part, /[()]/)
	taken = arguments(part[2])
	declared(part[1])
	functions = functions "    \"" name "\": (" type() ", [" taken "]),\n"
}

# Without comments; a declaration ends with a `;` behind its braces.
{
	line = $0
	while (at = index(line, "/*")) {
		before = substr(line, 1, at - 1)
		line = substr(line, at + 2)
		while (!(at = index(line, "*/")) && (getline line) > 0)
			;
		line = before substr(line, at + 2)
	}
	gsub(/[ \t]+/, " ", line)
	sub(/ $/, "", line)
}

line ~ /^#define LAZYCUDA_(ENTRY|SYMBOL|INSPECT|INPUT|LINK)_[A-Z_0-9]+ 0x/ {
	split(line, c, " ")
	flags = flags "\n    " substr(c[2], 10) " = " c[3]
	sub(/u$/, "", flags)
}
line ~ /^#define LAZYCUDA_(NO|VERSION)_[A-Z]+ / {
	split(line, c, " ")
	constants = constants substr(c[2], 10) " = " (c[3] ~ /size_t|UINT64/ ? "2**64 - 1" : c[3]) "\n"
}
line ~ /^#/ || line ~ /\\$/ || continued { continued = line ~ /\\$/; next }

text || line ~ /^(enum|struct|const|void|int|size_t) / { text = text line }
text ~ /;$/ && (text !~ /\{/ || text ~ /\};$/) {
	split(text, part, /[{}]/)
	split(text, c, " ")
	own = substr(c[2], length("lazycuda_") + 1)
	if (text ~ /^enum .*\{/)
		enumeration(own, part[2])
	else if (text ~ /\{/)
		structure(own, part[2])
	else if (text ~ /\(/)
		prototype(text)
	text = ""
}

END {
	print "\n\nclass Flag:\n    \"\"\"Without LAZYCUDA_.\"\"\"" flags
	printf "\n\n%s", constants
	printf "\n\n# name: what it returns, what it takes\nFUNCTIONS = {\n%s}\n", functions
}
