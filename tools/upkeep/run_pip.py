#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run pip, also where Python has none.

    tools/upkeep/run_pip.py ARGUMENTS...       what `python3 -m pip ARGUMENTS...` does

All that runs pip here runs it by this file.  If this Python has no pip, build/pip gets one: that
which Python's ensurepip or the distribution keeps on the machine, or which lies in a folder that
PIP_FIND_LINKS names; on Debian and its kin, which alone leave ensurepip out, that of their
package, from the sources that apt has, as an ordinary user.

Nothing is installed, and nothing but build/pip is written.

Exit status: pip's; 1 if there is no pip to be had.
"""
import contextlib
import fcntl
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile

BUILD = pathlib.Path(__file__).resolve().parents[2] / "build"
PIP = BUILD / "pip"
SYSTEM_WHEELS = ("/usr/share/python-wheels", "/usr/share/python3-wheels")
# What releases of Debian call the package of pip; and what pip takes besides.
DEBIAN_PIP = ("python3-pip-whl", "python-pip-whl")
DEBIAN_BUNDLE = "/etc/ssl/certs/ca-certificates.crt"
DEBIAN_CERTIFICATES = ("ca-certificates",)
DEBIAN_DISTUTILS = ("python3-distutils",)
ADVICE = "install it (Debian, Ubuntu: python3-venv; Fedora: python3-pip; elsewhere: ensurepip)"
# What pip says of an index that it cannot reach.
UNREACHABLE = re.compile(
    r"Temporary failure in name resolution|Name or service not known|No address associated"
    r"|Connection refused|Network is unreachable|No route to host|[Tt]imed out"
    r"|certificate verify failed(?:: [\w -]*\w)?|Tunnel connection failed[^'\")]*"
    r"|Cannot connect to proxy")


class NoPip(Exception):
    """No pip, and why none was to be had."""


class Unavailable(Exception):
    """There is none from this source, and why."""


def last_line(text):
    return (text.strip() or "no reason given").splitlines()[-1]


# ---- where a wheel of pip is to be had ----

def version(wheel):
    """(25, 3) of pip-25.3-py3-none-any.whl"""
    return tuple(map(int, re.findall(r"\d+", wheel.name.split("-")[1])))


def newest(files):
    """The wheel of the newest pip, and beside it those into which some distributions put its
    own parts; None if there is none."""
    wheel = max(files, key=version, default=None)
    if not wheel:
        return None
    with zipfile.ZipFile(wheel) as opened:
        whole = "DEBUNDLED = True" not in opened.read("pip/_vendor/__init__.py").decode()
    return [wheel] if whole else [wheel, *sorted(set(wheel.parent.glob("*.whl")) - {wheel})]


def from_machine(_folder):
    """Wheels to unpack, pip's first."""
    bundled = importlib.util.find_spec("ensurepip")
    places = [*([pathlib.Path(bundled.origin).parent / "_bundled"] if bundled else []),
              sysconfig.get_config_var("WHEEL_PKG_DIR"),
              *os.environ.get("PIP_FIND_LINKS", "").split(), *SYSTEM_WHEELS]
    for place in filter(None, places):
        found = newest(pathlib.Path(place).glob("pip-[0-9]*.whl"))
        if found:
            return found
    raise Unavailable("no wheel of it on the machine")


def apt(folder, lists, *words):
    own = ["-o", f"Dir::State::lists={folder}/lists"] if lists else []
    return subprocess.run(
        ["apt-get", "-qq", *own, "-o", f"Dir::Cache={folder}/cache",
         "-o", "APT::Sandbox::User=root", "-o", "Acquire::Languages=none", *words],
        cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)


def unpack_debian(folder, *packages):
    """Unpack Debian's packages below `folder`; each is a tuple of the names that it may have.  If
    apt has no lists, or old ones, lists are fetched into `folder`: the machine's stay as they are."""
    if not (shutil.which("apt-get") and shutil.which("dpkg")):
        raise Unavailable("there is no apt-get")
    for part in ("lists/partial", "cache/archives/partial"):
        (folder / part).mkdir(parents=True, exist_ok=True)

    def download(lists):
        """What apt says of each package that it has under none of its names."""
        why = []
        for names in packages:
            for name in names:
                done = apt(folder, lists, "download", name)
                if done.returncode == 0:
                    break
            else:
                why.append(last_line(done.stderr))
        return why

    if download(False):
        updated = apt(folder, True, "update").stderr
        why = download(True)
        if why:
            raise Unavailable("apt-get: " + last_line(updated or why[0]))
    for package in folder.glob("*.deb"):
        subprocess.run(["dpkg", "-x", package, folder], check=True, stdin=subprocess.DEVNULL)


def from_debian(folder):
    unpack_debian(folder, DEBIAN_PIP)
    found = newest(folder.rglob("pip-[0-9]*.whl"))
    if not found:
        raise Unavailable("Debian's package has no wheel of it")
    return found


# ---- what pip needs besides ----

