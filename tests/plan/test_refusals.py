# SPDX-License-Identifier: MIT
"""What is refused, and what is said: which input, what it has, what would be
needed, what happened and what to do."""
import pytest

import pages

HAVE = "driver=12.4 nvjitlink=12.4 nvrtc=12.4 arch=sm_80 "
PTX = "k.ptx:ptx 8.0 sm_80"

# words, inputs, code, input, have, need, what the message has to say
REFUSALS = [
    # the request
    (HAVE, [], "NO_INPUTS", None, None, "an input", "there is nothing to link"),
    ("arch=", [PTX], "BAD_ARCH", None, None, "an architecture such as sm_90", "names no architecture"),
    ("arch=native", [PTX], "BAD_ARCH", None, "native", "an architecture such as sm_90", "the plan is for a given environment"),
    ("arch=turing", [PTX], "BAD_ARCH", None, "turing", "an architecture such as sm_90", "turing is not an architecture"),
    (HAVE + "arch=sm_91", [PTX], "BAD_ARCH", None, "sm_91", "an architecture that exists",
     "nothing here knows an architecture sm_91"),
    (HAVE + "arch=compute_80", [PTX], "BAD_ARCH", None, "compute_80", "sm_80",
     "compute_80 is an architecture for PTX output alone; an image is for sm_80"),
    (HAVE + "option=-fast", [PTX], "BAD_OPTION", None, "-fast", None, "option -fast: neither"),
    (HAVE + "option=-arch=sm_90", [PTX], "BAD_OPTION", None, "-arch=sm_90", None,
     "the target is the request's arch"),
    (HAVE + "option=-ftz=true", [PTX], "BAD_OPTION", None, "-ftz=true", None,
     "its value is 0 or 1"),
    (HAVE + "compile=-dlto", [PTX], "BAD_OPTION", None, "-dlto", None,
     "compile option -dlto: the plan sets it itself"),
    (HAVE + "compile=--optix-ir", [PTX], "BAD_OPTION", None, "--optix-ir", None, "leave it out"),
    (HAVE + "output=9", [PTX], "BAD_REQUEST", None, None, None, "there is no output 9"),
    (HAVE + "policy=9", [PTX], "BAD_REQUEST", None, None, None, "there is no policy 9"),
    (HAVE + "flags=wrong", [PTX], "BAD_REQUEST", None, None, None, "flags that do not exist, 0x800"),
    ("driver=-5.0", [PTX], "BAD_REQUEST", None, None, None, "a number that is not a version"),
    (HAVE + "constraint=>=13,nonsense", [PTX], "BAD_REQUEST", None, ">=13,nonsense",
     "such as >=13.2,<14", 'makes no sense from "nonsense" on'),
    (HAVE + "support=nrt:on:f:", [PTX], "BAD_REQUEST", None, None, None,
     "support module 0 (nrt) has no input"),
    (HAVE + " ".join(["support=m:off::"] * 65), [PTX], "BAD_REQUEST", None, None, None,
     "65 support modules are more than 64"),
    (HAVE, ["k.ptx:+needs=1;ptx 8.0 sm_80"], "BAD_REQUEST", 0, None, None,
     "k.ptx: it needs a support module behind the request's 0"),
    # the inputs
    (HAVE, [PTX, "x.o:+error=fatbin at 0x40: entry 2 ends past the file;+is=object;"],
     "BAD_INPUT", 1, "fatbin at 0x40: entry 2 ends past the file", "a file that is whole",
     "x.o: fatbin at 0x40: entry 2 ends past the file"),
    (HAVE, ["x:+unseen;"], "BAD_INPUT", 0, None, "an inspection", "x: it has not been inspected"),
    (HAVE, ["x:ptx 8.0 sm_80 damaged"], "BAD_INPUT", 0, "PTX 8.0 of CUDA 12.0 for sm_80",
     "an entry that is whole", "x: PTX 8.0 of CUDA 12.0 for sm_80: ends inside its header (0x20)"),
    (HAVE, [PTX, "x:"], "UNKNOWN_KIND", 1, "unknown content", None,
     "x: it is neither device code nor text with a word of CUDA source"),
    (HAVE, ["x.bc:+is=bitcode;"], "NVVM_REQUIRED", 0, "bitcode", "libnvvm",
     "x.bc: it is bitcode, and there is no libnvvm to compile it; install one (nvidia-cuda-nvcc-cu12"
     " or nvidia-nvvm of PyPI"),
    (HAVE, ["x.tile:tileir 13.5 sm_80"], "TILEIRAS_REQUIRED", 0, "no tileiras", "tileiras 13.5 or later",
     "x.tile: of its Tile IR, for sm_80, tileiras 13.5 or later makes an image, and none is beside"),
    (HAVE, ["x.o:+is=offload binary;{bitcode ? sm_80}"], "NVVM_REQUIRED", 0, "bitcode", "libnvvm",
     "it is bitcode, and there is no libnvvm to compile it"),
    (HAVE, ["x.o:+is=offload binary;{bitcode ? sm_90}"], "ARCH_MISMATCH", 0, "bitcode of an unknown CUDA for sm_90",
     "code for sm_80 or an earlier one", "bitcode for sm_90 does not link for sm_80"),
    (HAVE + "nvvms=12.9,13.0", ["x.ll:+is=llvm ir;"], "NVVM_TOO_NEW", 0, "libnvvm 12.9",
     "libnvvm 12.4 or earlier",
     "x.ll: libnvvm 12.9 would write PTX that is newer than nvJitLink 12.4 reads"),
    (HAVE + "nvvms=12.4 libdevices=none", [PTX, "x.ll:+is=llvm ir;ptx ? sm_80 libdevice"],
     "LIBDEVICE_REQUIRED", 1, "libnvvm 12.4", "libdevice.10.bc",
     "x.ll: it calls functions of libdevice (__nv_*), and no libdevice.10.bc goes with libnvvm 12.4;"
     " install it with its libnvvm (nvidia-cuda-nvcc-cu12 or nvidia-nvvm"),
    ("driver=12.9 nvjitlink=none nvvms=13.0 arch=sm_70 policy=off", ["x.ll:+is=llvm ir;"],
     "ARCH_UNSUPPORTED", 0, "libnvvm 13.0", "libnvvm 12.9 or earlier",
     "x.ll: libnvvm 13.0 cannot compile for sm_70; take libnvvm 12.9 or earlier"),
    (HAVE + "nvvms=unknown policy=strict", ["x.ll:+is=llvm ir;"], "INSUFFICIENT_METADATA", 0,
     "libnvvm of unknown version", "libnvvm of a known version", "and the policy is strict"),
    (HAVE + "nvvms=12.3 constraint=>=12.4", ["x.ll:+is=llvm ir;"], "CONSTRAINT", None,
     "libnvvm 12.3", "libnvvm >=12.4", "libnvvm 12.3 is here, and the constraint >=12.4 forbids it"),
    (HAVE + "nvvms=12.4 output=ptx", ["x.ll:+is=llvm ir;"], "PTX_NEEDS_LTO", 0, "LLVM IR", "LTO-IR",
     "x.ll: PTX output is made from LTO-IR alone, and this is LLVM IR, which is compiled to PTX"),
    (HAVE, ["x.a:+is=thin archive;"], "UNSUPPORTED_KIND", 0, "thin archive",
     "an archive that has its members in it", "takes; make it without -T"),
    (HAVE, ["x:+is=offload bundle;"], "UNSUPPORTED_KIND", 0, "offload bundle", None, "offload"),
    (HAVE, ["x:+is=offload binary;"], "NO_DEVICE_CODE", 0, "offload binary", "device code", "x: there"),
    (HAVE, ["x:optixir 12.0 sm_80"], "UNSUPPORTED_KIND", 0, "optixir", None, "x: it is optixir"),
    (HAVE, ["x.ptx:+declared=ptx;cubin 12.0 sm_80"], "KIND_MISMATCH", 0, "cubin", "ptx",
     "x.ptx: it is declared as ptx and its content is cubin; declare what it is, or nothing"),
    (HAVE, ["x:+declared=object;"], "KIND_MISMATCH", 0, "unknown", "object", "none of these"),
    (HAVE, ["x.o:+is=object;"], "NO_DEVICE_CODE", 0, "object", "device code",
     "x.o: there is no device code in it; leave it to the host's linker"),
    (HAVE, [PTX, "x.fatbin:{ptx 9.0 sm_80/ptx 8.0 sm_90/cubin 12.0 sm_80 linked}"],
     "NO_USABLE_ENTRY", 1, "{ptx sm_80, ptx sm_90, cubin sm_80}",
     "an entry for sm_80 or earlier that nvJitLink 12.4 takes",
     "x.fatbin: none of its entries can be taken by nvJitLink 12.4 for sm_80: PTX 9.0 of CUDA"
     " 13.0 for sm_80: PTX_TOO_NEW, PTX 8.0 of CUDA 12.0 for sm_90: ARCH_MISMATCH, a linked cubin"
     " of CUDA 12.0 for sm_80: LINKED_CUBIN"),
    (HAVE, ["x.cubin:cubin 12.0 sm_80 linked"], "LINKED_CUBIN", 0,
     "a linked cubin of CUDA 12.0 for sm_80", "a relocatable cubin, or PTX",
     "x.cubin: a linked cubin of CUDA 12.0 for sm_80: it is linked already, and the linker would"
     " drop it; compile it with -rdc=true, or pass PTX"),
    (HAVE, ["a.ptx:ptx 8.0 sm_80 def=f", "b.cubin:cubin 12.0 sm_80 def=g def=f"],
     "DUPLICATE_SYMBOL", 1, "f", "one definition",
     "b.cubin: it defines f, and so does a.ptx; leave one out, or make it weak"),
    ("driver=12.4 nvjitlink=none arch=sm_80", ["x:{ptx 8.0 sm_80 zstd unseen}"], "CANNOT_UNPACK", 0,
     "PTX 8.0 of CUDA 12.0 for sm_80", "libzstd.so.1",
     "it is compressed and cannot be unpacked here; install libzstd.so.1"),
    ("driver=12.4 nvjitlink=none arch=sm_80", ["x:{ptx 8.0 sm_80 lz4 unseen}"], "CANNOT_UNPACK", 0,
     "PTX 8.0 of CUDA 12.0 for sm_80", "liblz4.so.1", "install liblz4.so.1"),
    ("driver=12.4 nvjitlink=12.3 arch=sm_80 policy=off", ["x:{ptx 8.0 sm_80 zstd unseen}"],
     "CANNOT_UNPACK", 0, "PTX 8.0 of CUDA 12.0 for sm_80",
     "libzstd.so.1, or nvJitLink 12.4 or later", "cannot be unpacked here or by nvJitLink 12.3"),
    # versions
    (HAVE, [PTX, "new.ptx:ptx 9.0 sm_80"], "PTX_TOO_NEW", 1, "PTX 9.0 of CUDA 13.0 for sm_80",
     "nvJitLink 13.0 or later",
     "new.ptx: PTX 9.0 of CUDA 13.0 is newer than nvJitLink 12.4;"
     " take nvJitLink 13.0 or later, or code made by CUDA 12.4 or earlier"),
    ("driver=12.4 nvjitlink=none arch=sm_80", ["x:ptx 9.0 sm_80"], "PTX_TOO_NEW", 0,
     "PTX 9.0 of CUDA 13.0 for sm_80", "a driver for CUDA 13.0 or later",
     "x: PTX 9.0 of CUDA 13.0 is newer than the driver (CUDA 12.4);"),
    (HAVE, ["x:cubin 12.9 sm_80"], "CUBIN_TOO_NEW", 0, "a cubin of CUDA 12.9 for sm_80",
     "nvJitLink 12.9 or later", "x: a cubin of CUDA 12.9"),
    (HAVE, ["x:ltoir 12.5 sm_80"], "LTOIR_TOO_NEW", 0, "LTO-IR of CUDA 12.5 for sm_80",
     "nvJitLink 12.5 or later", "x: LTO-IR of CUDA 12.5 is newer than nvJitLink 12.4;"),
    (HAVE, ["x:{lto 12.8 sm_80 obfuscated}"], "LTOIR_TOO_NEW", 0,
     "obfuscated LTO-IR of CUDA 12.8 to 12.9 for sm_80", "nvJitLink 12.9 or later", "x: obfuscated"),
    (HAVE, ["x:ltoir 11.8 sm_80"], "LTOIR_CROSS_MAJOR", 0, "LTO-IR of CUDA 11.8 for sm_80",
     "LTO-IR made by CUDA 12.0 or later", "no nvJitLink reads LTO-IR of CUDA 11; make it again"),
    ("driver=13.0 nvjitlink=13.0 arch=sm_80", ["x:ltoir 12.9 sm_80"], "LTOIR_CROSS_MAJOR", 0,
     "LTO-IR of CUDA 12.9 for sm_80", "LTO-IR made by CUDA 13",
     "this is nvJitLink 13.0; make it again, or allow LTO across majors"),
    (HAVE, ["x:ptx 8.0 sm_90"], "ARCH_MISMATCH", 0, "PTX 8.0 of CUDA 12.0 for sm_90",
     "code for sm_80 or an earlier one", "x: PTX 8.0 for sm_90 does not link for sm_80; take code for sm_80 or an earlier one"),
    (HAVE + "arch=sm_90", ["x:cubin 12.0 sm_80"], "ARCH_MISMATCH", 0,
     "a cubin of CUDA 12.0 for sm_80", "a cubin for sm_90, or PTX", "a cubin for sm_80 does not link for sm_90; take a cubin for sm_90"),
    (HAVE + "arch=sm_90", ["x:ptx 8.0 sm_90a"], "ARCH_MISMATCH", 0,
     "PTX 8.0 of CUDA 12.0 for sm_90a", "code for sm_90, or for an earlier one without a suffix",
     "does not link for sm_90; take --arch sm_90a, which is for the same GPU"),
    (HAVE + "arch=sm_90", ["x:ptx 8.0 sm_100f"], "ARCH_MISMATCH", 0,
     "PTX 8.0 of CUDA 12.0 for sm_100f", "code for sm_90, or for an earlier one without a suffix",
     "PTX 8.0 for sm_100f does not link for sm_90; take code for sm_90, or"),
    (HAVE + "arch=sm_90", [PTX, "x:ptx 8.0 sm_80 32-bit"], "ARCH_MISMATCH", 1,
     "PTX 8.0 of CUDA 12.0 for sm_80", "PTX with .address_size 64", "its addresses have 32 bits"),
    ("driver=13.0 nvjitlink=13.0 arch=sm_90", ["x:{ptx 8.0 sm_90a/ptx 8.8 sm_120f}"], "ARCH_MISMATCH", 0,
     "PTX 8.0 of CUDA 12.0 for sm_90a", None, "does not link for sm_90; take --arch sm_90a, which"),
    ("driver=12.4 nvjitlink=12.4 arch=sm_100", [PTX], "ARCH_UNSUPPORTED", None, "nvJitLink 12.4",
     "nvJitLink 12.8 or later", "nvJitLink 12.4 does not link for sm_100; take nvJitLink 12.8"),
    ("driver=13.0 nvjitlink=13.0 arch=sm_52 lto", ["x:ltoir 13.0 sm_52"], "ARCH_UNSUPPORTED", None,
     "nvJitLink 13.0", "nvJitLink 12.9 or earlier", "nvJitLink 13.0 does not link for sm_52"),
    ("driver=12.4 nvjitlink=none arch=sm_100", [PTX], "ARCH_UNSUPPORTED", None,
     "the driver (CUDA 12.4)", "a driver for CUDA 12.7 or later",
     "the driver (CUDA 12.4) does not link for sm_100"),
    ("driver=12.9 nvjitlink=none nvrtc=13.0 arch=sm_70 policy=off", ["x.cu:source"],
     "ARCH_UNSUPPORTED", 0, "nvrtc 13.0", "nvrtc 12.9 or earlier",
     "x.cu: nvrtc 13.0 cannot compile for sm_70; take nvrtc 12.9 or earlier"),
    ("driver=13.0 nvjitlink=13.0 nvrtc=12.8 arch=sm_100f", ["x.cu:source"],
     "ARCH_UNSUPPORTED", 0, "nvrtc 12.8", "nvrtc 12.9 or later",
     "x.cu: nvrtc 12.8 cannot compile for sm_100f; take nvrtc 12.9 or later, or link for sm_100"),
    ("driver=12.4 nvjitlink=none arch=sm_80 option=-time", [PTX], "OPTION_UNSUPPORTED", None,
     "-time", "nvJitLink", "option -time: the driver (CUDA 12.4) does not take it"),
    (HAVE + "lto option=-nvvm-latest", [PTX], "OPTION_UNSUPPORTED", None, "-nvvm-latest",
     "nvJitLink 13.5 or later", "option -nvvm-latest: nvJitLink 12.4 does not take it"),
    (HAVE + "output=ptx", ["x.ltoir:ltoir 12.0 sm_80", PTX], "PTX_NEEDS_LTO", 1,
     "PTX 8.0 of CUDA 12.0 for sm_80", "LTO-IR",
     "k.ptx: PTX output is made from LTO-IR alone, and this is ptx; pass LTO-IR, or ask for an"),
    ("driver=13.4 nvjitlink=13.4 output=ltoir arch=sm_80", [PTX], "PTX_NEEDS_LTO", 0,
     "PTX 8.0 of CUDA 12.0 for sm_80", "LTO-IR", "LTO-IR output is made from LTO-IR alone"),
    # what is installed
    ("arch=sm_80", [PTX], "NO_BACKEND", None, "no nvJitLink and no driver",
     "nvJitLink 12.3 or later, or a driver", "there is no nvJitLink, and no driver is known"),
    ("driver=12.4 arch=sm_80 lto", [PTX], "NVJITLINK_REQUIRED", None, "no nvJitLink",
     "nvJitLink 12.3 or a later 12",
     "link-time optimisation is asked for, and there is no nvJitLink; take nvJitLink"),
    ("driver=12.4 arch=sm_80", [PTX, "x.ltoir:ltoir 12.0 sm_80"], "NVJITLINK_REQUIRED", 1,
     "no nvJitLink", "nvJitLink 12.3 or a later 12", "x.ltoir is LTO-IR, and there is no nvJitLink"),
    ("driver=12.4 arch=sm_80", ["x:{lto 12.0 sm_80}"], "NVJITLINK_REQUIRED", 0, "no nvJitLink",
     "nvJitLink 12.3 or a later 12", "x has nothing but LTO-IR for the target that the linkers here take"),
    ("driver=12.4 arch=sm_80 output=relocatable", [PTX], "NVJITLINK_REQUIRED", None,
     "no nvJitLink", "nvJitLink 13.0 or later and a driver for CUDA 13.0 or later",
     "a relocatable result is asked for, and"),
    ("driver=12.4 arch=sm_80 output=ptx policy=off", [PTX], "NVJITLINK_REQUIRED", None,
     "the driver's linker", "nvJitLink", "the driver's linker makes images only, not PTX"),
    ("driver=12.4 nvjitlink=12.2 arch=sm_80 lto", [PTX], "NVJITLINK_TOO_OLD", None,
     "nvJitLink 12.2", "nvJitLink 12.3 or a later 12", "nvJitLink 12.2 is here"),
    # what would do is not always an nvJitLink
    ("driver=12.4 arch=sm_86", ["x:{ptx 9.0 sm_75/lto 13.0 sm_75}"], "NVJITLINK_REQUIRED", 0,
     "no nvJitLink", "a driver for CUDA 13.0 or later", "take a driver for CUDA 13.0 or later"),
    ("driver=12.4 arch=sm_86", ["k:ptx 9.0 sm_75", "x:lto 12.9 sm_75"], "NVJITLINK_REQUIRED", 1,
     "no nvJitLink", "inputs that one linker takes", "take inputs that one linker takes"),
    (HAVE + "output=relocatable", [PTX], "NVJITLINK_TOO_OLD", None, "nvJitLink 12.4",
     "nvJitLink 13.0 or later", "nvJitLink 12.4 does not make a relocatable cubin"),
    ("driver=13.2 nvjitlink=13.2 output=relocatable lto", ["x:ltoir 13.0 sm_80"],
     "NVJITLINK_TOO_OLD", None, "nvJitLink 13.2", "nvJitLink 13.3 or later",
     "earlier ones have no -r, or ignore it where all inputs are LTO-IR"),
    ("driver=13.3 nvjitlink=13.3 output=ltoir", ["x:ltoir 13.0 sm_80"], "NVJITLINK_TOO_OLD", None,
     "nvJitLink 13.3", "nvJitLink 13.4 or later", "does not make LTO-IR"),
    ("driver=12.4 nvjitlink=12.3 arch=sm_80", ["x:{lto 12.0 sm_80 obfuscated}"],
     "NVJITLINK_TOO_OLD", 0, "obfuscated LTO-IR of CUDA 12.0 to 12.1 for sm_80",
     "nvJitLink 12.4 or later", "nvJitLink 12.3 does not read obfuscated LTO-IR"),
    ("driver=12.4 nvjitlink=12.4 arch=sm_80", ["x.cu:source"], "NVRTC_REQUIRED", 0, "CUDA source",
     "nvrtc", "x.cu: it is source, and there is no nvrtc to compile it; install nvrtc, or pass PTX"),
    (HAVE + "nvrtc=12.9 lto", ["x.cu:source"], "NVRTC_TOO_NEW", 0, "nvrtc 12.9",
     "nvrtc 12.4 or earlier",
     "x.cu: nvrtc 12.9 would write LTO-IR that is newer than nvJitLink 12.4 reads; take nvrtc"
     " 12.4 or earlier, or a newer linker"),
    (HAVE + "nvrtc=12.9", ["x.cu:source", "y.cu:source"], "NVRTC_TOO_NEW", 0, "nvrtc 12.9",
     "nvrtc 12.4 or earlier", "would write PTX that is newer"),
    (HAVE + "nvrtc=11.8 lto", ["x.cu:source"], "LTOIR_CROSS_MAJOR", 0, "nvrtc 11.8",
     "nvrtc 12 or later", "nvrtc 11.8 writes LTO-IR that no nvJitLink reads"),
    ("driver=13.0 nvjitlink=13.0 nvrtc=12.9 lto arch=sm_80", ["x.cu:source"],
     "LTOIR_CROSS_MAJOR", 0, "nvrtc 12.9", "nvrtc 13", "or allow LTO across majors"),
    (HAVE + "nvrtc=unknown policy=strict", ["x.cu:source"], "INSUFFICIENT_METADATA", 0,
     "nvrtc of unknown version", "nvrtc of a known version", "the policy is strict"),
    ("driver=12.4 nvjitlink=13.0 arch=sm_80 lto", [PTX], "CROSS_MAJOR", None,
     "nvJitLink 13.0 and a driver for CUDA 12.4", "nvJitLink 12, or a driver for CUDA 13",
     "link-time optimisation is asked for, and nvJitLink is of a later major than the driver"),
    ("driver=12.4 nvjitlink=none policy=off arch=sm_80", ["x:ltoir 12.0 sm_80"], "LTOIR_ON_DRIVER",
     0, "LTO-IR of CUDA 12.0 for sm_80", "nvJitLink",
     "x: LTO-IR of CUDA 12.0 for sm_80: the driver's linker takes no LTO-IR; install nvJitLink"),
    ("driver=12.4 nvjitlink=12.9 output=ptx", ["x:ltoir 12.9 sm_80"], "DRIVER_TOO_OLD", None,
     "PTX 8.8", "a driver for CUDA 12.9 or later",
     "nvJitLink 12.9 writes PTX 8.8, which the driver here, for CUDA 12.4, does not read; take a"),
    ("driver=12.4 nvjitlink=12.9 arch=sm_120", [PTX], "DRIVER_TOO_OLD", None,
     "the driver (CUDA 12.4)", "a driver for CUDA 12.8 or later", "does not know sm_120"),
    ("driver=13.0 branch=570 nvjitlink=13.1 arch=sm_80", [PTX], "DRIVER_TOO_OLD", None,
     "display driver 570", "display driver 580 or later",
     "display driver 570 does not load what nvJitLink 13.1 makes"),
    (HAVE + "constraint=>=12.6,<13", [PTX], "CONSTRAINT", None, "nvJitLink 12.4",
     "nvJitLink >=12.6,<13", "nvJitLink 12.4 is here, and the constraint >=12.6,<13 forbids it"),
    ("driver=12.4 nvrtc=12.4 arch=sm_80 constraint=>=12.6", ["x.cu:source"], "CONSTRAINT", None,
     "nvrtc 12.4", "nvrtc >=12.6", "install another, or relax the constraint"),
    ("driver=12.4 nvjitlink=unknown arch=sm_80 constraint=>=12.6 policy=strict", [PTX],
     "INSUFFICIENT_METADATA", None, "nvJitLink unknown", "nvJitLink >=12.6",
     "whether it satisfies >=12.6 is not known, and the policy is strict"),
    (HAVE + "policy=strict", ["x:{ptx ? sm_80 zstd unseen}"], "INSUFFICIENT_METADATA", 0,
     "PTX of an unknown CUDA for sm_80", "libzstd.so.1", "it is compressed, so that its version"),
    (HAVE + "policy=strict", ["x:cubin ? sm_80"], "INSUFFICIENT_METADATA", 0,
     "a cubin of an unknown CUDA for sm_80", "code whose version and architecture are known",
     "does not tell whether nvJitLink 12.4 reads it"),
]


