# SPDX-License-Identifier: MIT
"""Toolkits as tools/upkeep/fetch.py lays them out, made from symbols.txt: headers and libraries."""
import shutil

import fakes
import header_text
import symbols

# The headers that gen/hints.txt has the scanner read.  What the list says of a library stands
# in the first; the others, which real toolkits have, are empty.
HEADERS = {
    "cudart": ("cuda_runtime_api.h", "cuda_gl_interop.h", "cuda_egl_interop.h",
               "cuda_vdpau_interop.h", "crt/device_functions.h", "crt/host_runtime.h"),
    "nvrtc": ("nvrtc.h",),
    "nvJitLink": ("nvJitLink.h",),
    "cuda": ("cuda.h", "cudaGL.h", "cudaEGL.h", "cudaVDPAU.h"),
    "nvml": ("nvml.h",),
}


def folders(library, version, kind):
    """Those that gen/hints.txt names, `folder` or `include`."""
    return [words[1] for words in header_text.hints(library)
            if words[0] == kind and symbols.version(version) in symbols.Range(words[2])]


def put_headers(folder, library, version, part):
    for i, name in enumerate(HEADERS[library]):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("" if i else header_text.text(library, symbols.version(version), part))


def write_listed(site, library, version, part):
    """A library of a listed toolkit, its headers and a fake that exports its names."""
    first, *others = folders(library, version, "include")
    put_headers(site / first, library, version, part)
    for other in others:
        (site / other).mkdir(parents=True, exist_ok=True)
    if symbols.read().libraries[library].without_majors:    # no toolkit has it
        return
    folder, = folders(library, version, "folder")
    (site / folder).mkdir(parents=True, exist_ok=True)
    made = fakes.fake(library, version)
    (site / folder / made.name).symlink_to(made)


def write_new(site, library, version, part, folder):
    """The same for a toolkit that is not in the list, with all it has below one folder."""
    put_headers(site / folder / "include", library, version, part)
    if symbols.read().libraries[library].without_majors:    # no toolkit has it
        return
    (site / folder / "lib").mkdir(parents=True, exist_ok=True)
    shutil.copy(fakes.fake(library, version, names=sorted(part.functions), own=part.soname),
                site / folder / "lib")
