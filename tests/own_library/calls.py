# SPDX-License-Identifier: MIT
"""Calls a library, by the names that its programs use, as far as that goes without a GPU, and
prints what it says:

    calls.py FILE LIBRARY
"""
import ctypes
import sys

# What they take: nothing, a number and a place for one, a place, a status whose text they return, as
# callers print it who never look whether it is NULL.
PLAIN = "cublasGetCudartVersion cudnnGetVersion cudnnGetCudartVersion".split()
PROPERTIES = {"cublasGetProperty": 1, "curandGetProperty": 0, "cufftGetProperty": 2,
              "cusolverGetProperty": 0, "cusparseGetProperty": 0}
PLACES = """cublasCreate_v2 curandGetVersion cufftGetVersion cufftCreate cusolverGetVersion
            ncclGetVersion""".split()
TEXTS = {"cublasGetStatusString": 1, "cublasGetStatusName": 15, "cusparseGetErrorString": 1,
         "cusparseGetErrorName": 3, "cudnnGetErrorString": 1001, "ncclGetErrorString": 2,
         "ncclGetLastError": 0}


def curand(library):
    """Numbers that the host makes: the library really works here."""
    generator, bits, uniform = ctypes.c_void_p(1), (ctypes.c_uint * 8)(), (ctypes.c_float * 8)()
    made = library.curandCreateGeneratorHost(ctypes.byref(generator), 100)
    print(f"curandCreateGeneratorHost: {made}, {'a generator' if generator else 'NULL'}")
    count = ctypes.c_size_t(8)
    print("bits:", library.curandGenerate(generator, bits, count), *bits)
    print("uniform:", library.curandGenerateUniform(generator, uniform, count),
          *map(float.hex, uniform))
    print("destroy:", library.curandDestroyGenerator(generator))


def main(file, name):
    library, place = ctypes.CDLL(file), ctypes.c_long(-1)
    for one in (*PLACES, *PROPERTIES, *PLAIN, *TEXTS):
        if not one.startswith(name):
            continue
        function = library[one]
        if one in PLAIN:
            function.restype = ctypes.c_size_t
            print(f"{one}:", function())
        elif one in TEXTS:
            function.restype = ctypes.c_char_p
            print(f"{one}:", function(ctypes.c_long(TEXTS[one])).decode())
        else:
            given = [PROPERTIES[one]] if one in PROPERTIES else []
            print(f"{one}:", function(*given, ctypes.byref(place)),
                  ctypes.c_int(place.value).value)
    if name == "curand":
        curand(library)


if __name__ == "__main__":
    main(*sys.argv[1:])