@pytest.mark.parametrize("words, inputs, code, index, have, need, message", [
    pytest.param(*row, id=f"{row[2]}-{number}") for number, row in enumerate(REFUSALS)])
def test_a_refusal_says_what_it_is(ask, words, inputs, code, index, have, need, message):
    plan = ask(words, *inputs)
    assert (plan.decision, plan.code) == ("refused", code), plan.message
    assert plan.input == (None if index is None else str(index))
    assert plan.have == have
    assert plan.need == need or need is None
    assert message in plan.message
    assert ("host's linker" in plan.message) == ((code, have) == ("NO_DEVICE_CODE", "object"))
    assert "\n" not in plan.message and not plan.steps and not plan.options


def test_an_objection_that_many_entries_share_is_said_once(ask):
    entries = "/".join(["ptx 9.0 sm_80"] * 8 + ["cubin 12.4 sm_90"])
    message = ask(HAVE, f"x:{{{entries}}}").message
    assert message.count("PTX_TOO_NEW") == 1 and "PTX_TOO_NEW (8 times), a cubin" in message, message


def test_control_characters_of_names_do_not_reach_a_message(ask):
    plan = ask(HAVE, "x\x1b[31m\n:ptx 9.0 sm_80")
    assert plan.message.startswith("x?[31m?: PTX 9.0")


