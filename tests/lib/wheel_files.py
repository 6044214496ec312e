# SPDX-License-Identifier: MIT
"""Wheels made for a test, and what is in them."""
import base64
import csv
import hashlib
import io
import pathlib
import zipfile

DATE = (2020, 5, 17, 12, 30, 0)


def digest(content):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()) \
        .rstrip(b"=").decode()


def make(folder, members, name="pkg", version="1.0", tags="py3-none-linux_x86_64", requires=(),
         compression=zipfile.ZIP_DEFLATED, more=None):
    """A wheel of these members: {path in it: a file or bytes}; `more` are
    members that RECORD does not name."""
    info = f"{name}-{version}.dist-info"
    metadata = [f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
                *(f"Requires-Dist: {line}\n" for line in requires), "\nAbout it.\n"]
    contents = {path: content if isinstance(content, bytes) else pathlib.Path(content).read_bytes()
                for path, content in members.items()}
    contents[f"{info}/METADATA"] = "".join(metadata).encode()
    contents[f"{info}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: false\n"
                                 f"Tag: {tags}\n").encode()
    rows = [(path, digest(content), len(content)) for path, content in contents.items()]
    record = io.StringIO()
    csv.writer(record, lineterminator="\n").writerows([*rows, (f"{info}/RECORD", "", "")])
    contents[f"{info}/RECORD"] = record.getvalue().encode()
    made = folder / f"{name}-{version}-{tags}.whl"
    with zipfile.ZipFile(made, "w") as out:
        for path, content in {**contents, **(more or {})}.items():
            member = zipfile.ZipInfo(path, DATE)
            member.external_attr = (0o100755 if b"\177ELF" == content[:4] else 0o100644) << 16
            member.compress_type = compression
            out.writestr(member, content)
    return made


def read(wheel):
    """{name: bytes}"""
    with zipfile.ZipFile(wheel) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def check_record(wheel):
    """RECORD tells what every file is, and names no other."""
    contents = read(wheel)
    record = next(name for name in contents if name.endswith(".dist-info/RECORD"))
    rows = {row[0]: row[1:] for row in csv.reader(io.StringIO(contents[record].decode()))}
    assert rows.pop(record) == ["", ""]
    files = {name: content for name, content in contents.items()
             if name != record and not name.endswith("/")}
    assert rows == {name: [digest(content), str(len(content))]
                    for name, content in files.items()}


def unpack(wheel, folder):
    """As pip does it, without scripts."""
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            path = archive.extract(member, folder)
            pathlib.Path(path).chmod(member.external_attr >> 16 & 0o777 or 0o644)
    return folder
