# SPDX-License-Identifier: MIT
"""The tables against the real libraries that are here.

Where the real library takes what the tables refuse, the tables follow the
documentation; each such case is named here.
"""
import subprocess
import sys

import pytest

import build
import linkers
import made_up
import samples
import toolkits
from questions import CUBIN, LTOIR, NVJITLINK, NVRTC, PTX, ask, ask_all, cuda
from test_options import SETTINGS, words

SUPPORTED = """
import ctypes, sys
nvrtc, count = ctypes.CDLL(sys.argv[1]), ctypes.c_int()
assert nvrtc.nvrtcGetNumSupportedArchs(ctypes.byref(count)) == 0
archs = (ctypes.c_int * count.value)()
assert nvrtc.nvrtcGetSupportedArchs(archs) == 0
print(*archs)
"""
# What never was a target of nvJitLink's, beside what is in the table.
OTHERS = ["30", "32", "82", "90f", "130"]
KINDS = {"ptx": PTX, "cubin": CUBIN, "ltoir": LTOIR}

ARCHS = ("35 37 50 52 53 60 61 62 70 72 75 80 86 87 88 89 90 90a 100 100a 101 101a 101f 120 120a 100f 103 103a"
         " 103f 120f 121 121a 121f 110 110a 110f 107 107a 107f").split()


def bare(arch):
    return arch.rstrip("af")


@pytest.fixture
def linker(toolkit):
    if toolkit.file("nvJitLink") is None:
        pytest.skip(f"there is no nvJitLink of {toolkit.version}")
    return toolkit.version


def ptx(folder, isa, target):
    path = folder / f"{isa}-{target}.ptx"
    path.write_bytes(made_up.ptx(f"{isa // 10}.{isa % 10}", target))
    return path


def sample(version, kind, arch):
    found = samples.Sample(version, kind, arch, "kh")
    samples.make([found])
    return found.path


def supported(tool, version, archs):
    said = ask_all([("knows", tool, cuda(version), f"sm_{arch}") for arch in archs])
    return [arch for arch, line in zip(archs, said) if line[0] == "1"]


# ---- versions ----

def test_the_isa_of_the_ptx_that_a_compiler_writes(toolkit):
    text = sample(toolkit.version, "ptx", "sm_80").read_text()
    major, minor = text.split(".version ")[1].split()[0].split(".")
    assert ask("newest-isa", cuda(toolkit.version)) == f"{major}{minor}"


def test_a_linker_reads_no_isa_but_those_of_its_version(linker, tmp_path):
    newest = int(ask("newest-isa", cuda(linker)))
    isas = sorted({int(ask("newest-isa", cuda(version))) for version in
                   ("11.0", *toolkits.known())} | {86, newest + 1})
    jobs = {isa: linkers.Job(linker, ["-arch=sm_80"], [("ptx", ptx(tmp_path, isa, "sm_50"))])
            for isa in isas if isa not in (79, 89)}
    said = linkers.run(jobs.values())
    assert [isa for isa, job in jobs.items() if said[job] == "yes"] == \
        [isa for isa in jobs if isa <= newest]


# ---- architectures ----

def test_the_architectures_that_a_compiler_says_it_supports(toolkit):
    library = toolkit.file("nvrtc")
    done = build.run(sys.executable, "-c", SUPPORTED, library, check=True, env=samples.in_its_folder(library))
    plain = [arch for arch in ARCHS if arch == bare(arch)]
    assert set(done.stdout.split()) == set(supported(NVRTC, toolkit.version, plain))


def test_the_targets_that_a_linker_links_for(linker, tmp_path):
    archs = [*ARCHS, *OTHERS]
    code = ptx(tmp_path, 70, "sm_50")
    jobs = {arch: linkers.Job(linker, [f"-arch=sm_{arch}"], [("ptx", code)]) for arch in archs}
    said = linkers.run(jobs.values())
    assert [arch for arch in archs if said[jobs[arch]] == "yes"] == \
        supported(NVJITLINK, linker, archs)


# What fits what: every code and target that the linker knows, in all variants,
# where all versions are asked for; else one of each sort.
SOME = ("50 52 53 70 75 80 86 87 88 89 90 90a 100 100f 101 101f 103 103a 107 110 110a 120 120f"
        " 121").split()
TRIED = ARCHS if toolkits.all_requested() else SOME


