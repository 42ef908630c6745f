# SPDX-License-Identifier: Apache-2.0
"""What the fetched HIP libraries need besides the system: AMD's code-object manager, and a private glibc set.

    <root>/comgr/lib   libamd_comgr.so and LLVM
    <root>/glibc       libraries that the system lacks; with libc and its loader when the system's is too old

`loader_command` and `library_path` say how a program is run with them.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from . import debian, dynamic
from .debian import DebianError, Dependency, Fetcher, Package, Suite
from .staging import Manifest, Row, copy_libraries, place, prune_libraries, read_manifest, say, work_folder

COMGR = "comgr"
GLIBC = "glibc"
LOADER = "ld-linux-x86-64.so.2"
COMGR_PACKAGE = "libamd-comgr3"

# What HIP's and HSA's libraries need; of the suites, the oldest with glibc 2.38 asks least of the kernel.
NEEDS = ("libnuma1", "libdrm2", "libdrm-amdgpu1", "libelf1t64")
LIBC = ("libc6", "libgcc-s1", "libstdc++6")
SUITES = ("trixie", "forky", "sid")
NOT_A_LIBRARY = re.compile(r"-(base|bin|common|data|dev|doc)$|^libclang-common-|^debconf")

LOAD_TEST = "import ctypes, os, sys\nfor file in sys.argv[1:]: ctypes.CDLL(file, mode=os.RTLD_NOW)"


def releases_with_library(root: Path) -> list[str]:
    """Names of the release folders that hold libamdhip64, oldest first."""
    found = {file.parent.parent.name for file in root.glob("*/lib/libamdhip64.so.*")}
    return sorted((name for name in found if not name.startswith(".")), key=dynamic.parse_version)


def _needs_private_glibc(root: Path, folder: Path) -> bool:
    """Whether the system cannot load what is in this folder, for its glibc's age or for want of libraries."""
    if not (root / GLIBC / LOADER).exists():
        return False
    names, glibc = dynamic.needed_by([folder])
    return glibc > dynamic.system_glibc() or bool(names - dynamic.system_libraries())


def _search_folders(root: Path, release: str) -> tuple[list[Path], bool]:
    """Library folders for a program that uses this release, and whether the private loader must start it."""
    root = root.resolve()
    library, comgr, glibc = root / release / "lib", root / COMGR / "lib", root / GLIBC
    if _needs_private_glibc(root, library):
        return [library, *([comgr] if comgr.is_dir() else []), glibc], True
    folders = [library]
    # The system's loader must neither see a newer libc nor libraries built for it.
    if comgr.is_dir() and dynamic.needed_by([comgr])[1] <= dynamic.system_glibc():
        folders.append(comgr)
    if glibc.is_dir() and not (glibc / LOADER).exists():
        folders.append(glibc)
    return folders, False


def library_path(root: Path, release: str) -> str:
    """The search path (as in LD_LIBRARY_PATH) for a program that uses the release staged below `root`."""
    return os.pathsep.join(str(folder) for folder in _search_folders(root, release)[0])


def loader_command(root: Path, release: str | None = None) -> list[str] | None:
    """The prefix that runs a program with a release (default: the newest) which the system cannot load.

    None when the system's own loader will do: then set LD_LIBRARY_PATH to `library_path`. With a prefix that
    is not needed, LD_PRELOAD works as ever, and the program must be given by its path.
    """
    if release is None:
        present = releases_with_library(root)
        if not present:
            return None
        release = present[-1]
    folders, private = _search_folders(root, release)
    path = os.pathsep.join(str(folder) for folder in folders)
    return [str(root.resolve() / GLIBC / LOADER), "--library-path", path] if private else None


