# SPDX-License-Identifier: MIT
"""Whatever the list holds, gen says what is wrong or writes all files; it never
crashes.  Lines of a good list are damaged at random, by a fixed seed.

    GEN_MUTATIONS=100000        for more than the usual few hundred
"""
import os
import pathlib
import random
import re

HERE = pathlib.Path(__file__).parent
THING = (HERE / "thing.txt").read_text()
WORDS = sorted(set(re.findall(r"[^\s(),]+|[(),]", THING))) + [
    "", "-1", "0", "4294967296", "99999999999999999999", "i32[16777215]", "[", "]", "?", "1.0-",
    "1.0-1.0", "3.0-", "-", ",", "A", "*big", "void", "\t", "#", "(", ")", "_", "x" * 5000]


def mutate(text, pick):
    lines = text.split("\n")
    for _ in range(pick.choice((1, 1, 1, 2, 3, 8))):
        i = pick.randrange(len(lines))
        what = pick.randrange(8)
        if what == 0:
            del lines[i]
        elif what == 1:
            lines.insert(i, lines[pick.randrange(len(lines))])
        elif what == 2:
            j = pick.randrange(len(lines))
            lines[i], lines[j] = lines[j], lines[i]
        elif what == 3:
            at = pick.randrange(len(lines[i]) + 1)
            lines[i] = lines[i][:at] + chr(pick.randrange(256)) + lines[i][at + pick.randrange(2):]
        elif what == 4:
            lines[i] = lines[i][:pick.randrange(len(lines[i]) + 1)]
        else:
            words = re.split(r"(\s+|[(),])", lines[i])
            words[pick.randrange(len(words))] = pick.choice(WORDS)
            lines[i] = "".join(words)
        lines = lines or [""]
    return "\n".join(lines)


def test_damaged_lists(gen, tmp_path):
    pick = random.Random(1)
    out = tmp_path / "out"
    out.mkdir()
    results = {0: 0, 2: 0}
    for _ in range(int(os.environ.get("GEN_MUTATIONS", 300))):
        text = mutate(THING, pick)
        for file in out.iterdir():
            file.unlink()
        done = gen(text.encode("latin-1"), out)
        results[done.returncode] += 1
        if done.returncode:
            assert re.match(r"[^\n]*list.txt:\d+:\d+: [^\n]+\n$|gen: [^\n]+\n$", done.stderr), done.stderr
            assert list(out.iterdir()) == []
        else:
            assert (out / "libthing_stub.c").exists() or "libthing_stub" not in text
    assert results[0] and results[2]
