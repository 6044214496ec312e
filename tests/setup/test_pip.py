# SPDX-License-Identifier: MIT
"""A Python without pip gets one, from where pip's settings say; and only whole."""
import json
import os
import socket
import ssl
import subprocess
import sys
import urllib.request

import pytest

import build
import pip_settings
import pip_sources
from index_server import Index, pip_wheel, write


def arrived(done, version="99.0"):
    assert done.returncode == 0, done.err
    assert f"made-up pip {version} list --x" in done.out
    return done


@pytest.mark.parametrize("kind", ["json", "html"])
def test_from_an_index(bare, index, kind):
    index.json = kind == "json"
    pip_wheel(index.folder, "98.9")
    pip_wheel(index.folder)
    (index.folder / "pip-99.2.tar.gz").write_text("")
    pip_wheel(index.folder, "99.3b1")
    index.requires[pip_wheel(index.folder, "99.4").name] = ">=9.1"
    index.yanked.add(pip_wheel(index.folder, "99.5").name)
    arrived(bare.run("list", "--x", PIP_INDEX_URL=index.url))
    asked = len(index.asked)
    arrived(bare.run("list", "--x", PIP_INDEX_URL=index.url))
    assert len(index.asked) == asked, "it is there, and was fetched again"
    assert sorted(path.name for path in (bare.root / "build").iterdir()) == ["pip", "pip.lock"]


@pytest.mark.parametrize("kind", ["json", "html"])
def test_a_wrong_hash_is_refused(bare, index, kind):
    index.json = kind == "json"
    index.hashes[pip_wheel(index.folder).name] = "0" * 64
    done = bare.run("list", PIP_INDEX_URL=index.url)
    assert done.returncode == 1 and "its sha256 is another" in done.err
    assert not bare.pip.exists()


def test_credentials_of_the_address(bare, index):
    index.login = "me:a/b@c"
    pip_wheel(index.folder)
    url = index.url.replace("//", "//me:a%2Fb%40c@")
    arrived(bare.run("list", "--x", PIP_INDEX_URL=url))


def test_credentials_are_not_shown(bare, refused):
    done = bare.run("list", PIP_INDEX_URL=refused.replace("//", "//me:secret@"))
    assert done.returncode == 1 and "secret" not in done.err and "127.0.0.1" in done.err


def test_credentials_go_to_the_index_alone(bare, index, tmp_path):
    index.login = "me:secret"
    other = Index(tmp_path / "other")
    index.elsewhere = other.address.replace("127.0.0.1", "localhost")
    for one in (index, other):
        pip_wheel(one.folder)
    arrived(bare.run("list", "--x", PIP_INDEX_URL=index.url.replace("//", "//me:secret@")))
    assert other.asked == [("/files/pip-99.0-py3-none-any.whl", None)]
    other.close()


@pytest.mark.parametrize("address, known", [
    ("https://a.invalid/x", True), ("https://A.invalid:443/x", True),
    ("http://a.invalid/x", False), ("https://a.invalid:444/x", False),
    ("https://b.invalid/x", False)])
def test_credentials_go_nowhere_without_tls(address, known):
    request = urllib.request.Request(address)
    opener = pip_settings.opener({}, "https://me:secret@a.invalid/simple")
    for handler in opener.process_request[request.type]:
        request = getattr(handler, request.type + "_request")(request)
    assert request.has_header("Authorization") == known


@pytest.mark.parametrize("url", [
    "http://me:sec/ret@a.invalid/simple", "http://me:sec#ret@a.invalid/simple",
    "http://sec/ret@a.invalid/simple", "http://me:sec[ret]@a.invalid/simple",
    "http://me:secret@[::1/simple", "http://me:secret@a.invalid:port/simple",
    "http://me:secret@a.invalid/sim ple"])
def test_an_address_that_is_none_shows_no_credentials(bare, url):
    done = bare.run("list", PIP_INDEX_URL=url)
    assert done.returncode == 1 and len(done.err.splitlines()) == 1
    assert not [part for part in ("sec", "ret", "me:") if part in done.err], done.err


def test_credentials_of_netrc(bare, index):
    index.login = "me:secret"
    pip_wheel(index.folder)
    netrc = bare.root.parent / "home" / ".netrc"
    netrc.write_text("machine 127.0.0.1 login me password secret\n")
    netrc.chmod(0o600)
    arrived(bare.run("list", "--x", PIP_INDEX_URL=index.url))


