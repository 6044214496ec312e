# SPDX-License-Identifier: MIT
import pathlib
import sys

# The modules beside this file.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