def load_failure(root: Path, release: str) -> str | None:
    """Why the release's libraries and the code-object manager cannot be loaded, or None when they can."""
    files = [root / release / "lib" / name for name in ("libhsa-runtime64.so.1", "libamdhip64.so")]
    if release == releases_with_library(root)[-1]:
        files += sorted((root / COMGR / "lib").glob("libamd_comgr.so.*"))[:1]
    prefix = loader_command(root, release)
    environment = dict(os.environ)
    if prefix is None:
        environment["LD_LIBRARY_PATH"] = library_path(root, release)
    command = [
        *(prefix or []),
        sys.executable,
        "-I",
        "-S",
        "-c",
        LOAD_TEST,
        *(str(file.resolve()) for file in files),
    ]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return (
        None
        if done.returncode == 0
        else (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
    )


def fetch_comgr(root: Path, fetcher: Fetcher, suites: Iterable[str], version: str) -> Row:
    """The code-object manager from the first suite with `version` or newer, and its needs but for libc."""
    folder = root / COMGR
    manifest = read_manifest(folder)
    if manifest is None:
        names = tuple(suites)
        found = debian.first_carrier(fetcher.suites(names), Dependency(COMGR_PACKAGE, ">=", f"{version}~"))
        if found is None:
            raise DebianError(f"no suite of {', '.join(names)} has {COMGR_PACKAGE} {version} or newer")
        home, comgr = found
        chosen = _closure([comgr], fetcher, LIBC)
        with work_folder(root, COMGR) as work:
            debian.fetch(home, [comgr], work / "unpacked")
            debian.fetch_all(chosen, work / "unpacked")
            library = work / "folder" / "lib"
            copy_libraries(work / "unpacked", library)
            if dynamic.needed_by([library])[1] <= dynamic.system_glibc():
                prune_libraries(library, _held_by_system(library, besides="libamd_comgr"))
            manifest = {
                "version": comgr.upstream,
                "suite": home.name,
                "packages": _versions([found, *chosen.values()]),
                "files": sorted(f"lib/{file.name}" for file in library.iterdir()),
            }
            place(work / "folder", folder, manifest)
        say(f"{COMGR}: ready")
    llvm = next((name for name in manifest["packages"] if name.startswith("libllvm")), "no LLVM")
    return Row(
        COMGR, "-", manifest["suite"], "-", "yes", f"code-object manager {manifest['version']}, {llvm}"
    )


def fetch_glibc(root: Path, fetcher: Fetcher) -> Row:
    """What the staged libraries need and the system lacks; all of it and a loader if its glibc is too old."""
    releases = releases_with_library(root)
    if not releases:
        return Row(GLIBC, note="no library is there that could need it")
    folders = [root / release / "lib" for release in releases] + [root / COMGR / "lib"]
    needs = [dynamic.needed_by([folder]) for folder in folders]
    glibc = max(version for _, version in needs)
    lacking = set().union(*(names for names, _ in needs)) - dynamic.system_libraries()
    system = dynamic.system_glibc()
    too_old = glibc > system
    wanted, has = (".".join(map(str, version)) for version in (glibc, system))
    if not too_old and not lacking:
        return Row(GLIBC, note=f"not needed: the system has glibc {has} and every library")
    folder = root / GLIBC
    manifest = read_manifest(folder)
    fits = (
        manifest is not None
        and manifest["loader"] == too_old
        and lacking <= set(manifest["files"])
        and (not too_old or dynamic.parse_version(manifest["version"]) >= glibc)
    )
    if manifest is None or not fits:
        manifest = _stage_glibc(root, fetcher, too_old, wanted)
        still = set(lacking) - set(manifest["files"])
        if still:
            raise DebianError(f"no package that was fetched holds {', '.join(sorted(still))}")
    note = (
        f"private loader: the system's {has} is older than {wanted}"
        if too_old
        else "only what the system lacks"
    )
    return Row(GLIBC, "-", manifest["suite"], "-", "yes", note)


def _stage_glibc(root: Path, fetcher: Fetcher, with_libc: bool, glibc: str) -> Manifest:
    wanted = [Dependency(name) for name in NEEDS]
    if with_libc:
        wanted += [Dependency("libc6", ">=", glibc), *(Dependency(name) for name in LIBC[1:])]
    roots = []
    for need in wanted:
        found = debian.first_carrier(fetcher.suites(SUITES), need)
        if found is None:
            raise DebianError(
                f"none of {', '.join(SUITES)} has {need.name} {need.operator} {need.version}".rstrip()
            )
        roots.append(found)
    chosen = {package.name: (suite, package) for suite, package in roots}
    chosen |= _closure([package for _, package in roots], fetcher, () if with_libc else LIBC)
    with work_folder(root, GLIBC) as work:
        debian.fetch_all(chosen, work / "unpacked")
        folder = work / "folder"
        copy_libraries(work / "unpacked", folder)
        if not with_libc:
            prune_libraries(folder, _held_by_system(folder))
        libc = next((package.upstream for _, package in roots if package.name == "libc6"), "")
        manifest: Manifest = {
            "loader": with_libc,
            "version": libc,
            "suite": ", ".join(dict.fromkeys(suite.name for suite, _ in chosen.values())),
            "packages": _versions(chosen.values()),
            "files": sorted(file.name for file in folder.iterdir()),
        }
        place(folder, root / GLIBC, manifest)
    say(f"{GLIBC}: ready")
    return manifest


def _closure(
    roots: list[Package], fetcher: Fetcher, skip: tuple[str, ...]
) -> dict[str, tuple[Suite, Package]]:
    return debian.closure(
        roots, fetcher.suites(SUITES), lambda name: name in skip or NOT_A_LIBRARY.search(name) is not None
    )


def _versions(chosen: Iterable[tuple[Suite, Package]]) -> dict[str, str]:
    return {package.name: f"{package.version} ({suite.name})" for suite, package in chosen}


def _held_by_system(folder: Path, besides: str = "\0") -> list[str]:
    names = {file.name for file in folder.iterdir()}
    return sorted(name for name in names & dynamic.system_libraries() if not name.startswith(besides))
