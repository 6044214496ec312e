# SPDX-License-Identifier: MIT
"""What docs/reference/new-release.md leaves to a person, done for CUDA 14.0 in a copy of the sources."""
import re

import build
import cuda14
import toolkit_maker

PACKAGES = {"cudart": "nvidia-cuda-runtime", "nvrtc": "nvidia-cuda-nvrtc",
            "nvJitLink": "nvidia-nvjitlink", "crt": "nvidia-cuda-crt", "nvml": "nvidia-nvml-dev"}
WHEELS = {"cuda": "cudart"}     # of a library without a wheel of its own
WHEEL = f"{cuda14.VERSION}.12"
OLDER = sorted(build.MAJORS)


# ---- where it is ----

def publish(copy):
    """Its wheels, as NVIDIA would put them on PyPI."""
    site = copy.root / "site"
    for library, part in cuda14.parts().items():
        toolkit_maker.write_new(site / WHEELS.get(library, library), library, cuda14.VERSION, part,
                                cuda14.FOLDER)
    # Of nvcc's headers they make a wheel of their own.
    own = site / "crt" / cuda14.FOLDER / "include"
    own.mkdir(parents=True)
    (site / "cudart" / cuda14.FOLDER / "include" / "crt").rename(own / "crt")
    for part, package in PACKAGES.items():
        copy.publish(package, WHEEL, site / part)


def edit_tables(copy):
    """tools/upkeep/toolkits.txt, gen/hints.txt: where it is, and where it has things."""
    copy.append("tools/upkeep/toolkits.txt", "".join(
        f"{cuda14.VERSION} {part.lower()} {package} {WHEEL} x86_64\n"
        for part, package in PACKAGES.items()))
    text, rows = re.subn(r"^( +(?:folder|include)) nvidia/cu13/(\w+) 13\.0-$",
                         rf"\1 nvidia/cu13/\2 13.0-13.5\n\1 {cuda14.FOLDER}/\2 {cuda14.VERSION}-",
                         copy.read("gen/hints.txt"), flags=re.M)
    assert rows == 8
    copy.write("gen/hints.txt", text)


# ---- stubs ----

SLOTS = [("SERVE(cudaLaunchHostFunc_v2, cudaLaunchHostFunc)",
          "SERVE(cudaLaunchHostFunc_14, cudaLaunchHostFunc_11)\n"
          "\tSERVE(cudaLaunchHostFunc_11, cudaLaunchHostFunc_14)\n"
          "\tSERVE(cudaEventQuery_11, cudaEventQuery_14)"),
         ("SERVE(cudaLaunchHostFunc_v2_ptsz, cudaLaunchHostFunc_ptsz)",
          "SERVE(cudaLaunchHostFunc_ptsz_14, cudaLaunchHostFunc_ptsz_11)\n"
          "\tSERVE(cudaLaunchHostFunc_ptsz_11, cudaLaunchHostFunc_ptsz_14)\n"
          "\tSERVE(cudaEventQuery_14, cudaEventQuery_11)")]
FUNCTIONS = [("cudaLaunchHostFunc_v2##suffix", "cudaLaunchHostFunc##suffix##_14"),
             ("lc_slots.cudaLaunchHostFunc##suffix(", "lc_slots.cudaLaunchHostFunc##suffix##_11(")]
NEW = """
/* 14.0 took the name from the function without a mode. */
#define OLD_HOST_FUNCTION(suffix) \\
int32_t lc_adapt_cudaLaunchHostFunc##suffix##_11(void *stream, void *function, void *data) \\
{ \\
	return lc_slots.cudaLaunchHostFunc##suffix##_14(stream, function, data, 0); \\
}
LC_BOTH(OLD_HOST_FUNCTION)

/* 14.0 added a mode; 0 is what was before. */
int32_t lc_adapt_cudaEventQuery_11(void *event)
{
	return lc_slots.cudaEventQuery_14(event, 0);
}

int32_t lc_adapt_cudaEventQuery_14(void *event, uint32_t mode)
{
	if (mode)
		return LC_REFUSE(cudaEventQuery_14, "this CUDA knows no such mode");
	return lc_slots.cudaEventQuery_11(event);
}
"""


