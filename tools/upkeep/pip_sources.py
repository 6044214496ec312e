# SPDX-License-Identifier: MIT
"""Where a wheel of pip is to be had: on this machine, from an index, from Debian.

Each from_X(settings, folder) gives the wheels to unpack, pip's first; what it has
to fetch for that it puts into `folder`.  It raises Unavailable where there is none.
"""
import hashlib
import html.parser
import http.client
import importlib.util
import json
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import urllib.parse
import urllib.request
import zipfile

import pip_settings

SYSTEM_WHEELS = ("/usr/share/python-wheels", "/usr/share/python3-wheels")
# What releases of Debian and its kin call the package of pip.
DEBIAN_PIP = ("python3-pip-whl", "python-pip-whl")


# What is raised by reading an answer that does not have the form of an index's.
NOT_AN_INDEX = (LookupError, TypeError, AttributeError, http.client.HTTPException)


class Unavailable(Exception):
    """There is none from this source, and why."""


# ---- a wheel of pip ----

def version(name):
    """(25, 3) of pip-25.3-py3-none-any.whl; None if it is no wheel of a released pip."""
    found = re.fullmatch(r"pip-(\d+(?:\.\d+)*)-[\w.]*py3[\w.]*-none-any\.whl", name)
    return tuple(map(int, found[1].split("."))) if found else None


def newest(files):
    """The newest pip among files or links, by their names; None if there is none."""
    wheels = [file for file in files if version(file.name)]
    return max(wheels, key=lambda file: version(file.name), default=None)


def machine_folders(settings):
    """Where a wheel of pip lies on a machine that has one."""
    found = importlib.util.find_spec("ensurepip")
    own = sysconfig.get_config_var("WHEEL_PKG_DIR")
    return [*([pathlib.Path(found.origin).parent / "_bundled"] if found else []),
            *([pathlib.Path(own)] if own else []),
            *pip_settings.find_links(settings)[0], *map(pathlib.Path, SYSTEM_WHEELS)]


def from_machine(settings, folder):
    """Wheels to unpack, pip's first."""
    for place in machine_folders(settings):
        wheel = newest(place.glob("pip-*.whl"))
        if wheel:
            return with_its_parts(wheel)
    raise Unavailable("no wheel of it on the machine")


def with_its_parts(wheel):
    """The wheel, and the wheels beside it into which some distributions put pip's own parts."""
    with zipfile.ZipFile(wheel) as opened:
        vendored = opened.read("pip/_vendor/__init__.py").decode()
    if "DEBUNDLED = True" not in vendored:
        return [wheel]
    return [wheel, *(file for file in sorted(wheel.parent.glob("*.whl")) if file != wheel)]


# ---- an index ----

class Link:
    def __init__(self, url, hashes, requires, yanked):
        self.url = url
        self.name = urllib.parse.unquote(urllib.parse.urlsplit(url).path).rpartition("/")[2]
        self.hashes = hashes
        self.requires = requires or ""
        self.yanked = yanked

    def runs_here(self):
        return not self.yanked and suits(self.requires, sys.version_info[:3])


def suits(requires, running):
    """Whether this Python is one that, say, ">=3.9,!=3.9.1" asks for."""
    tests = {">=": lambda a, b: a >= b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b,
             "<": lambda a, b: a < b, "==": lambda a, b: a == b, "!=": lambda a, b: a != b}
    for clause in filter(None, requires.replace(" ", "").split(",")):
        found = re.fullmatch(r"(>=|<=|>|<|==|!=)(\d+(?:\.\d+)*)(\.\*)?", clause)
        if not found:
            return False
        wanted = tuple(map(int, found[2].split(".")))
        length = len(wanted) if found[3] else 3
        if not tests[found[1]](running[:length], (wanted + (0, 0))[:length]):
            return False
    return True


class Page(html.parser.HTMLParser):
    """Links of a page of a simple index."""

    def __init__(self, url):
        super().__init__()
        self.base = url
        self.links = []

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        if tag == "base" and values.get("href"):
            self.base = urllib.parse.urljoin(self.base, values["href"])
        if tag != "a" or not values.get("href"):
            return
        url, _, fragment = urllib.parse.urljoin(self.base, values["href"]).partition("#")
        kind, _, digest = fragment.partition("=")
        self.links.append(Link(url, {kind: digest} if digest else {},
                               values.get("data-requires-python"), "data-yanked" in values))


