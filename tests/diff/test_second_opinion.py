# SPDX-License-Identifier: Apache-2.0
"""Findings equal those of comparisons that share no code with ours, for every consecutive pair of real releases."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from conftest import ROCM, ROOT, include_folder, real_library
from redline_codegen.diff.compare import Comparison, compare
from redline_codegen.diff.finding import Finding
from redline_codegen.diff.sides import Side, read_side

from diff.conftest import compared, found, policy, snapshot
from diff.parsed_once import parsed_once
from diff.second_opinion import abi_changes, changed, integer_macros, read, stub_library

FETCHED = ("5.2.3", "5.7.1", "6.4.3", "7.2.4")
WITH_WHEELS = ("5.2.3", "5.7.1", "6.1.40091", "6.2.41134", "6.4.3", "7.1.25424", "7.2.4")
PAIRS = sorted({*pairwise(FETCHED), *pairwise(WITH_WHEELS)})
SIGNATURES_THAT_DIFFER = "Only the spelling"
RENAMES = ("rename-added", "rename-removed")
TYPE_RULES = ("layout-changed", "enumerator-added", "enumerator-removed", "enumerator-changed")


@cache
def side(path: Path) -> Side:
    with parsed_once():
        return read_side(str(path), ROOT)


@cache
def comparison(old: str, new: str) -> Comparison:
    """By headers alone, with every function that a change reaches."""
    return compare(side(include_folder(old)), side(include_folder(new)), policy(), ROOT, everything=True)


def names(findings: dict[str, Finding]) -> set[str]:
    return set(findings)


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_functions_and_signatures_are_those_of_libclang(old: str, new: str) -> None:
    before, after = read(include_folder(old)), read(include_folder(new))
    ours = comparison(old, new)
    assert (
        names(found(ours, "function-added", "per-thread-form-added"))
        == after.functions.keys() - before.functions.keys()
    )
    assert names(found(ours, "function-removed")) == before.functions.keys() - after.functions.keys()
    signatures = found(ours, "signature-changed")
    assert names(signatures) == changed(before.functions, after.functions)
    different = {name for name, f in signatures.items() if not f.meaning.startswith(SIGNATURES_THAT_DIFFER)}
    assert different == changed(before.canonical, after.canonical)
    respelled = changed(before.parameters, after.parameters) - changed(before.functions, after.functions)
    assert names(found(ours, "parameter-renamed")) == respelled


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_enumerators_are_those_of_libclang(old: str, new: str) -> None:
    before, after = read(include_folder(old)).enumerators, read(include_folder(new)).enumerators
    ours = comparison(old, new)
    assert names(found(ours, "enumerator-added")) == after.keys() - before.keys()
    assert names(found(ours, "enumerator-removed")) == before.keys() - after.keys()
    renumbered = found(ours, "enumerator-changed")
    assert {name: (f.old, f.new) for name, f in renumbered.items()} == {
        name: (str(before[name]), str(after[name])) for name in changed(before, after)
    }


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_layouts_are_those_of_libclang(old: str, new: str) -> None:
    before, after = read(include_folder(old)).records, read(include_folder(new)).records
    ours = comparison(old, new)
    assert names(found(ours, "record-added")) == after.keys() - before.keys()
    assert names(found(ours, "record-removed")) == before.keys() - after.keys()
    assert names(found(ours, "layout-changed")) == changed(before, after)


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_typedefs_are_those_of_libclang(old: str, new: str) -> None:
    before, after = read(include_folder(old)).typedefs, read(include_folder(new)).typedefs
    ours = comparison(old, new)
    assert names(found(ours, "typedef-changed")) == changed(before, after)

    def aliases(typedefs: dict[str, str]) -> set[str]:
        """Without structs and enumerations that are typedef'd to their own name."""
        return {
            n
            for n, text in typedefs.items()
            if not text.endswith(f" {n}") and "unnamed" not in text and text != n
        }

    assert names(found(ours, "typedef-added")) == aliases(after) - before.keys()
    assert names(found(ours, "typedef-removed")) == aliases(before) - after.keys()


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_macros_are_those_of_preprocessor_and_libclang(old: str, new: str) -> None:
    """A macro that stands for an enumerator is an integer for C and a rename for us."""
    before, after = integer_macros(include_folder(old)), integer_macros(include_folder(new))
    ours = comparison(old, new)
    enumerators = read(include_folder(old)).enumerators.keys() | read(include_folder(new)).enumerators.keys()
    renames = {
        rule: {n for n, f in found(ours, rule).items() if {f.old, f.new} & enumerators} for rule in RENAMES
    }
    assert names(found(ours, "macro-added")) | renames["rename-added"] == after.keys() - before.keys()
    assert names(found(ours, "macro-removed")) | renames["rename-removed"] == before.keys() - after.keys()
    assert names(found(ours, "macro-changed")) == changed(before, after)


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_affected_functions_are_those_of_abidiff(old: str, new: str, tmp_path: Path) -> None:
    """Stub libraries made from the headers give abidiff the types that AMD's libraries carry no debug data of."""
    folders = include_folder(old), include_folder(new)
    for index, folder in enumerate(folders):
        stub_library(folder, tmp_path / f"{index}.so")
    theirs = abi_changes(tmp_path / "0.so", tmp_path / "1.so")
    ours = comparison(old, new)
    before, after = read(folders[0]), read(folders[1])
    affected = {name for f in found(ours, *TYPE_RULES).values() for name in f.reaches}
    affected |= changed(before.canonical, after.canonical)
    affected &= before.functions.keys() & after.functions.keys()
    assert names(found(ours, "function-added", "per-thread-form-added")) == theirs.added
    assert names(found(ours, "function-removed")) == theirs.removed
    if theirs.complete:
        assert affected == theirs.changed
    else:
        assert theirs.changed <= affected
        assert affected - theirs.changed <= changed(before.canonical, after.canonical)


