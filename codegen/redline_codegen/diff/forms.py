# SPDX-License-Identifier: Apache-2.0
"""The forms that a review is printed in; each is a function from the review to text."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jinja2

from .blocks import Block, blocks, changes
from .finding import RULES, SEVERITIES, Finding, Severity
from .review import Review
from .sarif import to_sarif

WIDTH = 110
SCHEMA = 1
HEADINGS = {
    Severity.UNSAFE: "generation refuses until each is acknowledged in policies.yaml",
    Severity.DECIDE: "the policy needs a line",
    Severity.LOST_ACCELERATION: "correct, but not accelerated",
    Severity.NOTE: "nothing to do",
}
_LEVELS = {
    Severity.UNSAFE: "error",
    Severity.DECIDE: "error",
    Severity.LOST_ACCELERATION: "warning",
    Severity.NOTE: "notice",
}


def to_text(reviewed: Review, root: Path) -> str:
    """For a terminal: the leaf view of what asks for work, one line a rule for the rest."""
    comparison = reviewed.comparison
    lines = [f"{comparison.old.title} -> {comparison.new.title}", ""]
    for severity in sorted(Severity, reverse=True):
        found = [finding for finding in reviewed.open if finding.severity == severity]
        if found:
            lines += [f"{severity.label} ({len(found)}): {HEADINGS[severity]}", ""]
            lines += _by_rule(found) if severity == Severity.NOTE else _leaves(blocks(found))
    if reviewed.settled:
        settled = [finding for finding in reviewed.findings if finding.fingerprint in reviewed.settled]
        told = [_acknowledged(finding, reviewed) for finding in settled]
        lines += [f"acknowledged ({len(settled)})", *_wrapped(told), ""]
    if comparison.not_checkable:
        lines += ["not checkable", *_wrapped(comparison.not_checkable), ""]
    lines += [f"{reviewed.policy.path}:{problem.line}: {problem.sentence}" for problem in reviewed.problems]
    return "\n".join([*lines, _summary(reviewed)]) + "\n"


def _width() -> int:
    """A narrow terminal's own; what goes elsewhere is the same everywhere."""
    return min(WIDTH, max(40, shutil.get_terminal_size().columns)) if sys.stdout.isatty() else WIDTH


def _summary(reviewed: Review) -> str:
    outside = len(reviewed.comparison.findings) - len(reviewed.findings)
    return reviewed.tally + (
        f"; {outside} more that no entry point of ours reaches (--all)" if outside else ""
    )


def _leaves(made: list[Block]) -> list[str]:
    lines = []
    for block in made:
        lines.append(f"  {block.title}")
        for group in block.groups:
            for finding in group:
                lines += _told(finding)
            lines += _wrapped([text for text in (group[0].meaning, group[0].edit) if text], "    ")
        for finding in block.derived:
            lines.append(f"    {finding.fingerprint}  with it {finding.entity}: {'; '.join(finding.details)}")
        if block.reaches:
            lines += _wrapped([f"reaches {_listed(block.reaches)}"], "    ")
        lines.append("")
    return lines


def _told(finding: Finding) -> list[str]:
    head, told = f"    {finding.fingerprint}  {finding.rule}", changes(finding)
    if finding.rule.startswith("enumerator"):
        return [f"{head}  {told[0]}"]
    lines = [head]
    for change in told:
        lines += textwrap.wrap(change, _width(), initial_indent="      ", subsequent_indent="          ")
    return lines


def _by_rule(found: list[Finding]) -> list[str]:
    lines: list[str] = []
    for rule in RULES:
        entities = [finding.entity for finding in found if finding.rule == rule]
        if entities:
            lines += _wrapped([f"{rule} ({len(entities)}): {', '.join(entities)}"])
    return [*lines, ""]


def _wrapped(sentences: Any, indent: str = "  ") -> list[str]:
    wrapped = []
    for sentence in sentences:
        wrapped += textwrap.wrap(
            sentence,
            _width(),
            initial_indent=indent,
            subsequent_indent=indent + "  ",
            break_long_words=False,
            break_on_hyphens=False,
        )
    return wrapped


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:12])
    return f"{len(names)} entry points: {shown}, ..." if len(names) > 12 else shown


def _acknowledged(finding: Finding, reviewed: Review) -> str:
    given = reviewed.settled[finding.fingerprint]
    until = f" (until {given.until})" if given.until else ""
    return f"{finding.fingerprint}  {finding.rule} {finding.entity}: {' '.join(given.why.split())}{until}"


def to_oneline(reviewed: Review, root: Path) -> str:
    """One line a finding, for grep."""
    lines = []
    for finding in reviewed.findings:
        state = " (acknowledged)" if finding.fingerprint in reviewed.settled else ""
        hint = f" [{finding.hint}]" if finding.hint else ""
        what = f"{finding.severity.label} {finding.fingerprint} {finding.rule} {finding.entity}"
        lines.append(f"{what}{state}: {finding.meaning}{hint}")
    lines += [f"not-checkable {sentence}" for sentence in reviewed.comparison.not_checkable]
    lines += [f"error {problem.sentence}" for problem in reviewed.problems]
    return "".join(f"{line}\n" for line in lines)


