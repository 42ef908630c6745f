# SPDX-License-Identifier: Apache-2.0
"""`redline-codegen rocm`: real HIP headers and libraries from Debian's suites, all below one build folder.

    <root>/<release>/{include/{hip,hsa},lib,.info/version}   one folder per HIP release
    <root>/comgr, <root>/glibc                               what the libraries need (support_libraries.py)
    <root>/../toolchain                                      clang and lld, when asked for

A folder that is there whole is not fetched again; nothing else is written. Exit code 1: something is missing.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from . import debian, dynamic, support_libraries, toolchain, wheels
from .debian import DebianError, Fetcher, Package, Suite
from .errors import InputError
from .staging import (
    Manifest,
    Row,
    copy_libraries,
    exclusive,
    hip_version,
    place,
    read_manifest,
    say,
    table,
    work_folder,
)
from .support_libraries import COMGR, GLIBC, library_path, loader_command

__all__ = ["add_arguments", "library_path", "loader_command", "run"]

STATE = ".apt"


@dataclass(frozen=True)
class Release:
    """A HIP release to get: `suites` are tried in order; without `libraries` only its headers are wanted."""

    label: str
    suites: tuple[str, ...]
    libraries: tuple[str, ...] = ()


RELEASES = [
    # ROCr 5.x still has its kernel interface in a library of its own, libhsakmt1.
    Release("5.2.3", ("bookworm",), ("libamdhip64-5", "libhsa-runtime64-1", "libhsakmt1")),
    # This one's library cannot be loaded without the code-object manager and the LLVM of its own time.
    Release("5.7.1", ("trixie",)),
    Release("6.4.3", ("forky", "sid"), ("libamdhip64-6", "libhsa-runtime64-1")),
    Release("7.2.4", ("experimental", "sid", "forky"), ("libamdhip64-7", "libhsa-runtime64-1")),
]
NEWEST = RELEASES[-1]
HIP_HEADERS, HSA_HEADERS = "libamdhip64-dev", "libhsa-runtime-dev"

DEFAULT_ITEMS = [*(release.label for release in RELEASES), COMGR, GLIBC]
WHEEL_ITEMS = [wheel.label for wheel in wheels.WHEELS]


class MovedOn(DebianError):
    """The archive answers, but no longer carries the release."""


def release_label(include: Path, upstream: str) -> str:
    """Debian's upstream version, unless the header, which has the last word, is of another release."""
    major, minor, patch = hip_version(include)
    return upstream if upstream.split(".")[:2] == [major, minor] else f"{major}.{minor}.{patch}"


def find_suite(wanted: Release, suites: Iterable[Suite]) -> tuple[Suite, Package]:
    """The first suite with exactly this release, else that with the newest of the same major version."""
    seen: list[str] = []
    others: list[tuple[dynamic.Version, Suite, Package]] = []
    failures: list[DebianError] = []
    for suite in suites:
        try:
            package = suite.package(HIP_HEADERS)
        except DebianError as error:
            failures.append(error)
            continue
        if package is not None and package.upstream == wanted.label:
            return suite, package
        seen.append(f"{suite.name} has {'none' if package is None else package.upstream}")
        if package is not None and package.upstream.split(".")[0] == wanted.label.split(".")[0]:
            others.append((dynamic.parse_version(package.upstream), suite, package))
    if others:
        return max(others, key=lambda other: other[0])[1:]
    if failures:
        raise failures[0]
    raise MovedOn(f"HIP {wanted.label} is no longer served ({', '.join(seen)})")


def _staged(root: Path, wanted: Release) -> Manifest | None:
    """The manifest of the folder that was staged for this release, whatever its label turned out to be."""
    for folder in sorted(root.iterdir()):
        manifest = None if folder.name.startswith(".") else read_manifest(folder)
        if manifest is not None and manifest.get("wanted") == wanted.label:
            return manifest
    return None


def fetch_release(root: Path, wanted: Release, fetcher: Fetcher) -> Row:
    """One release's folder."""
    manifest = _staged(root, wanted)
    if manifest is None:
        suite, hip = find_suite(wanted, fetcher.suites(wanted.suites))
        packages = [suite.package(name) for name in (HIP_HEADERS, HSA_HEADERS, *wanted.libraries)]
        found = [package for package in packages if package is not None]
        absent = {HSA_HEADERS, *wanted.libraries} - {package.name for package in found}
        if absent:
            raise DebianError(f"suite {suite.name} has {HIP_HEADERS} but no {', '.join(sorted(absent))}")
        with work_folder(root, wanted.label) as work:
            debian.fetch(suite, found, work / "unpacked")
            manifest = _stage(work, wanted, suite, hip, found)
            place(work / "folder", root / manifest["release"], manifest)
        say(f"{manifest['release']}: ready")
    return Row(
        manifest["release"],
        manifest["hip_version"],
        manifest["suite"],
        "yes",
        "yes" if manifest["library"] else "no",
        manifest["note"],
    )


