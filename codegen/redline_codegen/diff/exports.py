# SPDX-License-Identifier: Apache-2.0
"""Findings about what the real libraries export, and under which version node."""

from __future__ import annotations

from collections.abc import Iterator

from ..model import Library, Symbol
from .finding import Finding, Severity
from .pair import Pair


def compare_exports(pair: Pair) -> Iterator[Finding]:
    """Nothing without both libraries, but for new functions that the new library lacks."""
    both = pair.libraries
    if both:
        old, new = both
        yield from _symbols(pair, old, new)
        yield from _nodes(pair, old, new)
        if old.soname != new.soname:
            meaning = "Programs link to another file; the native table is filled from the one that is loaded."
            yield _finding(
                pair, "soname-changed", old.soname, old.soname, new.soname, Severity.NOTE, True, meaning
            )
    yield from _declared_only(pair)


def _symbols(pair: Pair, old: Library, new: Library) -> Iterator[Finding]:
    before, after = _versions(old), _versions(new)
    for name in sorted(before.keys() | after.keys()):
        if name not in after:
            yield _removed(pair, name, before[name])
        elif name not in before:
            yield _added(pair, name, after[name], old)
        elif before[name] != after[name]:
            yield _changed(pair, name, before[name], after[name])


def _versions(library: Library) -> dict[str, tuple[Symbol, ...]]:
    found: dict[str, tuple[Symbol, ...]] = {}
    for symbol in sorted(library.symbols, key=str):
        found[symbol.name] = (*found.get(symbol.name, ()), symbol)
    return found


def _text(symbols: tuple[Symbol, ...]) -> str:
    return " ".join(str(symbol) for symbol in symbols)


def _in_scope(pair: Pair, name: str) -> bool:
    return pair.old.has_symbol(name) or pair.new.has_symbol(name)


def _removed(pair: Pair, name: str, symbols: tuple[Symbol, ...]) -> Finding:
    in_scope = _in_scope(pair, name)
    severity = Severity.LOST_ACCELERATION if in_scope else Severity.NOTE
    meaning = "No entry point of ours: nothing changes."
    if in_scope:
        meaning = f"{name} {pair.place(name)}; no shim is emitted and its place in the native table is empty."
    return _finding(pair, "symbol-removed", name, _text(symbols), None, severity, in_scope, meaning)


def _added(pair: Pair, name: str, symbols: tuple[Symbol, ...], old: Library) -> Finding:
    in_scope = _in_scope(pair, name)
    shipped = any(symbol.node in old.nodes for symbol in symbols)
    rule = "symbol-added-to-old-node" if shipped else "symbol-added"
    entry = pair.entry(name)
    severity, edit = Severity.NOTE, ""
    if not in_scope:
        meaning = "No entry point of ours: nothing changes."
    elif entry:
        meaning = f"{name} {pair.place(name)}; " + (
            "from this release on the shim is emitted."
            if entry.shimmed
            else "from this release on it can be called."
        )
    elif name in pair.new.part.functions:
        meaning = f"{name} {pair.place(name)}."
    else:
        severity = Severity.DECIDE
        meaning = (
            f"{name} is named like an entry point and no header declares it, so no shim of it can be emitted."
        )
        edit = f"Declare {name} under `declared` and class it, if a call of it can change a graph."
    if in_scope and shipped:
        meaning = meaning.removesuffix(".") + "; an older library with the same node does not have it."
    return _finding(pair, rule, name, None, _text(symbols), severity, in_scope, meaning, edit)


