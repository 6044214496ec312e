# SPDX-License-Identifier: MIT
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent

# The modules beside this file, and the makers of device code and fakes.
sys.path[:0] = [str(HERE), str(HERE.parent / "handle"), str(HERE.parent / "agreement")]
