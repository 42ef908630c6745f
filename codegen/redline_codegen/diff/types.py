# SPDX-License-Identifier: Apache-2.0
"""Findings about type names, enumerators and macros. Structs and unions: layout.py."""

from __future__ import annotations

from collections.abc import Iterator

from ..model import Part
from .canonical import canonical
from .finding import Finding, Severity
from .pair import Pair

_NOTHING = "No entry point of ours leads to it."


def compare_types(pair: Pair) -> Iterator[Finding]:
    yield from _typedefs(pair)
    yield from _enums(pair)
    yield from _enumerators(pair)
    yield from _macros(pair)
    yield from _renames(pair)


def _typedefs(pair: Pair) -> Iterator[Finding]:
    old, new = _type_names(pair.old.part), _type_names(pair.new.part)
    for name in sorted(old.keys() | new.keys()):
        before, after = old.get(name), new.get(name)
        if before == after or (None in (before, after) and (before or after or "").endswith(f" {name}")):
            # A struct or enum that is typedef'd to its own name is listed as such.
            continue
        in_scope = pair.has_type(name)
        other_kind = {before, after} <= {f"{kind} {name}" for kind in ("struct", "union", "enum")}
        severity, edit = Severity.NOTE, ""
        if before is None:
            rule, meaning = "typedef-added", "Entry points that use it are listed by themselves."
        elif after is None:
            rule, meaning = (
                "typedef-removed",
                "Entry points that used it are listed where their types changed.",
            )
        elif not other_kind and canonical(pair.old.part, before) == canonical(pair.new.part, after):
            rule, meaning = "typedef-changed", "Only the spelling: it stands for the same type."
        else:
            rule, meaning = "typedef-changed", _NOTHING
            if in_scope:
                severity = Severity.UNSAFE
                meaning = (
                    f"Entry points that mention {name} take another type now, under an unchanged prototype."
                )
                edit = "Check the shims and the runtime code that use it, then acknowledge."
        yield Finding(
            rule,
            name,
            before,
            after,
            severity,
            pair.library,
            in_scope,
            meaning,
            edit,
            subject=name,
            reaches=pair.reaching(name),
        )


def _type_names(part: Part) -> dict[str, str]:
    """What each name stands for: a struct or enum without a tag has one too and may become something else."""
    records = {r.name: f"{r.kind} {r.name}" for r in part.records.values() if not r.tagged}
    enums = {e.name: f"enum {e.name}" for e in part.enums.values() if not e.tagged}
    return {**records, **enums, **part.typedefs}


def _enums(pair: Pair) -> Iterator[Finding]:
    old, new = pair.old.part.enums, pair.new.part.enums
    for name in sorted(old.keys() ^ new.keys()):
        removed = name in old
        yield Finding(
            "enum-removed" if removed else "enum-added",
            name,
            _values(old[name].enumerators) if removed else None,
            None if removed else _values(new[name].enumerators),
            Severity.NOTE,
            pair.library,
            pair.has_type(name),
            "Its enumerators are listed one by one.",
            subject=name,
            reaches=pair.reaching(name),
        )


def _values(enumerators: tuple[tuple[str, int], ...]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in enumerators)


