# SPDX-License-Identifier: MIT
"""Which test process gets what: the tests of a file one after the other, since they share
what was made for them, and what takes longest first, so that all end together.

weights.txt has the seconds; bench/suite.py writes it.
"""
import pathlib

WEIGHTS = pathlib.Path(__file__).with_name("weights.txt")
# All files of a folder together, for what they all wait for is made once.
TOGETHER = ("wheels",)


def unit(nodeid):
    """What a test belongs to, a file or a folder."""
    file = nodeid.partition("::")[0]
    folder = file.partition("/")[0]
    return folder if folder in TOGETHER else file


def weights(text):
    """{unit: seconds}"""
    rows = (line.split() for line in text.splitlines() if line and not line.startswith("#"))
    return {name: float(seconds) for seconds, name in rows}


def order(units, known):
    """{unit: how many tests}, the heaviest first.  What nobody has measured is light."""
    return sorted(units, key=lambda name: (-known.get(name, 0), -units[name], name))


def scheduler(config, log):
    from xdist.scheduler import LoadScopeScheduling

    known = weights(WEIGHTS.read_text())

    class HeaviestFirst(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return unit(nodeid)

        def _assign_work_unit(self, node):
            sizes = {name: len(tests) for name, tests in self.workqueue.items()}
            self.workqueue.move_to_end(order(sizes, known)[0], last=False)
            super()._assign_work_unit(node)

    return HeaviestFirst(config, log)
