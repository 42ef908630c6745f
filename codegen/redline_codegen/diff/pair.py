# SPDX-License-Identifier: Apache-2.0
"""The two sides of a comparison of one part, and what the comparators ask of them together."""

from __future__ import annotations

from dataclasses import dataclass

from ..model import Library
from ..policy import Entry, Policy
from .scope import Scope


@dataclass(frozen=True, slots=True)
class Pair:
    library: str
    old: Scope
    new: Scope
    policy: Policy

    def entry(self, name: str) -> Entry | None:
        entry = self.policy.entries.get(name)
        return entry if entry and entry.library == self.library else None

    def has_function(self, name: str) -> bool:
        return name in self.old.functions or name in self.new.functions

    def has_type(self, name: str) -> bool:
        return name in self.old.types or name in self.new.types

    def reaching(self, name: str) -> tuple[str, ...]:
        """Entry points that lead to the type now, else those that did."""
        return self.new.reaching(name) or self.old.reaching(name)

    @property
    def libraries(self) -> tuple[Library, Library] | None:
        old, new = self.old.part.library, self.new.part.library
        return (old, new) if old and new else None

    def place(self, name: str) -> str:
        """How the product meets an entry point, for a sentence."""
        entry = self.entry(name)
        if entry is None:
            return "is called by the runtime" if name in self.policy.called else "has no class yet"
        return f"is handled by {entry.handler}()" if entry.handler else f"is classed {entry.policy_class}"
