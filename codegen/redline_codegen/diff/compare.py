# SPDX-License-Identifier: Apache-2.0
"""One comparison of two releases: every finding, what could not be checked, and what was acknowledged."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..model import Part
from ..policy import Policy
from .exports import compare_exports
from .finding import Finding
from .functions import compare_functions
from .layout import compare_layouts
from .pair import Pair
from .scope import Scope
from .sides import Side
from .tables import compare_tables
from .types import compare_types

_PARTS = {"hip": "HIP", "hsa": "HSA"}
_EMPTY = Part({}, {}, {}, {}, {}, {})


@dataclass(frozen=True, slots=True)
class Comparison:
    """`findings` holds everything, most severe first; `not_checkable` one sentence for each gap."""

    old: Side
    new: Side
    everything: bool
    """Asked for with --all: out of scope findings count, and all functions that a change reaches are named."""
    findings: tuple[Finding, ...]
    not_checkable: tuple[str, ...]
    parts: tuple[str, ...]
    """`hip` and `hsa`, as far as both sides have headers or both a library of it."""


def compare(old: Side, new: Side, policy: Policy, root: Path, everything: bool = False) -> Comparison:
    """Compares what both sides have. `root` is the project, whose runtime says which macros it uses."""
    words = runtime_words(root)
    findings: list[Finding] = []
    gaps: list[str] = []
    checked: list[str] = []
    for library in _PARTS:
        sides = [side.api.parts.get(library, _EMPTY) for side in (old, new)]
        gaps += _gaps(library, old, new)
        declared = all(part.functions for part in sides)
        if not declared and not all(part.library for part in sides):
            continue
        checked.append(library)
        first, second = (Scope(library, part, policy, words, everything) for part in sides)
        pair = Pair(library, first, second, policy)
        if declared:
            findings += compare_functions(pair)
            types = list(compare_types(pair))
            other = {
                f.entity: f.fingerprint for f in types if f.rule == "typedef-changed" and f.old and f.new
            }
            findings += compare_layouts(pair, other)
            findings += types
            findings += compare_tables(pair)
        findings += compare_exports(pair)
    findings.sort(key=lambda f: (-f.severity, list(_PARTS).index(f.part)))
    return Comparison(old, new, everything, tuple(findings), tuple(gaps), tuple(checked))


def runtime_words(root: Path) -> frozenset[str]:
    """Identifiers of HIP and HSA that the hand-written runtime names."""
    words: set[str] = set()
    for path in sorted((root / "runtime").glob("**/*.[ch]")):
        words.update(
            re.findall(r"\b(?:hip|hsa|HIP|HSA)\w+", path.read_text(encoding="utf-8", errors="replace"))
        )
    return frozenset(words)


def _gaps(library: str, old: Side, new: Side) -> Iterator[str]:
    name = _PARTS[library]
    parts = [(side, side.api.parts.get(library)) for side in (old, new)]
    bare = [side.source for side, part in parts if part is None or not part.functions]
    if bare:
        yield (f"{name} prototypes, layouts, enumerators and macros: {_none(bare)} no {name} headers.")
    missing = [side.source for side, part in parts if part is None or part.library is None]
    if missing:
        yield (
            f"{name} exports, version nodes, default versions, and what is declared but not exported: "
            f"{_none(missing)} no {name} library."
        )


def _none(sources: list[str]) -> str:
    return f"{sources[0]} has" if len(sources) == 1 else f"{sources[0]} and {sources[1]} have"
