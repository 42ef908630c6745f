# SPDX-License-Identifier: Apache-2.0
"""A review as SARIF 2.1.0: results point at policies.yaml, where the work is, and carry our fingerprints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .blocks import changes
from .finding import RULES, Finding, Severity
from .review import Problem, Review

# Where the standard keeps its schema; written into the output, never fetched.
SCHEMA_URI = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

_LEVELS = {
    Severity.UNSAFE: "error",
    Severity.DECIDE: "error",
    Severity.LOST_ACCELERATION: "warning",
    Severity.NOTE: "note",
}
_BAD_ACKNOWLEDGEMENT = "acknowledgement-error"


def to_sarif(reviewed: Review, root: Path) -> str:
    uri = reviewed.file(root)
    rules = {**RULES, _BAD_ACKNOWLEDGEMENT: "An acknowledgement matches no finding or is past its date."}
    driver = {
        "name": "redline-codegen",
        "rules": [{"id": rule, "shortDescription": {"text": text}} for rule, text in rules.items()],
    }
    order = {rule: index for index, rule in enumerate(rules)}
    comparison = reviewed.comparison
    notifications = [
        {"level": "warning", "message": {"text": f"Not checkable: {sentence}"}}
        for sentence in comparison.not_checkable
    ]
    run = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": notifications}],
        "columnKind": "utf16CodeUnits",
        "results": [
            *(_result(finding, reviewed, uri, order) for finding in reviewed.findings),
            *(_problem(problem, uri, order) for problem in reviewed.problems),
        ],
        "properties": {
            "old": comparison.old.title,
            "new": comparison.new.title,
            "scope": "all" if reviewed.comparison.everything else "reachable",
        },
    }
    return json.dumps({"$schema": SCHEMA_URI, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _result(finding: Finding, reviewed: Review, uri: str, order: dict[str, int]) -> dict[str, Any]:
    lines = [f"{finding.entity}: {finding.meaning}", *changes(finding), finding.edit]
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": order[finding.rule],
        "level": _LEVELS[finding.severity],
        "message": {"text": "\n".join(line for line in lines if line)},
        "locations": [_location(uri, reviewed.line(finding), finding.entity)],
        "partialFingerprints": {"redlineFinding/v1": finding.fingerprint},
        "properties": {
            "class": finding.severity.label,
            "part": finding.part,
            "reaches": list(finding.reaches),
            "causedBy": list(finding.caused_by),
        },
    }
    given = reviewed.settled.get(finding.fingerprint)
    if given:
        result["suppressions"] = [{"kind": "external", "justification": given.why}]
    return result


def _problem(problem: Problem, uri: str, order: dict[str, int]) -> dict[str, Any]:
    return {
        "ruleId": _BAD_ACKNOWLEDGEMENT,
        "ruleIndex": order[_BAD_ACKNOWLEDGEMENT],
        "level": "error",
        "message": {"text": problem.sentence},
        "locations": [_location(uri, problem.line, problem.fingerprint)],
        "partialFingerprints": {"redlineFinding/v1": problem.fingerprint},
    }


def _location(uri: str, line: int, name: str) -> dict[str, Any]:
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": uri, "uriBaseId": "%SRCROOT%"},
            "region": {"startLine": line},
        },
        "logicalLocations": [{"fullyQualifiedName": name}],
    }
