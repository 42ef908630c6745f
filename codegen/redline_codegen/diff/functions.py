# SPDX-License-Identifier: Apache-2.0
"""Findings about what the headers declare as functions."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from ..model import Function, Part, names_in
from ..policy import suggest_class
from .canonical import canonical, canonical_signature
from .finding import Finding, Severity
from .pair import Pair


def compare_functions(pair: Pair) -> Iterator[Finding]:
    old, new = pair.old.part.functions, pair.new.part.functions
    removed, added = sorted(old.keys() - new.keys()), sorted(new.keys() - old.keys())
    renamed = likely_renames(pair, removed, added)
    for name in removed:
        yield _removed(pair, old[name], renamed.get(name, ""))
    origins = {target: name for name, target in renamed.items()}
    for name in added:
        yield _added(pair, new[name], origins.get(name, ""))
    for name in sorted(old.keys() & new.keys()):
        yield from _changed(pair, old[name], new[name])


def likely_renames(pair: Pair, removed: list[str], added: list[str]) -> dict[str, str]:
    """Removed -> added function with the same types and a name at least two thirds alike; a hint, never acted on."""
    shapes: dict[tuple[str, ...], list[str]] = {}
    for name in added:
        shapes.setdefault(canonical_signature(pair.new.part, pair.new.part.functions[name]), []).append(name)
    found: dict[str, str] = {}
    for name in removed:
        alike = shapes.get(canonical_signature(pair.old.part, pair.old.part.functions[name]), [])
        near = difflib.get_close_matches(name, alike, n=1, cutoff=2 / 3)
        if near and near[0] not in found.values():
            found[name] = near[0]
    return found


def _removed(pair: Pair, function: Function, successor: str) -> Finding:
    name = function.name
    macro = pair.new.part.renames.get(name)
    severity, meaning, edit = _gone(pair, function)
    return Finding(
        "function-removed",
        name,
        function.signature,
        None,
        severity,
        pair.library,
        pair.has_function(name),
        meaning,
        edit,
        reaches=(name,),
        hint=f"now a macro for {macro}" if macro else f"likely renamed to {successor}" if successor else "",
    )


def _gone(pair: Pair, function: Function) -> tuple[Severity, str, str]:
    """What it means that the header no longer declares a function."""
    name = function.name
    entry, library = pair.entry(name), pair.new.part.library
    if not pair.has_function(name):
        return Severity.NOTE, "No entry point of ours: nothing changes.", ""
    if name in pair.policy.declared:
        return Severity.NOTE, "The policy declares it, so its shim stays.", ""
    if entry and entry.shimmed and library and library.find(name):
        return (
            Severity.UNSAFE,
            f"{name} {pair.place(name)} and the library still exports it: without a declaration its shim goes, and "
            "what an older program changes through it would go unseen.",
            f'Keep the shim: under `declared`, write {name}: "{function.signature}".',
        )
    meaning = f"{name} {pair.place(name)}; without a declaration it has neither a shim nor a place in the native table."
    return (
        Severity.LOST_ACCELERATION,
        meaning,
        "Keep the entry while an older release is supported." if entry else "",
    )


def _added(pair: Pair, function: Function, origin: str) -> Finding:
    name = function.name
    plain = name.removesuffix("_spt")
    per_thread = name != plain and plain in pair.new.part.functions
    meaning, edit, severity = _classed(pair, function)
    if per_thread and not pair.has_function(name):
        meaning = f"The per-thread-default-stream form of {plain}, which needs no class either."
    return Finding(
        "per-thread-form-added" if per_thread else "function-added",
        name,
        None,
        function.signature,
        severity,
        pair.library,
        pair.has_function(name),
        meaning,
        edit,
        reaches=(name,),
        hint=f"likely renamed from {origin}" if origin else "",
    )


def _classed(pair: Pair, function: Function) -> tuple[str, str, Severity]:
    """What a function that is new, or newly touches a graph type, asks of the policy."""
    name = function.name
    if pair.entry(name):
        return f"Already in the policy: it {pair.place(name)}.", "", Severity.NOTE
    if name not in pair.new.needing_class:
        return "It touches no graph type and needs no class.", "", Severity.NOTE
    suggested, reason = suggest_class(function)
    return (
        "It touches a graph type and has no class, so generation stops until somebody has decided what a call of it "
        "does to what we know.",
        f"Add an entry for {name}; suggested class {suggested}, since {reason}.",
        Severity.DECIDE,
    )


def _changed(pair: Pair, old: Function, new: Function) -> Iterator[Finding]:
    name, in_scope = old.name, pair.has_function(old.name)
    if list(old.types) != list(new.types) or _exchanged(old, new):
        yield _signature(pair, old, new)
    elif [p.name for p in old.parameters] != [p.name for p in new.parameters]:
        yield _parameters(pair, old, new)
    if name in pair.new.needing_class - pair.old.needing_class:
        meaning, edit, severity = _classed(pair, new)
        yield Finding(
            "graph-type-gained",
            name,
            old.signature,
            new.signature,
            severity,
            pair.library,
            True,
            meaning,
            edit,
            reaches=(name,),
        )
    if old.header != new.header:
        meaning = f"{name} stays what it is; a program has to include another header."
        yield Finding(
            "header-moved",
            name,
            old.header,
            new.header,
            Severity.NOTE,
            pair.library,
            in_scope,
            meaning,
            reaches=(name,),
        )


def _exchanged(old: Function, new: Function) -> bool:
    """Whether a parameter's name stands at another place, which the types alone need not show."""
    places = {p.name: place for place, p in enumerate(old.parameters) if p.name}
    return any(places.get(p.name, place) != place for place, p in enumerate(new.parameters))