def outcomes(linker, kind, codes):
    """{(code, target): (what our rules say, what the library says)}"""
    targets = supported(NVJITLINK, linker, TRIED)
    pairs = [(code, target) for code in codes for target in targets]
    jobs = {(code, target): linkers.Job(
        linker, [f"-arch=sm_{target}"] + (["-lto"] if kind == "ltoir" else []),
        [(kind, codes[code])]) for code, target in pairs}
    said = linkers.run(jobs.values())
    rules = ask_all([("fits", KINDS[kind], f"sm_{code}", f"sm_{target}", cuda(linker))
                     for code, target in pairs])
    return {pair: (rule == "1", said[jobs[pair]] == "yes") for pair, rule in zip(pairs, rules)}


def too_lenient(found, excuse):
    return [pair for pair, (rule, real) in found.items() if real and not rule and not excuse(*pair)]


def too_strict(found):
    return [pair for pair, (rule, real) in found.items() if rule and not real]


def compiled(version, kind):
    archs = [arch for arch in TRIED
             if f"sm_{arch}" in samples.COMPILES and samples.compiles(version, f"sm_{arch}")]
    return {arch: sample(version, kind, f"sm_{arch}") for arch in archs}


def test_ptx_fits_what_a_linker_links_it_for(linker, tmp_path):
    isa = int(ask("newest-isa", cuda(linker)))
    known = supported(NVJITLINK, linker, TRIED)
    codes = {arch: ptx(tmp_path, isa, f"sm_{arch}") for arch in known}
    found = outcomes(linker, "ptx", codes)
    assert len(found) == len(known) ** 2
    assert [too_strict(found), too_lenient(found, lambda code, target: False)] == [[], []]


TEGRA_AND_DESKTOP = {("80", "87"), ("80", "88"), ("86", "87"), ("86", "88"), ("87", "88"),
                     ("87", "89"), ("88", "89")}


def test_cubins_fit_what_a_linker_links_them_for(linker):
    found = outcomes(linker, "cubin", compiled(linker, "cubin"))

    def excuse(code, target):
        if code.endswith("a"):
            # The documentation: "will always fail".
            return cuda(linker) <= 13000
        # The documentation: desktop and Tegra are not compatible.
        return (bare(code), bare(target)) in TEGRA_AND_DESKTOP and cuda(linker) >= 13020

    assert [too_strict(found), too_lenient(found, excuse)] == [[], []]


@pytest.mark.parametrize("older", ["12.0", "12.9"])
def test_cubins_of_an_older_compiler_fit_too(linker, real, older):
    if cuda(older) >= cuda(linker):
        pytest.skip(f"{older} is not older than {linker}")
    codes = compiled(real(older).version, "cubin")
    found = outcomes(linker, "cubin", codes)
    assert too_strict(found) == []


def test_ltoir_fits_what_a_linker_links_it_for(linker):
    codes = {arch: path for arch, path in compiled(linker, "ltoir").items()
             if int(bare(arch)) >= 75}
    found = outcomes(linker, "ltoir", codes)

    def excuse(code, target):
        # LTO-IR shows no `f`, its `a` is not looked at, sm_110 is marked as
        # sm_101 from 13.1 on, and before 12.2 nothing is looked at.
        return (code[-1] in "af" or bare(code) == "110" and cuda(linker) >= 13010 or
                cuda(linker) < 12020)

    assert [too_strict(found), too_lenient(found, excuse)] == [[], []]


# ---- settings; options of linkers are in tests/agreement ----

def test_a_compiler_takes_the_words_of_settings_that_the_table_says(toolkit, tmp_path):
    library = toolkit.file("nvrtc")
    source = tmp_path / "k.cu"
    source.write_text(samples.SOURCES["kh"])
    jobs = [(setting, kind) for setting in SETTINGS for kind in ("ptx", "ltoir")]
    lines = ["\t".join([str(source), str(tmp_path / "out"), kind, "-arch=sm_80",
                        "-dlto" if kind == "ltoir" else "-rdc=true", *words(NVRTC, setting)])
             for setting, kind in jobs]
    done = subprocess.run([sys.executable, build.TESTS / "agreement" / "producer.py", library],
                          input="\n".join(lines) + "\n", text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env=samples.in_its_folder(library))
    said = done.stdout.splitlines()
    assert len(said) == len(jobs), done.stderr
    assert {job: line == "ok" for job, line in zip(jobs, said)} == {
        (setting, kind): cuda(toolkit.version) >= cuda(SETTINGS[setting][0])
        for setting, kind in jobs}
