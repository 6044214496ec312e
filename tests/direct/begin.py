# SPDX-License-Identifier: MIT
"""An extension of Python, told to begin and, if it wants that, by atexit to end:
begin.py FOLDER NAME"""
import atexit
import ctypes
import sys

extension = ctypes.CDLL(f"{sys.argv[1]}/lib{sys.argv[2]}.so")
assert extension.begin() == 0
if hasattr(extension, "end"):
    atexit.register(extension.end)