CONFIGURED = {"PIP_CONFIG_FILE": "named.conf", "XDG_CONFIG_HOME": "own/pip/pip.conf",
              "XDG_CONFIG_DIRS": "site/pip/pip.conf", None: "home/.config/pip/pip.conf",
              "legacy": "home/.pip/pip.conf"}


@pytest.mark.parametrize("place", CONFIGURED, ids=str)
def test_configuration_files(bare, index, tmp_path, place):
    pip_wheel(index.folder)
    file = tmp_path / CONFIGURED[place]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"[global]\nindex-url = {index.url}\n")
    named = {"PIP_CONFIG_FILE": file, "XDG_CONFIG_HOME": tmp_path / "own",
             "XDG_CONFIG_DIRS": tmp_path / "site"}.get(place)
    arrived(bare.run("list", "--x", **({place: str(named)} if named else {})))


def test_a_proxy(bare, index):
    pip_wheel(index.folder)
    # The stand-in for a proxy looks at the path alone, as it is asked for a whole address.
    done = bare.run("list", PIP_INDEX_URL="http://nowhere.invalid/simple", PIP_PROXY=index.address,
                    no_proxy="")
    assert [path for path, _ in index.asked] == ["http://nowhere.invalid/simple/pip/"], done.err


def test_settings_are_those_that_pip_sees(settings, tmp_path, monkeypatch):
    files = {"home/.pip/pip.conf": "[global]\ntimeout = 1\nretries = 1\ncert = legacy\n",
             "home/.config/pip/pip.conf": "[global]\ntimeout = 2\nretries = 2\n"
                                          "extra-index-url = http://a.invalid\n"
                                          "    http://b.invalid\n[download]\nproxy = mine\n",
             "site/pip/pip.conf": "[global]\ntimeout = 3\nno-index = true\nfind_links = x y\n"}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(text)
    settings.update(PIP_TIMEOUT="4", PIP_TRUSTED_HOST="c.invalid",
                    XDG_CONFIG_DIRS=str(tmp_path / "site"))
    del settings["PIP_RETRIES"]

    def config(*words):
        return subprocess.run([sys.executable, "-m", "pip", "config", *words], env=settings,
                              capture_output=True, text=True).stdout.strip()

    seen = {"global": {}, "download": {}, ":env:": {}}
    for line in config("list").splitlines():
        name, _, value = line.partition("=")
        section, _, name = name.rpartition(".")
        # Of what stands in several files the list says no order; "get" reads the user's alone.
        users = section != ":env:" and config("get", f"{section}.{name}")
        seen[section][name] = users or value.strip("'\"").replace("\\n", "\n")
    seen = {**seen["global"], **seen["download"], **seen[":env:"]}
    assert seen["retries"] == "2" and seen["cert"] == "legacy"
    for name in list(os.environ):
        if name not in settings:
            monkeypatch.delenv(name)
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    read = pip_settings.read()
    assert {name: read.get(name) for name in seen} == seen
    assert pip_settings.read()["proxy"] == "mine"
    assert pip_settings.indexes(pip_settings.read()) == []


def test_no_configuration_file(monkeypatch):
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    assert pip_settings.files() == []
    monkeypatch.delenv("PIP_CONFIG_FILE")
    assert "/etc/pip.conf" in map(str, pip_settings.files())


def test_a_folder_of_wheels(bare, tmp_path):
    pip_wheel(tmp_path)
    arrived(bare.run("list", "--x", PIP_NO_INDEX="1", PIP_FIND_LINKS=str(build.without_spaces(tmp_path))))


def test_what_a_distribution_took_out_of_pip(bare, tmp_path):
    pip_wheel(tmp_path, more={
        "pip/_vendor/__init__.py": "DEBUNDLED = True\n",
        "pip/__main__.py": "import os, sys\n"
                           "sys.path.insert(0, os.path.dirname(os.path.dirname(__file__)))\n"
                           "import beside\nprint('made-up pip 99.0 list --x')\n"})
    write(tmp_path / "beside-1-py3-none-any.whl", {"beside.py": ""})
    write(tmp_path / "certifi-1-py3-none-any.whl", {"certifi/core.py": ""})
    arrived(bare.run("list", "--x", PIP_FIND_LINKS=str(build.without_spaces(tmp_path))))


