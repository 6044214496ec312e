# SPDX-License-Identifier: MIT
"""What the commands that are in Python read, and how they say what is wrong."""
import argparse
import difflib
import itertools
import os
import pathlib
import re
import sys
import traceback

from . import report
from .command import complain, say

# What argparse says, and how all commands say it.
SAID = ((r"the following arguments are required: FILE", "no file is given"),
        (r"the following arguments are required: DIR.*", "no folder is given"),
        (r"the following arguments are required: (--\S+)", r"\1 is not given"),
        (r"one of the arguments -o/--output --in-place is required",
         "no output folder is given: use -o DIR, or --in-place"),
        (r"argument (?:-o/)?(--[\w-]+): expected one argument", r"a value is missing after \1"),
        (r"argument (--\S+): invalid choice: '(.*)' \(choose from (.*)\)", r"\1 \2: give one of \3"),
        (r"argument (--cuda): invalid int value: '(.*)'", r"\1 \2: it is not a major of CUDA"),
        (r"argument (?:-o/)?(\S+): is empty", r"\1 is empty"))


def word(text):
    """An empty one is of a variable that is not set; as a path it would be the folder that one is in."""
    if not text:
        raise argparse.ArgumentTypeError("is empty")
    return text


def path(text):
    return pathlib.Path(word(text))


class Parser(argparse.ArgumentParser):
    def __init__(self, command, usage, **more):
        super().__init__(f"lazycuda {command}", allow_abbrev=False,
                         formatter_class=argparse.RawDescriptionHelpFormatter, **more)
        self.short = f"[OPTION...] {usage}"

    def parse_args(self, words=None):
        """What is said first is that an option is misspelt: the rest may come of it."""
        words = sys.argv[1:] if words is None else words
        for each in itertools.takewhile("--".__ne__, words):
            name = each.partition("=")[0] if each.startswith("--") else each[:2]
            if len(name) > 1 and name[0] == "-" and name not in self._option_string_actions:
                near = difflib.get_close_matches(name, self._option_string_actions, 1, 0.7)
                self.error(f"unknown option {each}" + (f"; did you mean {near[0]}?" if near else ""))
        return super().parse_args(words)

    def print_help(self, file=None):
        if not self.say(self.format_help()[:-1]):
            self.exit(2)

    def error(self, message, more=""):
        """The error, then one line of usage, as all commands have it; between them what else is said."""
        for pattern, words in SAID:
            message = re.sub(pattern, words, message)
        complain(f"{self.prog}: {report.printable(message)}\n{more}"
                 f"usage: {self.prog} {self.short}\n"
                 f"`{self.prog} --help` says more.")
        self.exit(2)

    def say(self, text):
        return say(text, self.prog)

    def run(self, carry_out, words):
        """The exit status of a command that is carried out with these words."""
        options = self.parse_args(words)
        try:
            return carry_out(self, options)
        except Exception as error:
            complain(report.printable(f"{self.prog}: {why(error)}"))
            return 2


def why(error):
    """What is to be said where something failed."""
    if isinstance(error, MemoryError):
        return "memory ran out"
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror or error)
    place = traceback.extract_tb(error.__traceback__)[-1]
    return (f"{type(error).__name__}: {error} ({os.path.basename(place.filename)}:{place.lineno}): a mistake of "
            "lazycuda; please report it")