def test_an_input_without_a_name_is_named_by_its_place(ask):
    assert ask(HAVE, PTX, ":ptx 9.0 sm_80").message.startswith("input 1: PTX 9.0")


def test_the_first_offending_input_is_named(ask):
    assert ask(HAVE, PTX, "b:ptx 9.0 sm_80", "c:ptx 9.0 sm_80").input == "1"


def test_a_definition_may_be_there_twice_if_it_is_weak_or_a_declaration(ask):
    assert ask(HAVE, "a:ptx 8.0 sm_80 def=f weak=g", "b:ptx 8.0 sm_80 ext=f weak=g").code == "OK"
    # what is not taken does not count: of each container one entry is
    assert ask(HAVE, "a:{ptx 8.0 sm_80 def=f/ptx 8.0 sm_52 def=f}").code == "OK"
    # within one file, between its containers
    plan = ask(HAVE, "a:+is=object;{ptx 8.0 sm_80 def=f}/{ptx 8.0 sm_80 def=f}")
    assert plan.code == "DUPLICATE_SYMBOL" and "a: it defines f twice" in plan.message


# ---- remedies ----

NEW = "x:ptx 8.7 sm_80"


@pytest.mark.parametrize("have, inputs, remedy, then", [
    ("driver=12.4 nvjitlink=none", [NEW], "nvJitLink 12.8 or a later 12", "nvjitlink=12.8"),
    ("driver=12.4 nvjitlink=none", [NEW], "nvJitLink 12.8 or a later 12", "nvjitlink=12.9"),
    ("driver=12.4 nvjitlink=12.4", [NEW], "nvJitLink 12.8 or a later 12", "nvjitlink=12.8"),
    ("driver=12.4 nvjitlink=12.4", [NEW, "y:ltoir 13.0 sm_80"],
     "nvJitLink 13.0 or later and a driver for CUDA 13.0 or later", "nvjitlink=13.0 driver=13.0"),
    ("driver=12.9 nvjitlink=12.9", ["x:ptx 9.0 sm_80"], "a driver for CUDA 13.0 or later",
     "nvjitlink=none driver=13.0"),
    ("driver=12.8 nvjitlink=12.8", ["x:{ptx 8.8 sm_80/cubin 12.8 sm_90}"], "nvJitLink 12.9 or a later 12",
     "nvjitlink=12.9"),
    # Of CUDA 13.3 to 13.5, which the bytes do not tell.
    ("driver=13.2 nvjitlink=13.2", ["x:{ptx 9.5 sm_80/ltoir ? sm_80 obfuscated container=1067}"],
     "nvJitLink 13.5 or later", "nvjitlink=13.5")])
