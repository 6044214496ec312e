# SPDX-License-Identifier: MIT
"""An extension of Python, told to begin and, by atexit, to end: at_exit.py FOLDER [NAME]"""
import atexit
import ctypes
import sys

extension = ctypes.CDLL(f"{sys.argv[1]}/lib{sys.argv[2]}.so")
assert extension.begin() == 0
atexit.register(extension.end)