def exports(library: Path) -> dict[str, str]:
    """Exported functions and how readelf writes their version."""
    listed = subprocess.run(
        ["readelf", "--dyn-syms", "--wide", str(library)], capture_output=True, text=True, check=True
    ).stdout
    rows = re.findall(r"FUNC\s+(?:GLOBAL|WEAK)\s+\S+\s+(?:\[[^\]]*\]\s+)?(?!UND)\S+\s+(\S+?)(@@?\S+)", listed)
    return dict(rows)


@pytest.mark.parametrize(("old", "new"), [("5.2.3", "6.4.3"), ("6.4.3", "7.2.4")])
@pytest.mark.parametrize(("part", "stem"), [("hip", "libamdhip64.so"), ("hsa", "libhsa-runtime64.so")])
def test_exports_are_those_of_readelf(old: str, new: str, part: str, stem: str) -> None:
    before, after = (exports(real_library(release, stem)) for release in (old, new))
    ours = compared(snapshot(old), snapshot(new))
    shipped = set(before.values())
    added = {name: after[name] for name in after.keys() - before.keys()}
    assert added
    old_node = {name for name, node in added.items() if node in shipped}
    assert names(found(ours, "symbol-added-to-old-node", part=part)) == old_node
    assert names(found(ours, "symbol-added", part=part)) == added.keys() - old_node
    assert names(found(ours, "symbol-removed", part=part)) == before.keys() - after.keys()
    assert names(found(ours, "symbol-moved", "default-version-changed", part=part)) == changed(before, after)


@pytest.mark.parametrize("release", WITH_WHEELS)
def test_a_release_does_not_differ_from_itself_by_any_route(release: str) -> None:
    """Snapshot, ROCm folder, include folder (as out of a wheel), header and library, each against each."""
    include = include_folder(release)
    routes = [include, include / "hip" / "hip_runtime_api.h", include.parent]
    routes += [path for path in [ROOT / "api" / f"rocm-{release}.json"] if path.is_file()]
    routes += sorted((ROCM / release / "lib").glob("libamdhip64.so.?"))
    sides = [side(route) for route in routes]
    for one in sides:
        for other in sides:
            assert compare(one, other, policy(), ROOT).findings == (), (one.source, other.source)


@pytest.mark.parametrize(("old", "new"), [("5.2.3", "5.7.1"), ("5.7.1", "6.4.3"), ("6.4.3", "7.2.4")])
def test_every_route_finds_the_same_drift(old: str, new: str) -> None:
    by_snapshot = compared(snapshot(old), snapshot(new)).findings
    folders = [side(include_folder(release).parent) for release in (old, new)]
    by_folder = compare(folders[0], folders[1], policy(), ROOT).findings
    assert {f.fingerprint: f for f in by_snapshot} == {f.fingerprint: f for f in by_folder}
