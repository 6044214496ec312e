# SPDX-License-Identifier: MIT
"""Plans held against what the real library does.

A case is one link, asked of the plan and done by the real library as the caller
put it.  Where the plan says yes, what the plan would hand over is linked too,
and it has to come out well: that is what counts.

    agree yes       the library links it, and so does the plan
    agree no        the library refuses it, and so does the plan
    spared          the library returns SUCCESS with an image that is none, or
                    crashes, or hangs; the plan refuses
    rescued         the library fails, and what the plan makes of it works
    stricter        the library links it and the plan refuses: only for a reason
                    that is named and has its evidence
    left            the library refuses it for what only it can see in the code;
                    the plan says yes: only where the case says so
    laxer           the plan says yes, and the library refuses: never
"""
import collections
import dataclasses

import linkers
import plans
import samples
import toolkits

GARBAGE = ("crash", "hang", "empty", "malformed", "foreign")
AGREE_YES, AGREE_NO, SPARED, RESCUED = "agree yes", "agree no", "spared", "rescued"
STRICTER, LEFT, LAXER = "stricter", "left", "laxer"
COUNTS = samples.STORE / "counts"


@dataclasses.dataclass(eq=False)
class Case:
    """`facts` is what reasons look at, say producer= and arch=; left= says that
    only the linker can see what is wrong."""
    name: str
    ask: plans.Ask
    job: linkers.Job
    facts: dict


def case(name, version, arch, inputs, *, options=(), lto=False, output="cubin", flags=0,
         contained=False, **facts):
    """One link of [(kind, path)], asked and done alike.  `contained`: what the
    plan hands over is not the inputs as they are."""
    extra = {"ptx": ["-ptx"], "relocatable": ["-r"], "ltoir": ["-linked-ltoir"], "cubin": []}
    job = linkers.Job(version, [f"-arch={arch}", *(["-lto"] if lto else []), *options,
                                *extra[output]], inputs)
    ask = plans.Ask(version, arch, [path for _, path in inputs], lto=lto, output=output,
                    flags=flags, options=options,
                    folder=pieces_folder(job, flags) if contained else "-")
    return Case(name, ask, job, {"version": version, "target": arch, "output": output, **facts})


class Reason(collections.namedtuple("Reason", "name evidence holds")):
    """Why a plan may refuse what the library links: holds(plan, facts)."""


def pieces_folder(job, flags):
    folder = samples.STORE / "pieces" / f"{job.version}-{job.key()}-{flags}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def own_job(asked, plan):
    """The link that the plan would do."""
    if asked.ask.folder == "-":
        inputs = [(kind, asked.ask.inputs[step.input])
                  for kind, step in zip(plan.kinds, plan.steps)]
    else:
        inputs = plan.pieces(asked.ask.folder)
    options = plan.options + (["-linked-ltoir"] if asked.ask.output == "ltoir" else [])
    return linkers.Job(asked.ask.version, options, inputs)


def judge(asked, plan, real, own):
    """(class, None or why so)"""
    if plan.ok:
        if own == "yes":
            return (AGREE_YES, None) if real == "yes" else (RESCUED, real)
        # 12.0 leaves it relocatable, and `link` sees that in the image.
        if asked.facts.get("left") and own.startswith(("no ", "malformed type")):
            return LEFT, asked.facts["left"]
        return LAXER, own
    if real == "yes":
        return STRICTER, None
    return (SPARED, real.split()[0]) if real.startswith(GARBAGE) else (AGREE_NO, None)


def publish(name, text):
    """What tests/run.py prints in the end."""
    COUNTS.mkdir(parents=True, exist_ok=True)
    (COUNTS / f"{name}.txt").write_text(text)


class Comparison:
    def __init__(self, name):
        self.name = name
        self.counts = collections.Counter()
        self.why = collections.defaultdict(collections.Counter)
        self.wrong = []
        self.reasons = []
        self.rows = []          # (case, plan, real, class), for who wants to look closer

    def add(self, cases, reasons=()):
        """Compares; what should not be is in `wrong`."""
        self.reasons += reasons
        asked = plans.run(case.ask for case in cases)
        said = {case: asked[case.ask] for case in cases}
        own = {case: own_job(case, plan) for case, plan in said.items()
               if plan.ok and plan.backend == plans.NVJITLINK}
        real = linkers.run([case.job for case in said] + list(own.values()))
        for one, plan in said.items():
            result = real[own[one]] if one in own else "no backend"
            found, why = judge(one, plan, real[one.job], result)
            if found == STRICTER:
                why = next((r.name for r in reasons if r.holds(plan, one.facts)), None)
            if found == LAXER or (found == STRICTER and not why):
                self.wrong.append(f"{found}: {one.name}: plan {plan.code} ({plan.message}), "
                                  f"library: {real[one.job]}, as planned: {result}")
            self.counts[found] += 1
            if why:
                self.why[found][why] += 1
            self.rows.append((one, plan, real[one.job], found))

    def text(self):
        total = sum(self.counts.values())
        lines = [f"{self.name}: {total} links: " + ", ".join(
            f"{self.counts[name]} {name}" for name in
            (AGREE_YES, AGREE_NO, SPARED, RESCUED, STRICTER, LEFT, LAXER))]
        for found, whys in sorted(self.why.items()):
            lines += [f"    {number:6} {found}: {why}" for why, number in sorted(whys.items())]
        return "\n".join(lines) + "\n"

    def finish(self, every_reason=True):
        """Leaves the counts behind, and fails if anything was wrong; where all versions are
        there, also if one of the reasons held for nothing, unless few were tried."""
        publish(self.name, self.text())
        assert not self.wrong, f"{len(self.wrong)} of {self.text()}" + "\n".join(self.wrong[:40])
        if every_reason and toolkits.all_requested():
            idle = {reason.name for reason in self.reasons} - set(self.why[STRICTER])
            assert not idle, f"nothing is refused for {idle}: take it out"