def add_distutils(folder, part):
    """Before Python 3.10 pip needs all of distutils, which Debian leaves out as well."""
    unpack_debian(folder, DEBIAN_DISTUTILS)
    running = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    shutil.copytree(pathlib.Path(sysconfig.get_path("stdlib")) / "distutils", part / "distutils")
    for file in (folder / "usr/lib" / running / "distutils").rglob("*.py"):
        target = part / file.relative_to(folder / "usr/lib" / running)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, target)


def lacks_distutils():
    if sys.version_info >= (3, 10):
        return False
    try:
        return importlib.util.find_spec("distutils.cmd") is None
    except ModuleNotFoundError:
        return True


def bundled_certificates(part):
    """The module of this pip that says where certificates are."""
    return next(part.glob("**/certifi/core.py"))


def lacks_certificates(part):
    """Whether it does: Debian's pip needs those of the machine, whatever its settings name."""
    return (DEBIAN_BUNDLE in bundled_certificates(part).read_text()
            and not os.path.exists(DEBIAN_BUNDLE))


def add_certificates(folder, part):
    """Those of Debian, or the older ones that came with pip, beside the module."""
    module = bundled_certificates(part)
    try:
        unpack_debian(folder, DEBIAN_CERTIFICATES)
        found = sorted((folder / "usr/share/ca-certificates").rglob("*.crt"))
        module.with_name("cacert.pem").write_text("".join(file.read_text() for file in found))
    except Unavailable:
        if not module.with_name("cacert.pem").exists():
            raise
    beside = '__file__.replace("core.py", "cacert.pem")'
    module.write_text(module.read_text().replace(f"'{DEBIAN_BUNDLE}'", beside))


# ---- build/pip ----

def make(source, folder):
    """build/pip, whole or not at all."""
    part = folder / "whole"
    for wheel in source(folder):
        with zipfile.ZipFile(wheel) as opened:
            opened.extractall(part)
    if lacks_distutils():
        add_distutils(folder, part)
    if lacks_certificates(part):
        add_certificates(folder, part)
    tried = subprocess.run([sys.executable, part / "pip", "--version"],
                           stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if tried.returncode:
        raise Unavailable(f"the pip found does not run: {last_line(tried.stderr)}")
    part.replace(PIP)


@contextlib.contextmanager
def alone():
    """One process at a time makes build/pip.  What an interrupted one left is removed."""
    BUILD.mkdir(exist_ok=True)
    with open(BUILD / "pip.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder = BUILD / "pip.part"
        shutil.rmtree(folder, ignore_errors=True)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def get():
    """Makes build/pip, or raises NoPip."""
    reasons = []
    try:
        with alone() as folder:
            for source in (from_machine, from_debian):
                if PIP.exists():
                    return
                folder.mkdir()
                try:
                    make(source, folder)
                except (Unavailable, OSError, zipfile.BadZipFile,
                        subprocess.CalledProcessError) as why:
                    reasons.append(str(why))
                    shutil.rmtree(folder)
    except OSError as why:
        raise NoPip(f"this Python has no pip, and {PIP} cannot be made: {why}. {ADVICE}") from None
    if not PIP.exists():
        raise NoPip(f"this Python has no pip, and none was found: {'; '.join(reasons)}. {ADVICE}")


def has_pip(python):
    if python == sys.executable:
        return importlib.util.find_spec("pip") is not None
    return subprocess.run([python, "-c", "import pip"], stdin=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 0


def serves_others():
    """Whether this Python's own pip knows --python."""
    said = subprocess.run([sys.executable, "-m", "pip", "--version"], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True).stdout
    found = re.match(r"pip (\d+)\.(\d+)", said)
    return found is not None and tuple(map(int, found.groups())) >= (22, 3)


def command(python=sys.executable):
    """What runs pip for this Python: the words before pip's own.  Raises NoPip."""
    python = str(python)
    if has_pip(python):
        return [python, "-m", "pip"]
    if has_pip(sys.executable) and serves_others():
        return [sys.executable, "-m", "pip", "--python", python]
    if not PIP.exists():
        get()
    return [python, str(PIP / "pip")]


def environment():
    """The environment that pip runs in: pip does not read SSL_CERT_FILE, and where there is no
    network its five retries take long."""
    named = os.environ.get("SSL_CERT_FILE")
    return {**({"REQUESTS_CA_BUNDLE": named} if named else {}), "PIP_RETRIES": "2",
            **os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def run(arguments, python=sys.executable, **options):
    """subprocess.run of pip."""
    words = [*command(python), *map(str, arguments)]
    return subprocess.run(words, env=environment(), stdin=subprocess.DEVNULL, **options)


class Unreachable(str):
    """A reason that holds for all that the index has."""


def reason(said):
    """Why pip failed, in a line."""
    found = UNREACHABLE.search(said)
    if found:
        host = re.search(r"host='([^']+)'", said)
        return Unreachable(f"{host[1] if host else 'the package index'} cannot be reached: {found[0]}")
    # Where a wheel is not what the index says, lines with both hashes follow.
    errors = [line for line in said.splitlines()
              if line.startswith("ERROR: ") and line != "ERROR: Exception:"]
    return errors[-1] if errors else last_line(said)


def main():
    try:
        return run(sys.argv[1:]).returncode
    except NoPip as why:
        print(f"pip: {why}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