def test_a_remedy_is_one(ask, have, inputs, remedy, then):
    said = ask(f"{have} arch=sm_80", *inputs)
    assert said.message.endswith(f". What would do here: {remedy}")
    assert ask(f"{have} {then} arch=sm_80", *inputs).code == "OK"


SOURCE = "x.cu:source"
# What is there; the refusal; and what its message says to do, done: with other words, or other inputs.
DONE = [
    # the request
    (HAVE + "arch=", [PTX], "BAD_ARCH", "arch=sm_90"), (HAVE + "arch=compute_80", [PTX], "BAD_ARCH", "arch=sm_80"),
    ("driver=12.4 output=ptx", ["x:ptx 8.0 sm_80"], "NVJITLINK_REQUIRED", "nvjitlink=12.4 output=cubin"),
    # the inputs
    (HAVE, ["x:"], "UNKNOWN_KIND", ["x:+declared=source;"]),
    (HAVE, ["x.ptx:+declared=ptx;cubin 12.0 sm_80"], "KIND_MISMATCH", ["x.ptx:+declared=cubin;cubin 12.0 sm_80"]),
    (HAVE, ["x.ptx:+declared=ptx;cubin 12.0 sm_80"], "KIND_MISMATCH", ["x.ptx:cubin 12.0 sm_80"]),
    (HAVE, ["x.a:+is=thin archive;"], "UNSUPPORTED_KIND", ["x.a:+is=archive;cubin 12.0 sm_80"]),
    (HAVE + "nvvms=12.4", ["x.a:+is=archive;bitcode ? sm_80"], "UNSUPPORTED_KIND", ["x.bc:+is=bitcode;"]),
    (HAVE, [PTX, "x.o:+is=object;"], "NO_DEVICE_CODE", [PTX]),
    (HAVE, ["x.cubin:cubin 12.0 sm_80 linked"], "LINKED_CUBIN", ["x.cubin:cubin 12.0 sm_80"]),
    (HAVE, ["a:ptx 8.0 sm_80 def=f", "b:ptx 8.0 sm_80 def=f"], "DUPLICATE_SYMBOL", ["a:ptx 8.0 sm_80 def=f"]),
    (HAVE, ["a:ptx 8.0 sm_80 def=f", "b:ptx 8.0 sm_80 def=f"], "DUPLICATE_SYMBOL",
     ["a:ptx 8.0 sm_80 def=f", "b:ptx 8.0 sm_80 weak=f"]),
    ("driver=12.4", ["x:{ptx 8.0 sm_80 zstd unseen}"], "CANNOT_UNPACK", ["x:{ptx 8.0 sm_80 zstd}"]),
    ("nvjitlink=12.3", ["x:{ptx 8.0 sm_80 zstd unseen}"], "CANNOT_UNPACK", "nvjitlink=12.4"),
    # versions
    (HAVE, ["x:ptx 9.0 sm_80"], "PTX_TOO_NEW", ["x:ptx 8.4 sm_80"]),
    (HAVE, ["x:cubin 12.9 sm_80"], "CUBIN_TOO_NEW", "nvjitlink=12.9"),
    (HAVE, ["x:cubin ? sm_80 abi=8"], "CUBIN_TOO_NEW", "nvjitlink=13.0 driver=13.0"),
    (HAVE, ["x:ltoir 12.5 sm_80"], "LTOIR_TOO_NEW", "nvjitlink=12.5"),
    (HAVE, ["x:{lto 12.8 sm_80 obfuscated}"], "LTOIR_TOO_NEW", "nvjitlink=12.9"),
    ("nvjitlink=12.3", ["x:{lto 12.0 sm_80 obfuscated}"], "NVJITLINK_TOO_OLD", "nvjitlink=12.4"),
    (HAVE, ["x:ltoir 11.8 sm_80"], "LTOIR_CROSS_MAJOR", ["x:ltoir 12.0 sm_80"]),
    (HAVE + "arch=sm_90", ["x:cubin 12.0 sm_80"], "ARCH_MISMATCH", [PTX]),
    (HAVE + "arch=sm_90", ["x:ptx 8.0 sm_100f"], "ARCH_MISMATCH", [PTX]),
    (HAVE + "arch=sm_90", ["x:ptx 8.0 sm_80 32-bit"], "ARCH_MISMATCH", [PTX]),
    ("nvjitlink=13.0 arch=sm_52 ", ["x:ptx 8.0 sm_52"], "ARCH_UNSUPPORTED", "nvjitlink=12.9"),
    ("nvjitlink=13.0 nvrtc=12.8 arch=sm_100f", [SOURCE], "ARCH_UNSUPPORTED", "nvrtc=12.9"),
    ("nvjitlink=13.0 nvrtc=12.8 arch=sm_100f", [SOURCE], "ARCH_UNSUPPORTED", "arch=sm_100"),
    (HAVE + "output=ptx", ["x:ltoir 12.0 sm_80", PTX], "PTX_NEEDS_LTO", ["x:ltoir 12.0 sm_80"]),
    (HAVE + "output=ptx", ["x:ltoir 12.0 sm_80", PTX], "PTX_NEEDS_LTO", "output=cubin"),
    # what is installed
    ("driver=12.4 policy=off", ["x:ltoir 12.0 sm_80"], "LTOIR_ON_DRIVER", "nvjitlink=12.4"),
    ("driver=12.4 no_device", [PTX], "DRIVER_FAILED", "nvjitlink=12.3"),
    (HAVE + "nvrtc=12.9 lto", [SOURCE], "NVRTC_TOO_NEW", "nvrtc=12.4"),
    (HAVE + "nvrtc=12.9 lto", [SOURCE], "NVRTC_TOO_NEW", "nvjitlink=12.9"),
    (HAVE + "nvrtc=11.8 lto", [SOURCE], "LTOIR_CROSS_MAJOR", "nvrtc=12.0"),
    ("nvjitlink=13.0 nvrtc=12.9 lto", [SOURCE], "LTOIR_CROSS_MAJOR", "nvrtc=13.0"),
    ("nvjitlink=13.0 nvrtc=12.9 lto", [SOURCE], "LTOIR_CROSS_MAJOR", "flags=across"),
    (HAVE + "nvrtc=unknown policy=strict", [SOURCE], "INSUFFICIENT_METADATA", "nvrtc=12.4"),
    (HAVE + "nvrtc=unknown policy=strict", [SOURCE], "INSUFFICIENT_METADATA", "policy=best_effort"),
    (HAVE + "policy=strict", ["x:{ptx ? sm_80 zstd unseen}"], "INSUFFICIENT_METADATA", ["x:{ptx 8.0 sm_80 zstd}"]),
    ("driver=12.4 nvjitlink=12.9 output=ptx", ["x:ltoir 12.9 sm_80"], "DRIVER_TOO_OLD", "driver=12.9"),
    ("driver=12.4 nvjitlink=12.9 arch=sm_120", [PTX], "DRIVER_TOO_OLD", "driver=12.8"),
    ("driver=13.0 branch=570 nvjitlink=13.1", [PTX], "DRIVER_TOO_OLD", "branch=580"),
    ("nvjitlink=12.4 nvrtc=12.4 constraint=>=12.6", [SOURCE], "CONSTRAINT", "constraint=>=12.4"),
    ("driver=12.9 nvjitlink=12.9", [SOURCE], "NVRTC_REQUIRED", "nvrtc=12.9"),
    ("driver=12.9 nvjitlink=12.9", ["x.ll:+is=llvm ir;"], "NVVM_REQUIRED", "nvvms=12.9"),
    ("driver=12.9 nvjitlink=12.9 nvvms=13.0", ["x.ll:+is=llvm ir;"], "NVVM_TOO_NEW", "nvvms=12.9"),
    ("driver=12.9 nvjitlink=12.9 nvvms=12.9 libdevices=none", ["x.ll:+is=llvm ir;ptx ? sm_80 libdevice"],
     "LIBDEVICE_REQUIRED", "libdevices=12.9"),
    ("", [PTX], "NO_BACKEND", "nvjitlink=12.3"), ("", [PTX], "NO_BACKEND", "driver=12.0"),
    ("driver=12.4 lto", [PTX], "NVJITLINK_REQUIRED", "nvjitlink=12.3"),
    ("driver=12.4 nvjitlink=12.0 lto", [PTX], "NVJITLINK_TOO_OLD", "nvjitlink=12.3"),
    ("driver=12.4 nvjitlink=13.0 lto", [SOURCE], "CROSS_MAJOR", "nvjitlink=12.4 nvrtc=12.4"),
    ("driver=12.4 nvjitlink=13.0 nvrtc=13.0 lto", [SOURCE], "CROSS_MAJOR", "driver=13.0"),
    ("driver=12.4 flags=ignore", ["x:ltoir 12.4 sm_80"], "NVJITLINK_REQUIRED", "nvjitlink=12.4"),
    ("driver=13.0 nvjitlink=13.0", ["x:ltoir 12.9 sm_80"], "LTOIR_CROSS_MAJOR", "flags=across"),
    ("driver=12.4 nvjitlink=12.4 arch=sm_100", [PTX], "ARCH_UNSUPPORTED", "nvjitlink=12.8 driver=12.8"),
    ("driver=12.4 option=-time", [PTX], "OPTION_UNSUPPORTED", "nvjitlink=12.4"),
    ("driver=13.0 nvjitlink=13.0 output=relocatable lto", ["x:ltoir 13.0 sm_80"], "NVJITLINK_TOO_OLD",
     "nvjitlink=13.3"),
    ("driver=12.4 nvjitlink=12.4 constraint=>=12.6", [PTX], "CONSTRAINT", "nvjitlink=12.6"),
    ("driver=12.4 branch=470 nvjitlink=12.9", [PTX], "DRIVER_TOO_OLD", "branch=525"),
    ("driver=12.4 branch=470 nvjitlink=12.9", [PTX], "DRIVER_TOO_OLD", "flags=offline")]


