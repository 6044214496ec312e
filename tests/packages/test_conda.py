# SPDX-License-Identifier: MIT
"""packaging/conda/recipe.yaml: a package built by rattler-build from the source archive.

There is no channel to take a compiler from: the machine's own stands in for conda's, called
with the flags that conda's activation sets.
"""
import json
import shutil
import sys
import types

import pytest

import build
import distribution
import package

RECIPE = build.ROOT / "packaging" / "conda" / "recipe.yaml"
PLATFORM = {"x86_64": "linux-64", "aarch64": "linux-aarch64"}[build.ARCH]
ACTIVATION = """
export CC=cc
export CFLAGS="-ftree-vectorize -fPIC -fstack-protector-strong -fno-plt -O2 -ffunction-sections \
-pipe -isystem $PREFIX/include"
export LDFLAGS="-Wl,-O2 -Wl,--sort-common -Wl,--as-needed -Wl,-z,relro -Wl,-z,now \
-Wl,--disable-new-dtags -Wl,--gc-sections -Wl,-rpath,$PREFIX/lib -Wl,-rpath-link,$PREFIX/lib \
-L$PREFIX/lib"
"""
# In a process of its own, for it keeps a cache at home.
BUILD = """
import json, sys
import rattler_build as rattler
recipe, channel = sys.argv[1:]
variant, = rattler.Stage0Recipe.from_file(recipe).render()
made, = variant.run_build(output_dir=channel, channels=[]).packages
package = rattler.Package.from_file(made)
tested = package.run_tests(channel=[f"file://{channel}"])
print(json.dumps({"files": package.files, "needs": package.depends,
                  "tests": [str(one) for one in tested],
                  "passed": [one.success for one in tested]}))
"""


def stand_in(channel, name, version, activation):
    """An empty package of that name, but for what is run when it is activated."""
    import rattler_build
    folder = channel / "stand-ins" / name / "etc" / "conda" / "activate.d"
    folder.mkdir(parents=True)
    (folder / f"{name}.sh").write_text(activation)
    rattler_build.assemble_package(
        name=name, version=version, target_platform=PLATFORM, build_string="0",
        output_dir=channel / PLATFORM, files_dir=channel / "stand-ins" / name)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    package.need("rattler_build")
    distribution.needs("gcc", "make")
    folder = tmp_path_factory.mktemp("conda")
    (folder / "channel" / PLATFORM).mkdir(parents=True)
    shutil.copy(RECIPE, folder)
    shutil.copy(distribution.source_archive(tmp_path_factory.mktemp("dist")), folder)
    stand_in(folder / "channel", f"gcc_{PLATFORM}", "12.2", ACTIVATION)
    stand_in(folder / "channel", "make", "4.3", "")
    environment = {**distribution.build_environment(), "HOME": str(folder)}
    done = build.run(*distribution.offline(), sys.executable, "-c", BUILD, RECIPE.name, folder / "channel",
                     cwd=folder, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return types.SimpleNamespace(**json.loads(done.stdout.splitlines()[-1]))


def test_every_file_is_in_it(made):
    wanted = set().union(*distribution.expected("lib", "share/lazycuda/python", "").values())
    # Making toolkits takes Python, which the recipe does not build with: `lazycuda toolkit` makes one.
    assert [file for file in sorted(wanted - set(made.files)) if "/lazycuda/toolkit" not in file] == []


def test_it_needs_no_other_package(made):
    assert not [need for need in made.needs if not need.startswith("__glibc")]


def test_its_own_tests_pass_where_it_is_installed(made):
    assert made.passed and all(made.passed), made.tests
