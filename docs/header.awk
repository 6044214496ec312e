# SPDX-License-Identifier: MIT
#
# header.awk - a manual page of a public header: its template, with all that the header
# declares and says in place of the line @HEADER@
#
#	awk -v header=include/lazycuda.h -f docs/header.awk docs/lazycuda.h.3.in
#
# In the header a comment before a declaration is about it, and one behind a member about that; a blank
# line begins a paragraph, and what is indented stays as it is.

# Text as troff wants it, a sentence a line; `names` in italics, and functions in bold.
function text(s)
{
	gsub(/\\/, "\\e", s)
	while (match(s, /`[^`]*`/))
		s = substr(s, 1, RSTART - 1) "\\fI" substr(s, RSTART + 1, RLENGTH - 2) "\\fP" substr(s, RSTART + RLENGTH)
	gsub(/[A-Za-z_]+\(\)/, "\\fB&", s)
	gsub(/\(\)/, "\\fP()", s)
	gsub(/\. +/, ".\n", s)
	gsub(/\n[.']/, "\n\\\\&", s)
	return s ~ /^[.']/ ? "\\&" s : s
}

# A comment, line by line, once its marks are off.
function paragraphs(    i, line, plain, filled)
{
	for (i = 1; i <= count; i++) {
		line = lines[i]
		if ((line ~ /^(  |\t)/) != plain) {
			filled = say(filled)
			plain = !plain
			out(plain ? ".PP\n.nf" : ".fi")
		}
		if (plain) {
			sub(/^ +/, "", line)
			out(text(line))
		} else if (line == "") {
			filled = say(filled)
			out(".PP")
		} else {
			filled = filled (filled ? " " : "") line
		}
	}
	if (plain)
		out(".fi")
	say(filled)
	count = 0
}

# Returns nothing, which is then left to say.
function say(filled)
{
	if (filled)
		out(text(filled))
	return ""
}

function out(s) { body = body s "\n" }

# What stands in /* */, with the comment's own marks and blanks taken off.
function inside(s)
{
	sub(/[ \t]*\*\/[ \t]*$/, "", s)
	sub(/^[ \t]*\/?\*+ ?/, "", s)
	return s
}

# Reads a comment that begins in `line` up to its end; sets lines and count.
function comment(line,    ends)
{
	count = 0
	do {
		ends = line ~ /\*\//
		line = inside(line)
		if (line != "" || (count && !ends))
			lines[++count] = line
	} while (!ends && (getline line < header) > 0)
}

# A declaration or member, and what is said behind it.
function item(line,    at, said, more)
{
	at = index(line, "/*")
	said = at ? substr(line, at + 2) : ""
	while (at && said !~ /\*\// && (getline more < header) > 0) {
		sub(/^[ \t]+/, "", more)
		said = said " " more
	}
	line = at ? substr(line, 1, at - 1) : line
	gsub(/^[ \t]+|[ \t;,]+$/, "", line)
	gsub(/[ \t]+/, " ", line)
	sub(/ *\*\/.*/, "", said)
	sub(/^ +/, "", said)
	out((said ? ".TP" : ".HP") "\n.B " line)
	say(said)
}

function members(    line)
{
	while ((getline line < header) > 0 && line !~ /^}/)
		if (line ~ /^[ \t]*\/\*/) {
			comment(line)
			out(".PP")
			paragraphs()
		} else if (line ~ /[a-zA-Z]/) {
			item(line)
		}
}

function heading(s)
{
	out(".SS " s)
	paragraphs()
}

# A function: its name in the text, and all of it in the synopsis.
function prototype(line,    more)
{
	while (line !~ /;/ && (getline more < header) > 0) {
		sub(/^[ \t]+/, " ", more)
		line = line more
	}
	match(line, /lazycuda_[a-z_]+\(/)
	heading(substr(line, RSTART, RLENGTH) ")")
	synopsis = synopsis ".HP\n.B " line "\n"
}

function read_header(    line, seen)
{
	while ((getline line < header) > 0) {
		if (line ~ /^\/\* -+ /) {
			gsub(/^\/\* -+ | -+ \*\/$/, "", line)
			out(".SH " toupper(line))
		} else if (line ~ /^\/\*/) {
			comment(line)
			if (++seen == 2) {
				lines[1] = ""
				paragraphs()
			}
		} else if (line ~ /^(enum|struct) [a-z_]+ \{/) {
			sub(/ \{/, "", line)
			heading(line)
			members()
		} else if (line ~ /^#define LAZYCUDA_[A-Z_]+\(/ && !had[line]++) {
			gsub(/^#define | *\\$/, "", line)
			heading(line)
		} else if (line ~ /^#define LAZYCUDA_[A-Z_0-9]+[ \t]/) {
			if (count == 1) {
				sub(/\.$/, "", lines[1])
				out(".SS " lines[1])
			} else if (count) {
				out(".PP")
				paragraphs()
			}
			count = 0
			sub(/^#define /, "", line)
			item(line)
		} else if (line ~ /^[a-z].*lazycuda_[a-z_]+\(/) {
			prototype(line)
		}
	}
}

$0 == "@HEADER@" {
	read_header()
	printf ".nh\n.ad l\n%s.SH DESCRIPTION\n%s", synopsis, body
	next
}
{ print }
