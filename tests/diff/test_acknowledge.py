# SPDX-License-Identifier: Apache-2.0
"""Acknowledgements settle the finding they name, and nothing else; a wrong one is an error."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from redline_codegen.cli import main
from redline_codegen.diff.finding import Finding, Severity
from redline_codegen.diff.review import Review, review
from redline_codegen.diff.suggest import to_suggestions
from redline_codegen.header import read_prototype
from redline_codegen.model import Field
from redline_codegen.policy import Acknowledgement, load_policy

from diff.conftest import compared, edited, found, policy, snapshot
from diff.test_rules import MEMSET, now, with_member, without

TODAY = date(2026, 11, 29)
STEP = ("api/rocm-6.4.3.json", "api/rocm-7.2.4.json")


def unsafe() -> list[Finding]:
    ours = compared(snapshot("6.4.3"), snapshot("7.2.4"))
    return [f for f in ours.findings if f.severity == Severity.UNSAFE]


def with_acknowledgements(*given: Acknowledgement) -> Review:
    reviewed = replace(policy(), acknowledged=given)
    ours = compared(snapshot("6.4.3"), snapshot("7.2.4"), reviewed)
    return review(ours, reviewed, frozenset, TODAY)


def acknowledge(project: Path, *lines: str) -> None:
    path = project / "policies.yaml"
    text = path.read_text()
    assert "acknowledged: []" in text
    path.write_text(text.replace("acknowledged: []", "\n".join(["acknowledged:", *lines])))


def entry(finding: Finding, until: str = "") -> list[str]:
    lines = [
        f'  - fingerprint: "{finding.fingerprint}"',
        "    why: Looked at; the shim does not read the struct.",
    ]
    return [*lines, f'    until: "{until}"'] if until else lines


def test_acknowledged_finding_no_longer_closes_the_gate() -> None:
    given = [Acknowledgement(f.fingerprint, "seen", None, 1) for f in unsafe()]
    assert with_acknowledgements().fails(Severity.DECIDE)
    reviewed = with_acknowledgements(*given)
    assert not reviewed.fails(Severity.DECIDE)
    assert reviewed.count(Severity.UNSAFE) == 0
    assert reviewed.settled.keys() == {f.fingerprint for f in unsafe()}
    assert with_acknowledgements(*given[1:]).fails(Severity.DECIDE)


def test_acknowledgement_that_matches_nothing_is_an_error() -> None:
    reviewed = with_acknowledgements(Acknowledgement("000000000000", "seen", None, 7))
    assert [(p.fingerprint, p.line) for p in reviewed.problems] == [("000000000000", 7)]
    assert "matches no finding" in reviewed.problems[0].sentence
    assert reviewed.fails(None)


def test_acknowledgement_past_its_date_is_an_error_and_its_finding_open_again() -> None:
    finding = unsafe()[0]
    on_the_day = with_acknowledgements(Acknowledgement(finding.fingerprint, "seen", "2026-11-29", 7))
    assert not on_the_day.problems and finding not in on_the_day.open
    expired = with_acknowledgements(Acknowledgement(finding.fingerprint, "seen", "2026-11-28", 7))
    assert "was good until 2026-11-28" in expired.problems[0].sentence
    assert finding in expired.open


def test_acknowledgement_that_is_given_twice_is_an_error() -> None:
    """Of two reasons or dates only one could hold."""
    finding = unsafe()[0].fingerprint
    given = [Acknowledgement(finding, "seen", None, 7), Acknowledgement(finding, "again", "2027-01-31", 9)]
    reviewed = with_acknowledgements(*given)
    assert [(p.fingerprint, p.line) for p in reviewed.problems] == [(finding, 9)]
    assert "twice, first at line 7" in reviewed.problems[0].sentence
    assert reviewed.settled[finding].why == "seen"
    assert reviewed.fails(None)


def test_acknowledgement_of_an_earlier_step_is_no_error(project: Path) -> None:
    """After the upgrade the line may stay: what was acknowledged is known from the committed snapshots."""
    acknowledge(project, *entry(unsafe()[0]))
    same = str(project / "api" / "rocm-7.2.4.json")
    assert main(["diff", same, same, "--root", str(project)]) == 0


def test_acknowledging_a_struct_settles_those_that_embed_it() -> None:
    outer = "hipGraphNodeParams"
    grown = with_member(MEMSET, Field("more", "size_t", 48), 56)(now())
    record = replace(grown.hip.records[outer], size=(grown.hip.records[outer].size or 0) + 8)
    new = edited(grown, lambda part: {"records": {**part.records, outer: record}})
    leaf = found(compared(now(), new), "layout-changed")[MEMSET]
    given = replace(policy(), acknowledged=(Acknowledgement(leaf.fingerprint, "seen", None, 1),))
    assert review(compared(now(), new, given), given, frozenset, TODAY).open == []


def test_gate_and_report_follow_the_policy_file(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["diff", *(str(project / side) for side in STEP), "--root", str(project)]
    assert main(arguments) == 1
    acknowledge(project, *(line for finding in unsafe() for line in entry(finding, "2999-01-01")))
    capsys.readouterr()
    assert main([*arguments, "--format", "json"]) == 0
    findings = json.loads(capsys.readouterr().out)["findings"]
    settled = [f for f in findings if f["acknowledged"]]
    assert {f["fingerprint"] for f in settled} == {f.fingerprint for f in unsafe()}
    assert {f["acknowledged"]["until"] for f in settled} == {"2999-01-01"}
    assert main(arguments) == 0
    assert f"acknowledged ({len(unsafe())})" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        (['  - fingerprint: "0123456789ab"', "    why: Never seen."], "matches no finding"),
        ([*entry(unsafe()[0], "2020-01-31")], "was good until 2020-01-31"),
    ],
)
def test_wrong_acknowledgement_fails_whatever_the_threshold(
    project: Path, capsys: pytest.CaptureFixture[str], lines: list[str], complaint: str
) -> None:
    acknowledge(project, *lines)
    line = len((project / "policies.yaml").read_text().splitlines()) - len(lines) + 1
    arguments = [
        "diff",
        *(str(project / side) for side in STEP),
        "--root",
        str(project),
        "--fail-on",
        "never",
    ]
    assert main(arguments) == 1
    printed = capsys.readouterr().out
    assert f"policies.yaml:{line}: Acknowledgement" in printed
    assert complaint in printed


def test_suggested_yaml_loads_once_a_human_has_written_why(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Entries out of the policy come back as suggested; acknowledgements wait for their reason."""
    path = project / "policies.yaml"
    before = path.read_text()
    reduced = _without_entry(before, "hipGetDriverEntryPoint_spt")
    path.write_text(reduced)
    arguments = ["diff", *(str(project / side) for side in STEP), "--root", str(project), "--suggest"]
    assert main(arguments) == 1
    printed = capsys.readouterr().out
    assert "  hipGetDriverEntryPoint_spt:\n    class: passthrough\n" in printed
    assert "The per-thread form of hipGetDriverEntryPoint" in printed
    assert printed.count('why: ""') == len(unsafe())
    entries, acknowledgements = printed.split("\nacknowledged:\n")
    merged = reduced.replace("\ndeclared:\n", "\n" + entries.split("entry_points:\n")[1] + "\ndeclared:\n")
    path.write_text(merged.replace("acknowledged: []", "acknowledged:\n" + acknowledgements))
    assert main(arguments[:-1]) == 3
    assert "why is empty" in capsys.readouterr().err.lower()
    path.write_text(path.read_text().replace('why: ""', "why: Looked at."))
    assert "hipGetDriverEntryPoint_spt" in load_policy(path).entries
    assert main(arguments[:-1]) == 0


def test_suggestion_for_a_shim_without_a_declaration_is_to_declare_it() -> None:
    """An acknowledgement would let the shim go while the library still has the function."""
    new = without("functions", "hipGraphDestroy")(now())
    printed = to_suggestions(review(compared(now(), new), policy(), frozenset, TODAY))
    prototype = now().hip.functions["hipGraphDestroy"].signature
    assert f'\ndeclared:\n  hipGraphDestroy: "{prototype}"\n' in printed
    assert "acknowledged:" not in printed
    function = read_prototype(prototype)
    assert function
    declared = replace(policy(), declared={function.name: function})
    assert not review(compared(now(), new, declared), declared, frozenset, TODAY).fails(Severity.DECIDE)


def _without_entry(text: str, name: str) -> str:
    lines = text.splitlines(keepends=True)
    start = next(i for i, line in enumerate(lines) if line == f"  {name}:\n")
    end = next(i for i in range(start + 1, len(lines)) if not lines[i].startswith("    "))
    return "".join(lines[:start] + lines[end:])
