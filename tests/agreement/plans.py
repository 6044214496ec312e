# SPDX-License-Identifier: MIT
"""What the plan says, for many links at once, by lazycuda.link.

    Ask("12.4", "sm_80", [path, path], lto=True)
    plans.run(asks)             {ask: Plan}
"""
import collections
import functools

from lazycuda import link

ACROSS_MAJORS = 1
NVJITLINK, DRIVER = link.Backend.NVJITLINK, link.Backend.DRIVER
inspected = functools.lru_cache(maxsize=4096)(link.inspect)


class Ask(collections.namedtuple("Ask", "version arch inputs lto output flags options driver "
                                        "folder")):
    """`version` is nvJitLink's; a folder gets what the backend would be given."""

    def __new__(cls, version, arch, inputs, lto=False, output="cubin", flags=0, options=(),
                driver=None, folder="-"):
        return super().__new__(cls, version, arch, tuple(inputs), lto, output, flags,
                               tuple(options), driver, folder)

    def plan(self):
        made = link.plan(
            map(link.Input.from_path, self.inputs), self.arch, lto=self.lto,
            output=link.Output[self.output.upper()], policy=link.Policy.OFF, options=self.options,
            lto_across_majors=bool(self.flags),
            environment=link.Environment(driver=self.driver, nvjitlink=self.version))
        return Plan(made.code.name, made.backend, list(made.options), made.steps, made.message)


class Plan(collections.namedtuple("Plan", "code backend options steps message")):
    @property
    def ok(self):
        return self.code == "OK"

    @property
    def kinds(self):
        """Of what is handed over, in order."""
        return [step.kind.name.lower() for step in self.steps]

    def pieces(self, folder):
        """[(kind, path)] of what was written into the folder."""
        return [(kind, folder / f"{i}.{kind}") for i, kind in enumerate(self.kinds)]

    def write(self, ask):
        """The pieces, or a plan that says why they cannot be had."""
        for step, (_, path) in zip(self.steps, self.pieces(ask.folder)):
            seen = inspected(ask.inputs[step.input])
            try:
                path.write_bytes(seen.fatbin(step.entry) if step.form == link.Form.FATBIN else
                                 seen.payload(step.entry, step.form == link.Form.UNPACKED))
            except ValueError as why:
                return self._replace(message=f"cannot write: {why}")
        return self


def run(asks):
    made = {ask: ask.plan() for ask in dict.fromkeys(asks)}
    return {ask: plan.write(ask) if plan.ok and ask.folder != "-" else plan
            for ask, plan in made.items()}
