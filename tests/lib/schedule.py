# SPDX-License-Identifier: MIT
"""Which test process gets what: the tests of a file one after the other, since they share
what was made for them, and what takes longest first, so that all end together."""

# Those that take half a minute or more where nothing has been made yet, the longest first.
HEAVIEST = """
    wheels versions/test_real.py embed/test_embed.py device_code/test_image.py agreement/test_random.py
    docs/test_outputs.py direct/test_direct.py hardening/test_hardening.py retarget_wheels/test_published.py
    install/test_tree.py agreement/test_other_compilers.py gpu/test_bundle.py agreement/test_damage.py
    aarch64/test_aarch64.py agreement/test_shapes.py fuzz/test_fuzz.py agreement/test_containers.py
    isolation/test_isolation.py years_ahead/test_next_major.py install/test_cmake.py
    bench/test_bench.py agreement/test_mixed.py packages/test_debian.py
    install/test_pkgconfig.py faults/test_stubs.py
    matrix/test_matrix.py own_library/test_real.py exports/test_exports.py handle/test_real.py
    scan/test_real.py libraries/test_retargeted.py setup/test_fetch.py real/test_answers.py
    toolkit/test_build_systems.py embed/test_known.py examples/test_cmake.py
""".split()
# All files of a folder together, for what they all wait for is made once.
TOGETHER = ("wheels",)


def unit(nodeid):
    """What a test belongs to, a file or a folder."""
    file = nodeid.partition("::")[0]
    folder = file.partition("/")[0]
    return folder if folder in TOGETHER else file


def weight(name, count):
    """What is compared; of the others the one with the most tests."""
    return -HEAVIEST.index(name) if name in HEAVIEST else -len(HEAVIEST), count


def scheduler(config, log):
    from xdist.scheduler import LoadScopeScheduling

    class HeaviestFirst(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return unit(nodeid)

        def _assign_work_unit(self, node):
            queue = self.workqueue
            queue.move_to_end(max(queue, key=lambda name: weight(name, len(queue[name]))), last=False)
            super()._assign_work_unit(node)

    return HeaviestFirst(config, log)
