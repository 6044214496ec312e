# SPDX-License-Identifier: MIT
"""An ELF file of 64 bits, any field of which can be made wrong."""
import re
import struct


class Elf:
    """A file to be changed, such as a cubin."""
    def __init__(self, data):
        self.data = bytearray(data)
        self.shoff, = struct.unpack_from("<Q", data, 0x28)
        self.count, self.names = struct.unpack_from("<HH", data, 0x3c)

    def put(self, form, at, value):
        struct.pack_into("<" + form, self.data, at, value)
        return bytes(self.data)

    def field(self, index, at, form="Q"):
        return struct.unpack_from("<" + form, self.data, self.shoff + 64 * index + at)[0]

    def name(self, index):
        at = self.field(self.names, 24) + self.field(index, 0, "I")
        return self.data[at:self.data.index(b"\0", at)].decode()

    def find(self, name):
        for index in range(self.count):
            if self.name(index) == name:
                return index
        raise KeyError(name)

    def like(self, pattern):
        return next(i for i in range(self.count) if re.match(pattern, self.name(i)))

    def header(self, name):
        """Where the header of a section lies."""
        return self.shoff + 64 * self.find(name)
