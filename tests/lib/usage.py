# SPDX-License-Identifier: MIT
"""What `lazycuda --help` says: the commands and the options of each."""
import re

import build

LAZYCUDA = build.TOOL


def help_of(*command):
    return build.output(LAZYCUDA, *command, "--help")


def commands():
    found = re.findall(r"^  ([a-z][a-z-]*)  ", help_of(), re.M)
    assert {"status", "audit"} <= set(found)
    return found


def long_options(command):
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", help_of(command)))


def options(text):
    """Those that a text names, the short ones too."""
    return set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", text))
