# SPDX-License-Identifier: MIT
#
# options.awk - the command's manual page: its template, with what the tables of options say in
# place of the line @OPTIONS@
#
#	awk -f docs/options.awk docs/lazycuda.1.in
#
# A row of a table begins a line: { "--arch", "ARCH", "the target: " "...", in C, where NULL is no
# argument, and add("--prefer", metavar="WHICH", help="wheels: " "...") in Python.

BEGIN {
	TABLES = "status tools/status_command.c audit tools/audit_command.c " \
		"retarget tools/retarget/lazycuda/retarget.py inspect tools/inspect_command.c " \
		"plan tools/plan_command.c plan,link tools/link_arguments.c link tools/link_command.c " \
		"embed tools/embed_command.c stub tools/stub_command.c toolkit tools/retarget/lazycuda/toolkit.py"
}

# The commands have the option of the row that was read.  Options that several have are said once.
function note(commands,    in_c, part, count, i, name, argument, text, option)
{
	gsub(/\\"/, "\001", row)
	gsub(/"[ \t]*"/, "", row)
	gsub(/-/, "\\-", row)
	in_c = row ~ /^\t\{/
	count = split(row, part, "\"")
	for (i = 2; i <= count && text == ""; i += 2)
		if (part[i] ~ /^\\-/)
			name = (name ? name ", " : "") part[i]
		else if (part[i - 1] ~ /metavar=$/ || (in_c && argument == "" && part[i - 1] !~ /NULL/))
			argument = part[i]
		else if (in_c || part[i - 1] ~ /help=$/)
			text = toupper(substr(part[i], 1, 1)) substr(part[i], 2) "."
	row = ""
	if (text == "")
		return
	gsub("\001", "\"", text)
	gsub(/\. /, ".\n", text)
	option = ".TP\n" (argument ? ".BI \"" name " \" \"" argument "\"" : ".B " name) "\n" text
	if (!(option in whose))
		options[++number] = option
	whose[option] = (whose[option] ? whose[option] ", " : "") commands
}

function read_tables(    word, count, i, line)
{
	count = split(TABLES, word, " ")
	for (i = 1; i < count; i += 2) {
		gsub(/,/, ", ", word[i])
		while ((getline line < word[i + 1]) > 0) {
			if (line ~ /^\t\{ ("|\.name = NULL)|^    [a-z.]*add[a-z_]*\(|^    return/)
				note(word[i])
			if (row != "" || line ~ /^\t\{ "-|^ +[a-z.]*add[a-z_]*\("-/)
				row = row line
		}
	}
}

$0 == "@OPTIONS@" {
	read_tables()
	for (i = 1; i <= number; i++)
		if (!said[whose[options[i]]]++) {
			print ".SS \"" whose[options[i]] "\""
			for (j = i; j <= number; j++)
				if (whose[options[j]] == whose[options[i]])
					print options[j]
		}
	next
}
{ print }
