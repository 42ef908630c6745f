# SPDX-License-Identifier: Apache-2.0
"""The leaf view: one change, the changes that only follow from it, then the entry points that it reaches."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from .finding import Finding


@dataclass(slots=True)
class Block:
    """`leaves` are changes of one entity (all enumerators of an enum); `derived` follow from them."""

    title: str
    leaves: list[Finding] = field(default_factory=list)
    derived: list[Finding] = field(default_factory=list)

    @property
    def groups(self) -> list[list[Finding]]:
        """Leaves that a reader can be told about with the same sentences."""
        found: dict[tuple[str, str, str], list[Finding]] = {}
        for finding in self.leaves:
            found.setdefault((finding.rule, finding.meaning, finding.edit), []).append(finding)
        return list(found.values())

    @property
    def reaches(self) -> list[str]:
        """Entry points other than the entity itself."""
        found = {name for finding in self.leaves for name in finding.reaches}
        return sorted(found - {finding.entity for finding in self.leaves})


def blocks(findings: Iterable[Finding]) -> list[Block]:
    listed = list(findings)
    fingerprints = {finding.fingerprint for finding in listed}
    made: dict[str, Block] = {}
    homes: dict[str, Block] = {}
    for finding in listed:
        if not fingerprints & set(finding.caused_by):
            title = f"enum {finding.subject}" if finding.rule.startswith("enumerator") else finding.entity
            block = made.setdefault(f"{finding.part} {title}", Block(title))
            block.leaves.append(finding)
            homes[finding.fingerprint] = block
    pending = [finding for finding in listed if finding.fingerprint not in homes]
    while pending:
        finding, home = next((f, homes[cause]) for f in pending for cause in f.caused_by if cause in homes)
        home.derived.append(finding)
        homes[finding.fingerprint] = home
        pending.remove(finding)
    return list(made.values())


def changes(finding: Finding) -> list[str]:
    """Old and new in a reader's lines: members where there are some, `- old` and `+ new` otherwise."""
    if finding.details:
        return list(finding.details)
    if finding.rule.startswith("enumerator"):
        old, new = finding.old or "gone", finding.new or "gone"
        value = f"= {new}" if finding.old is None else f"{old} -> {new}"
        return [f"{finding.entity} {value}" + (f" ({finding.hint})" if finding.hint else "")]
    lines = [f"- {finding.old}"] if finding.old is not None else []
    lines += [f"+ {finding.new}"] if finding.new is not None else []
    return [*lines, *([finding.hint] if finding.hint else [])]
