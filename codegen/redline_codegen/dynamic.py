# SPDX-License-Identifier: Apache-2.0
"""What a shared object asks of the system: the libraries it needs and the newest glibc version node."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection

Version = tuple[int, ...]


def system_glibc() -> Version:
    """The version of the C library that this process runs with; empty when it is not glibc."""
    try:
        text = os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (ValueError, OSError):
        text = ""
    return parse_version(text.removeprefix("glibc "))


def parse_version(text: str) -> Version:
    return tuple(int(number) for number in re.findall(r"\d+", text))


def needed(file: Path) -> tuple[set[str], Version]:
    """The NEEDED names of an ELF file and the newest GLIBC_x it asks for; both empty for any other file."""
    newest: Version = ()
    with file.open("rb") as stream:
        if stream.read(4) != b"\x7fELF":
            return set(), newest
        elf = ELFFile(stream)
        dynamic = elf.get_section_by_name(".dynamic")
        tags: Iterable[Any] = dynamic.iter_tags("DT_NEEDED") if isinstance(dynamic, DynamicSection) else []
        names = {str(tag.needed) for tag in tags}
        versions = elf.get_section_by_name(".gnu.version_r")
        for _, auxiliaries in versions.iter_versions() if isinstance(versions, GNUVerNeedSection) else []:
            for auxiliary in auxiliaries:
                if auxiliary.name.startswith("GLIBC_2"):
                    newest = max(newest, parse_version(auxiliary.name.removeprefix("GLIBC_")))
    return names, newest


def needed_by(folders: Iterable[Path]) -> tuple[set[str], Version]:
    """What the libraries in these folders need together and do not hold themselves."""
    names: set[str] = set()
    held: set[str] = set()
    newest: Version = ()
    for folder in folders:
        for file in folder.iterdir() if folder.is_dir() else []:
            held.add(file.name)
            if file.is_symlink() or not file.is_file() or ".so" not in file.name:
                continue
            try:
                more, version = needed(file)
            except ELFError:
                continue
            names |= more
            newest = max(newest, version)
    return names - held, newest


def system_libraries() -> set[str]:
    """File names of the 64-bit libraries that the system's dynamic linker finds."""
    tool = shutil.which("ldconfig") or shutil.which("ldconfig", path="/sbin:/usr/sbin")
    if tool is None:
        return set()
    listing = subprocess.run([tool, "-p"], capture_output=True, text=True, check=False).stdout
    return set(re.findall(r"^\s*(\S+) \([^)]*x86-64[^)]*\) =>", listing, re.MULTILINE))
