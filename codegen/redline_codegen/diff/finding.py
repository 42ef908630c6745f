# SPDX-License-Identifier: Apache-2.0
"""A finding: one fact that differs between two releases, what it means for libredline, and its stable name."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from enum import IntEnum


class Severity(IntEnum):
    """Ordered: `--fail-on decide` fails on `decide` and `unsafe`."""

    NOTE = 0
    LOST_ACCELERATION = 1
    DECIDE = 2
    UNSAFE = 3

    @property
    def label(self) -> str:
        return self.name.lower().replace("_", "-")


SEVERITIES = {severity.label: severity for severity in sorted(Severity, reverse=True)}

RULES = {
    "function-added": "The header declares a function that it did not declare before.",
    "per-thread-form-added": "A function gained its per-thread-default-stream form (`_spt`).",
    "function-removed": "The header no longer declares a function.",
    "signature-changed": "A function keeps its name and has another prototype.",
    "parameter-renamed": "A function's parameters have other names and the same types.",
    "graph-type-gained": "A known function now touches a graph, node, exec, capture or user-object type.",
    "header-moved": "A function is declared in another header.",
    "typedef-added": "A type name is new.",
    "typedef-removed": "A type name is gone.",
    "typedef-changed": "A type name stands for another type.",
    "record-added": "A struct or union is new.",
    "record-removed": "A struct or union is gone.",
    "layout-changed": "A struct or union has another size, alignment or member layout.",
    "member-respelled": "A member's type is spelled otherwise and is the same type.",
    "enum-added": "An enumeration is new.",
    "enum-removed": "An enumeration is gone.",
    "enumerator-added": "An enumerator is new.",
    "enumerator-removed": "An enumerator is gone.",
    "enumerator-changed": "An enumerator has another value.",
    "macro-added": "An integer macro is new.",
    "macro-removed": "An integer macro is gone.",
    "macro-changed": "An integer macro has another value.",
    "rename-added": "A macro now gives a name another linked name.",
    "rename-removed": "A macro no longer gives a name another linked name.",
    "rename-changed": "A macro gives a name another linked name than before.",
    "symbol-added": "The library exports a symbol that it did not export before.",
    "symbol-added-to-old-node": "The library exports a new symbol under a version node that had already shipped.",
    "symbol-removed": "The library no longer exports a symbol.",
    "symbol-moved": "The library exports a symbol under another version node.",
    "default-version-changed": "A plain reference to a symbol links to another of its versions.",
    "declared-not-exported": "The header declares a function that the library does not export.",
    "node-added": "The library has a new version node.",
    "node-removed": "The library no longer has a version node.",
    "node-forked": "Two version nodes inherit the same one.",
    "node-reparented": "A version node inherits other nodes.",
    "table-added": "HIP's functions go through a dispatch table that they did not have before.",
    "table-removed": "HIP no longer has a dispatch table.",
    "table-grown": "Functions were appended to a dispatch table of HIP.",
    "table-rearranged": "A dispatch table of HIP differs in more than functions appended to it.",
    "soname-changed": "The library has another soname.",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """`old` and `new` are the fact on each side, None where it does not exist."""

    rule: str
    entity: str
    old: str | None
    new: str | None
    severity: Severity
    part: str
    in_scope: bool
    meaning: str
    edit: str = ""
    """The change in policies.yaml that it asks for, empty when none."""
    subject: str = ""
    """The type it belongs to, e.g. an enumerator's enum."""
    reaches: tuple[str, ...] = ()
    """Entry points that the change reaches; those in scope when there are any."""
    details: tuple[str, ...] = ()
    """Single changes inside, e.g. members of a struct."""
    hint: str = ""
    caused_by: tuple[str, ...] = field(default=())
    """Fingerprints of the findings without which this one would not be."""

    @property
    def fingerprint(self) -> str:
        """Twelve hexadecimal digits over rule, entity, old and new; line numbers and releases are not in it."""
        text = "\0".join([self.rule, self.entity, self.old or "", self.new or ""])
        return hashlib.sha256(text.encode()).hexdigest()[:12]
