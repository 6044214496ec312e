# SPDX-License-Identifier: MIT
"""What one toolkit is, by symbols.txt: a thing that can be changed, to make a new one."""
import copy
from dataclasses import dataclass, field, replace

import symbols


@dataclass
class Part:
    """One library of a toolkit."""
    soname: str
    status: str                                     # its status enumeration
    enumerators: dict = field(default_factory=dict)     # {name: value}
    structs: dict = field(default_factory=dict)     # {name: (size, [(field, type, offset)])}
    functions: dict = field(default_factory=dict)   # {name: symbols.Function}

    def declare(self, name, *parameters, result="i32"):
        """A function, new or with another prototype."""
        made = symbols.Function(name, None, parameters, result, name, False, False, False, False)
        self.functions[name] = made

    def rename(self, old, new):
        self.functions[new] = replace(self.functions.pop(old), name=new)


def of(version):
    """{library: Part} of a listed toolkit."""
    version = symbols.version(version)
    parts = {}
    for name, library in symbols.read().libraries.items():
        soname = library.soname(version)
        if soname:
            parts[name] = Part(
                soname, library.status,
                {e: value for e, value, span in library.enumerators if version in span},
                {s: (size, [(f, kind, offset) for f, kind, offset, inside in library.fields[s]
                            if version in inside])
                 for s, rows in library.structs.items() for size, span, _ in rows
                 if version in span},
                {f.name: f for f in library.functions if version in f.range})
    return copy.deepcopy(parts)
