# SPDX-License-Identifier: Apache-2.0
"""A comparison seen with the acknowledgements of policies.yaml: what is open, settled, or wrongly acknowledged."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..policy import Acknowledgement, Policy
from .compare import Comparison
from .finding import SEVERITIES, Finding, Severity


@dataclass(frozen=True, slots=True)
class Problem:
    """An acknowledgement that is an error: it matches nothing, its date has passed, or it is given twice."""

    fingerprint: str
    line: int
    sentence: str


@dataclass(frozen=True, slots=True)
class Review:
    """`findings` are those of the scope asked for; `settled` maps fingerprints to their acknowledgement."""

    comparison: Comparison
    policy: Policy
    findings: tuple[Finding, ...]
    settled: dict[str, Acknowledgement]
    problems: tuple[Problem, ...]

    @property
    def open(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.fingerprint not in self.settled]

    def count(self, severity: Severity) -> int:
        return sum(1 for finding in self.open if finding.severity == severity)

    @property
    def tally(self) -> str:
        """Open findings of each class, and how many are acknowledged."""
        counts = ", ".join(f"{self.count(severity)} {label}" for label, severity in SEVERITIES.items())
        settled = len(self.findings) - len(self.open)
        return f"{counts}, {settled} acknowledged" if settled else counts

    def fails(self, fail_on: Severity | None) -> bool:
        """Whether the gate closes; `None` never does for findings, but a wrong acknowledgement always does."""
        return bool(self.problems) or (fail_on is not None and any(f.severity >= fail_on for f in self.open))

    def file(self, root: Path) -> str:
        """The policy's path as a repository's tools write it."""
        path = self.policy.path
        return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name

    def line(self, finding: Finding) -> int:
        """The line of policies.yaml that a reader should look at."""
        for name in (finding.entity, *finding.reaches):
            entry = self.policy.entries.get(name)
            if entry:
                return entry.line
        return 1


def review(
    comparison: Comparison,
    policy: Policy,
    earlier: Callable[[], frozenset[str]],
    today: datetime.date,
) -> Review:
    """`earlier` gives the fingerprints of the steps between committed snapshots.

    An acknowledgement of an earlier step has done its work and is no error; one that matches no finding anywhere is.
    Settling a struct settles those that only grew because they embed it.
    """
    known = {finding.fingerprint for finding in comparison.findings}
    problems = []
    valid: dict[str, Acknowledgement] = {}
    firsts: dict[str, Acknowledgement] = {}
    for given in policy.acknowledged:
        first = firsts.setdefault(given.fingerprint, given)
        if first is not given:
            sentence = (
                f"Acknowledgement {given.fingerprint} is given twice, first at line {first.line}; keep one."
            )
            problems.append(Problem(given.fingerprint, given.line, sentence))
        elif given.fingerprint not in known and given.fingerprint not in earlier():
            sentence = f"Acknowledgement {given.fingerprint} matches no finding; correct or remove it."
            problems.append(Problem(given.fingerprint, given.line, sentence))
        elif given.until is not None and datetime.date.fromisoformat(given.until) < today:
            sentence = (
                f"Acknowledgement {given.fingerprint} was good until {given.until}; review the finding again."
            )
            problems.append(Problem(given.fingerprint, given.line, sentence))
        else:
            valid[given.fingerprint] = given
    settled = {f.fingerprint: by for f in comparison.findings if (by := _settled_by(f, valid))}
    chosen = tuple(f for f in comparison.findings if comparison.everything or f.in_scope)
    return Review(comparison, policy, chosen, settled, tuple(problems))


def _settled_by(finding: Finding, valid: dict[str, Acknowledgement]) -> Acknowledgement | None:
    if finding.fingerprint in valid:
        return valid[finding.fingerprint]
    causes = [valid.get(cause) for cause in finding.caused_by]
    return causes[0] if causes and all(causes) else None