def test_a_pip_that_does_not_run(bare, index, tmp_path):
    pip_wheel(tmp_path, more={"pip/__main__.py": "import nowhere_to_be_found\n"})
    pip_wheel(index.folder, "98.0")
    arrived(bare.run("list", "--x", PIP_FIND_LINKS=str(build.without_spaces(tmp_path)), PIP_INDEX_URL=index.url), "98.0")


def test_certificates(bare, tmp_path):
    made = subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
         "/CN=here", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem",
         "-out", "cert.pem"], cwd=tmp_path, capture_output=True) if has_openssl() else None
    if not made or made.returncode:
        pytest.skip("there is no openssl to make a certificate with")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    index = Index(tmp_path / "secured", tls)
    pip_wheel(index.folder)
    bare.settings["PIP_CONFIG_FILE"] = os.devnull      # which may name certificates
    done = bare.run("list", PIP_INDEX_URL=index.url)
    assert done.returncode == 1 and "certificate verify failed" in done.err
    named = str(tmp_path / "cert.pem")
    said = arrived(bare.run("list", "--x", PIP_INDEX_URL=index.url, SSL_CERT_FILE=named))
    assert f"bundle {named}" in said.out, "pip itself is to trust it as well"
    (bare.pip / "pip").rename(bare.root / "away")
    bare.pip.rename(bare.root / "away" / "rest")
    arrived(bare.run("list", "--x", PIP_INDEX_URL=index.url, PIP_CERT=named))
    index.close()


@pytest.mark.parametrize("setting", ["PIP_CERT", "PIP_CLIENT_CERT"])
def test_certificates_that_are_not_there(bare, setting):
    done = bare.run("list", PIP_INDEX_URL="https://a.invalid/simple", **{setting: "/nowhere.pem"})
    assert done.returncode == 1
    assert "cannot be read from /nowhere.pem: No such file or directory" in done.err


def has_openssl():
    return any(os.access(os.path.join(folder, "openssl"), os.X_OK)
               for folder in os.environ["PATH"].split(":"))


def test_no_network(bare, refused):
    done = bare.run("list", PIP_INDEX_URL=refused)
    assert done.returncode == 1 and len(done.err.splitlines()) == 1
    for part in (refused, "refused", "apt-get", "python3-venv", "python3-pip", "PIP_INDEX_URL"):
        assert part in done.err
    assert not bare.pip.exists() and not (bare.root / "build" / "pip.part").exists()


def test_two_at_a_time(bare, index):
    pip_wheel(index.folder)
    both = [bare.start("list", "--x", PIP_INDEX_URL=index.url) for _ in range(2)]
    assert all("made-up pip 99.0" in one.communicate(timeout=120)[0] for one in both)
    assert sum(path.startswith("/files/") for path, _ in index.asked) == 1


# Stand-ins: without lists of its own apt knows no package, and what dpkg unpacks is a folder.
APT = """#!/bin/sh
folder="@"
echo "$*" >>"$folder/log"
case "$*" in
*" update") case "$*" in *State::lists=*) : >"$folder/updated" ;; esac ;;
*" download python3-pip-whl") echo "E: Unable to locate package python3-pip-whl" >&2; exit 100 ;;
*) [ -e "$folder/updated" ] || exit 100; for last; do :; done; : >"$last.deb" ;;
esac
"""
DPKG = """#!/bin/sh
/bin/cp -r "@/packages/$(/usr/bin/basename "$2" .deb)/." "$3"
"""


@pytest.fixture
def debian(bare, tmp_path):
    for name, text in (("apt-get", APT), ("dpkg", DPKG)):
        (bare.root / "bin" / name).write_text(text.replace("@", str(tmp_path)))
        (bare.root / "bin" / name).chmod(0o755)
    wheels = tmp_path / "packages/python-pip-whl/usr/share/python-wheels"
    wheels.mkdir(parents=True)
    pip_wheel(wheels, more={
        "pip/_vendor/certifi/core.py": "where = '/nowhere/ca-certificates.crt'\n",
        "pip/_vendor/certifi/__init__.py": "",
        "pip/__main__.py": "import os, sys\n"
                           "sys.path.insert(0, os.path.dirname(os.path.dirname(__file__)))\n"
                           "from pip._vendor.certifi import core\n"
                           "print('made-up pip 99.0 list --x', open(core.where).read())\n"})
    certificates = tmp_path / "packages/ca-certificates/usr/share/ca-certificates/mozilla"
    certificates.mkdir(parents=True)
    for name in ("A", "B"):
        (certificates / f"{name}.crt").write_text(f"certificate {name}\n")
    distutils = tmp_path / "packages/python3-distutils"
    distutils.mkdir()
    return tmp_path


