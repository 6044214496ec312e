#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Build, demo and tests as a new user meets them, on distributions other than this one.

    tests/distributions.py [options] [ROOT...]      ROOT: sid, sid/clang

Makes a minimal Debian of each release with mmdebstrap: a compiler, make, python3 and
nothing else.  In each an ordinary user runs the commands in a fresh clone of this tree: a
build that stops at warnings, `make demo` and `make test`, or those given by --run.
Nothing of this machine is seen there but its /dev, its /proc, and what pip's settings in
the environment name.

A root is a file below build/distributions and is made once; the folder in which commands
run is unpacked from it each time and removed again.  Nothing but mmdebstrap and pip uses
the network: its proxy, certificate and pip settings are handed on from the environment.

As root this needs mmdebstrap; otherwise also uidmap, and a range of ids for the user in
/etc/subuid.  What cannot be made is skipped, with the reason.

The last line is `N passed, N failed, N skipped`, of commands.
Exit status: 0 no command failed, 1 one did, 2 wrong usage.
"""
import argparse
import collections
import itertools
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tarfile
import time

TREE = pathlib.Path(__file__).resolve().parent.parent
FOLDER = TREE / "build" / "distributions"

Root = collections.namedtuple("Root", "release compiler")
RELEASES = ("bullseye", "bookworm", "trixie", "sid")
COMPILERS = ("gcc", "clang")
# What the README says is enough.
PACKAGES = ("libc6-dev", "make", "python3")
COMMANDS = ("make -j4 BUILD=build/strict WARNINGS='-Wall -Wextra -Werror'", "make demo",
            "make test")
HOME = "/home/user"
CLONE = f"{HOME}/lazycuda"
# Other settings of pip begin with PIP_.
HANDED_ON = ("http_proxy", "https_proxy", "no_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY",
             "NO_PROXY", "ALL_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE",
             "CURL_CA_BUNDLE", "CUDA_VERSIONS")
# A minimal Debian has no certificates of authorities; whoever cloned over https has.
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
PIP_SETTINGS = "/etc/pip.conf"
# There what settings name is to be seen.  Not in /etc or /opt: the tests' sandbox lays
# something over these, and the kernel refuses that where others have mounted below.
SHOWN_AT = "/mnt"
# Of the log of a command that failed: what failed is in pytest's summary.
SHOWN = 60

# In a namespace of its own: $1 the root's folder; the rest is a command for its owner.
# /proc cannot be mounted where a container hides parts of its own.
MOUNTS = """
root=$1; shift
mount --bind "$root" "$root"
mount -t proc proc "$root/proc" 2>/dev/null || mount --rbind /proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --rbind /sys "$root/sys"
"""
# Unlike chroot, this leaves the power to make user namespaces.  The shell stays: whoever
# becomes another user is no longer killed with unshare, but goes when the shell does.
ENTER = """
cd "$root"
pivot_root . .
umount -l .
cd /
"$@" || exit
:
"""


class Unavailable(Exception):
    """What keeps a root from being made."""


def named(text):
    """The roots that `sid` or `sid/clang` means."""
    release, *compilers = text.split("/")
    if set(compilers) - set(COMPILERS):
        raise argparse.ArgumentTypeError(f"{text}: RELEASE[/COMPILER]: {', '.join(COMPILERS)}")
    return [Root(release, compiler) for compiler in compilers or COMPILERS]


def name(root):
    return "-".join(root)


def call(script, *arguments, log):
    """Runs a shell script, as root, with mounts and processes of its own; its exit status.  What it
    prints goes to the end of the log."""
    user = ["--user", "--map-auto", "--map-root-user"] if os.geteuid() else []
    command = ["unshare", *user, "--mount", "--pid", "--fork", "--kill-child", "sh", "-euc", script,
               "sh", *map(str, arguments)]
    with open(log, "ab") as stream:
        return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=stream,
                              stderr=subprocess.STDOUT).returncode


# ---- roots ----

def last_line(log):
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return lines[-1].strip() if lines else "nothing was printed"


def make_root(root, options, log):
    """The archive of a minimal Debian, made if it is not there."""
    archive = options.folder / f"{name(root)}.tar"
    if archive.exists():
        return archive
    if not shutil.which("mmdebstrap"):
        raise Unavailable("there is no mmdebstrap (Debian: apt install mmdebstrap)")
    new = archive.with_suffix(f".{os.getpid()}.tar")
    # A mirror of one's own may be older than unstable's files are said to be good for.
    command = ["mmdebstrap", "--quiet", "--variant=minbase", "--mode=root", "--format=tar",
               "--skip=output/mknod", '--aptopt=Acquire::Check-Valid-Until "false"',
               f"--include={','.join([root.compiler, *PACKAGES])}", root.release, new]
    if call('exec "$@"', *command, log=log):
        new.unlink(missing_ok=True)
        raise Unavailable(f"mmdebstrap: {last_line(log)}")
    new.replace(archive)
    return archive


def tree_files():
    """What a clone has, with what is changed here."""
    done = subprocess.run(["git", "-C", TREE, "ls-files", "-z", "--cached", "--others",
                           "--exclude-standard"], capture_output=True, text=True)
    if done.returncode == 0:
        return [file for file in done.stdout.split("\0") if file and (TREE / file).exists()]
    return [str(file.relative_to(TREE)) for file in TREE.rglob("*")
            if file.is_file() and "build" not in file.relative_to(TREE).parts[:1]]


def pack_tree(archive):
    with tarfile.open(archive, "w") as packed:
        for file in tree_files():
            packed.add(TREE / file, file)


def unpack_root(root, archive, options, log):
    """The folder of a root with an ordinary user and a clone in it."""
    folder = options.folder / name(root)
    remove(folder, log)
    folder.mkdir(parents=True)
    tree = folder.with_suffix(".tree.tar")
    pack_tree(tree)
    status = call(r"""
