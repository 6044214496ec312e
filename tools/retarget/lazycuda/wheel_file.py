# SPDX-License-Identifier: MIT
"""Retargets one wheel."""
import pathlib
import posixpath
import tempfile

from . import mentions, metadata, packages, parts, report, repoint
from .repoint import Refused
from .wheel import SIGNATURES, Wheel, check, write

# Tags for glibc older than 2.17, which the stubs need.
OLDER_TAGS = ("manylinux1_", "manylinux2010_", "manylinux_2_5_", "manylinux_2_12_")


class Job:
    """One wheel on its way."""

    def __init__(self, path, options):
        self.options = options
        self.wheel = Wheel(path, options.line)
        self.said = report.of_wheel(path)
        home = options.stubs_in if options.stubs_in is not None else f"{self.wheel.name}.libs"
        # "" for the root of the wheel
        self.home = posixpath.normpath(f"/{home}").lstrip("/")
        self.changed = {}           # {member: file or bytes}
        self.removed = []
        self.parts = []

    def run(self, folder, output):
        """Write the new wheel to what `output(file name)` gives; returns the
        outcome."""
        (folder / "parts").mkdir()
        (folder / "site").mkdir()
        available = self.options.read_stubs()
        self.said["notes"] += self.options.stub_notes
        self.parts = parts.extract(self.wheel, folder / "parts")
        self._leave()
        parts.each([part for part in self.parts if not part.left],
                   lambda part: part.look(available))
        work = [part for part in self.parts if part.work]
        self.said["libraries"] = report.of_libraries(
            (part.name, part.image, part.work, part.unserved) for part in self.parts
            if part.image and not part.library)
        self._note_others()
        if not work:
            return self._outcome_of_nothing()
        patchelf = self.options.find_patchelf()
        with self.wheel.stage("changing", [part.name for part in work]) as stage:
            def change(part):
                stage.add(0)
                part.change(self.home, patchelf)
                stage.add(self.wheel.members[part.name].file_size)
            parts.each(work, change)
        if not self.options.keep_libraries:
            parts.remove_libraries(self.parts)
        self._note_copies()
        stubs = self._stub_places(work)
        loaded = parts.load_all(self.parts, stubs, folder / "site", self.options.load,
                                lambda part: part.change(self.home, patchelf, at_once=False))
        for part in work:
            self.said["files"].append(report.of_file(
                part.name, part.work, part.search_path, loaded[part.name]))
        self._collect(work, stubs)
        self._metadata({change.library for part in work for change in part.work.changes})
        self._finish(output)
        return "retargeted"

    def _leave(self):
        for part in self.parts:
            part.left = self.options.leaves(part.name)
            if part.left and part.real_needs:
                self.said["notes"].append(f"{part.name} is left as it is: it needs "
                                          f"{', '.join(part.real_needs)} still")

    def _outcome_of_nothing(self):
        has = any(part.image and repoint.needs_stub(part.image) for part in self.parts)
        return "already" if has else "nothing"

    def _note_others(self):
        if self.wheel.tags.rpartition("-")[2].startswith(OLDER_TAGS):
            self.said["notes"].append(
                f"its tag {self.wheel.tags} promises less than glibc 2.17, which the stubs need: "
                "`wheel tags` changes it")
        for name in SIGNATURES:
            if self.wheel.member(name) in self.wheel.members:
                self.said["notes"].append(f"{name} signs what it was: not in the result")
        for part in self.parts:
            others = part.image and not part.library and not part.work
            if others and repoint.has_static_runtime(part.image):
                self.said["notes"].append(
                    f"{part.name} has the CUDA runtime linked statically: out of reach")

    def _note_copies(self):
        for copy in parts.copies_beside_stubs(self.parts):
            self.said["notes"].append(
                f"{copy.name} stays, for {', '.join(copy.needed_by)}, and {', '.join(copy.stubbed)} "
                f"will call {self.options.read_stubs()[copy.library].name}: a process that loads both "
                f"may have two copies of {copy.library}; --leave {copy.library} leaves it to all")

    def _stub_places(self, work):
        available = self.options.read_stubs()
        libraries = {change.library for part in work for change in part.work.changes}
        stubs = sorted((available[library] for library in libraries), key=lambda stub: stub.name)
        return {f"{self.home}/{stub.name}".lstrip("/"): stub.path for stub in stubs}

    def _collect(self, work, stubs):
        self.changed = {part.name: part.new for part in work}
        self.changed.update(stubs)
        self.removed = [part.name for part in self.parts if part.removed]
        self.said.update(added=sorted(stubs), removed=self.removed)

    def _has(self):
        """Names in DT_NEEDED that files of the new wheel answer to."""
        return set().union(*(part.answers_to for part in self.parts if not part.removed))

    def _needed_still(self):
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
            for name in stub.image.packages():
                free[packages.family(name)] = stub.library if stub.own and not stub.installed \
                    else None
        return {family: own for family, own in free.items() if family not in needed}

    def _majors(self, libraries, needed, stay):
        """The majors of CUDA that all stubs in the wheel stand for, and that all libraries which
        it still needs are of.  `stay` are those of the packages that it still requires."""
        stubs = [self.options.read_stubs()[library] for library in libraries]
        found = [set(stub.cudas) for stub in stubs if stub.cudas]
        found += [packages.majors(name) for sonames in needed.values() for name in sonames]
        found += [{major} for major in stay]
        return sorted(set.intersection(*found)) if found else []

    def _metadata(self, libraries):
        name = self.wheel.member("METADATA")
        text = self.wheel.read(name)
        relax = self.options.relax_requirements
        needed = self._needed_still()
        free = self._free(libraries, needed)
        required = metadata.required(text, free)
        self.said["requirements"] = [
            {"requirement": each.requirement, "extra": each.extra, "relaxed": relax}
            for each in required]
        if relax:
            self.said["kept"] = [{"requirement": requirement, "needed": sonames}
                                 for requirement, sonames in metadata.kept(text, needed)]
            stay = metadata.majors_that_stay(text, free)
            self.changed[name] = metadata.relax(text, free, self._majors(libraries, needed, stay))
            self.said["extras"] = metadata.extras(self.changed[name])
            self._note_needs_of_others(required)
        self._mentions(libraries, required)
        if self.options.build_tag:
            name = self.wheel.member("WHEEL")
            self.changed[name] = metadata.set_build(self.wheel.read(name), self.options.build_tag)

    def _note_needs_of_others(self, required):
        """What has no stub, libcustatevec.so.1 say, may need what nothing here needs any more."""
        others = sorted({name for entry in self.said["libraries"] for name in entry["needed"]
                         if entry["outcome"] == repoint.NO_STUB} - self._has())
        extras = sorted({each.extra for each in required})
        if others and extras:
            self.said["notes"].append(
                f"{', '.join(others)}: what that needs of CUDA in its turn is required no more; "
                f"if it cannot be loaded, install {self.wheel.name}[{extras[-1]}]")

    def _mentions(self, libraries, required):
        """Name what asks for a package, or opens a library, that may be gone now."""
        extras = {}
        for each in required:
            for family in each.families:
                extras.setdefault(family, each.extra)
        replaced = {packages.BY_STEM[library].family for library in libraries
                    if library in packages.BY_STEM}
        found, unread = mentions.read(self.wheel, self.parts)
        for each in found:
            if each.family in extras or each.family in replaced:
                self.said["mentions"].append({
                    **each._asdict(), "stub": self._stub_for(each, libraries),
                    "extra": extras.get(each.family)})
        self.said["notes"] += [f"{name} names CUDA's libraries or their packages, and is not what "
                               "this Python can read: look into it" for name in unread]

    def _stub_for(self, mention, libraries):
        """The stub in the wheel for what is mentioned, a library or a package of several; None."""
        stem = packages.stem(mention.name)
        stems = [stem] if stem else packages.BY_FAMILY[mention.family].stems
        return next((self.options.read_stubs()[each].name for each in stems if each in libraries),
                    None)

    def _finish(self, output):
        target = output(self.wheel.file_name(self.options.build_tag))
        written = write(self.wheel, target, self.changed, self.removed)
        target.chmod(self.wheel.path.stat().st_mode & 0o7777)
        check(target, *written)


def retarget(path, options, output):
    """Returns what is to be said."""
    try:
        job = Job(path, options)
    except Refused as refused:
        return report.refused(report.of_wheel(path), refused)
    try:
        with tempfile.TemporaryDirectory(prefix="lazycuda-") as folder:
            job.said["outcome"] = job.run(pathlib.Path(folder), output)
    except Refused as refused:
        return report.refused(job.said, refused)
    finally:
        job.wheel.close()
    return job.said