def _signature(pair: Pair, old: Function, new: Function) -> Finding:
    name, in_scope = old.name, pair.has_function(old.name)
    alike = canonical_signature(pair.old.part, old) == canonical_signature(pair.new.part, new)
    same = alike and not _exchanged(old, new)
    edit = ""
    if same:
        severity, meaning = Severity.NOTE, "Only the spelling of a type: caller and library still agree."
    elif in_scope:
        severity = Severity.UNSAFE
        meaning = (
            f"{name} {pair.place(name)}; under an unchanged name, a call made for one release would be read with the "
            "other's types."
        )
        edit = f"Check the effects and the handler of {name} against the new prototype, then acknowledge."
    else:
        severity, meaning = Severity.NOTE, "No entry point of ours: the call never passes through libredline."
    return Finding(
        "signature-changed",
        name,
        old.signature,
        new.signature,
        severity,
        pair.library,
        in_scope,
        meaning,
        edit,
        reaches=(name,),
        hint="parameters have changed places" if alike and not same else _sizes(pair, old, new),
    )


def _sizes(pair: Pair, old: Function, new: Function) -> str:
    """Structs of another size that a parameter now leads to, the reason why a type change bites."""
    told = []
    for before, after in zip(old.parameters, new.parameters, strict=False):
        sizes = [_size(pair.old.part, before.type), _size(pair.new.part, after.type)]
        if before.type != after.type and None not in sizes and sizes[0] != sizes[1]:
            told.append(f"the struct of `{after.name}` has {sizes[1]} bytes instead of {sizes[0]}")
    return ", ".join(told)


def _size(part: Part, type_text: str) -> int | None:
    found = [part.records[name].size for name in names_in(canonical(part, type_text)) if name in part.records]
    return found[0] if len(found) == 1 else None


def _parameters(pair: Pair, old: Function, new: Function) -> Finding:
    entry = pair.entry(old.name)
    gone = {p.name for p in old.parameters} - {p.name for p in new.parameters}
    used = (
        {name for effect in entry.effects for name in (effect.parameter, effect.owner) if name}
        if entry
        else set()
    )
    broken = sorted(gone & used)
    if broken:
        severity = Severity.DECIDE
        meaning = f"The policy's effects name {', '.join(broken)}, which is called otherwise now."
        edit = f"Name the parameters of {old.name} as the newest header does."
    else:
        severity, meaning, edit = Severity.NOTE, "No effect in the policy names these parameters.", ""
    return Finding(
        "parameter-renamed",
        old.name,
        old.signature,
        new.signature,
        severity,
        pair.library,
        pair.has_function(old.name),
        meaning,
        edit,
        reaches=(old.name,),
    )