@pytest.mark.parametrize("have, inputs, code, then", DONE)
def test_what_a_refusal_says_to_do_links(ask, have, inputs, code, then):
    if "arch=" not in have:
        have += " arch=sm_80"
    said = ask(have, *inputs)
    assert said.code == code, said.message
    done = ask(have, *then) if isinstance(then, list) else ask(f"{have} {then}", *inputs)
    assert done.code == "OK", done.message


# What else codes.md says to do, and the folder whose tests do it.
ELSEWHERE = {
    "NO_USABLE_ENTRY": "plan", "UNPACK_LIMIT": "growth", "TILEIRAS_REQUIRED": "llvm_ir", "COMPILE_FAILED": "llvm_ir",
    "UNDEFINED_SYMBOL": "python", "BAD_IMAGE": "python", "NO_CHILD": "isolation",
    "TIME_LIMIT": "isolation", "MEMORY_LIMIT": "isolation"}
# To look at something is no remedy.
LOOK = {"BAD_REQUEST", "LINK_FAILED", "BACKEND_MISSING", "CRASHED"}


def test_every_code_with_a_remedy_has_a_test():
    part = pages.page("reference/codes.md").split("## Refusals of `lazycuda plan`")[1]
    rows = [[cell.strip() for cell in line.split("|")[1:4]] for line in part.splitlines() if line.startswith("| `")]
    told = {name.strip("`") for name, _, remedy in rows if remedy}
    assert told - LOOK == {code for *_, code, _ in DONE} & told | set(ELSEWHERE)


