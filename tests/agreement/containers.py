# SPDX-License-Identifier: MIT
"""Fatbins made by the real nvFatbin, and what is made of them.

    fatbin("12.9", [Sample(...), ...], "-compress=false")       a path

They lie in build/tests/agreement/fatbins, below a digest of nvFatbin, under a
digest of what is in them.
"""
import hashlib
import os
import pathlib
import subprocess
import sys

import build
import samples
import toolkits
from samples import STORE, in_its_folder

MAKER = build.TESTS / "gpu" / "make_fatbin.py"


def versions():
    return samples.versions("nvfatbin")


def by_major():
    """Those of 12, which compress with LZ4, and those of 13, with ZSTD."""
    found = versions()
    return ([one for one in found if samples.key(one) < (13, 0)],
            [one for one in found if samples.key(one) >= (13, 0)])


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def fatbin(version, entries, *options):
    """`entries` are samples, in order."""
    samples.make(entries)
    library = toolkits.Toolkit(version).file("nvfatbin")
    paths = [str(entry.path.relative_to(STORE)) for entry in entries]
    content = build.digest(library, library.stat().st_mtime_ns)
    folder = STORE / "fatbins" / f"{version}-{content[:12]}"
    made = folder / f"{digest(repr((paths, options)))}.fatbin"
    with build.locked(folder / "lock"):
        if made.exists():
            return made
        subprocess.run([sys.executable, MAKER, library, f"{made}.new", *options,
                        *(f"{entry.kind}:{entry.arch.removeprefix('sm_')}:{entry.path}"
                          for entry in entries)], check=True, env=in_its_folder(library))
        pathlib.Path(f"{made}.new").rename(made)
    return made


def joined(*paths):
    """One file behind the other, each at a multiple of eight, as `ld -r` leaves them."""
    parts = [path.read_bytes() for path in paths]
    return build.text(b"".join(part + bytes(-len(part) % 8) for part in parts), "fatbin")


def host_object(path, section="__nv_relfatbin"):
    """A host object that holds a fatbin as nvcc puts it there: relocatable code
    in this section, and what points to it in another."""
    # What is made of it is kept as long as this text is the same: so the bytes count.
    source = (f'# {digest(path.read_bytes().hex())}\n'
              f'.section {section}, "a"\n.balign 8\nfatbin: .incbin "{path}"\n'
              '.section .nvFatBinSegment, "aw"\n.balign 8\n'
              ".long 0x466243b1, 1\n.quad fatbin, 0\n")
    return build.compile(f"{path.stem}.o", "-c", build.text(source, "s"))


def partial_link(*objects):
    """`ld -r` of them."""
    return build.compile("joined.o", "-r", "-nostdlib", *objects)


def archive(*objects):
    made = STORE / "archives" / f"{digest(repr([str(path) for path in objects]))}.a"
    if not made.exists():
        made.parent.mkdir(parents=True, exist_ok=True)
        new = made.with_suffix(f".{os.getpid()}")
        subprocess.run(["ar", "rcs", new, *objects], check=True)
        new.rename(made)
    return made
