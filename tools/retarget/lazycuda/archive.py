# SPDX-License-Identifier: MIT
"""Writes a zip archive of members whose bytes are compressed elsewhere, as zipfile alone cannot."""
import contextlib
import zipfile

WIDE = zipfile.ZIP64_LIMIT      # longer members have sizes of 64 bits


class Archive(zipfile.ZipFile):
    def __init__(self, path):
        super().__init__(path, "w")

    @contextlib.contextmanager
    def member(self, info, most):
        """Gives the stream for a member's compressed bytes, at most `most` of them.  Once they are
        written, `info` has to be complete, except for the member's place and compressed size."""
        for field in ("CRC", "compress_size", "file_size"):     # which a new one may not have
            setattr(info, field, getattr(info, field, 0))
        info.header_offset, wide = self.fp.tell(), max(most, info.file_size) > WIDE
        header = info.FileHeader(wide)
        self.fp.write(header)
        start = self.fp.tell()
        yield self.fp
        self.start_dir = self.fp.tell()           # of what zipfile writes next
        info.compress_size = self.start_dir - start
        if info.FileHeader(wide) != header:
            self.fp.seek(info.header_offset)
            self.fp.write(info.FileHeader(wide))
            self.fp.seek(self.start_dir)
        self.filelist.append(info)
        self.NameToInfo[info.filename] = info
        self._didModify = True