@pytest.mark.parametrize("inputs, arch", [
    (["x:ptx 8.8 sm_120"], "sm_120"),
    (["x:ptx 8.8 sm_120f"], "sm_120"),          # which it fits by itself
    (["x:ptx 8.8 sm_120a"], "sm_120a"),
    (["x:{ptx 8.8 sm_120a/cubin 12.9 sm_120a}"], "sm_120a"),
    (["x:{ptx 8.8 sm_120/cubin 12.9 sm_120a}"], "sm_120")])
def test_the_target_is_chosen_from_the_inputs(ask, inputs, arch):
    have = "driver=12.9 nvjitlink=12.9"
    said = ask(f"{have} arch=from-inputs:sm_120", *inputs)
    assert (said.code, said.arch) == ("OK", arch)
    plain = ask(f"{have} arch=sm_120", *inputs)
    assert (plain.code == "OK") == (arch == "sm_120")
    assert arch == "sm_120" or "take --arch sm_120a, which" in plain.message


def test_where_no_target_is_for_all_inputs_the_last_refusal_counts(ask):
    said = ask("driver=13.0 nvjitlink=13.0 arch=from-inputs:sm_120", "x:ltoir 13.0 sm_120a", "y:ptx 9.0 sm_121")
    assert (said.code, said.input, said.arch) == ("ARCH_MISMATCH", "1", "sm_120a")
    said = ask("driver=13.0 nvjitlink=13.0 arch=from-inputs:sm_120", "y:ptx 9.0 sm_121", "x:ltoir 13.0 sm_120a")
    assert (said.code, said.input, said.arch) == ("ARCH_MISMATCH", "0", "sm_120")


def test_no_remedy_is_given_where_no_version_would_do(ask):
    said = ask("driver=12.9 nvjitlink=12.9 arch=sm_80", "x:ptx 9.9 sm_80")
    assert (said.code, said.message.rpartition("; ")[2]) == (
        "PTX_TOO_NEW", "take nvJitLink 13.9 or later, or code made by CUDA 12.9 or earlier")


def test_a_remedy_for_the_target_that_is_chosen(ask):
    have = "driver=12.8 nvjitlink=12.8 arch=from-inputs:sm_120"
    said = ask(have, "x:ptx 8.8 sm_120a")
    assert said.code == "PTX_TOO_NEW"
    assert said.message.endswith(". What would do here: nvJitLink 12.9 or a later 12")
    assert ask(f"{have} nvjitlink=12.9", "x:ptx 8.8 sm_120a").arch == "sm_120a"
