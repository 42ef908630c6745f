# SPDX-License-Identifier: Apache-2.0
"""What of one part matters to libredline: its entry points, the types they lead to, and the ways back up."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from ..model import Function, Part, Record, names_in, reachable_types
from ..policy import Policy, needs_class


class Scope:
    """One part (`hip` or `hsa`) of one release, seen with the policy. Everything is computed on first use."""

    def __init__(
        self, library: str, part: Part, policy: Policy, named_by_runtime: frozenset[str], everything: bool
    ) -> None:
        self.library = library
        self.part = part
        self.policy = policy
        self.named_by_runtime = named_by_runtime
        self.everything = everything

    @cached_property
    def needing_class(self) -> frozenset[str]:
        """Functions that touch a graph type or are the per-thread form of a classed one; of HSA none."""
        if self.library != "hip":
            return frozenset()
        return frozenset(name for name, function in self.part.functions.items() if self._needs(function))

    def _needs(self, function: Function) -> bool:
        per_thread = (
            function.name.endswith("_spt") and function.name.removesuffix("_spt") in self.policy.entries
        )
        return per_thread or needs_class(function, self.part)

    @cached_property
    def functions(self) -> frozenset[str]:
        """Entry points: those that need a class, those of the policy, and those that the runtime calls."""
        listed = {name for name, entry in self.policy.entries.items() if entry.library == self.library}
        known = {name for name in self.policy.called if name in self.part.functions}
        return self.needing_class | listed | known

    @cached_property
    def types(self) -> frozenset[str]:
        chosen = [self.part.functions[name] for name in self.functions if name in self.part.functions]
        return frozenset(reachable_types(self.part, chosen))

    @cached_property
    def enumerators(self) -> dict[str, tuple[str, int]]:
        """Every enumerator -> its enum and value."""
        return {
            name: (enum.name, value) for enum in self.part.enums.values() for name, value in enum.enumerators
        }

    def has_symbol(self, name: str) -> bool:
        """Whether an exported name is an entry point, also where no header declares it."""
        if name in self.functions:
            return True
        undeclared = self.library == "hip" and name not in self.part.functions
        return undeclared and needs_class(Function(name, "void", (), ""), self.part)

    def has_constant(self, name: str) -> bool:
        """Macros lead nowhere by type: those named after graphs and those that the runtime's sources name."""
        return name in self.named_by_runtime or (
            self.library == "hip" and needs_class(Function(name, "void", (), ""), self.part)
        )

    def reaching(self, type_name: str) -> tuple[str, ...]:
        """Functions whose signature leads to the type: entry points if there are any, or everything if asked for."""
        seen, found, pending = {type_name}, set(), [type_name]
        while pending:
            for user in self._users.get(pending.pop(), ()):
                if user.startswith("()"):
                    found.add(user[2:])
                elif user not in seen:
                    seen.add(user)
                    pending.append(user)
        return tuple(sorted(found if self.everything else found & self.functions or found))

    @cached_property
    def _users(self) -> dict[str, set[str]]:
        """Type -> the types and (marked with `()`) functions that mention it directly."""
        users: dict[str, set[str]] = {}
        for function in self.part.functions.values():
            for text in function.types:
                for name in names_in(text):
                    users.setdefault(name, set()).add(f"(){function.name}")
        for alias, target in self.part.typedefs.items():
            for name in names_in(target):
                users.setdefault(name, set()).add(alias)
        for record in self.part.records.values():
            for text in member_types(record):
                for name in names_in(text):
                    users.setdefault(name, set()).add(record.name)
        return users


def member_types(record: Record) -> Iterator[str]:
    for member in record.fields:
        if member.inline:
            yield from member_types(member.inline)
        else:
            yield member.type
