# SPDX-License-Identifier: MIT
"""What the plan says, for many links at once (plans.c).

    Ask("12.4", "sm_80", [path, path], lto=True)
    plans.run(asks)             {ask: Plan}
"""
import collections
import subprocess

import build
from samples import HERE

OUTPUTS = {"cubin": 0, "ptx": 1, "relocatable": 2, "ltoir": 3}
ACROSS_MAJORS = 1
NVJITLINK = 1
DRIVER = 2


def number(version):
    """12040 for 12.4, 0 for None"""
    major, minor = map(int, version.split(".")) if version else (0, 0)
    return 1000 * major + 10 * minor


class Ask(collections.namedtuple("Ask", "version arch inputs lto output flags options driver "
                                        "folder")):
    """`version` is nvJitLink's; a folder gets what the backend would be given."""

    def __new__(cls, version, arch, inputs, lto=False, output="cubin", flags=0, options=(),
                driver=None, folder="-"):
        return super().__new__(cls, version, arch, tuple(inputs), lto, output, flags,
                               tuple(options), driver, folder)

    def line(self):
        fields = [number(self.driver), number(self.version), self.arch, int(self.lto),
                  OUTPUTS[self.output], self.flags, self.folder, len(self.options),
                  *self.options, *self.inputs]
        return "\t".join(map(str, fields))


class Plan(collections.namedtuple("Plan", "code backend rule input options steps message")):
    @property
    def ok(self):
        return self.code == "OK"

    @property
    def kinds(self):
        """Of what is handed over, in order."""
        return [step.rpartition(":")[2] for step in self.steps]

    def pieces(self, folder):
        """[(kind, path)] of what was written into the folder."""
        return [(kind, folder / f"{i}.{kind}") for i, kind in enumerate(self.kinds)]


def parse(line):
    code, backend, rule, index, options, steps, message = line.split("\t", 6)
    return Plan(code, int(backend), rule, int(index), options.split(), steps.split(), message)


def run(asks):
    asks = list(dict.fromkeys(asks))
    library = build.STUBS / "liblazycuda_link.so"
    program = build.program(HERE / "plans.c", library, f"-Wl,-rpath,{library.parent}")
    done = subprocess.run([program], input="".join(ask.line() + "\n" for ask in asks),
                          text=True, capture_output=True)
    said = done.stdout.splitlines()
    assert done.returncode == 0 and len(said) == len(asks), \
        f"exit {done.returncode} {done.stderr} at {asks[len(said):len(said) + 1]}"
    return dict(zip(asks, map(parse, said)))