def links(url, kind, text):
    """The links in an answer, HTML or JSON."""
    if not kind.endswith("json"):
        page = Page(url)
        page.feed(text)
        return page.links
    return [Link(urllib.parse.urljoin(url, file["url"]), file.get("hashes") or {},
                 file.get("requires-python"), bool(file.get("yanked")))
            for file in json.loads(text)["files"]]


def check(data, link):
    """Raises Unavailable where these are not the bytes that the index promised."""
    for kind in sorted(set(link.hashes) & hashlib.algorithms_guaranteed):
        if hashlib.new(kind, data).hexdigest() != link.hashes[kind].lower():
            raise Unavailable(f"{pip_settings.shown(link.url)} is not the file that the "
                              f"index names: its {kind} is another")


def from_page(settings, url, folder):
    """Fetches the newest pip that a page links to."""
    opener = pip_settings.opener(settings, url)
    wait = pip_settings.timeout(settings)
    request = urllib.request.Request(pip_settings.without_login(url), headers={
        "Accept": "application/vnd.pypi.simple.v1+json, text/html;q=0.2"})
    with opener.open(request, timeout=wait) as answer:
        found = links(answer.geturl(), answer.headers.get_content_type(), answer.read().decode())
    link = newest([link for link in found if link.runs_here()])
    if not link:
        raise Unavailable(f"{pip_settings.shown(url)} has no pip for Python "
                          f"{sys.version_info[0]}.{sys.version_info[1]}")
    with opener.open(pip_settings.without_login(link.url), timeout=wait) as answer:
        data = answer.read()
    check(data, link)
    (folder / link.name).write_bytes(data)
    return [folder / link.name]


def from_index(settings, folder):
    pages = [index.rstrip("/") + "/pip/" for index in pip_settings.indexes(settings)]
    reasons = []
    for url in [*pages, *pip_settings.find_links(settings)[1]]:
        try:
            return from_page(settings, url, folder)
        except Unavailable as why:
            reasons.append(str(why))
        except NOT_AN_INDEX as why:
            reasons.append(f"{pip_settings.shown(url)}: no index answers like this: {why!r}")
        except (OSError, ValueError) as why:
            reasons.append(f"{pip_settings.shown(url)}: {getattr(why, 'reason', why)}")
    raise Unavailable("; ".join(reasons) or "pip's settings name no index")


# ---- Debian's package ----

def last_line(text):
    return (text.strip() or "no reason given").splitlines()[-1]


def apt(folder, lists, *words):
    own = ["-o", f"Dir::State::lists={folder}/lists"] if lists else []
    return subprocess.run(
        ["apt-get", "-qq", *own, "-o", f"Dir::Cache={folder}/cache",
         "-o", "APT::Sandbox::User=root", "-o", "Acquire::Languages=none", *words],
        cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)


def download_debian(folder, lists, names):
    """None, or why none of these packages was to be had."""
    for name in names:
        done = apt(folder, lists, "download", name)
        if done.returncode == 0:
            return None
    return last_line(done.stderr)


def unpack_debian(folder, *packages):
    """Unpacks Debian's packages below `folder`.  If apt has no lists, or old ones, lists are
    fetched into `folder`: the machine's stay as they are."""
    if not (shutil.which("apt-get") and shutil.which("dpkg")):
        raise Unavailable("there is no apt-get")
    for part in ("lists/partial", "cache/archives/partial"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    why = "apt has no sources"
    for lists in (False, True):
        if lists:
            updated = apt(folder, lists, "update").stderr
        why = list(filter(None, (download_debian(folder, lists, names) for names in packages)))
        if not why:
            break
    if why:
        raise Unavailable("apt-get: " + last_line(updated or why[0]))
    for package in folder.glob("*.deb"):
        subprocess.run(["dpkg", "-x", package, folder], check=True, stdin=subprocess.DEVNULL)


def from_debian(settings, folder):
    unpack_debian(folder, DEBIAN_PIP)
    wheel = newest(folder.rglob("pip-*.whl"))
    if not wheel:
        raise Unavailable("Debian's package has no wheel of it")
    return with_its_parts(wheel)