def _enumerators(pair: Pair) -> Iterator[Finding]:
    old, new = pair.old.enumerators, pair.new.enumerators
    for name in sorted(old.keys() | new.keys()):
        before, after = old.get(name), new.get(name)
        if before and after and before[1] == after[1]:
            continue
        enum = (after or before or ("", 0))[0]
        in_scope = any(pair.has_type(side[0]) for side in (before, after) if side)
        severity, edit, meaning = Severity.NOTE, "", _NOTHING
        if before is None:
            rule = "enumerator-added"
            if in_scope:
                known = name in pair.new.named_by_runtime
                meaning = f"A value of {enum} that the runtime " + (
                    "knows already." if known else "does not know and therefore leaves to the native library."
                )
        else:
            rule = "enumerator-changed" if after else "enumerator-removed"
            if not after and _macro_value(pair, name) == before[1]:
                meaning = "The preprocessor now gives the name its old value."
            elif in_scope:
                severity = Severity.UNSAFE
                meaning = f"{enum} has lost a value that applications and libraries of the older release still pass."
                if after:
                    meaning = (
                        f"A number of {enum} means something else to what was built for the other release."
                    )
                edit = f"Check what depends on {enum}, then acknowledge."
        yield Finding(
            rule,
            name,
            None if before is None else str(before[1]),
            None if after is None else str(after[1]),
            severity,
            pair.library,
            in_scope,
            meaning,
            edit,
            subject=enum,
            reaches=pair.reaching(enum),
            hint=_end_marker(pair, name, enum) if rule == "enumerator-changed" else "",
        )


def _macro_value(pair: Pair, name: str) -> int | None:
    """The value of a name that is a macro on the new side, whether for a number or for an enumerator."""
    part = pair.new.part
    target = pair.new.enumerators.get(part.renames.get(name, ""))
    return target[1] if target else part.constants.get(name)


def _end_marker(pair: Pair, name: str, enum: str) -> str:
    """Said of an enumerator that is greater than all others on both sides and so only marks the end."""
    for side in (pair.old, pair.new):
        found = side.part.enums.get(enum)
        others = [value for other, value in found.enumerators if other != name] if found else []
        if not found or not others or dict(found.enumerators).get(name, -1) <= max(others):
            return ""
    return "marks the end of the enumeration"


def _macros(pair: Pair) -> Iterator[Finding]:
    old, new = pair.old.part.constants, pair.new.part.constants
    for name in sorted(old.keys() | new.keys()):
        before, after = old.get(name), new.get(name)
        if before == after:
            continue
        in_scope = pair.old.has_constant(name) or pair.new.has_constant(name)
        severity, edit, meaning = Severity.NOTE, "", "The runtime does not use it."
        rule = "macro-added" if before is None else "macro-removed" if after is None else "macro-changed"
        if in_scope and before is not None:
            severity = Severity.UNSAFE
            meaning = (
                f"Applications built for the older release pass {before} for {name}; the newer library "
                + ("has no such name." if after is None else f"expects {after}.")
            )
            edit = f"Check what depends on {name}, then acknowledge."
        elif in_scope:
            meaning = "A flag that the runtime does not know; it is passed on to HIP as it is."
        yield Finding(
            rule,
            name,
            None if before is None else str(before),
            None if after is None else str(after),
            severity,
            pair.library,
            in_scope,
            meaning,
            edit,
        )


def _renames(pair: Pair) -> Iterator[Finding]:
    old, new = pair.old.part.renames, pair.new.part.renames
    for name in sorted(old.keys() | new.keys()):
        before, after = old.get(name), new.get(name)
        if before == after:
            continue
        rule = "rename-added" if before is None else "rename-removed" if after is None else "rename-changed"
        written = {name, *(target for target in (before, after) if target)}
        in_scope = any(_is_ours(pair, word) for word in written)
        severity, edit = Severity.NOTE, ""
        meaning = "The preprocessor has replaced it before a prototype is read or a call is linked."
        lost = name in pair.policy.called or pair.entry(name) is not None
        if lost and after and not pair.entry(after):
            severity = Severity.DECIDE
            meaning = f"Programs that write {name} link to {after}, which the policy does not have."
            edit = f"Add an entry for {after} beside the one of {name}."
        yield Finding(rule, name, before, after, severity, pair.library, in_scope, meaning, edit)


def _is_ours(pair: Pair, name: str) -> bool:
    if pair.has_function(name) or pair.has_type(name):
        return True
    found = pair.old.enumerators.get(name) or pair.new.enumerators.get(name)
    return found is not None and pair.has_type(found[0])
