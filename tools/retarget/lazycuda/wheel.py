# SPDX-License-Identifier: MIT
"""Retargets one wheel."""
import contextlib
import pathlib
import posixpath
import tempfile

from . import elf, mentions, metadata, names, packages, parts, report, repoint, serve
from .archive import SIGNATURES, Wheel, write, wrong_rows

# Tags for glibc older than 2.17, which the stubs need.
OLDER_TAGS = ("manylinux1_", "manylinux2010_", "manylinux_2_5_", "manylinux_2_12_")


class Job:
    """One wheel on its way."""

    def __init__(self, wheel, said, options):
        self.options, self.wheel, self.said, self.note = options, wheel, said, said["notes"].append
        home = options.stubs_in if options.stubs_in is not None else f"{self.wheel.name}.libs"
        # "" for the root of the wheel
        self.home = posixpath.normpath(f"/{home}").lstrip("/")
        self.changed = {}           # {member: file or bytes}
        self.removed = []
        self.parts = []

    def run(self, folder, output):
        """Write the new wheel to what `output(file name)` gives; returns the
        outcome."""
        for name in ("parts", "site", "stubs"):
            (folder / name).mkdir()
        available = self.options.read_stubs()
        self.said["notes"] += self.options.stub_notes
        self.parts, self.mentions, self.unread = parts.read(self.wheel, folder / "parts")
        self._leave()
        seen = [part for part in self.parts if part.image and not (part.left or part.library or part.is_stub)]
        required = metadata.requires(self.wheel.read(self.wheel.member("METADATA")))
        serving = serve.Serving(available, self.options.compat_folders(), self.options, self.parts,
                                "lazycuda" in required)
        parts.look(seen, serving)
        work = [part for part in seen if part.work]
        self.said["libraries"] = report.of_libraries((
            (part.name, part.image, part.work, part.unserved) for part in self.parts
            if part.image and not (part.library or part.is_stub)), serving.bundled | {
                names.base(part.name) for part in self.parts if not names.real(part.name)})
        self._note_others(serving)
        serving.opened = {each.name for each in self.mentions}
        if work:
            self._change(work, serving, folder)
        self._metadata(set().union(*(part.work.libraries for part in work)), serving)
        return self._finish(output)

    def _change(self, work, serving, folder):
        """Decide where the stubs lie, change what cannot stay as it is, and load the results."""
        folders = {serve.Home(part.prefix, posixpath.dirname(part.installed)) for part in self.parts
                   if part.installed}
        of_wheel = [part for part in work if serving.from_outside(part)]
        first = self.options.prefer == "stub"
        serve.find_homes(of_wheel, folders, self.home, first, self.options.stubs_in is not None)
        with self.wheel.stage("changing", [part.name for part in work]) as stage:
            for part in work:
                stage.add(0)
                with parts.about(part):
                    part.change(self.options.find_patchelf)
                stage.add(self.wheel.members[part.name].file_size)
        parts.replace_libraries(self.parts, serving)
        stubs = serving.files(self.parts, of_wheel, folder / "stubs", self.options.find_patchelf)
        loaded = parts.load_all(self.parts, {self.wheel.installed(name): path for name, path in
                                             stubs.items()}, folder / "site", serving.copies)
        for part in work:
            self.said["files"].append(report.of_file(
                part.name, part.work, part.search_path, loaded[part.name]))
        self.changed = {part.name: part.new for part in work if part.new}
        self.changed.update(stubs)
        self.removed = [part.name for part in self.parts if part.removed]
        self.said.update(added=sorted(stubs), removed=self.removed)

    def _leave(self):
        self.options.leaves(*self.wheel.members)        # that a pattern names one is enough
        for part in self.parts:
            elsewhere = part.real_needs and part.installed is None
            part.left = self.options.leaves(part.name) or elsewhere
            if part.left and part.real_needs:
                why = "it is not installed into site-packages, where the stubs lie" if elsewhere \
                    else "--leave names it"
                self.note(f"{part.name} is left as it is, since {why}: it still needs "
                          f"{', '.join(part.real_needs)}")

    def _note_others(self, serving):
        if self.wheel.tags.rpartition("-")[2].startswith(OLDER_TAGS):
            self.note(f"its tag {self.wheel.tags} promises less than glibc 2.17, which the stubs need: "
                      "`wheel tags` changes it")
        for name in SIGNATURES:
            if self.wheel.member(name) in self.wheel.members:
                self.note(f"{name} signs what it was: not in the result")
        for part in self.parts:
            if part.image and not part.library and repoint.has_static_runtime(part.image):
                self.note(f"{part.name} has the CUDA runtime linked statically: out of reach")
            if part.library and not part.opener and part.answers_to & serving.bundled:
                self.note(f"{part.name} is the real {part.library}, and stays: it comes with the wheel, as "
                          "published")

    def _has(self):
        """Names in DT_NEEDED that files of the new wheel answer to."""
        return set().union({names.base(name) for name in self.said["added"]}, *(
            part.answers_to for part in self.parts if not part.removed))

    def _still_needed(self):
        """{family: names of its libraries that some file needs and the wheel does not have}"""
        needed = set().union(*(part.needed for part in self.parts if not part.removed))
        found = {}
        for name in needed - self._has():
            package = packages.of_library(name)
            if package:
                found.setdefault(package.family, set()).add(name)
        return found

    def _free(self, libraries, needed):
        """{family: library of `lazycuda stub`, or None} of packages that no file needs."""
        free = dict.fromkeys(packages.BY_FAMILY)
        for stub in (self.options.read_stubs()[library] for library in libraries):
            for name in stub.image.notes(elf.NOTE_PACKAGES):
                free[packages.family(name)] = stub.library if stub.given else None
        return {family: own for family, own in free.items() if family not in needed}

    def _majors(self, libraries, needed, stay):
        """The majors of CUDA that all stubs in the wheel stand for, and that all libraries which
        it still needs are of.  `stay` are those of the packages that it still requires."""
        stubs = [self.options.read_stubs()[library] for library in libraries]
        found = [set(stub.cudas) for stub in stubs if stub.cudas]
        found += [packages.majors(name) for sonames in needed.values() for name in sonames]
        found += [{major} for major in stay]
        return sorted(set.intersection(*found)) if found else []

    def _metadata(self, libraries, serving):
        name = self.wheel.member("METADATA")
        text = self.wheel.read(name)
        relax = self.options.relax_requirements
        needed = self._still_needed()
        free = self._free(libraries, needed)
        required = metadata.required(text, free)
        self.said["requirements"] = [
            {"requirement": each.requirement, "extra": each.extra, "relaxed": relax}
            for each in required]
        if relax:
            self.said["kept"] = [{"requirement": requirement, "needed": sonames}
                                 for requirement, sonames in metadata.kept(text, needed)]
            stay = metadata.majors_that_stay(text, free)
        else:
            free, stay = {}, ()
        replaced = {packages.BY_STEM[part.library].family for part in self.parts
                    if part.stub and part.library in packages.BY_STEM}
        if relax or replaced:
            relaxed, self.said["extras"] = metadata.relax(
                text, free, self._majors(libraries, needed, stay), sorted(replaced))
            if relaxed != text:
                self.changed[name] = relaxed
            self._note_needs_of_others(required)
        self._mentions(required if relax else (), serving)
        if self.options.build_tag:
            name = self.wheel.member("WHEEL")
            self.changed[name] = metadata.set_build(self.wheel.read(name), self.options.build_tag)

    def _note_needs_of_others(self, required):
        """What has no stub, libcustatevec.so.1 say, may need what nothing here needs any more."""
        others = sorted({name for entry in self.said["libraries"] for name in entry["needed"]
                         if entry["outcome"] == repoint.NO_STUB} - self._has())
        extras = sorted({each.extra for each in required})
        if others and extras:
            self.note(f"{', '.join(others)}: what that needs of CUDA in its turn is required no more; "
                      f"if it cannot be loaded, install {self.wheel.name}[{extras[-1]}]")

    def _mentions(self, required, serving):
        """Name what asks for a package, or opens a library, that may be gone now."""
        extras = {}
        for each in required:
            for family in each.families:
                extras.setdefault(family, each.extra)
        there = {names.base(name) for name in self.said["added"]}
        stems = {packages.stem(name) for name in there} - {None}
        for each in self.mentions + mentions.of_parts(self.parts):
            served = packages.stem(each.name) in stems if serve.ANY_NUMBER.search(each.name) \
                else names.base(each.name) in there
            self.said["mentions"].append({
                **each._asdict(), "served": served, "extra": extras.get(each.family),
                "compat": None if served else serving.compat(names.base(each.name))})
        self.said["notes"] += [f"{name} names CUDA's libraries or their packages, and is too long "
                               "to be read here: look into it" for name in self.unread]

    def _finish(self, output):
        """Writes the result, if anything changed."""
        if self.changed or self.removed:
            target = output(self.wheel.file_name(self.options.build_tag))
            write(self.wheel, target, self.changed, self.removed)
            target.chmod(self.wheel.path.stat().st_mode & 0o7777)
            wrong = wrong_rows(self.wheel)
            if wrong:
                self.note(f"its RECORD was wrong of {repoint.some(wrong)}, and is not in the result")
            return "retargeted"
        return "already" if any(part.is_stub or part.image and repoint.needs_stub(part.image)
                                for part in self.parts) else "nothing"


def retarget(path, said, options, output):
    """Adds to what is to be said; raises Refused."""
    with contextlib.closing(Wheel(path, options.line)) as wheel, \
            tempfile.TemporaryDirectory(prefix="lazycuda-") as folder:
        said["outcome"] = Job(wheel, said, options).run(pathlib.Path(folder), output)
