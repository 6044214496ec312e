# SPDX-License-Identifier: MIT
from ._native import count

__all__ = ["count"]