def to_json(reviewed: Review, root: Path) -> str:
    """As api/diff.schema.json describes it."""
    comparison = reviewed.comparison
    document = {
        "schema": SCHEMA,
        **{
            side: {"release": value.api.release, "hip_version": value.api.hip_version, "source": value.source}
            for side, value in (("old", comparison.old), ("new", comparison.new))
        },
        "scope": "all" if reviewed.comparison.everything else "reachable",
        "counts": {label: reviewed.count(severity) for label, severity in SEVERITIES.items()},
        "findings": [_finding(finding, reviewed) for finding in reviewed.findings],
        "not_checkable": list(comparison.not_checkable),
        "acknowledgement_errors": [
            {"fingerprint": problem.fingerprint, "line": problem.line, "message": problem.sentence}
            for problem in reviewed.problems
        ],
    }
    return json.dumps(document, indent=1) + "\n"


def _finding(finding: Finding, reviewed: Review) -> dict[str, Any]:
    given = reviewed.settled.get(finding.fingerprint)
    return {
        "fingerprint": finding.fingerprint,
        "rule": finding.rule,
        "class": finding.severity.label,
        "part": finding.part,
        "entity": finding.entity,
        "subject": finding.subject or None,
        "old": finding.old,
        "new": finding.new,
        "reachable": finding.in_scope,
        "meaning": finding.meaning,
        "policy_edit": finding.edit or None,
        "reaches": list(finding.reaches),
        "details": list(finding.details),
        "hint": finding.hint or None,
        "caused_by": list(finding.caused_by),
        "acknowledged": {"why": given.why, "until": given.until} if given else None,
    }


def to_markdown(reviewed: Review, root: Path) -> str:
    """For a pull request; the text stands in templates/diff.md.j2."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(root / "templates"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    environment.filters.update(cell=_cell, code=_code, listed=_listed)
    sections = []
    for severity in sorted(Severity, reverse=True):
        found = [finding for finding in reviewed.open if finding.severity == severity]
        sections.append((severity.label, HEADINGS[severity], found, blocks(found)))
    settled = [
        (f, reviewed.settled[f.fingerprint]) for f in reviewed.findings if f.fingerprint in reviewed.settled
    ]
    return environment.get_template("diff.md.j2").render(
        review=reviewed,
        summary=_summary(reviewed),
        work=[section for section in sections[:-1] if section[2]],
        notes=sections[-1][2],
        settled=settled,
        changes=changes,
    )


def _cell(text: str) -> str:
    """Text inside a Markdown table: no pipe ends the cell, no newline the row."""
    return " ".join(text.split()).replace("|", "\\|")


def _code(text: str | None) -> str:
    """C in a code span: neither `void **` nor `@16` means anything to Markdown there."""
    return f"`{_cell(text)}`" if text else ""


def to_github(reviewed: Review, root: Path) -> str:
    """Workflow commands that annotate policies.yaml; notes are one together, since GitHub shows ten of a kind."""
    file = reviewed.file(root)
    lines = []
    for finding in reviewed.open:
        if finding.severity != Severity.NOTE:
            title = f"{finding.severity.label}: {finding.rule} {finding.entity}"
            told = [*changes(finding), finding.meaning, finding.edit, f"Fingerprint {finding.fingerprint}"]
            message = "\n".join(line for line in told if line)
            lines.append(_command(_LEVELS[finding.severity], file, reviewed.line(finding), title, message))
    lines += [_command("error", file, p.line, "acknowledgement", p.sentence) for p in reviewed.problems]
    rest = "\n".join(
        [_summary(reviewed), *(f"Not checkable: {gap}" for gap in reviewed.comparison.not_checkable)]
    )
    old, new = (side.api.release for side in (reviewed.comparison.old, reviewed.comparison.new))
    lines.append(_command(_LEVELS[Severity.NOTE], file, 1, f"ROCm {old} -> {new}", rest))
    return "".join(f"{line}\n" for line in lines)


def _command(level: str, file: str, line: int, title: str, message: str) -> str:
    properties = {"file": file, "line": str(line), "title": title}
    listed = ",".join(f"{key}={_escaped(value, ':,')}" for key, value in properties.items())
    return f"::{level} {listed}::{_escaped(message)}"


def _escaped(text: str, also: str = "") -> str:
    return "".join(f"%{ord(char):02X}" if char in "%\r\n" + also else char for char in text)


FORMS: dict[str, Callable[[Review, Path], str]] = {
    "text": to_text,
    "oneline": to_oneline,
    "json": to_json,
    "markdown": to_markdown,
    "sarif": to_sarif,
    "github": to_github,
}
