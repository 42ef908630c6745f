# SPDX-License-Identifier: Apache-2.0
"""Folders that appear whole or not at all, each with a manifest that says what it is made of."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import InputError

MANIFEST = Path(".info/manifest.json")
PARTIAL = ".partial-"
LIBRARY_NAME = re.compile(r"\.so(\.[\d.]+)?$")
LIBRARY_FOLDERS = {"lib", "lib64", "x86_64-linux-gnu"}

Manifest = dict[str, Any]


def say(text: str) -> None:
    """One progress line."""
    sys.stderr.write(f"rocm: {text}\n")
    sys.stderr.flush()


def read_manifest(folder: Path) -> Manifest | None:
    """The folder's manifest, if it was staged whole and every file that the manifest names is still there."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(manifest, dict):
        return None
    return manifest if all((folder / file).exists() for file in manifest.get("files", [])) else None


def place(folder: Path, target: Path, manifest: Manifest) -> None:
    """Give a finished `folder` (of `work_folder`) its name, replacing what was there before."""
    (folder / ".info").mkdir(exist_ok=True)
    text = json.dumps(manifest, indent=2, sort_keys=True) + "\n"
    (folder / MANIFEST).write_text(text, encoding="utf-8")
    target.parent.mkdir(parents=True, exist_ok=True)
    old = folder.with_name(folder.name + "-old")
    if target.exists():
        target.rename(old)
    folder.rename(target)
    shutil.rmtree(old, ignore_errors=True)


@contextmanager
def work_folder(root: Path, name: str) -> Iterator[Path]:
    """A work folder on the same file system as its target; removed at the end, whatever happened."""
    folder = root / f"{PARTIAL}{name}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def exclusive(root: Path) -> Iterator[None]:
    """One process at a time below `root`; what a killed one left half done is removed."""
    root.mkdir(parents=True, exist_ok=True)
    with (root / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for leftover in root.glob(PARTIAL + "*"):
            shutil.rmtree(leftover, ignore_errors=True)
        yield


def copy_libraries(unpacked: Path, folder: Path) -> list[str]:
    """Copy the shared libraries of unpacked packages flat into `folder`, links kept; returns their names."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [file for file in sorted(unpacked.rglob("*.so*")) if LIBRARY_NAME.search(file.name)]
    files = [file for file in files if file.parent.name in LIBRARY_FOLDERS]
    for file in files:
        if not file.is_symlink():
            shutil.copy2(file, folder / file.name)
    for file in files:
        target = folder / file.name
        if file.is_symlink() and not target.exists() and not target.is_symlink():
            target.symlink_to(Path(os.readlink(file)).name)
    # A -dev package also links to libraries that only its siblings bring.
    drop_dangling(folder)
    return sorted(file.name for file in folder.iterdir())


@dataclass(frozen=True)
class Row:
    """One line of the final table; `ok` is False for something wanted that is missing."""

    name: str
    hip_version: str = "-"
    suite: str = "-"
    headers: str = "-"
    library: str = "-"
    note: str = ""
    ok: bool = True

    def cells(self) -> list[str]:
        return [self.name, self.hip_version, self.suite, self.headers, self.library, self.note]


def table(rows: Iterable[Row]) -> str:
    """The rows under their headings, in columns."""
    lines = [
        ["release", "HIP version", "suite", "headers", "library", "note"],
        *(row.cells() for row in rows),
    ]
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    padded = [[cell.ljust(width) for cell, width in zip(line, widths, strict=True)] for line in lines]
    return "\n".join("  ".join(cells).rstrip() for cells in padded)


def hip_version(include: Path) -> tuple[str, str, str]:
    """HIP's major, minor and patch number as the staged `hip_version.h` has them."""
    header = include / "hip" / "hip_version.h"
    text = header.read_text(encoding="utf-8", errors="replace")
    numbers = dict(
        re.findall(r"^\s*#\s*define\s+HIP_VERSION_(MAJOR|MINOR|PATCH)\s+(\d+)", text, re.MULTILINE)
    )
    for name in ("MAJOR", "MINOR", "PATCH"):
        if name not in numbers:
            raise InputError(f"HIP_VERSION_{name} is not defined", header)
    return numbers["MAJOR"], numbers["MINOR"], numbers["PATCH"]


def prune_libraries(folder: Path, unwanted: Iterable[str]) -> None:
    """Remove these libraries and the files that only they link to."""
    for name in unwanted:
        file = folder / name
        if file.exists():
            target = file.resolve()
            file.unlink()
            if target.parent == folder.resolve():
                target.unlink(missing_ok=True)
    drop_dangling(folder)


def drop_dangling(folder: Path) -> None:
    """Remove links that lead nowhere, and the links to those."""
    while dangling := [file for file in folder.iterdir() if file.is_symlink() and not file.exists()]:
        for file in dangling:
            file.unlink()
