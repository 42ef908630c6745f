# SPDX-License-Identifier: Apache-2.0
"""Findings about structs and unions; what only follows from a member's own change names its cause."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..model import Field, Part, Record, names_in
from .canonical import canonical
from .finding import Finding, Severity
from .pair import Pair


@dataclass(frozen=True, slots=True)
class Member:
    """A member by its path; `key` is the type as a comparison sees it."""

    path: str
    type: str
    key: str
    offset: int | None
    bits: int | None

    @property
    def shape(self) -> tuple[str, str, int | None]:
        return self.path, self.key, self.bits

    @property
    def spelling(self) -> tuple[str, str, int | None]:
        return self.path, self.type, self.bits

    def text(self, type_text: str) -> str:
        bits = "" if self.bits is None else f" : {self.bits}"
        place = "" if self.offset is None else f" @{self.offset}"
        return f"{self.path or '(unnamed)'}{bits}{place} {type_text}"

    def __str__(self) -> str:
        return self.text(self.type)


def members(part: Part, record: Record) -> tuple[Member, ...]:
    """Every member, nested unnamed structs opened, in declaration order."""
    return tuple(_members(part, record.fields, ""))


def _members(part: Part, fields: tuple[Field, ...], prefix: str) -> Iterator[Member]:
    for field in fields:
        path = prefix + field.name
        key = field.type if field.inline else canonical(part, field.type)
        yield Member(path, field.type, key, field.offset, field.bits)
        if field.inline:
            yield from _members(part, field.inline.fields, f"{path}." if field.name else prefix)


def compare_layouts(pair: Pair, typedefs: dict[str, str]) -> Iterator[Finding]:
    """`typedefs` are those that stand for another type now, with the fingerprints of their findings."""
    old, new = pair.old.part.records, pair.new.part.records
    for name in sorted(old.keys() - new.keys()):
        meaning = "Entry points that took it are listed by themselves where their types changed."
        yield _record(pair, "record-removed", name, meaning)
    for name in sorted(new.keys() - old.keys()):
        yield _record(pair, "record-added", name, "Entry points that take it are listed by themselves.")
    changed = {name: f for name in sorted(old.keys() & new.keys()) if (f := _changed(pair, name))}
    yield from _with_causes(pair, changed, typedefs)


def _record(pair: Pair, rule: str, name: str, meaning: str) -> Finding:
    old, new = pair.old.part.records.get(name), pair.new.part.records.get(name)
    return Finding(
        rule,
        name,
        _text(pair.old.part, old) if old else None,
        _text(pair.new.part, new) if new else None,
        Severity.NOTE,
        pair.library,
        pair.has_type(name),
        meaning,
        subject=name,
        reaches=pair.reaching(name),
    )


def _text(part: Part, record: Record) -> str:
    if record.opaque:
        return f"{record.kind}, opaque"
    listed = "; ".join(member.text(member.key) for member in members(part, record))
    return f"{record.kind}, {record.size} bytes, aligned to {record.alignment}: {listed}"


def _changed(pair: Pair, name: str) -> Finding | None:
    old, new = pair.old.part.records[name], pair.new.part.records[name]
    before, after = members(pair.old.part, old), members(pair.new.part, new)
    same_frame = (old.kind, old.size, old.alignment) == (new.kind, new.size, new.alignment)
    same_members = [(m.shape, m.offset) for m in before] == [(m.shape, m.offset) for m in after]
    if same_frame and same_members:
        respelled = [
            f"{a.path}: {a.type} -> {b.type}" for a, b in zip(before, after, strict=True) if a.type != b.type
        ]
        if not respelled:
            return None
        meaning = "Only the spelling of a type: both releases lay it out alike."
        return replace(_record(pair, "member-respelled", name, meaning), details=tuple(respelled))
    details = tuple(_details(old, new, before, after))
    in_scope = pair.has_type(name)
    finding = replace(_record(pair, "layout-changed", name, ""), details=details)
    if old.opaque:
        return replace(finding, meaning="It was opaque, so nothing of ours can have read it.")
    if not in_scope:
        return replace(finding, meaning="No entry point of ours leads to it.")
    return replace(
        finding,
        severity=Severity.UNSAFE,
        meaning=(
            f"Shims and runtime were built for the other layout of {name}: at an unchanged entry point they would read "
            "or write the wrong bytes of the application."
        ),
        edit="Check what the runtime reads of it, then acknowledge.",
    )


def _details(
    old: Record, new: Record, before: tuple[Member, ...], after: tuple[Member, ...]
) -> Iterator[str]:
    for what, one, other in (
        ("", old.kind, new.kind),
        ("size ", old.size, new.size),
        ("alignment ", old.alignment, new.alignment),
    ):
        if one != other:
            yield f"{what}{_or_opaque(one)} -> {_or_opaque(other)}"
    olds = {(m.path, m.key if not m.path else ""): m for m in before}
    news = {(m.path, m.key if not m.path else ""): m for m in after}
    for key, member in olds.items():
        if key not in news:
            yield f"- {member}"
    for key, member in news.items():
        known = olds.get(key)
        if known is None:
            yield f"+ {member}"
        elif (known.shape, known.offset) != (member.shape, member.offset):
            respelled = known.type != member.type
            texts = (known.type, member.type) if respelled else (known.key, member.key)
            yield f"{known.text(texts[0])} -> {member.text(texts[1])}"
    kept = [key for key in olds if key in news], [key for key in news if key in olds]
    if kept[0] != kept[1]:
        yield "members in another order"


def _or_opaque(value: object) -> object:
    return "opaque" if value is None else value


def _with_causes(pair: Pair, changed: dict[str, Finding], typedefs: dict[str, str]) -> Iterator[Finding]:
    """Structs whose members kept their types get the fingerprints of what changed behind those types."""
    real = {name: f for name, f in changed.items() if f.rule == "layout-changed"}
    for name, finding in changed.items():
        before = members(pair.old.part, pair.old.part.records[name])
        after = members(pair.new.part, pair.new.part.records[name])
        if name not in real or [m.spelling for m in before] != [m.spelling for m in after]:
            yield finding
            continue
        embedded = {used for m in after if "*" not in m.key for used in names_in(m.key)} - {name}
        mentioned = {
            used
            for m, was in zip(after, before, strict=True)
            if m.key != was.key
            for used in names_in(m.type)
        }
        causes = [real[used].fingerprint for used in sorted(embedded & real.keys())]
        causes += [typedefs[used] for used in sorted(mentioned & typedefs.keys())]
        yield replace(finding, caused_by=tuple(causes))