def _stage(work: Path, wanted: Release, suite: Suite, hip: Package, packages: list[Package]) -> Manifest:
    """Lay out the unpacked packages as the release's folder."""
    folder = work / "folder"
    shutil.copytree(work / "unpacked" / "usr" / "include", folder / "include", symlinks=True)
    libraries = copy_libraries(work / "unpacked", folder / "lib") if wanted.libraries else []
    label = release_label(folder / "include", hip.upstream)
    (folder / ".info").mkdir()
    (folder / ".info" / "version").write_text(label + "\n", encoding="utf-8")
    hsa = next(package.upstream for package in packages if package.name == HSA_HEADERS)
    notes = [
        f"in place of {wanted.label}, which is no longer served" if label != wanted.label else "",
        f"HSA headers {hsa}" if hsa != label else "",
        "" if wanted.libraries else "headers only",
    ]
    return {
        "wanted": wanted.label,
        "release": label,
        "hip_version": ".".join(hip_version(folder / "include")),
        "suite": suite.name,
        "library": bool(wanted.libraries),
        "note": ", ".join(note for note in notes if note),
        "packages": {package.name: package.version for package in packages},
        "files": [
            "include/hip/hip_runtime_api.h",
            "include/hsa/hsa.h",
            *(f"lib/{name}" for name in libraries),
        ],
    }


def _attempt(name: str, job: Callable[[], Row]) -> Row:
    """The job's row, or one that says why there is none."""
    try:
        return job()
    except (InputError, OSError) as error:
        say(f"{name}: {error}")
        # An older release that Debian has dropped is nobody's mistake; its tests skip by name.
        excused = isinstance(error, MovedOn) and name != NEWEST.label
        return Row(name, headers="no", library="no", note="missing: see above", ok=excused)


def _checked(root: Path, row: Row) -> Row:
    """The row, with the reason when the system, with what was fetched, cannot load the release's library."""
    releases = support_libraries.releases_with_library(root)
    if row.name not in releases:
        return row
    failure = support_libraries.load_failure(root, row.name)
    if failure is None:
        return row
    say(f"{row.name}: the library cannot be loaded on this system: {failure}")
    # That a newer system refuses an old library is not for us to mend.
    return replace(row, note="not loadable here: see above", ok=row.ok and row.name != releases[-1])


def add_arguments(parser: argparse.ArgumentParser, project: Path) -> None:
    parser.add_argument(
        "--only",
        action="append",
        metavar="ITEM",
        choices=[*DEFAULT_ITEMS, *WHEEL_ITEMS, toolchain.NAME],
        help=f"get only this (repeatable): {', '.join([*DEFAULT_ITEMS, *WHEEL_ITEMS, toolchain.NAME])}",
    )
    parser.add_argument(
        "--wheels",
        action="store_true",
        help=f"also headers of HIP {', '.join(WHEEL_ITEMS)}, out of wheels (pip, 210 MB)",
    )
    parser.add_argument(
        "--toolchain",
        action="store_true",
        help="also clang and lld, for the host and for amdgcn kernels (60 MB)",
    )
    parser.add_argument(
        "--root",
        type=Path,
        default=project / "build" / "rocm",
        metavar="DIR",
        help="where to put it all (%(default)s)",
    )
    parser.add_argument(
        "--mirror", metavar="URI", help="a Debian archive to use instead of the one in apt's set-up"
    )


def run(args: argparse.Namespace) -> int:
    """Get what the arguments ask for; prints the table and returns the exit code."""
    items: list[str] = args.only or [
        *DEFAULT_ITEMS,
        *(WHEEL_ITEMS if args.wheels else []),
        *([toolchain.NAME] if args.toolchain else []),
    ]
    root: Path = args.root
    with exclusive(root):
        fetcher = Fetcher(root / STATE, args.mirror, say)
        minor = NEWEST.label.rpartition(".")[0]
        jobs: dict[str, Callable[[], Row]] = {
            **{release.label: partial(fetch_release, root, release, fetcher) for release in RELEASES},
            COMGR: partial(support_libraries.fetch_comgr, root, fetcher, NEWEST.suites, minor),
            **{wheel.label: partial(wheels.fetch_wheel, root, wheel) for wheel in wheels.WHEELS},
            toolchain.NAME: partial(toolchain.fetch_toolchain, root.parent / toolchain.NAME, fetcher),
        }
        with ThreadPoolExecutor(max_workers=4) as pool:
            pending = {name: pool.submit(_attempt, name, job) for name, job in jobs.items() if name in items}
            rows = [row.result() for row in pending.values()]
        if GLIBC in items:
            # Last, because it is made of what the others turn out to need.
            rows.append(_attempt(GLIBC, lambda: support_libraries.fetch_glibc(root, fetcher)))
            rows = [_checked(root, row) for row in rows]
        complete = all(row.ok for row in rows)
        if complete:
            shutil.rmtree(root / STATE, ignore_errors=True)
    print(table(rows))
    return 0 if complete else 1
