# SPDX-License-Identifier: MIT
"""Retargets one wheel."""
import contextlib
import json
import pathlib
import posixpath
import subprocess
import tempfile

from . import (directory, elf, mentions, metadata, names, needs, packages, parts, paths, report, repoint,
               serve)
from .archive import SIGNATURES, Wheel, write, wrong_rows
from .repoint import Refused

# Tags for glibc older than 2.17, which the stubs need.
OLDER_TAGS = ("manylinux1_", "manylinux2010_", "manylinux_2_5_", "manylinux_2_12_")


class Job:
    """One wheel on its way.  A step gives what those after it take, and what is to be said of it."""

    def __init__(self, wheel, options):
        self.options, self.wheel = options, wheel
        home = options.stubs_in if options.stubs_in is not None else f"{wheel.name}.libs"
        # "" for the root of the wheel
        self.home = posixpath.normpath(f"/{home}").lstrip("/")

    def run(self, folder, output, said):
        """Write the new wheel to what `output(file name)` gives.  What is said before something is
        refused stays said."""
        def say(notes=(), **facts):
            said.update(facts)
            said["notes"] += notes
        for name in ("parts", "site", "stubs"):
            (folder / name).mkdir()
        self.options.leaves(*self.wheel.members)        # that a pattern names one is enough
        if not metadata.is_for_linux(self.wheel.tags, self.wheel.read(self.wheel.member("WHEEL"))):
            return say(outcome="foreign")
        available = self.options.read_stubs()
        say(self.options.stub_notes)
        found, named, unread = parts.read(self.wheel, folder / "parts", self._check(available))
        say(self._leave(found))
        text = self.wheel.read(self.wheel.member("METADATA"))
        serving = serve.Serving(available, self.options.compat_folders(), self.options, found,
                                "lazycuda" in metadata.requires(text), {each.name for each in named})
        work, libraries = self._look(found, serving)
        say(self._others(found, serving), libraries=libraries)
        added, files = self._change(found, work, serving, folder) if work else ({}, [])
        removed = [part.name for part in found if part.removed]
        say(report.of_stripped(serving.stripped), files=files, added=sorted(added), removed=removed)
        there = {names.base(name) for name in added}
        has = there.union(*(part.answers_to for part in found if not part.removed))
        stubs = [available[library] for library in set().union(*(part.work.libraries for part in work))]
        needed = self._still_needed(found, has, libraries, serving)
        relaxed, required, facts = self._requirements(text, found, stubs, needed, libraries, has)
        say(**facts)
        mentioned = named + mentions.of_parts(found)
        say([f"{name} names CUDA's libraries or their packages, and is too long "
             "to be read here: look into it" for name in unread],
            **self._mentions(mentioned, required, there, serving))
        changed = {part.name: part.new for part in work if part.new}
        changed.update(added)
        if relaxed != text:
            changed[self.wheel.member("METADATA")] = relaxed
        if self.options.build_tag:
            name = self.wheel.member("WHEEL")
            changed[name] = metadata.set_build(self.wheel.read(name), self.options.build_tag)
        if changed or removed:
            say(self._write(changed, removed, output), outcome="retargeted")
        elif any(part.is_stub or part.image and repoint.needs_stub(part.image) for part in found):
            say(outcome="already")

    def _check(self, available):
        """check(part), which refuses a file that has to change whatever else is in the wheel, if there is
        no patchelf."""
        def check(part):
            self._leave([part])
            serving = serve.Serving(available, self.options.compat_folders(), self.options, [part], True, ())
            serving.bundled.update(map(names.base, self.wheel.members))
            for part in self._look([part], serving)[0]:
                self._find_homes([part], self.wheel.members, serving)
                if part.wanted_path or part.work.rewrites:
                    self.options.find_patchelf()
        try:
            self.options.find_patchelf()
        except Refused:
            return check
        return lambda part: None

    def _leave(self, found):
        """Mark what stays as it is; gives the notes."""
        notes = []
        for part in found:
            elsewhere = part.real_needs and part.installed is None
            part.left = self.options.leaves(part.name) or elsewhere
            if part.left and part.real_needs:
                why = "it is not installed into site-packages, where the stubs lie" if elsewhere \
                    else "--leave names it"
                notes.append(f"{part.name} is left as it is, since {why}: it still needs "
                             f"{', '.join(part.real_needs)}")
        return notes

    @staticmethod
    def _look(found, serving):
        """The parts that need stubs; what becomes of each library."""
        seen = [part for part in found if part.image and not (part.left or part.library or part.is_stub)]
        parts.look(seen, serving)
        return [part for part in seen if part.work], report.of_libraries((
            (part.name, part.image, part.work, part.unserved) for part in found
            if part.image and not (part.library or part.is_stub)), serving.bundled | {
                names.base(part.name) for part in found if not names.real(part.name)})

    def _others(self, found, serving):
        """Notes on what is not changed."""
        if self.wheel.tags.rpartition("-")[2].startswith(OLDER_TAGS):
            yield (f"its tag {self.wheel.tags} promises less than glibc 2.17, which the stubs need: "
                   "`wheel tags` changes it")
        for name in SIGNATURES:
            if self.wheel.member(name) in self.wheel.members:
                yield f"{name} signs what it was: not in the result"
        for part in found:
            if part.image and not part.library and repoint.has_static_runtime(part.image):
                yield f"{part.name} has the CUDA runtime linked statically: out of reach"
            if note := part.image and repoint.stubs_inside(part.image):
                yield f"{part.name} {note}"
            if part.library and not part.opener and part.answers_to & serving.bundled:
                yield (f"{part.name} is the real {part.library}, and stays: it comes with the wheel, as "
                       "published")

    def _find_homes(self, work, members, serving):
        """Decide where the stubs of files lie, by the folders of these members."""
        places = [(name, directory.installed(name)) for name in members]
        folders = {serve.Home(name[:-len(place)], posixpath.dirname(place)) for name, place in places if place}
        serve.find_homes(work, folders, self.home, self.options.prefer == "stub",
                         self.options.stubs_in is not None, serving)

    def _change(self, found, work, serving, folder):
        """Decide where the stubs lie, change what cannot stay as it is, and load the results:
        {member: file} of the stubs, and what became of each file."""
        of_wheel = [part for part in work if serving.from_outside(part)]
        self._find_homes(of_wheel, [part.name for part in found], serving)
        with self.wheel.stage("changing", [part.name for part in work]) as stage:
            for part in work:
                stage.add(0)
                with parts.about(part):
                    part.change(self.options.find_patchelf)
                stage.add(self.wheel.members[part.name].file_size)
        parts.replace_libraries(found, serving)
        stubs = serving.files(found, of_wheel, folder / "stubs", self.options.find_patchelf)
        directory.check_added(self.wheel.members, stubs)
        taken = {*stubs} & {*self.wheel.members} - {part.name for part in found if part.library or part.is_stub}
        if taken:
            raise Refused("WHEEL", f"holds {min(taken)}, which is no library that a stub could replace; --stubs-in "
                                   "FOLDER puts the stubs elsewhere")
        loaded = parts.load_all(found, {directory.installed(name): path for name, path in
                                        stubs.items()}, folder / "site", serving.copies)
        return stubs, [report.of_file(part.name, part.work, part.search_path, loaded[part.name])
                       for part in work]

    @staticmethod
    def _still_needed(found, has, libraries, serving):
        """{family: names of its libraries, or of their functions, that the wheel needs and does not have}"""
        needed = {}

        def need(library, name):
            if library in packages.BY_STEM:
                needed.setdefault(packages.BY_STEM[library].family, set()).add(name)
        for name in set().union(*(part.needed for part in found if not part.removed)) - has:
            need(packages.stem(name), name)
        # What has no stub needs them in its turn.
        for name in {name for entry in libraries if entry["outcome"] == repoint.NO_STUB
                     for name in entry["needed"]} - has:
            for library in packages.in_turn([names.of_cuda(name)]):
                need(library, name)
        for part in found:
            served = part.work.libraries if part.work else set()
            unmet = needs.unmet(part.image, serving.stubs, serving.company) if part.image else {}
            for name, owners in unmet.items():
                if not (served | packages.in_turn(served)).intersection(owners):
                    need(owners[0], name)
        return needed

    @staticmethod
    def _free(stubs, needed):
        """{family: library of `lazycuda stub`, or None} of packages that no file needs."""
        free = dict.fromkeys(packages.BY_FAMILY)
        for stub in stubs:
            for name in stub.image.notes(elf.NOTE_PACKAGES):
                free[packages.family(name)] = stub.library if stub.given else None
        return {family: own for family, own in free.items() if family not in needed}

    @staticmethod
    def _audited(found):
        """For each file that needs stubs, the majors of CUDA on which it runs with them, as `lazycuda
        audit` says."""
        files = [part.path for part in found if part.work]
        try:
            done = subprocess.run([paths.program(), "audit", "--json", *files], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            said = json.loads(done.stdout)["files"] if files else []
        except (OSError, ValueError):       # a wheel that is too large to ask, or a program for another CPU
            said = []
        majors = [{int(version.partition(".")[0]) for version in each.get("once_retargeted", ())} for each in said]
        return [each for each in majors if each]        # what runs on none tells nothing

    @staticmethod
    def _majors(stubs, needed, stay, audited):
        """The majors of CUDA that all stubs in the wheel stand for, on which all its files run, and that
        all libraries which it still needs are of.  `stay` are those of the packages that it still requires."""
        found = [set(stub.cudas) for stub in stubs if stub.cudas]
        found += [packages.majors(name) for each in needed.values() for name in each if packages.majors(name)]
        found += [*({major} for major in stay), *audited]
        return sorted(set.intersection(*found)) if found else []

    def _requirements(self, text, found, stubs, needed, libraries, has):
        """METADATA as it is to be, the Entries that no file needs, and what is said of them.  `stubs` are
        those that serve the wheel, `has` the names that its files answer to."""
        relax = self.options.relax_requirements
        free = self._free(stubs, needed)
        required = metadata.required(text, free)
        said = {"requirements": [
            {"requirement": each.requirement, "extra": each.extra, "relaxed": relax} for each in required]}
        stay = ()
        if relax:
            said["kept"] = [{"requirement": requirement, "needed": sonames}
                            for requirement, sonames in metadata.kept(text, needed)]
            stay = metadata.majors_that_stay(text, free)
        replaced = {packages.BY_STEM[part.library].family for part in found
                    if part.stub and part.library in packages.BY_STEM}
        if relax or replaced:
            text, said["extras"] = metadata.relax(text, free if relax else {},
                                                  self._majors(stubs, needed, stay, self._audited(found)),
                                                  sorted(replaced))
            said["notes"] = self._needs_of_others(libraries, required, has)
        said["brings"] = metadata.brings(text)
        return text, required, said

    def _needs_of_others(self, libraries, required, has):
        """What has no stub, libcustatevec.so.1 say, may need what nothing here needs any more."""
        others = sorted({name for entry in libraries for name in entry["needed"]
                         if entry["outcome"] == repoint.NO_STUB and
                         names.of_cuda(name) not in packages.IN_TURN} - has)
        extras = sorted({each.extra for each in required})
        if others and extras:
            yield (f"{', '.join(others)}: what that needs of CUDA in its turn is required no more; "
                   f"if it cannot be loaded, install {self.wheel.name}[{extras[-1]}]")

    def _mentions(self, found, required, there, serving):
        """What asks for a package, or opens a library, that may be gone now.  `there` are the names of
        the stubs in the wheel."""
        extras, said = {}, []
        for each in required if self.options.relax_requirements else ():
            for family in each.families:
                extras.setdefault(family, each.extra)
        stems = {packages.stem(name) for name in there} - {None}
        for each in found:
            served = packages.stem(each.name) in stems if serve.ANY_NUMBER.search(each.name) \
                else names.base(each.name) in there
            said.append({**each._asdict(), "served": served, "extra": extras.get(each.family),
                         "compat": None if served else serving.compat(names.base(each.name))})
        majors = {each["compat"] for each in said} - {None}
        own = serving.cuda()
        return {"mentions": said, "advice": {
            "extras": sorted({each["extra"] for each in said if not each["served"]} - {None}),
            "compat": own if own in majors else max(majors, default=None)}}

    def _write(self, changed, removed, output):
        """Writes the result; gives the notes on what was wrong before."""
        target = output(self.wheel.file_name(self.options.build_tag))
        write(self.wheel, target, changed, removed, self.options.fast)
        target.chmod(self.wheel.path.stat().st_mode & 0o7777)
        wrong = wrong_rows(self.wheel)
        return [f"its RECORD was wrong of {repoint.some(wrong)}, and is not in the result"] if wrong else ()


def retarget(path, said, options, output):
    """Adds to what is to be said; raises Refused."""
    with contextlib.closing(Wheel(path, options.line)) as wheel, \
            tempfile.TemporaryDirectory(prefix="lazycuda-") as folder:
        Job(wheel, options).run(pathlib.Path(folder), output, said)