folder=$1 archive=$2 tree=$3 home=$4 clone=$5
tar -C "$folder" --numeric-owner --exclude='./dev/*' -xf "$archive"
for file in resolv.conf hosts; do
	[ ! -e "/etc/$file" ] || { rm -f "$folder/etc/$file"; cat "/etc/$file" >"$folder/etc/$file"; }
done
chroot "$folder" useradd --create-home --home-dir "$home" --uid 1000 --shell /bin/sh user
mkdir -p "$folder$clone/build"
tar -C "$folder$clone" --no-same-owner -xf "$tree"
chown -R 1000:1000 "$folder$home"
""", folder, archive, tree, HOME, CLONE, log=log)
    tree.unlink()
    if status:
        raise Unavailable(f"the root could not be unpacked: {last_line(log)}")
    return folder


def remove(folder, log):
    """Its files belong to users of the namespace."""
    if folder.exists():
        call('exec rm -rf --one-file-system "$1"', folder, log=log)


# ---- commands ----

def handed_on():
    """What the environment and the machine say of how to reach pip's index."""
    handed = {key: value for key, value in os.environ.items()
              if key in HANDED_ON or key.startswith("PIP_")}
    for key, file in (("SSL_CERT_FILE", CERTIFICATES), ("PIP_CONFIG_FILE", PIP_SETTINGS)):
        if os.path.exists(file):
            handed.setdefault(key, file)
    return handed


def settings(root):
    """The environment of the user."""
    compiler = {} if root.compiler == "gcc" else {"CC": root.compiler, "HOSTCC": root.compiler}
    return {**as_seen_inside(handed_on()), **compiler, "HOME": HOME,
            "USER": "user", "LOGNAME": "user", "LANG": "C.UTF-8",
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            # One for all roots: each wheel is fetched once.
            "PIP_CACHE_DIR": f"{HOME}/.cache/pip"}


def shown(env):
    """The files and folders of this machine that settings name."""
    return [word for word in dict.fromkeys(" ".join(env.values()).split())
            if word.startswith("/") and os.path.exists(word)]


def as_seen_inside(env):
    """The settings with the paths that these files have there."""
    named = shown(env)
    return {key: " ".join(f"{SHOWN_AT}{word}" if word in named else word for word in value.split())
            for key, value in env.items()}


def mount_script(options, env):
    """Mounts, and then the command."""
    lines = [MOUNTS]
    for path in shown(env):
        make = "mkdir -p" if os.path.isdir(path) else "install -D /dev/null"
        source, target = shlex.quote(path), f'"$root"{shlex.quote(SHOWN_AT + path)}'
        lines.append(f"[ -e {target} ] || {make} {target}\n"
                     f"mount --bind {source} {target}\nmount -o remount,bind,ro {target}")
    cache = shlex.quote(str(options.folder / "pip-cache"))
    inside = f'"$root{HOME}/.cache/pip"'
    lines += [f"mkdir -p {cache} {inside}; chown 1000:1000 {cache} {inside} {inside[:-5]}\"",
              f"mount --bind {cache} {inside}"]
    return "\n".join(lines) + ENTER


def run(root, folder, command, options, log):
    """(exit status, seconds) of a command of the user's in the clone."""
    env = settings(root)
    script = mount_script(options, handed_on())
    words = ["env", "-i", *(f"{key}={value}" for key, value in env.items()),
             "setpriv", "--reuid=1000", "--regid=1000", "--clear-groups",
             "sh", "-c", f'cd "$1" && {command}', "sh", CLONE]
    with open(log, "ab") as stream:
        stream.write(f"\n$ {command}\n".encode())
    before = time.monotonic()
    status = call(script, folder, *words, log=log)
    return status, time.monotonic() - before


def say(text):
    print(text, flush=True)


def try_root(root, options):
    """(passed, failed, skipped) of the commands; one line is printed for each."""
    log = options.folder / f"{name(root)}.log"
    log.unlink(missing_ok=True)
    try:
        archive = make_root(root, options, log)
        folder = unpack_root(root, archive, options, log)
    except Unavailable as why:
        say(f"{name(root)}: skipped: {why}")
        return 0, 0, len(options.run)
    failed = 0
    for command in options.run:
        status, seconds = run(root, folder, command, options, log)
        failed += status != 0
        say(f"{name(root)}: {command}: {'ok' if status == 0 else f'failed ({status})'}, "
            f"{seconds:.0f} s: {last_line(log)}")
        if status:
            said = log.read_text(errors="replace").splitlines()[-SHOWN:]
            say("\n".join([*said, f"    all of it: {log}"]))
    if not options.keep:
        remove(folder, log)
    return len(options.run) - failed, failed, 0


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("roots", nargs="*", type=named, metavar="ROOT",
                        help=f"default: all of {', '.join(RELEASES)}")
    parser.add_argument("--run", action="append", metavar="COMMAND",
                        help="instead of the three above; may be repeated")
    parser.add_argument("--keep", action="store_true", help="do not remove the folders")
    parser.add_argument("--folder", type=pathlib.Path, default=FOLDER,
                        help="where all is made, default build/distributions")
    options = parser.parse_args()
    options.folder = options.folder.resolve()
    options.run = options.run or COMMANDS
    options.roots = [root for roots in options.roots for root in roots] or [
        Root(*both) for both in itertools.product(RELEASES, COMPILERS)]
    return options


def main():
    options = parse()
    options.folder.mkdir(parents=True, exist_ok=True)
    counts = [try_root(root, options) for root in options.roots]
    passed, failed, skipped = map(sum, zip(*counts))
    say(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