def test_debian_without_certificates(bare, debian):
    said = arrived(bare.run("list", "--x")).out
    assert "certificate A\ncertificate B" in said
    log = (debian / "log").read_text().splitlines()
    assert sum(line.endswith(" update") for line in log) == 1, "certificates take no other lists"
    assert all(f"Dir::Cache={bare.root}/build/" in line for line in log)
    assert sorted(path.name for path in (bare.root / "build").iterdir()) == ["pip", "pip.lock"]


def test_debian_where_pip_is_to_be_had_elsewhere(bare, debian, index):
    pip_wheel(index.folder)
    arrived(bare.run("list", "--x", PIP_INDEX_URL=index.url))
    assert not (debian / "log").exists()


@pytest.mark.parametrize("requires, python, fits", [
    ("", (3, 8, 0), True), (">=3.9", (3, 8, 20), False), (">=3.9", (3, 9, 0), True),
    (">=2.7,!=3.0.*,!=3.1.*", (3, 1, 4), False), (">=2.7, !=3.0.*", (3, 14, 0), True),
    ("<3.10", (3, 9, 7), True), ("==3.9.*", (3, 9, 7), True), ("~=3.9", (3, 9, 7), False)])
def test_what_a_wheel_asks_of_python(requires, python, fits):
    assert pip_sources.suits(requires, python) == fits


@pytest.mark.parametrize("answer", [{"detail": "no"}, [], {"files": None}, {"files": ["x"]}],
                         ids=str)
def test_an_index_of_another_form(bare, index, answer):
    index.page = lambda package: ("application/json", json.dumps(answer))
    done = bare.run("list", PIP_INDEX_URL=index.url)
    assert done.returncode == 1 and "no index answers like this" in done.err
    assert len(done.err.splitlines()) == 1


@pytest.mark.parametrize("answer", [
    "junk", "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 9\r\n\r\n<a",
    "HTTP/1.1 302 no\r\nLocation: http://a.invalid:port/\r\n\r\n"], ids=["junk", "short", "moved"])
def test_an_answer_that_is_none(bare, answer):
    with socket.create_server(("127.0.0.1", 0)) as server:
        started = bare.start("list", PIP_INDEX_URL=f"http://127.0.0.1:{server.getsockname()[1]}/s")
        asking, _ = server.accept()
        with asking:
            asking.recv(65536)
            asking.sendall(answer.encode())
        _, said = started.communicate(timeout=120)
    assert started.returncode == 1 and len(said.splitlines()) == 1
    assert "no index answers like this" in said


def test_a_tree_that_cannot_be_written(bare):
    (bare.root / "build").write_text("")
    done = bare.run("list")
    assert done.returncode == 1 and len(done.err.splitlines()) == 1
    assert f"{bare.pip} cannot be made" in done.err


def test_a_user_whom_nobody_knows(tmp_path, monkeypatch):
    """Containers run programs as such users."""
    def unknown(_):
        raise KeyError

    monkeypatch.delenv("HOME")
    monkeypatch.delenv("PIP_CONFIG_FILE", raising=False)
    monkeypatch.setattr("pwd.getpwuid", unknown)
    monkeypatch.setenv("PIP_FIND_LINKS", "~/wheels")
    monkeypatch.chdir(tmp_path)
    settings = pip_settings.read()
    assert list(map(str, pip_settings.find_links(settings)[0])) == ["~/wheels"]


def test_a_login_in_letters_of_others(bare, index):
    index.login = "ü:ß"
    pip_wheel(index.folder)
    arrived(bare.run("list", "--x", PIP_INDEX_URL=index.url.replace("//", "//%C3%BC:%C3%9F@")))
