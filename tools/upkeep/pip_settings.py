# SPDX-License-Identifier: MIT
"""pip's settings, for a machine without pip: which index, through which proxy, with
whose certificates.

They are read where pip reads them, and later ones win: the configuration files of
the machine, of the user and of the environment that Python lies in, the file that
PIP_CONFIG_FILE names, and the variables PIP_*.
"""
import base64
import configparser
import contextlib
import netrc
import os
import pathlib
import re
import ssl
import sys
import urllib.parse
import urllib.request

# The sections of a file; [download] overrides [global].
SECTIONS = ("global", "download")
# What requests, which pip uses, reads if pip's own settings name no certificates.
BUNDLE_VARIABLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")


def expanded(path):
    """As pip expands it: ~ stays without HOME, and for a user that does not exist."""
    return pathlib.Path(os.path.expanduser(path))


def user_files():
    home = expanded("~")
    own = os.environ.get("XDG_CONFIG_HOME") or home / ".config"
    return [home / ".pip/pip.conf", pathlib.Path(own) / "pip/pip.conf"]


def files():
    """Those that pip would read, in its order."""
    named = os.environ.get("PIP_CONFIG_FILE")
    if named == os.devnull:
        return []
    folders = (os.environ.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(os.pathsep)
    found = [pathlib.Path(folder) / "pip/pip.conf" for folder in folders]
    found.append(pathlib.Path("/etc/pip.conf"))
    if not (named and os.path.exists(named)):
        found += user_files()
    found.append(pathlib.Path(sys.prefix) / "pip.conf")
    return found + ([pathlib.Path(named)] if named else [])


def key(name):
    return name.lower().replace("_", "-")


def read():
    """{"index-url": ..., "cert": ...}, texts as they were written."""
    values = {}
    for file in files():
        parser = configparser.RawConfigParser()
        try:
            parser.read(file, encoding="utf-8")
        except (OSError, UnicodeDecodeError, configparser.Error) as error:
            print(f"pip: {file} cannot be read: {str(error).splitlines()[0]}", file=sys.stderr)
            continue
        for section in SECTIONS:
            if parser.has_section(section):
                values.update((key(name), value) for name, value in parser.items(section))
    # pip lets an empty variable count as none.
    values.update((key(name[4:]), value) for name, value in os.environ.items()
                  if name.startswith("PIP_") and value)
    return values


def is_on(settings, name):
    return settings.get(name, "").lower() in ("1", "y", "yes", "t", "true", "on")


def indexes(settings):
    """Addresses of simple indexes that are named; pip's own default is known to pip alone."""
    if is_on(settings, "no-index"):
        return []
    named = [settings.get("index-url", ""), *settings.get("extra-index-url", "").split()]
    return [url for url in named if url]


def find_links(settings):
    """Folders, and addresses of pages, that are named."""
    words = settings.get("find-links", "").split()
    folders = [pathlib.Path(urllib.request.url2pathname(urllib.parse.urlsplit(word).path))
               if word.startswith("file:") else expanded(word)
               for word in words if not word.startswith(("http:", "https:"))]
    return folders, [word for word in words if word.startswith(("http:", "https:"))]


def certificates(settings):
    """The file or folder that is named, or None."""
    named = [settings.get("cert"), *map(os.environ.get, (*BUNDLE_VARIABLES, "SSL_CERT_FILE"))]
    return next((name for name in named if name), None)


@contextlib.contextmanager
def read_from(file):
    """Has errors name the file, which those of ssl do not."""
    try:
        yield
    except OSError as why:
        raise OSError(f"certificates cannot be read from {file}: {why.strerror or why}") from None


def context(settings, place):
    """The certificates to trust there."""
    trusted = settings.get("trusted-host", "").split()
    if place.hostname in trusted or place.netloc.rpartition("@")[2] in trusted:
        made = ssl.create_default_context()
        made.check_hostname, made.verify_mode = False, ssl.CERT_NONE
        return made
    named = certificates(settings)
    with read_from(named):
        if named and os.path.isdir(named):
            return ssl.create_default_context(capath=named)
        return ssl.create_default_context(cafile=named)


def login(place):
    """(name, password) in an address, or for it in ~/.netrc; None if there is none."""
    if place.username:
        return (urllib.parse.unquote(place.username),
                urllib.parse.unquote(place.password or ""))
    try:
        found = netrc.netrc().authenticators(place.hostname)
    except (OSError, netrc.NetrcParseError):
        return None
    return found and (found[0], found[2])


def split(url):
    """The parts of an address.  Raises ValueError, with nothing of the address: what is wrong
    with it may be its password."""
    try:
        place = urllib.parse.urlsplit(url)
        if place.port != 0 and not re.search(r"\s", url):
            return place
    except ValueError:
        pass
    raise ValueError("this is no address; in a login, / is written %2F, # %23, ? %3F, @ %40")


def without_login(url):
    """The address that urllib takes."""
    place = split(url)
    return urllib.parse.urlunsplit(place._replace(netloc=place.netloc.rpartition("@")[2]))


def shown(text):
    """The address for a message: all that may be a login is left out, also where it has a /
    or # that should have been written otherwise."""
    return re.sub("//.*@", "//", text)


def origin(url):
    """Where an address leads, and whether by TLS."""
    place = split(url)
    return place.scheme, place.hostname, place.port or {"http": 80, "https": 443}.get(place.scheme)


class Login(urllib.request.BaseHandler):
    """Tells name and password to the index alone: to no other host, and not without TLS if the
    index has it, wherever a link or a redirection leads."""

    def __init__(self, index, name, password):
        self.origin = origin(index)
        self.header = "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()

    def http_request(self, request):
        if origin(request.full_url) == self.origin:
            request.add_unredirected_header("Authorization", self.header)
        return request

    https_request = http_request


def opener(settings, index):
    """The opener of urllib for this index."""
    place = split(index)
    known = login(place)
    secured = context(settings, place)
    client = settings.get("client-cert")
    if client:
        with read_from(client):
            secured.load_cert_chain(client)
    proxy = settings.get("proxy")
    return urllib.request.build_opener(
        *([Login(index, *known)] if known else []),
        urllib.request.HTTPSHandler(context=secured),
        urllib.request.ProxyHandler({"http": proxy, "https": proxy} if proxy else None))


def timeout(settings):
    """Seconds, by the name of pip's option, --timeout, or of its variable, PIP_DEFAULT_TIMEOUT."""
    try:
        return float(settings.get("timeout") or settings.get("default-timeout") or 15)
    except ValueError:
        return 15.0
