# SPDX-License-Identifier: MIT
"""A wheel that is tried: as pip lays it out, what retarget and audit make of it, and a sandbox."""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "build" / "share" / "lazycuda" / "python"))

TOOL = ROOT / "build" / "bin" / "lazycuda"
SITE = "lib/python3/site-packages"
# The folder of X.data that has what lies elsewhere below sys.prefix.
SCHEMES = {"data": "", "scripts": "bin/"}


def name_of(wheel):
    return "==".join(pathlib.Path(wheel).name.split("-")[:2])


def sandbox(folder):
    """The program that runs another one in a world without this machine's CUDA."""
    made = pathlib.Path(folder) / "sandbox"
    source = ROOT / "tests" / "lib" / "sandbox.c"
    subprocess.run(["cc", "-O2", source, "-o", made, "-ldl"], check=True)
    return made


def place_of(member):
    """Where pip puts a member of a wheel, below sys.prefix."""
    kind = re.match(r"[^/]+\.data/(\w+)/", member)
    return SCHEMES.get(kind[1] if kind else "", f"{SITE}/") + member[kind.end() if kind else 0:]


def unpack(wheel, prefix):
    """{member: its file}"""
    found = {}
    with zipfile.ZipFile(wheel) as archive:
        for info in archive.infolist():
            if info.is_dir():
                continue
            path = found[info.filename] = prefix / place_of(info.filename)
            path.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(info) as packed, open(path, "wb") as file:
                shutil.copyfileobj(packed, file)
    return found


def _said(*words):
    done = subprocess.run([TOOL, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return json.loads(done.stdout or "{}"), done.stderr.strip()


def retarget(wheel, folder):
    """(what is made in the folder, or None; what is said of it, or why nothing is)"""
    said, why = _said("retarget", "--json", "-o", folder, wheel)
    made = list(pathlib.Path(folder).glob("*.whl"))
    said, = said.get("wheels") or [{}]
    return (made[0], said) if made else (None, said.get("error") or why)


def audit(wheel):
    """{member: what audit says of it}"""
    said, _ = _said("audit", "--json", wheel)
    return {each["file"].removeprefix(f"{wheel}/"): each for each in said.get("files", ())
            if not each["error"]}


def says(one, key, world):
    """Whether a file runs by audit, "runs_on" or "once_retargeted", where there is CUDA 12, or
    "none"."""
    return one["without_cuda"][key] if world == "none" else \
        any(version.split(".")[0] == world for version in one[key])