def _changed(pair: Pair, name: str, before: tuple[Symbol, ...], after: tuple[Symbol, ...]) -> Finding:
    in_scope = _in_scope(pair, name)
    kept = {symbol.node for symbol in before} <= {symbol.node for symbol in after}
    rule = "default-version-changed" if kept else "symbol-moved"
    severity = Severity.LOST_ACCELERATION if in_scope else Severity.NOTE
    meaning = "No entry point of ours: nothing changes."
    if [symbol for symbol in before if symbol.default] == [symbol for symbol in after if symbol.default]:
        rule, severity = ("symbol-added" if kept else "symbol-removed"), Severity.NOTE
        meaning = "Only versions that no plain reference links to came or went."
    elif in_scope:
        meaning = (
            f"{name} {pair.place(name)}; a libredline built for the older release exports it under the old node, which "
            "the linker skips without a word, so the binding check keeps everything native until it is regenerated."
        )
    return _finding(pair, rule, name, _text(before), _text(after), severity, in_scope, meaning)


def _nodes(pair: Pair, old: Library, new: Library) -> Iterator[Finding]:
    for node in sorted(old.nodes.keys() - new.nodes.keys()):
        meaning = "Symbols that were in it are listed one by one."
        yield _finding(pair, "node-removed", node, _parents(old, node), None, Severity.NOTE, True, meaning)
    for node in sorted(new.nodes.keys() - old.nodes.keys()):
        meaning = "The version script gets it as soon as a shim of ours lies in it."
        yield _finding(pair, "node-added", node, None, _parents(new, node), Severity.NOTE, True, meaning)
    for node in sorted(old.nodes.keys() & new.nodes.keys()):
        if old.nodes[node] != new.nodes[node]:
            meaning = "The version script follows by itself; a program that asks for the node still finds it."
            yield _finding(
                pair,
                "node-reparented",
                node,
                _parents(old, node),
                _parents(new, node),
                Severity.NOTE,
                True,
                meaning,
            )
    forks = _children(old), _children(new)
    for parent in sorted(forks[1]):
        if len(forks[1][parent]) > 1 and forks[1][parent] != forks[0].get(parent):
            meaning = "Nodes are no longer one line; the version script orders ours by the nearest node they inherit."
            listed = [" ".join(children.get(parent, ())) for children in forks]
            yield _finding(
                pair, "node-forked", parent, listed[0] or None, listed[1], Severity.NOTE, True, meaning
            )


def _children(library: Library) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for node, parents in sorted(library.nodes.items()):
        for parent in parents:
            found.setdefault(parent, []).append(node)
    return found


def _parents(library: Library, node: str) -> str:
    parents = library.nodes[node]
    return f"inherits {' '.join(parents)}" if parents else "inherits none"


def _declared_only(pair: Pair) -> Iterator[Finding]:
    """New functions that the new library lacks; what was declared before and is gone counts as removed."""
    library, before = pair.new.part.library, pair.old.part.library
    if library is None or not (pair.old.part.functions and pair.new.part.functions):
        return
    exported = {symbol.name for symbol in library.symbols}
    exported_before = {symbol.name for symbol in before.symbols} if before else set()
    for name in sorted(pair.new.part.functions.keys() - exported):
        if name in pair.old.part.functions or name in exported_before:
            continue
        in_scope = pair.has_function(name)
        meaning = "No entry point of ours: nothing changes."
        if in_scope:
            meaning = (
                f"{name} {pair.place(name)}; no shim is emitted, since an application that probes for it must fail as "
                "with HIP alone."
            )
        yield _finding(
            pair,
            "declared-not-exported",
            name,
            None,
            f"declared in {pair.new.part.functions[name].header}, not exported by {library.soname}",
            Severity.LOST_ACCELERATION if in_scope else Severity.NOTE,
            in_scope,
            meaning,
        )


def _finding(
    pair: Pair,
    rule: str,
    entity: str,
    old: str | None,
    new: str | None,
    severity: Severity,
    in_scope: bool,
    meaning: str,
    edit: str = "",
) -> Finding:
    reaches = (entity,) if rule.startswith(("symbol", "default", "declared")) else ()
    return Finding(rule, entity, old, new, severity, pair.library, in_scope, meaning, edit, reaches=reaches)
