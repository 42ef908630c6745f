# SPDX-License-Identifier: Apache-2.0
"""Reads the exported functions and version nodes of a real shared library with pyelftools."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from .errors import InputError
from .model import Library, Symbol

_EXPORTED = {"STB_GLOBAL", "STB_WEAK"}
_HIDDEN = 0x8000


def read_library(path: Path) -> Library:
    """Exports of `path`; raises InputError when it is not an ELF shared library with version nodes."""
    try:
        with path.open("rb") as file:
            return _read(ELFFile(file), path)
    except OSError as error:
        raise InputError(f"The library cannot be read ({error.strerror}).", path) from None
    except (ELFError, ValueError, KeyError, AttributeError, IndexError) as error:
        raise InputError(f"Not a sound ELF library ({error or type(error).__name__}).", path) from None


def _read(image: ELFFile, path: Path) -> Library:
    sections: list[Any] = [
        image.get_section_by_name(name) for name in (".dynamic", ".dynsym", ".gnu.version", ".gnu.version_d")
    ]
    dynamic, symbols, versions, definitions = sections
    if not (dynamic and symbols):
        raise InputError("Not a shared library: it has no dynamic symbols.", path)
    soname = next((tag.soname for tag in dynamic.iter_tags("DT_SONAME")), path.name)
    names: dict[int, str] = {}
    nodes: dict[str, tuple[str, ...]] = {}
    for definition, auxiliaries in definitions.iter_versions() if definitions else ():
        own, *parents = [auxiliary.name for auxiliary in auxiliaries]
        names[definition["vd_ndx"]] = own
        if definition["vd_flags"] & 1 == 0:
            nodes[own] = tuple(parents)
    exported = []
    for index, symbol in enumerate(symbols.iter_symbols()):
        info = symbol["st_info"]
        if symbol["st_shndx"] == "SHN_UNDEF" or info["bind"] not in _EXPORTED or info["type"] != "STT_FUNC":
            continue
        raw = versions.get_symbol(index)["ndx"] if versions else 1
        number = raw if isinstance(raw, int) else 1
        exported.append(Symbol(symbol.name, names.get(number & ~_HIDDEN, ""), not number & _HIDDEN))
    return Library(soname, nodes, tuple(sorted(exported, key=str)))
