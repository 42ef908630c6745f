# SPDX-License-Identifier: Apache-2.0
"""Reads the layout of HIP's own dispatch tables from AMD's hip_api_trace.hpp.

That header is C++, but the body of each table is plain: `size_t size;`, then one pointer a function, `t_NAME NAME_fn;`.
AMD only ever appends to it. What reads otherwise is an error: a wrong slot would be another function's.
"""

from __future__ import annotations

import re
from pathlib import Path

from .errors import InputError
from .model import DispatchTable

HEADER = Path("hip/amd_detail/hip_api_trace.hpp")
VERSIONS = {"HipDispatchTable": "RUNTIME", "HipCompilerDispatchTable": "COMPILER"}
"""The tables that stand behind exported functions, and the word in their version macros."""

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_MEMBER = re.compile(r"t_(\w+)\s+(\w+)_fn")


def read_tables(include: Path) -> dict[str, DispatchTable]:
    """By the name of the struct; none where the release has no such header."""
    path = include / HEADER
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"The header cannot be read ({error}).", path) from None
    text = _COMMENT.sub("", text)
    return {name: _table(text, name, word, path) for name, word in VERSIONS.items()}


def _table(text: str, name: str, word: str, path: Path) -> DispatchTable:
    body = re.search(rf"\bstruct\s+{name}\s*\{{([^{{}}]*)\}}\s*;", text)
    if body is None:
        raise InputError(f"There is no struct {name} of plain members.", path)
    first, *members, rest = [part.strip() for part in body.group(1).split(";")]
    if first.split() != ["size_t", "size"] or rest:
        raise InputError(f"{name} does not begin with `size_t size;` and end with a member.", path)
    major, step = (_version(text, f"HIP_{word}_API_TABLE_{kind}_VERSION", path) for kind in ("MAJOR", "STEP"))
    return DispatchTable(major, step, tuple(_function(member, name, path) for member in members))


def _function(member: str, table: str, path: Path) -> str:
    match = _MEMBER.fullmatch(member)
    if match is None or match.group(1) != match.group(2):
        raise InputError(f"{table} has a member that is no function of a type of its own: `{member}`.", path)
    return match.group(1)


def _version(text: str, macro: str, path: Path) -> int:
    match = re.search(rf"^#define {macro}\s+(\d+)\s*$", text, re.MULTILINE)
    if match is None:
        raise InputError(f"{macro} is not defined as a number.", path)
    return int(match.group(1))
