#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the section OPTIONS of docs/lazycuda.1: what each command's --help says of its options.

    tools/upkeep/manual.py [--check]
"""
import os
import pathlib
import re
import subprocess
import textwrap

import generated_page

TREE = pathlib.Path(__file__).resolve().parents[2]
PAGE = TREE / "docs" / "lazycuda.1"


def help_of(*command):
    return subprocess.run([TREE / "build/bin/lazycuda", *command, "--help"], text=True, check=True,
                          capture_output=True, env={**os.environ, "COLUMNS": "80"}).stdout


def options(text):
    """(names and argument, what it says) of each."""
    for head, rest in re.findall(r"^  (-[^\n]*?)(?:  +|\n {20,})(\S[^\n]*(?:\n {20,}[^\n]*)*)", text, re.M):
        # argparse names the argument twice.
        head = re.sub(r"^(-\w) \S+, (--)", r"\1, \2", head)
        if "--help" not in head:
            yield head, " ".join(rest.split())


def escaped(text):
    return re.sub(r"(?<![A-Za-z0-9])--?(?=\w)|(?<=[a-z])-(?=[a-z])", lambda dash: dash[0].replace("-", r"\-"),
                  text.replace("\\", r"\e"))


def entry(head, text):
    names, argument = re.fullmatch(r"((?:-\w, )?--\S+) ?(.*)", head).groups()
    names = names.replace("-", r"\-")
    lines = textwrap.wrap(text[0].upper() + text[1:] + ".", 100, break_on_hyphens=False, break_long_words=False)
    return [".TP", f'.BI "{names} " "{argument}"' if argument else f".B {names}",
            *(rf"\&{line}" if line[0] in ".'" else line for line in map(escaped, lines))]


def section():
    found = {}
    for command in re.findall(r"^  ([a-z]+)  ", help_of(), re.M):
        for option in options(help_of(command)):
            found.setdefault(option, []).append(command)
    lines = [".SH OPTIONS", r'.\" tools/upkeep/manual.py writes these.']
    for commands in dict.fromkeys(map(tuple, found.values())):
        lines.append(f'.SS "{", ".join(commands)}"')
        for option in [option for option, whose in found.items() if tuple(whose) == commands]:
            lines += entry(*option)
    return "\n".join([*lines, ".SS all", ".TP", r'.BR \-h ", " \-\-help', "Print a summary.", ".TP",
                      r'.BR \-V ", " \-\-version', "Print the version of lazycuda.", ""])


if __name__ == "__main__":
    before, rest = re.fullmatch(r"(.*?)\.SH OPTIONS\n.*?(\.SH JSON\n.*)", PAGE.read_text(), re.S).groups()
    generated_page.finish(PAGE, before + section() + rest, "lazycuda --help says", __doc__)
