# SPDX-License-Identifier: MIT
"""What the enumerations and structs of link_abi.py are made from."""
from __future__ import annotations

import ctypes
import enum
from typing import Any, Optional


class Number(enum.IntEnum):
    """A number that a newer library adds has a name, too, such as NUMBER_15."""

    @classmethod
    def _missing_(cls, value: object) -> Optional["Number"]:
        if not isinstance(value, int):
            return None
        made = int.__new__(cls, value)
        made._name_, made._value_ = f"NUMBER_{value}", value
        return made

    # Which of the two Python prints depends on its version.
    def __str__(self) -> str:
        return f"{type(self).__name__}.{self.name}"

    def __format__(self, spec: str) -> str:
        return format(int(self) if spec[-1:] in "bcdoxXneEfFgG%" and spec else str(self), spec)


class Struct(ctypes.Structure):
    """ctypes cuts a number that its field cannot hold, and C a text at a NUL: those are refused."""

    def __init__(self, **values: Any) -> None:
        super().__init__(**values)
        for name, value in values.items():
            if isinstance(value, (int, bytes)) and getattr(self, name) != value:
                what = "there is a NUL in" if isinstance(value, bytes) else "C cannot hold"
                raise ValueError(f"{what} {value!r}, the {name} of the {type(self).__name__}")