# Which 12 has not.
LTOIR = """
#define LTOIR(X, callers, runtimes, as) \\
	X(callers, runtimes, as, nvJitLinkGetLinkedLTOIRSize, (void *handle, void *size), \\
	  (handle, size)) \\
	X(callers, runtimes, as, nvJitLinkGetLinkedLTOIR, (void *handle, void *ltoir), (handle, ltoir))

"""


def registrations():
    """[(row, definition)] of what no header declares, with the new major."""
    found = []
    pairs = [(a, b) for m in OLDER for a, b in ((cuda14.MAJOR, m), (m, cuda14.MAJOR))]
    for name, parameters, arguments, since in (
            ("__cudaRegisterHostVar", "void *a1, void *a2, void *a3, uint64_t a4",
             "a1, a2, a3, a4", 11),
            ("__cudaRegisterUnifiedTable", "void *a1, void *a2, void *a3, void *a4, void *a5",
             "a1, a2, a3, a4, a5", 12)):
        for callers, runtimes in pairs:
            if min(callers, runtimes) < since:
                continue
            function = f"{name}_{callers}_by_{runtimes}"
            head = f"void lc_adapt_{function}({parameters})"
            found.append((f"\tSERVE_BY({name}_{callers}, {name}_{runtimes}, by_{runtimes})\n",
                          f"\n{head}\n{{\n\tlc_slots.{name}_{runtimes}({arguments});\n}}\n"))
    return found


def edit_stubs(copy):
    rows, definitions = map("".join, zip(*registrations()))
    copy.edit("stubs/cudart/adaptors/rows.h", *SLOTS)
    copy.append("stubs/cudart/adaptors/rows.h", rows)
    copy.edit("stubs/cudart/adaptors/functions.c", *FUNCTIONS)
    copy.append("stubs/cudart/adaptors/functions.c", NEW)
    copy.append("stubs/cudart/adaptors/nvcc.c", definitions)
    copy.edit("stubs/nvJitLink/nvjitlink.c",
              ("#define PAIRS(X) \\\n", LTOIR + "#define PAIRS(X) \\\n"
               "\tLTOIR(X, 14, 13, as_it_is) \\\n\tLTOIR(X, 13, 14, as_it_is) \\\n"
               "\tFUNCTIONS(X, 14, 13, as_it_is) \\\n\tFUNCTIONS(X, 13, 14, as_it_is) \\\n"
               "\tFUNCTIONS(X, 14, 12, as_it_is) \\\n\tFUNCTIONS(X, 12, 14, as_12) \\\n"))
    copy.edit("stubs/base/cuda_version.c",
              ("	{ 13, 580 },\n", "	{ 13, 580 },\n	{ 14, 640 },\n"))


def edit_link_tables(copy):
    copy.edit("link/tables/versions.c",
              ("	{ LC_CUDA(13, 5), 95, 0, 1067, 2131 },\n",
               "	{ LC_CUDA(13, 5), 95, 0, 1067, 2131 },\n"
               "	{ LC_CUDA(14, 0), 97, 640, 1070, 2150 },\n"))


# ---- tests ----

def edit_tests(copy):
    copy.edit("tests/matrix/parameters.py",
              ('    "cudaLaunchHostFunc": {\n', '    "cudaEventQuery": {"ptr": "event", '
               '"ptr, u32": "event mode"},\n    "cudaLaunchHostFunc": {\n'))
    copy.edit("tests/matrix/expected.py",
              ('meaning == "flags":\n        if any',
               'meaning in ("flags", "mode"):\n        if any'))


def add_counts(copy, said):
    """The rows that the matrix prints as it fails, for tests/matrix/counts.txt."""
    rows = re.findall(r"^caller of (\d+) on (\S+): \{'direct': (\d+), 'renamed': (\d+), "
                      r"'adapted': (\d+), 'refused': (\d+), 'absent': (\d+)\}$", said, re.M)
    copy.append("tests/matrix/counts.txt", "".join(" ".join(row) + "\n" for row in rows))
    return {(int(major), version): tuple(map(int, numbers)) for major, version, *numbers in rows}
