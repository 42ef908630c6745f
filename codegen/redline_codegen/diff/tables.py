# SPDX-License-Identifier: Apache-2.0
"""Findings about HIP's dispatch tables: appending is harmless; whatever else moves is another function's place."""

from __future__ import annotations

from collections.abc import Iterator

from ..model import DispatchTable
from .finding import Finding, Severity
from .pair import Pair


def compare_tables(pair: Pair) -> Iterator[Finding]:
    old, new = pair.old.part.tables, pair.new.part.tables
    for name in sorted(old.keys() | new.keys()):
        before, after = old.get(name), new.get(name)
        if before is None:
            meaning = "Calls that pass the dynamic linker by can be seen from this release on."
            yield _finding(pair, "table-added", name, before, after, Severity.NOTE, meaning)
        elif after is None:
            meaning = (
                "Calls that pass the dynamic linker by are not seen: where there may be any, HIP launches."
            )
            yield _finding(pair, "table-removed", name, before, after, Severity.LOST_ACCELERATION, meaning)
        elif before != after:
            yield _changed(pair, name, before, after)


def _changed(pair: Pair, name: str, before: DispatchTable, after: DispatchTable) -> Finding:
    kept = len(before.functions)
    if (before.major, before.functions) == (after.major, after.functions[:kept]):
        meaning = "Functions were appended; places that are known stay what they were."
        return _finding(pair, "table-grown", name, before, after, Severity.NOTE, meaning)
    meaning = (
        "A place that holds one function in the one release holds another in the other, where entries are replaced by "
        "shims; the library compares places with HIP's code before it uses them and does without the table then."
    )
    edit = "Check that `generated/` is made from the layout of the library it is for, then acknowledge."
    return _finding(pair, "table-rearranged", name, before, after, Severity.UNSAFE, meaning, edit)


def _finding(
    pair: Pair,
    rule: str,
    name: str,
    before: DispatchTable | None,
    after: DispatchTable | None,
    severity: Severity,
    meaning: str,
    edit: str = "",
) -> Finding:
    return Finding(
        rule,
        name,
        _text(before),
        _text(after),
        severity,
        pair.library,
        True,
        meaning,
        edit,
        details=tuple(_details(before, after)) if before and after else (),
    )


def _text(table: DispatchTable | None) -> str | None:
    if table is None:
        return None
    return f"version {table.major}.{table.step}: {' '.join(table.functions)}"


def _details(before: DispatchTable, after: DispatchTable) -> Iterator[str]:
    """The version, the first place that differs, and how many functions there are."""
    versions = [f"{table.major}.{table.step}" for table in (before, after)]
    if versions[0] != versions[1]:
        yield f"version {versions[0]} -> {versions[1]}"
    pairs = enumerate(zip(before.functions, after.functions, strict=False), start=1)
    moved = next((f"word {n}: {one} -> {other}" for n, (one, other) in pairs if one != other), None)
    if moved:
        yield moved
    if len(before.functions) != len(after.functions):
        yield f"{len(before.functions)} -> {len(after.functions)} functions"
