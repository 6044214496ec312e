# SPDX-License-Identifier: MIT
"""Retargets one wheel."""
import pathlib
import tempfile

from . import metadata, parts, report, repoint
from .repoint import Refused
from .wheel import SIGNATURES, Wheel, check, write

# They promise that less than glibc 2.17 is enough, which the stubs need.
OLDER_TAGS = ("manylinux1_", "manylinux2010_", "manylinux_2_5_", "manylinux_2_12_")


class Job:
    """One wheel on its way."""

    def __init__(self, path, options):
        self.options = options
        self.wheel = Wheel(path, options.line)
        self.said = report.of_wheel(path)
        home = options.stubs_in if options.stubs_in is not None else f"{self.wheel.name}.libs"
        self.home = home.strip("/")
        self.changed = {}           # {member: file or bytes}
        self.removed = []
        self.parts = []

    def run(self, folder, output):
        """Write the new wheel to what `output(file name)` gives; returns the
        outcome."""
        (folder / "parts").mkdir()
        (folder / "site").mkdir()
        available = self.options.read_stubs()
        self.parts = parts.extract(self.wheel, folder / "parts")
        self._leave()
        parts.each([part for part in self.parts if not part.left],
                   lambda part: part.look(available))
        work = [part for part in self.parts if part.work]
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
        stubs = self._stub_places(work)
        loaded = parts.load_all(self.parts, stubs, folder / "site", self.options.load)
        for part in work:
            self.said["files"].append(report.of_file(
                part.name, part.work, part.search_path, loaded[part.name]))
        self._collect(work, stubs)
        self._metadata({change.library for part in work for change in part.work.changes})
        self._finish(output)
        return "retargeted"

    def _leave(self):
        for part in self.parts:
            part.left = part.is_left(self.options.leave)
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

    def _packages(self, libraries):
        """{name: library of `lazycuda stub`, or None}, as their stubs say."""
        stubs = [self.options.read_stubs()[library] for library in libraries]
        return {metadata.without_cuda(name): stub.library if stub.own else None
                for stub in stubs for name in stub.image.packages()}

    def _metadata(self, libraries):
        name = self.wheel.member("METADATA")
        text = self.wheel.read(name)
        relax = self.options.relax_requirements
        packages = self._packages(libraries)
        self.said["requirements"] = [
            {"requirement": each.requirement, "extra": each.extra, "relaxed": relax}
            for each in metadata.required(text, packages)]
        if relax:
            self.changed[name] = metadata.relax(text, packages)
        if self.options.build_tag:
            name = self.wheel.member("WHEEL")
            self.changed[name] = metadata.set_build(self.wheel.read(name), self.options.build_tag)

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
